"""The explanation of one decision, shared by all renderers."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.access.account import meaning_of
from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.access.outcome import NO_FILE
from scrapy_robotspec.access.reasons import (
    ANSWERS,
    OTHER_STATUS,
    REASONS,
    SERVERS_READ,
    failure_words,
)
from scrapy_robotspec.protocol.extent import as_in_url
from scrapy_robotspec.protocol.paths import as_sent, canonical_text, path_of
from scrapy_robotspec.render.text import MOST, count, duration, safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.models import Rule, Verdict
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
    from scrapy_robotspec.protocol.usage import Usage, UsageStatement
    from scrapy_robotspec.render.parsed_file import GroupSummary, ParsedFile, Tokens

#: A label and a text.
Fact = tuple[str, str]


class Explanation(NamedTuple):
    """One crawler, one URL, the decision, and everything that led to it.

    By a file, or by the robots.txt of the URL's site.
    """

    url: str
    """As given; bytes other than UTF-8 are percent-encoded."""
    tokens: Tokens = ()
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

    robots: RobotsTxt | None = None
    """The rules that apply; None where no file decides."""

    # --- of a site
    seconds: float | None = None
    """Time until the decision was made; None for a file."""
    now: float = 0.0
    """Time of the decision (epoch seconds)."""
    record: RobotsRecord | None = None
    """Stored state of the origin; None where robots.txt was not needed."""
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
    def asked(self) -> str:
        """The compared URL, as a crawl sends it or servers read it."""
        return (self.verdict and self.verdict.resolved) or as_sent(self.url)

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


def explain(file: ParsedFile, url: str, tokens: Tokens) -> Explanation:
    """The verdict about a URL or path, with its rule."""
    verdict = file.robots.explain_served(as_sent(url), tokens)
    return Explanation(
        url,
        tokens,
        Decision(verdict.allowed, verdict.reason, verdict),
        file.robots.edition,
        file.written,
        robots=file.robots,
    )


def in_full(found: Explanation, file: ParsedFile) -> Explanation:
    """*found* with its path, all matching rules, group and usage.

    *file*: that of the verdict.
    """
    if found.verdict is None:
        return found
    robots, asked = file.robots, found.asked
    usage = robots.usage(asked, found.tokens)
    deciding, statements = set(usage.statements), robots.usage_rules(found.tokens).statements
    return found._replace(
        path=as_in_url(path_of(asked, robots.edition)),
        matches=robots.matches(asked, found.tokens),
        group=file.group_for(found.tokens),
        usage=usage,
        unused=tuple(each for each in statements if each not in deciding),
        licenses=robots.licenses,
    )


def refused_by_usage(found: Explanation, labels: Sequence[str]) -> Explanation:
    """The answer of a crawl that declares these uses (USE-05)."""
    decision, robots = found.decision, found.robots
    if not (labels and decision and decision.allowed and robots):
        return found
    from scrapy_robotspec.access.usage_policy import UsagePolicy

    policy = UsagePolicy(tuple(labels), "refuse-disallowed")
    refusal = policy.refusal(robots.usage(found.asked, found.tokens), final=False)
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


# --- the facts behind a decision, as labelled lines


def facts(found: Explanation) -> Iterator[Fact]:
    """Everything that led to a decision, escaped."""
    if found.origin is not None:
        yield "origin", safe(str(found.origin))
        yield "robots.txt", safe(found.origin.robots_url)
    if found.record is not None:
        for label, text in _record_facts(found, found.record):
            yield label, safe(text)
    if found.decision is not None:
        yield "crawler", found.crawler
    if found.group is not None:
        yield from _rule_facts(found, found.group)
    if found.edition is not None:
        yield "edition", found.edition.name
    if found.seconds is not None:
        yield "took", duration(found.seconds)


def _record_facts(found: Explanation, record: RobotsRecord) -> Iterator[Fact]:
    """Redirects, status, meaning, age and size of a site's robots.txt, not escaped."""
    for hop in record.hops:
        target = f" to {hop.target}" if hop.target is not None else ""
        yield "redirect", f"{hop.status} from {hop.url}{target}"
    if record.unreachable_since is not None and record.is_unreachable:
        yield "failure", failure_words(record.failure)
        since = utc(record.unreachable_since)
        age = duration(max(0.0, found.now - record.unreachable_since))
        yield "since", f"{since} ({age} ago, {count(record.failures, 'failure')})"
        yield "meaning", ANSWERS["unreachable"].sentence
    if record.meaning is None or record.fetched_at is None or record.lifetime is None:
        return
    error = f", {record.redirect_error}" if record.redirect_error else ""
    yield "status", f"{record.status}{error}"
    meaning = ANSWERS[meaning_of(record)].sentence
    if record.meaning == "allow" and record.status not in NO_FILE:
        meaning = REASONS[OTHER_STATUS].short.format(status=record.status, failed=error)
    yield "meaning", meaning
    if record.meaning == "rules" and record.doubt_in_words is not None:
        yield "doubt", record.doubt_in_words
    source = "fetched just now" if found.fetched else "from the cache"
    age = duration(max(0.0, found.now - record.fetched_at))
    kept = duration(record.lifetime)
    why_so_short = "" if record.doubt is None else " because it is in doubt"
    yield "age", f"{age} ({source}), kept for {kept}{why_so_short}"
    if record.meaning == "rules":
        cut = ", cut at the size limit" if record.truncated else ""
        yield "size", f"{count(len(record.body), 'byte')}{cut}"


def _rule_facts(found: Explanation, group: GroupSummary) -> Iterator[Fact]:
    """The group, the rules that match, and the other lines of the group."""
    yield "group", group.words
    yield "compared", safe(found.path)
    if found.rule is not None or found.losing:  # else the verdict says why
        yield "decided by", _precedence_words(found)
    if found.rule is not None:
        yield "decides", rule_words(found.rule, found.edition)
    for other in found.losing[:MOST]:
        yield "loses", rule_words(other, found.edition)
    yield from other_facts(group, without_usage=True)
    usage = found.usage
    if usage is None:
        return
    if usage.statements or found.unused:
        yield "usage", _preference_words(usage)
    for label, statements in (("states", usage.statements), ("unused", found.unused)):
        for statement in statements[:MOST]:
            yield label, statement_words(statement)
    for license_url in found.licenses[:MOST]:
        yield "license", safe(license_url)


def _preference_words(usage: Usage) -> str:
    """``search allowed, train-ai disallowed``, escaped."""
    if not usage.applies:
        return "no preference, as the page may not be fetched"
    stated = [f"{safe(label)} {preference}ed" for label, preference in usage.preferences.items()]
    return ", ".join(stated[:MOST]) or "no preference for this page"


def statement_words(statement: UsageStatement) -> str:
    """``line 4: Content-Usage: /a train-ai=n``, escaped; notes invalid ones."""
    from scrapy_robotspec.access.usage_policy import as_written  # few files state any

    invalid = "" if statement.preferences else " (states no preference)"
    return f"line {statement.line}: {safe(as_written(statement))}{invalid}"


def other_facts(group: GroupSummary, *, without_usage: bool = False) -> Iterator[Fact]:
    """Lines of the group other than allow and disallow, escaped."""
    from scrapy_robotspec.protocol.usage import USAGE_FIELDS

    shown = (line for line in group.other if not (without_usage and line.field in USAGE_FIELDS))
    for line in islice(shown, MOST):
        yield "also", f"line {line.line}: {safe(line.field)}: {safe(line.value)}"


def _precedence_words(found: Explanation) -> str:
    """Why the deciding rule wins over the others that match (PRE-01, PRE-02)."""
    rule = found.rule
    if rule is None:
        return found.detail
    if not rule.pattern:
        return "a rule without a path disallows nothing"
    if not found.losing:
        return "the only rule that matches"
    return f"the longest of {len(found.matches):,} rules that match; of equally long ones an allow"


def utc(seconds: float) -> str:
    """Epoch seconds as date and time in UTC."""
    from datetime import datetime, timezone

    return f"{datetime.fromtimestamp(seconds, timezone.utc):%Y-%m-%d %H:%M:%S UTC}"
