"""The explanation of one decision, shared by all renderers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.access.reasons import SERVERS_READ
from scrapy_robotspec.protocol.paths import as_in_url, canonical_text, path_of
from scrapy_robotspec.render.text import safe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.models import Rule, Verdict
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
    from scrapy_robotspec.protocol.usage import Usage, UsageStatement
    from scrapy_robotspec.render.parsed_file import GroupSummary, ParsedFile


class Explanation(NamedTuple):
    """One crawler, one URL, the decision, and everything that led to it.

    By a file, or by the robots.txt of the URL's site.
    """

    url: str
    """As given; bytes other than UTF-8 are percent-encoded."""
    tokens: tuple[str, ...] = ()
    """The crawler's product tokens; none for a crawler that no group names."""
    decision: Decision | None = None
    """None where nothing was decided."""
    edition: Edition | None = None
    """None where the project's is not known."""
    written: Mapping[str, str] = {}
    """Product token -> name as the file has it."""
    problem: str | None = None
    """Why a site's robots.txt could not decide. Without a decision and a problem, the URL is of
    another origin than the file (LOC-02)."""

    # --- of a site
    seconds: float | None = None
    """Time until the decision was made; None for a file."""
    now: float = 0.0
    """Time of the decision (epoch seconds)."""
    record: RobotsRecord | None = None
    """Stored state of the origin; None where robots.txt was not needed."""
    robots: RobotsTxt | None = None
    """The rules that apply; None where no file decides."""
    fetched: bool = False
    """Whether robots.txt was fetched for this decision instead of read from a store."""

    # --- added by in_full()
    path: str = ""
    """Path and query in canonical form, as compared with the rules."""
    matches: tuple[Rule, ...] = ()
    """Every rule that matches, the deciding one first."""
    group: GroupSummary | None = None
    usage: Usage | None = None
    """The preferences of the file for the use of the page."""
    unused: tuple[UsageStatement, ...] = ()
    """Statements for the crawler that are not about the page, or that a longer path hides."""
    licenses: tuple[str, ...] = ()

    @property
    def allowed(self) -> bool | None:
        """None where nothing was decided."""
        return None if self.decision is None else self.decision.allowed

    @property
    def reason(self) -> str:
        """As in ``Decision``; ``"problem"`` or ``"not_covered"`` where nothing was decided."""
        if self.decision is not None:
            return self.decision.reason
        return "not_covered" if self.problem is None else "problem"

    @property
    def origin(self) -> Origin | None:
        """The origin whose robots.txt governs the URL; None for a file."""
        return self.decision and self.decision.origin

    @property
    def verdict(self) -> Verdict | None:
        """The verdict of the file; None where no file decides."""
        return self.decision and self.decision.verdict

    @property
    def rule(self) -> Rule | None:
        """The deciding rule; None where the page's usage preferences decide."""
        verdict = self.verdict
        return None if verdict is None or self.reason == "usage" else verdict.rule

    @property
    def losing(self) -> tuple[Rule, ...]:
        """The rules that match and do not decide."""
        return self.matches[1:] if self.rule is not None else self.matches

    @property
    def crawler(self) -> str:
        """The crawler's name for people, escaped; empty where nothing was decided."""
        return "" if self.decision is None else crawler_words(self.tokens, self.written)

    @property
    def detail(self) -> str:
        """The reason in a few words, escaped."""
        if self.decision is None:
            return safe(self.problem or "the robots.txt of another origin")
        line = "" if self.rule is None else rule_words(self.rule, self.edition)
        if line and self.verdict is not None and self.verdict.resolved is not None:
            line += SERVERS_READ + safe(self.verdict.resolved)
        return self.decision.cause(line)


def explain(file: ParsedFile, url: str, tokens: tuple[str, ...]) -> Explanation:
    """The verdict about a URL or path, with its rule."""
    verdict = file.robots.explain_served(url, tokens)
    return Explanation(
        url,
        tokens,
        Decision(verdict.allowed, verdict.reason, verdict),
        file.robots.edition,
        file.written,
    )


def in_full(found: Explanation, file: ParsedFile, url: str) -> Explanation:
    """*found* with its path, all matching rules, group and usage.

    *file*: that of the verdict; *url*: as given.
    """
    if found.verdict is None:
        return found
    robots, asked = file.robots, found.verdict.resolved or url
    usage = robots.usage(url, found.tokens)
    deciding, statements = set(usage.statements), robots.usage_rules(found.tokens).statements
    return found._replace(
        path=as_in_url(path_of(asked, robots.edition)),
        matches=robots.matches(asked, found.tokens),
        group=file.group_for(found.tokens),
        usage=usage,
        unused=tuple(each for each in statements if each not in deciding),
        licenses=robots.licenses,
    )


def refused_by_usage(found: Explanation, robots: RobotsTxt, labels: Sequence[str]) -> Explanation:
    """The answer of a crawl that declares these uses (USE-05)."""
    decision = found.decision
    if not (labels and decision and decision.allowed):
        return found
    from scrapy_robotspec.access.usage_policy import UsagePolicy

    policy = UsagePolicy(tuple(labels), "refuse-disallowed")
    refusal = policy.refusal(robots.usage(found.url, found.tokens), final=False)
    return found._replace(decision=decision.refused_for(refusal)) if refusal else found


def rule_words(rule: Rule, edition: Edition | None) -> str:
    """``line 4: Disallow: /a # b (read as /a)``, escaped."""
    return f"line {rule.line}: {safe(rule.text.strip())}{read_words(rule, edition)}"


def read_words(rule: Rule, edition: Edition | None) -> str:
    """`` (read as /a)`` where that differs from the line; else empty."""
    read = rule.pattern if edition is None else compared(rule, edition)
    is_different = read != rule.text.partition(":")[2].strip()
    return f" (read as {safe(read) or 'no path'})" if is_different else ""


def compared(rule: Rule, edition: Edition) -> str:
    """The path pattern of a rule as it is compared with paths."""
    if "\\" in rule.pattern:  # the decoded text does not say which bytes are in the file
        return rule.pattern
    return as_in_url(canonical_text(rule.pattern.encode(), edition))


def crawler_words(tokens: Sequence[str], names: Mapping[str, str]) -> str:
    """The crawler's name; with the name as written where the file's differs."""
    if not tokens:
        return "a crawler that no group names"
    return ", then ".join(_name(token, names.get(token, token)) for token in tokens)


def _name(token: str, written: str) -> str:
    return safe(token) if written == token else f"{safe(written)} (read as {safe(token)})"
