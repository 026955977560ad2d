"""Rows of the tables of a crawl's report.

The first cell of a row is its heading. Several texts in a cell are URLs. Where nothing else is
said, rows with the greatest numbers come first.
"""

from __future__ import annotations

from collections import Counter
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from scrapy_robotspec.access.outcome import Meaning
from scrapy_robotspec.render.text import count, duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scrapy_robotspec.render.crawl_report import OriginStats, RefusalStats

    Row: TypeAlias = "Sequence[str | int | tuple[str, ...]]"
    #: The number that rows are ordered by, and a row.
    NumberedRow: TypeAlias = "tuple[float, Row]"

#: Where no wait took longer, none is shown (seconds).
SHORTEST_WAIT = 1.0
#: Max origins or examples that are named beside a count.
MAX_NAMED = 3
#: Max length of an example (characters).
_MAX_EXAMPLE = 100


class AnswerGroup(NamedTuple):
    """Origins whose robots.txt gave the same."""

    title: str
    style: str
    """Its colour in the bar of origins."""
    number: int
    words: str
    """Its meaning, with the most frequent HTTP statuses or failures."""
    rows: list[Row]


def _ordered(rows: Iterable[NumberedRow]) -> list[Row]:
    return [row for _, row in sorted(rows, key=itemgetter(0), reverse=True)]


# --- origins by what their robots.txt gave

PENDING = "pending"
#: The end of a wait that ended with its requests, or with the crawl.
UNANSWERED = "no answer"
OVERRIDE = "override"

#: Kind of answer -> title, style and what it means, in the order of the page.
ANSWERS = {
    Meaning.RULES.value: ("With a file", "good", "its rules decide"),
    Meaning.ALLOW.value: ("Without a file", "lit", "everything is allowed"),
    Meaning.DISALLOW.value: ("Refused by ROBOTSPEC_STATUS_POLICY", "bad", "nothing is allowed"),
    Meaning.UNREACHABLE.value: ("Unreachable", "note", "the latest attempt failed"),
    PENDING: ("Without an answer", "soft", "no attempt has ended"),
    OVERRIDE: ("Not requested", "soft", "ROBOTSPEC_OVERRIDES decides"),
}


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
    for key, (title, style, meaning) in ANSWERS.items():
        if found := members[key]:
            statuses = Counter(filter(None, map(_status, found))).most_common(MAX_NAMED)
            words = ", ".join(f"{status}: {number:,}" for status, number in statuses)
            words = f"{meaning} ({words})" if words else meaning
            rows = _ordered(map(_origin_row, found))
            yield AnswerGroup(title, style, len(found), words, rows)


def _origin_row(origin: OriginStats) -> NumberedRow:
    size = count(origin.bytes, "byte") if origin.bytes else "none"
    status = str(origin.status or "none")
    cells = (origin.origin, status, origin.let_through, origin.refused, size)
    return origin.refused + origin.let_through, cells


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


def reason_words(reason: str) -> str:
    """The words for the reason of a refusal that no line names."""
    return REASONS.get(reason, reason.replace("_", " "))


def refusals(origins: Sequence[OriginStats], *, by_rule: bool) -> list[Row]:
    """Refusals by the text of a line, or those without by reason."""
    found: dict[str, list[RefusalStats]] = {}
    for origin in origins:
        for refusal in origin.refused_by:
            if (refusal.rule is not None) == by_rule:
                found.setdefault(_cause(refusal), []).append(refusal)
    rows: list[NumberedRow] = []
    for cause, ones in found.items():
        requests = sum(one.count for one in ones)
        examples = tuple(_cut(one.examples[0]) for one in ones if one.examples)[:MAX_NAMED]
        rows.append((requests, (cause, len(ones), requests, examples)))
    return _ordered(rows)


def _cause(refusal: RefusalStats) -> str:
    words = reason_words(refusal.reason)
    if refusal.rule is None:
        return words
    rule = refusal.rule.partition("#")[0].strip()  # without its comment
    return rule if refusal.reason == "rule" else f"{rule} ({words})"


def _cut(url: str) -> str:
    return url if len(url) <= _MAX_EXAMPLE else f"{url[:_MAX_EXAMPLE]}…"


# --- further tables


def failures(origins: Sequence[OriginStats]) -> list[Row]:
    """Failed attempts by kind.

    Each with the rest of one failure's words, such as the name of its host.
    """
    counts: list[tuple[str, OriginStats, int]] = []
    names: dict[str, str] = {}
    for origin in origins:
        for text, number in origin.failures.items():
            kind, _, rest = text.partition(":")
            names.setdefault(kind, f"{kind} ({rest.strip()})" if rest.strip() else kind)
            counts.append((names[kind], origin, number))
    return _counted(counts)


def _kind_of(failure: str) -> str:
    """A failure without what differs from host to host."""
    return failure.partition(":")[0]


def _counted(counts: Iterable[tuple[str, OriginStats, int]]) -> list[Row]:
    """Names with their number, and the origins with the most."""
    members: dict[str, Counter[str]] = {}
    for name, origin, number in counts:
        members.setdefault(name, Counter())[origin.origin] += number
    rows: list[NumberedRow] = []
    for name, numbers in members.items():
        named = ", ".join(origin for origin, _ in numbers.most_common(MAX_NAMED))
        if (more := len(numbers) - MAX_NAMED) > 0:
            named += f" and {more:,} more"
        rows.append((numbers.total(), (name, numbers.total(), named)))
    return _ordered(rows)


def usage(origins: Sequence[OriginStats]) -> list[Row]:
    """Pages by label of usage and preference."""
    found: dict[str, Counter[str]] = {}
    for origin in origins:
        for label, pages in origin.usage.items():
            found.setdefault(label, Counter()).update(pages)
    return _ordered(
        (pages.total(), (label, pages["allow"], pages["disallow"], pages["unknown"]))
        for label, pages in found.items()
    )


def delays(origins: Sequence[OriginStats]) -> list[Row]:
    """Origins that ask for a crawl delay, kept or not."""
    rows: list[NumberedRow] = []
    for each in origins:
        if each.crawl_delay:
            kept = each.crawl_delay
            rows.append((kept, (each.origin, f"keeps {duration(kept)}")))
        elif asked := each.delay_not_kept:
            rows.append((asked, (each.origin, f"asks {duration(asked)}, not kept")))
    return _ordered(rows)


def waits(origins: Sequence[OriginStats], now: float) -> list[Row]:
    """The longest or current wait of each origin.

    Empty if all were short and have ended.
    """
    rows: list[NumberedRow] = []
    is_long = False
    for each in origins:
        if each.pending_since is not None:
            seconds, end = max(0.0, now - each.pending_since), PENDING
        elif each.wait_began is not None:
            seconds, end = each.wait_seconds, _end_of_wait(each)
        else:
            continue
        is_long = is_long or seconds >= SHORTEST_WAIT or end in (PENDING, UNANSWERED)
        failure = each.failure or "none"
        rows.append((seconds, (each.origin, duration(seconds), end, each.asked, failure)))
    return _ordered(rows) if is_long else []


def _end_of_wait(origin: OriginStats) -> str:
    if origin.answer == Meaning.UNREACHABLE.value:
        return "given up"
    return UNANSWERED if origin.answered is None else "answered"
