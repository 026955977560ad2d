"""The explanation of one decision, shared by all renderers."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.access.reasons import REASONS, SERVERS_READ
from scrapy_robotspec.protocol.models import decode
from scrapy_robotspec.protocol.paths import as_in_url, canonical_text, path_of
from scrapy_robotspec.render.parsed_file import ParsedFile
from scrapy_robotspec.render.site import site_facts, why
from scrapy_robotspec.render.text import (
    MOST,
    crawler_words,
    duration,
    safe,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.access.usage_policy import UsageRefusal
    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.models import Rule, Verdict
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
    from scrapy_robotspec.render.parsed_file import GroupSummary
    from scrapy_robotspec.render.site import SiteAnswer
    from scrapy_robotspec.render.usage import UsageAnswer


class Explanation(NamedTuple):
    """One crawler, one URL, the decision, and everything that led to it."""

    url: str
    """As given, decoded for a person."""
    tokens: tuple[str, ...]
    """The crawler's product tokens; none for a crawler that no group names."""
    allowed: bool | None
    """None where nothing was decided."""
    reason: str
    """As in ``Decision.reason``; ``"problem"`` or ``"not_covered"`` where nothing was decided."""
    verdict: Verdict | None = None
    """The verdict of the file; None where no file decides."""
    path: str = ""
    """Path and query in canonical form, as compared with the rules; empty where not requested."""
    matches: tuple[Rule, ...] = ()
    """Every rule that matches, the deciding one first; empty where not requested."""
    group: GroupSummary | None = None
    crawler: str = ""
    """The crawler's name for people, escaped."""
    site: SiteAnswer | None = None
    """How robots.txt was obtained; None for a file."""
    edition: Edition | None = None
    """None where the project's is not known."""
    refusal: UsageRefusal | None = None
    """Why a file refuses the page for its usage preferences."""
    usage: UsageAnswer | None = None
    """The file's statements about the use of the page; None where not requested."""

    @property
    def rule(self) -> Rule | None:
        """The deciding rule; None where the page's usage preferences decide."""
        if self.verdict is None or self.reason == "usage":
            return None
        return self.verdict.rule

    @property
    def losing(self) -> tuple[Rule, ...]:
        """The rules that match and do not decide."""
        return self.matches[1:] if self.rule is not None else self.matches

    @property
    def detail(self) -> str:
        """The reason in a few words, escaped."""
        if self.reason == "not_covered":
            return "the robots.txt of another origin"
        line = "" if self.rule is None else rule_words(self.rule, self.edition)
        if line and self.verdict is not None and self.verdict.resolved is not None:
            line += SERVERS_READ + safe(self.verdict.resolved)
        if self.site is not None:
            return why(self.site, line)
        usage = self.refusal and self.refusal.detail
        return REASONS[self.reason].short.format(rule=line, usage=usage)


def explain(
    file: ParsedFile, url: str | bytes, tokens: Sequence[str], *, fully: bool = False
) -> Explanation:
    """The verdict about a URL or path, with its rule.

    *fully*: with the path, every rule that matches and the group that applies.
    """
    verdict = file.robots.explain_served(url, tokens)
    found = Explanation(
        url if isinstance(url, str) else decode(url),
        tuple(tokens),
        verdict.allowed,
        verdict.reason,
        verdict,
        crawler=crawler_words(tokens, file.written),
        edition=file.robots.edition,
    )
    return _with_rules(found, file, url) if fully else found


def refused_by_usage(found: Explanation, robots: RobotsTxt, labels: Sequence[str]) -> Explanation:
    """The answer of a crawl that declares these uses (USE-05)."""
    if not (labels and found.allowed):
        return found
    from scrapy_robotspec.access.usage_policy import UsagePolicy

    policy = UsagePolicy(tuple(labels), "refuse-disallowed")
    refusal = policy.refusal(robots.usage(found.url, found.tokens), final=False)
    if refusal is None:
        return found
    return found._replace(allowed=False, reason="usage", refusal=refusal)


def _with_rules(found: Explanation, file: ParsedFile, url: str | bytes) -> Explanation:
    from scrapy_robotspec.render.usage import usage_answer  # few commands need it

    assert found.verdict is not None
    path = path_of(found.verdict.resolved or url, file.robots.edition)
    return found._replace(
        path=as_in_url(path),
        matches=file.matches(path, found.tokens),
        group=file.group_for(found.tokens),
        usage=usage_answer(file.robots, url, found.tokens),
    )


def explain_site(site: SiteAnswer, *, fully: bool = False) -> Explanation:
    """The decision about a URL of a site; *fully* as in :func:`explain`."""
    decision, crawler = site.decision, crawler_words(site.tokens)
    found = Explanation(site.url, site.tokens, None, "problem", crawler=crawler, site=site)
    if decision is None:
        return found
    found = found._replace(
        allowed=decision.allowed,
        reason=decision.reason,
        verdict=decision.verdict,
        edition=site.edition,
    )
    if not fully or site.robots is None or decision.verdict is None:
        return found
    return _with_rules(found, ParsedFile(site.robots), site.url)


def facts(found: Explanation) -> Iterator[tuple[str, str]]:
    """Label and text of everything that led to a decision, escaped."""
    site, group = found.site, found.group
    if site is not None:
        yield from ((label, safe(text)) for label, text in site_facts(site))
    yield "crawler", found.crawler
    if group is not None:
        yield "group", group.words
        yield "compared", safe(found.path)
        if found.rule is not None or found.losing:  # else the verdict says why
            yield "decided by", precedence_words(found)
        if found.rule is not None:
            yield "decides", rule_words(found.rule, found.edition)
        for other in found.losing[:MOST]:
            yield "loses", rule_words(other, found.edition)
        yield from other_facts(group, without_usage=found.usage is not None)
        if found.usage is not None:
            yield from found.usage.facts()
    if found.edition is not None:
        yield "edition", found.edition.name
    if site is not None:
        yield "took", duration(site.seconds)


def other_facts(group: GroupSummary, *, without_usage: bool = False) -> Iterator[tuple[str, str]]:
    """Lines of the group other than allow and disallow."""
    from scrapy_robotspec.protocol.usage import USAGE_FIELDS

    shown = (line for line in group.other if not (without_usage and line.field in USAGE_FIELDS))
    for line in islice(shown, MOST):
        yield "also", f"line {line.line}: {safe(line.field)}: {safe(line.value)}"


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


def precedence_words(found: Explanation) -> str:
    """Why the deciding rule wins over the others that match (PRE-01, PRE-02)."""
    rule = found.rule
    if rule is None:
        return found.detail
    if not rule.pattern:
        return "a rule without a path disallows nothing"
    if not found.losing:
        return "the only rule that matches"
    return f"the longest of {len(found.matches):,} rules that match; of equally long ones an allow"
