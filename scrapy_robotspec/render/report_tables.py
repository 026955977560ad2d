"""Tables of a crawl's report: the first rows of each kind."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from heapq import nlargest
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from scrapy_robotspec.access.outcome import Meaning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from scrapy_robotspec.render.crawl_report import OriginStats

_T = TypeVar("_T")

#: Max rows of a table. Ten tables of these rows keep a page below 5 MB.
MAX_ROWS = 200
#: Where no wait took longer, none is shown (seconds).
SHORTEST_WAIT = 1.0
#: Max origins that are named beside a count.
MAX_NAMED = 3


@dataclass(frozen=True, slots=True)
class Top(Generic[_T]):  # a NamedTuple is generic from Python 3.11 on only
    """The first rows of a table."""

    rows: Sequence[_T]
    more: int
    """Number of rows that are left out."""


def top(rows: Iterable[_T], key: Callable[[_T], float], limit: int = MAX_ROWS) -> Top[_T]:
    """The *limit* rows with the largest *key*."""
    all_rows = list(rows)
    return Top(nlargest(limit, all_rows, key=key), max(0, len(all_rows) - limit))


# --- origins by what their robots.txt gave

PENDING = "pending"
OVERRIDE = "override"

#: Kind of answer -> title and what it means, in the order of the page.
ANSWERS = {
    Meaning.RULES.value: ("With a file", "its rules decide"),
    Meaning.ALLOW.value: ("Without a file", "everything is allowed"),
    Meaning.DISALLOW.value: ("Refused by ROBOTSPEC_STATUS_POLICY", "nothing is allowed"),
    Meaning.UNREACHABLE.value: ("Unreachable", "the latest attempt failed"),
    PENDING: ("Without an answer", "no attempt has ended"),
    OVERRIDE: ("Not requested", "ROBOTSPEC_OVERRIDES decides"),
}


class AnswerGroup(NamedTuple):
    """Origins whose robots.txt gave the same."""

    key: str
    title: str
    meaning: str
    number: int
    statuses: Sequence[tuple[str, int]]
    """HTTP statuses or failures, the most frequent first, with the number of origins."""
    origins: Top[OriginStats]


def answer_of(origin: OriginStats) -> str:
    """The key of *origin* in :data:`ANSWERS`."""
    if origin.answer is not None:
        return origin.answer
    return OVERRIDE if origin.overrides and origin.pending_since is None else PENDING


def answer_groups(origins: Sequence[OriginStats]) -> Iterator[AnswerGroup]:
    """The groups with at least one origin."""
    members: dict[str, list[OriginStats]] = {key: [] for key in ANSWERS}
    for origin in origins:
        members[answer_of(origin)].append(origin)
    for key, (title, meaning) in ANSWERS.items():
        if members[key]:
            statuses = Counter(filter(None, map(_status, members[key])))
            yield AnswerGroup(
                key,
                title,
                meaning,
                len(members[key]),
                statuses.most_common(MAX_NAMED),
                top(members[key], lambda each: each.refused + each.let_through),
            )


def _status(origin: OriginStats) -> str | None:
    if origin.failure is not None:
        return _kind_of(origin.failure)
    if origin.doubt is not None:
        return origin.doubt
    return None if origin.status is None else f"HTTP status {origin.status}"


# --- refused requests

#: Reason of a refusal without a line -> its words.
REASONS = {
    "rule": "by further rules",
    "unreachable": "because robots.txt was unreachable",
    "policy": "by ROBOTSPEC_STATUS_POLICY",
    "override": "by ROBOTSPEC_OVERRIDES",
    "usage": "for usage preferences",
}


class RuleRow(NamedTuple):
    """Requests that lines of one text refused, at all sites."""

    rule: str
    reason: str
    requests: int
    sites: int
    examples: Sequence[str]


class ReasonRow(NamedTuple):
    """Requests that were refused without a line of robots.txt."""

    words: str
    requests: int
    origins: int
    examples: Sequence[str]


def by_rule(origins: Sequence[OriginStats]) -> Top[RuleRow]:
    """Refusals by the text of a robots.txt or override line, without its comment."""
    rows: dict[tuple[str, str], RuleRow] = {}
    for origin in origins:
        for refusal in origin.refused_by:
            if refusal.rule is not None:
                key = refusal.rule.partition("#")[0].strip(), refusal.reason
                known = rows.get(key, RuleRow(*key, 0, 0, ()))
                rows[key] = known._replace(
                    requests=known.requests + refusal.count,
                    sites=known.sites + 1,
                    examples=(*known.examples, *refusal.examples[:1])[:MAX_NAMED],
                )
    return top(rows.values(), lambda row: row.requests)


def by_reason(origins: Sequence[OriginStats]) -> list[ReasonRow]:
    """Refusals without a line, by reason."""
    counts: Counter[str] = Counter()
    number: Counter[str] = Counter()
    examples: dict[str, list[str]] = {}
    for origin in origins:
        for refusal in origin.refused_by:
            if refusal.rule is None:
                counts[refusal.reason] += refusal.count
                number[refusal.reason] += 1
                examples.setdefault(refusal.reason, []).extend(refusal.examples[:1])
    return [
        ReasonRow(reason_words(reason), total, number[reason], examples[reason][:MAX_NAMED])
        for reason, total in counts.most_common()
    ]


def reason_words(reason: str) -> str:
    """The words for the reason of a refusal that no line names."""
    return REASONS.get(reason, reason.replace("_", " "))


# --- failures, redirects, overrides, usage preferences


class NamedCount(NamedTuple):
    """Something that was counted at several origins."""

    name: str
    number: int
    origins: Top[OriginStats]
    example: str = ""


def failures(origins: Sequence[OriginStats]) -> Top[NamedCount]:
    """Failed attempts by kind, also of origins that answered later.

    The example is the rest of one failure, such as the name of its host.
    """
    examples: dict[str, str] = {}
    for origin in origins:
        for text in origin.failures:
            examples.setdefault(_kind_of(text), text.partition(":")[2].strip())
    found = _counted(origins, _failures_by_kind)
    rows = [row._replace(example=examples[row.name]) for row in found.rows]
    return Top(rows, found.more)


def _failures_by_kind(origin: OriginStats) -> Counter[str]:
    counts: Counter[str] = Counter()
    for text, number in origin.failures.items():
        counts[_kind_of(text)] += number
    return counts


def _kind_of(failure: str) -> str:
    """A failure without what differs from host to host."""
    return failure.partition(":")[0]


def overrides(origins: Sequence[OriginStats]) -> Top[NamedCount]:
    """Requests by kind of override."""
    return _counted(origins, lambda origin: origin.overrides)


def _counted(
    origins: Sequence[OriginStats], table_of: Callable[[OriginStats], Mapping[str, int]]
) -> Top[NamedCount]:
    numbers: Counter[str] = Counter()
    members: dict[str, list[OriginStats]] = {}
    for origin in origins:
        for name, number in table_of(origin).items():
            numbers[name] += number
            members.setdefault(name, []).append(origin)
    rows = [_named_count(name, numbers[name], members[name], table_of) for name in numbers]
    return top(rows, lambda row: row.number)


def _named_count(
    name: str,
    number: int,
    origins: Sequence[OriginStats],
    table_of: Callable[[OriginStats], Mapping[str, int]],
) -> NamedCount:
    return NamedCount(name, number, top(origins, lambda row: table_of(row)[name], MAX_NAMED))


def redirects(origins: Sequence[OriginStats]) -> Top[OriginStats]:
    """Origins whose robots.txt is a redirect."""
    return top((each for each in origins if each.redirects), lambda each: len(each.redirects))


def truncated(origins: Sequence[OriginStats]) -> Top[OriginStats]:
    """Origins whose robots.txt is longer than the parsing limit."""
    return top((each for each in origins if each.truncated), lambda each: each.bytes or 0)


def usage(origins: Sequence[OriginStats]) -> dict[str, Counter[str]]:
    """Pages by label of usage, then by preference."""
    table: dict[str, Counter[str]] = {}
    for origin in origins:
        for label, pages in origin.usage.items():
            table.setdefault(label, Counter()).update(pages)
    return table


# --- delays and waits


def delays(origins: Sequence[OriginStats]) -> Top[OriginStats]:
    """Origins that ask for a crawl delay, kept or not."""
    asking = (each for each in origins if each.crawl_delay or each.delay_not_kept)
    return top(asking, lambda each: each.crawl_delay or each.delay_not_kept or 0.0)


class Wait(NamedTuple):
    """The longest wait of one origin, or its current one."""

    origin: OriginStats
    seconds: float
    end: str


def waits(origins: Sequence[OriginStats], now: float) -> Top[Wait]:
    """The longest waits; empty if all were short and have ended."""
    found = top(filter(None, (_wait(each, now) for each in origins)), lambda wait: wait.seconds)
    is_long = any(wait.seconds >= SHORTEST_WAIT or wait.end == PENDING for wait in found.rows)
    return found if is_long else Top((), 0)


def _wait(origin: OriginStats, now: float) -> Wait | None:
    if origin.pending_since is not None:
        return Wait(origin, max(0.0, now - origin.pending_since), PENDING)
    if origin.wait_began is None:
        return None
    is_down = origin.answer == Meaning.UNREACHABLE.value
    return Wait(origin, origin.wait_seconds, "given up" if is_down else "answered")
