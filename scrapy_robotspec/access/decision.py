"""The decision about one request, as users see it (EXT-02)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.access.outcome import without_user_info

if TYPE_CHECKING:
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.outcome import Hop
    from scrapy_robotspec.access.usage_policy import UsageRefusal
    from scrapy_robotspec.protocol.models import Verdict


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
    """HTTP status of the response, or of the failure, that the outcome comes from."""
    age: float | None = None
    """Seconds since the copy in use was fetched; None: no copy is held."""
    hops: tuple[Hop, ...] = ()
    """The redirects to the copy; without a copy, those of the last attempt."""
    origin: Origin | None = None
    """The origin whose robots.txt governs the URL."""
    failure: str | None = None
    """Cause of the last failure in one short line; set with the outcome ``"unreachable"``."""
    usage: UsageRefusal | None = None
    """The declared use that is not allowed; given with the reason ``"usage"``."""
    time: float | None = None
    """When rules or policy decided (epoch seconds); None where neither did."""

    @property
    def detail(self) -> str:
        """The reason as one sentence in ASCII, safe for a terminal (SAF-04)."""
        words = rule_in_words(self.verdict)
        return _DETAILS.get(self.reason, "{verb} by {reason}.").format(
            verb="Allowed" if self.allowed else "Disallowed",
            reason=printable(self.reason),
            file="robots.txt" if self.origin is None else printable(self.origin.robots_url),
            rule=f" ({words})" if words else "",
            status=self.status,
            failure=printable(self.failure or "no answer"),
            usage=self.usage and self.usage.detail,
        )

    def refused_for(self, usage: UsageRefusal) -> Decision:
        """The decision, turned into a refusal of a declared use (USE-05)."""
        return self._replace(allowed=False, reason="usage", usage=usage)


def rule_in_words(verdict: Verdict | None) -> str:
    """The deciding line, safe for a terminal (SAF-04).

    Empty where no rule decided. Where it disallows the URL without dot segments alone, that one is
    named (PAT-15).
    """
    if verdict is None or verdict.rule is None:
        return ""
    line = f"line {verdict.rule.line}: {verdict.rule.text.strip()!a}"
    if verdict.resolved is None:
        return line
    return f"{line}, without dot segments: {without_user_info(verdict.resolved)!a}"


#: A sentence for each reason of a :class:`Decision`.
_DETAILS = {
    "rule": "{verb} by {file}{rule}.",
    "no_rule": "Allowed: no rule of {file} matches the URL.",
    "no_group": "Allowed: no group of {file} is for this crawler.",
    "robots_txt_itself": "Allowed: {file} itself is never disallowed.",
    "unavailable": "Allowed: there is no {file} (HTTP status {status}).",
    "unreachable": "{verb}: {file} is unreachable ({failure}).",
    "limit_passed": "Allowed: {file} has been unreachable for too long ({failure}).",
    "policy": "Disallowed by the status policy: {file} responds with HTTP status {status}.",
    "override": "{verb} by ROBOTSPEC_OVERRIDES{rule}.",
    "usage": "{verb}: {usage}.",
}


def printable(text: str) -> str:
    """*text* in printable ASCII (SAF-04): a shared store may hold anything."""
    return text if text.isascii() and text.isprintable() else ascii(text)[1:-1]
