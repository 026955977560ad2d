"""The facts behind a decision, as labelled lines."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from scrapy_robotspec.access.account import meaning_of
from scrapy_robotspec.access.outcome import NO_FILE
from scrapy_robotspec.access.reasons import ANSWERS, OTHER_STATUS, REASONS, failure_words
from scrapy_robotspec.render.explanation import Explanation, rule_words
from scrapy_robotspec.render.text import MOST, count, duration, safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.protocol.usage import Usage, UsageStatement
    from scrapy_robotspec.render.parsed_file import GroupSummary

#: A label and a text.
Fact = tuple[str, str]


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
    if found.usage is not None:
        yield from _usage_facts(found, found.usage)


def _usage_facts(found: Explanation, usage: Usage) -> Iterator[Fact]:
    """The preferences, the statements behind them, and the licenses."""
    if usage.statements or found.unused:
        yield "usage", _preference_words(usage)
    for statement in usage.statements[:MOST]:
        yield "states", statement_words(statement)
    for statement in found.unused[:MOST]:
        yield "unused", statement_words(statement)
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
