"""The road from a URL to its decision, told: as lines, as JSON, as a part of the HTML page.

Nothing is asked here.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.access.outcome import Meaning
from scrapy_robotspec.show import words
from scrapy_robotspec.show.answers import crawler_words, reason_words
from scrapy_robotspec.show.as_json import explained_object, verdict_object
from scrapy_robotspec.show.markup import code, esc, verdict
from scrapy_robotspec.show.text import count, duration, safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.plugin.commands.asking import Road
    from scrapy_robotspec.show.terminal import Screen

ALLOWED, DISALLOWED, MISUSE, UNREACHABLE = 0, 1, 2, 3

#: The decisions that no rule made.
_REASONS = {
    "unavailable": "there is no robots.txt, so everything is allowed",
    "unreachable": "robots.txt cannot be had, so nothing is crawled",
    "limit_passed": "robots.txt could not be had for so long that no rules hold any more",
    "policy": "ROBOTSPEC_STATUS_POLICY takes the answer for a refusal",
    "override": "ROBOTSPEC_OVERRIDES decides for this host",
    "no_rule": "a URL of this scheme has no robots.txt",
}

_MEANINGS = {
    Meaning.RULES: "a file: its rules decide",
    Meaning.ALLOW: "there is no file: everything is allowed",
    Meaning.DISALLOW: "refused by ROBOTSPEC_STATUS_POLICY: nothing is allowed",
}

Fact = tuple[str, str]


def exit_code(road: Road) -> int:
    """The exit code that one road asks for; the greatest of several counts."""
    decision = road.decision
    if decision is None:
        return MISUSE
    if decision.allowed:
        return ALLOWED
    return UNREACHABLE if decision.reason == "unreachable" else DISALLOWED


def reason(decision: Decision) -> str:
    """Why, in a few words."""
    if decision.verdict is not None and decision.reason != "override":
        return reason_words(decision.verdict)
    if decision.reason == "unreachable" and decision.allowed:
        return "robots.txt cannot be had, and ROBOTSPEC_UNREACHABLE is 'allow'"
    told = _REASONS.get(decision.reason, decision.reason)
    return told if decision.verdict is None else f"{told}, {reason_words(decision.verdict)}"


def short(road: Road, screen: Screen) -> str:
    """One line, for ``check``."""
    if road.decision is None:
        return (
            f"{screen.paint('note', 'no answer ')}  {safe(road.url)}  ({safe(str(road.problem))})"
        )
    why = screen.paint("faint", f"({_short_reason(road)})")
    return f"{words.allowed_word(road.decision.allowed, screen)}  {safe(road.url)}  {why}"


def _short_reason(road: Road) -> str:
    assert road.decision is not None
    record = road.record
    if road.decision.reason == "unreachable" and record is not None and record.failure:
        return f"robots.txt unreachable: {safe(record.failure)}"
    return reason(road.decision)


def long(road: Road, screen: Screen) -> Iterator[str]:
    """The whole road, for ``explain``."""
    yield screen.paint("strong", safe(road.url))
    if road.decision is None:
        yield words.labelled("problem", safe(str(road.problem)))
        return
    word = words.allowed_word(road.decision.allowed, screen)
    yield words.labelled("verdict", f"{word} ({reason(road.decision)})")
    for label, text in facts(road):
        yield words.labelled(label, safe(text))
    if road.answer is not None and road.group is not None:
        yield from words.rules_asked(road.answer, road.group)
    yield words.labelled("took", duration(road.seconds))


def facts(road: Road) -> Iterator[Fact]:
    """How the robots.txt came here and what it meant, stop by stop. Not escaped."""
    decision = road.decision
    assert decision is not None
    if decision.origin is not None:
        yield "origin", str(decision.origin)
        yield "robots.txt", decision.origin.robots_url
    if road.record is not None:
        yield from _fetch_facts(road, road.record)
    if road.answer is None and decision.origin is not None:
        yield "crawler", crawler_words(road.tokens)
    if road.edition is not None:
        yield "edition", road.edition.name


def _fetch_facts(road: Road, record: RobotsRecord) -> Iterator[Fact]:
    for hop in record.hops:
        yield "redirect", f"{hop.status} at {hop.url}"
    if record.failed_at is not None and record.failed_at >= (record.fetched_at or 0.0):
        yield from _failure_facts(road, record)
    if record.meaning is None or record.fetched_at is None or record.expires_at is None:
        return
    yield (
        "status",
        f"{record.status}{f', {record.redirect_error}' if record.redirect_error else ''}",
    )
    yield "meant", _MEANINGS[record.meaning]
    source = "fetched just now" if road.fetched else "from the cache"
    age = duration(max(0.0, road.now - record.fetched_at))
    kept = duration(record.expires_at - record.fetched_at)
    yield "age", f"{age} ({source}), kept for {kept}"
    if record.meaning is Meaning.RULES:
        cut = ", cut at the size limit" if record.truncated else ""
        yield "size", f"{count(len(record.body), 'octet')}{cut}"


def _failure_facts(road: Road, record: RobotsRecord) -> Iterator[Fact]:
    assert record.unreachable_since is not None
    yield "failure", record.failure or "no answer"
    since = datetime.fromtimestamp(record.unreachable_since).astimezone()
    age = duration(max(0.0, road.now - record.unreachable_since))
    failures = count(record.failures, "failure")
    yield "since", f"{since:%Y-%m-%d %H:%M:%S %z} ({age} ago, {failures})"
    yield (
        "meant",
        "unreachable: a crawl lets the requests wait, asks again, and gives up in the end",
    )


def road_html(road: Road) -> str:
    """The road as a list of terms for the page."""
    if road.decision is None:
        return f"<p>{esc(str(road.problem))}</p>"
    listed = [("decision", reason(road.decision)), *facts(road), ("took", duration(road.seconds))]
    terms = "".join(f"<dt>{esc(name)}</dt><dd>{esc(text)}</dd>" for name, text in listed)
    heading = f"<h3>{verdict(road.decision.allowed)} {code(road.url)}</h3>"
    return f'<article class="answer">{heading}<dl>{terms}</dl></article>'


def short_object(road: Road) -> dict[str, Any]:
    """For ``check --json``."""
    decision = road.decision
    if decision is None:
        return {"url": road.url, "allowed": None, "problem": road.problem}
    found: dict[str, Any] = {"line": None, "rule": None, "pattern": None, "group": []}
    if decision.verdict is not None:
        found = verdict_object(decision.verdict)
    return {
        "url": road.url,
        **found,
        "allowed": decision.allowed,
        "reason": decision.reason,
        "tokens": list(road.tokens),
        "edition": road.edition.name if road.edition is not None else None,
        "origin": str(decision.origin) if decision.origin is not None else None,
        "outcome": decision.outcome,
        "status": decision.status,
        "age": decision.age,
    }


def long_object(road: Road) -> dict[str, Any]:
    """For ``explain --json``."""
    told = {**short_object(road), "seconds": round(road.seconds, 3)}
    decision, record = road.decision, road.record
    if road.answer is not None and road.group is not None:
        told = {**explained_object(road.answer, road.group), **told}
    if decision is not None and decision.origin is not None:
        told["robots_url"] = decision.origin.robots_url
    if record is not None:
        told |= _record_object(record)
        told["fetched_now"] = road.fetched
    return told


def _record_object(record: RobotsRecord) -> dict[str, Any]:
    lifetime = None
    if record.expires_at is not None and record.fetched_at is not None:
        lifetime = record.expires_at - record.fetched_at
    return {
        "hops": [{"url": hop.url, "status": hop.status} for hop in record.hops],
        "ended": record.redirect_error,
        "meaning": record.meaning.value if record.meaning is not None else None,
        "lifetime": lifetime,
        "octets": len(record.body),
        "truncated": record.truncated,
        "content_type": record.content_type,
        "failure": record.failure,
        "failures": record.failures,
        "unreachable_since": record.unreachable_since,
    }
