"""The decision about one request, as users see it (EXT-02)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.access.outcome import NO_FILE, Hop
from scrapy_robotspec.access.reasons import (
    NO_ROBOTS_TXT,
    OLD_COPY,
    OTHER_STATUS,
    REASONS,
    SERVERS_READ,
    UNREACHABLE_ALLOWED,
    failure_words,
    printable,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.reasons import Words
    from scrapy_robotspec.access.usage_policy import UsageRefusal
    from scrapy_robotspec.protocol.models import Verdict
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt


class Decision(NamedTuple):
    """Whether a request may go, and why (EXT-02)."""

    allowed: bool
    """Whether it may go."""
    reason: str
    """The verdict's, or ``"unavailable"``, ``"unreachable"``, ``"limit_passed"``, ``"policy"``,
    ``"override"``, ``"usage"``."""
    verdict: Verdict | None = None
    """The verdict of the rules; None where no rules decided."""
    outcome: str | None = None
    """``"successful"``, ``"unavailable"`` or ``"unreachable"``; None: never fetched."""
    status: int | None = None
    """HTTP status of the response that decides: of the copy, or of the failure without one."""
    age: float | None = None
    """Seconds since the copy in use was fetched; None: no copy is held."""
    hops: tuple[Hop, ...] = ()
    """The redirects to the copy; without a copy, those of the last attempt."""
    origin: Origin | None = None
    """The origin whose robots.txt governs the URL."""
    failure: str | None = None
    """Cause of the last failure in one short line, with the outcome ``"unreachable"``, also where a
    copy decides; or why the redirects count as a missing file."""
    usage: UsageRefusal | None = None
    """The declared use that is not allowed; given with the reason ``"usage"``."""
    time: float | None = None
    """When rules or policy decided (epoch seconds); None where neither did."""

    @property
    def detail(self) -> str:
        """The reason as one sentence in ASCII, safe for a terminal (SAF-04)."""
        sentence = self._fill(self._words.sentence)
        if self._is_by_old_copy:
            sentence = sentence[:-1] + self._fill(REASONS[OLD_COPY].sentence)
        return sentence

    def cause(self, rule: str | None = None) -> str:
        """The reason in a few words.

        *rule*: the deciding line as the view shows it.
        """
        short = self._words.short
        return self._fill(short + REASONS[OLD_COPY].short if self._is_by_old_copy else short, rule)

    @property
    def _is_by_old_copy(self) -> bool:
        """Whether a copy decides that could not be renewed (CAC-02)."""
        return self.outcome == "unreachable" and self.reason not in ("unreachable", "limit_passed")

    @property
    def _words(self) -> Words:
        reason = self.reason
        if reason == "unavailable" and self.status not in NO_FILE:
            reason = OTHER_STATUS
        elif reason == "unreachable" and self.allowed:
            reason = UNREACHABLE_ALLOWED
        elif reason == "no_rule" and self.verdict is None:
            reason = NO_ROBOTS_TXT
        return REASONS[reason]

    def _fill(self, words: str, rule: str | None = None) -> str:
        rule = rule or rule_in_words(self.verdict)
        is_redirect = self.outcome != "unreachable"
        return words.format(
            verb="Allowed" if self.allowed else "Disallowed",
            file="robots.txt" if self.origin is None else printable(self.origin.robots_url),
            rule=rule,
            in_brackets=f" ({rule})" if rule else "",
            after_comma=f", {rule}" if rule else "",
            status=self.status,
            failure=failure_words(self.failure),
            failed=f", {printable(self.failure)}" if self.failure and is_redirect else "",
            usage=self.usage and self.usage.detail,
        )

    def refused_for(self, usage: UsageRefusal) -> Decision:
        """The decision, turned into a refusal of a declared use (USE-05)."""
        return self._replace(allowed=False, reason="usage", usage=usage)


def decision_by(
    replacement: str | RobotsTxt, origin: Origin, url: str, tokens: Sequence[str]
) -> Decision:
    """The decision about *url* by an override.

    *replacement*: what the user gives in place of the robots.txt.
    """
    if isinstance(replacement, str):
        return Decision(replacement == "ignore", "override", origin=origin)
    verdict = replacement.explain_served(url, tokens)
    return Decision(verdict.allowed, "override", verdict, origin=origin)


def rule_in_words(verdict: Verdict | None) -> str:
    """The deciding line, safe for a terminal (SAF-04).

    Empty where no rule decided. Where it disallows the URL as servers read it alone, that one is
    named (PAT-15).
    """
    if verdict is None or verdict.rule is None:
        return ""
    line = f"line {verdict.rule.line}: {verdict.rule.text.strip()!a}"
    if verdict.resolved is None:
        return line
    from scrapy_robotspec.access.origin import without_user_info  # few commands need it

    return f"{line}{SERVERS_READ}{without_user_info(verdict.resolved)!a}"
