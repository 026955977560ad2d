"""Summary: counts of a crawl, and their table for its log."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from scrapy_robotspec.access.outcome import Meaning
from scrapy_robotspec.render.text import columns, duration, safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord

#: Max lines of the table of one kind.
TOP = 5
#: Max rules that are counted one by one; the rarest are dropped first.
RULES_COUNTED = 1000
#: Max origins that are remembered, of those that are unreachable and of those with a delay.
ORIGINS_COUNTED = 10_000
#: Max stored length of a rule or a URL (characters).
MAX_TEXT = 200

#: The words of the table for what the latest attempt meant, in the order of equal numbers.
_WORDS = {
    Meaning.RULES.value: "with rules",
    Meaning.ALLOW.value: "without a file (all allowed)",
    Meaning.DISALLOW.value: "disallowed by policy",
    Meaning.UNREACHABLE.value: "unreachable",
}

#: The words of the table for a refusal's reason.
_REASONS = {
    "rule": "by a rule",
    "policy": "by policy",
    "override": "by an override",
    "usage": "by a usage preference",
}

#: A rule as it is counted: origin, line number, beginning of the line.
_Rule = tuple["Origin", int, str]


class Summary:
    """Counts of one crawl, whose memory does not grow with it."""

    def __init__(self) -> None:
        self._origins = Counter(dict.fromkeys(_WORDS, 0))
        """Origins by what their latest attempt meant."""
        self._refused: Counter[str] = Counter()
        self._down: dict[Origin, str] = {}
        self._rules: Counter[_Rule] = Counter()

    # --- events

    def fetched(self, record: RobotsRecord, before: RobotsRecord | None) -> None:
        """An attempt turned *before* into *record*."""
        answer = answer_of(record)
        if before is not None and self._origins[answer_of(before)]:
            self._origins[answer_of(before)] -= 1
        self._origins[answer] += 1
        if answer != Meaning.UNREACHABLE.value:
            self._down.pop(record.origin, None)
        elif record.origin in self._down or len(self._down) < ORIGINS_COUNTED:
            self._down[record.origin] = record.failure or "no answer"

    def refused(self, decision: Decision) -> None:
        """A request was refused."""
        self._refused[decision.reason] += 1
        line, text, _ = deciding_line(decision)
        if line is not None and text is not None and decision.origin is not None:
            self._rules[decision.origin, line, text] += 1
            if len(self._rules) > 2 * RULES_COUNTED:
                self._rules = Counter(dict(self._rules.most_common(RULES_COUNTED)))

    # --- output

    def table(self, let_through: int, pending: Sequence[tuple[Origin, float]] = ()) -> str:
        """The summary of the crawl, a few lines of text.

        *let_through*: number of requests. *pending*: origins without an answer so far, each with
        its age in seconds.
        """
        waits = [f"{duration(seconds):>8}  {origin}" for origin, seconds in pending]
        down = [f"{origin}: {safe(failure)}" for origin, failure in self._down.items()]
        rules = [
            f"{number:>8,}  {origin} line {line}: {safe(text.strip())}"
            for (origin, line, text), number in self._rules.most_common(TOP)
        ]
        silent = sum(origin not in self._down for origin, _ in pending)
        origins = Counter({**self._origins, "without an answer so far": silent})
        refused = f"{self._refused.total():,} refused{_by_kind(self._refused, _REASONS)}"
        rows = [
            ("origins", f"{origins.total():,}{_by_kind(origins, _WORDS)}"),
            ("requests", f"{let_through:,} let through, {refused}"),
            *_named("still pending", waits),
            *_named("still unreachable", down),
            *_named("refused most", rules),
        ]
        return "\n".join(columns(rows))


def _by_kind(counts: Counter[str], words: Mapping[str, str]) -> str:
    """The numbers above 0 in brackets, the greatest first; empty if there are none."""
    numbers = [(number, words.get(kind, kind)) for kind, number in counts.most_common() if number]
    parts = ", ".join(f"{number:,} {word}" for number, word in numbers)
    return f" ({parts})" if parts else ""


def _named(title: str, lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The first of *lines* as rows, and the number of the others."""
    for at, line in enumerate(lines[:TOP]):
        yield "" if at else title, line
    if len(lines) > TOP:
        yield "", f"and {len(lines) - TOP:,} more"


def answer_of(record: RobotsRecord) -> str:
    """Meaning of the latest attempt, or its doubt (FET-20)."""
    failed = record.failed_at is not None and record.failed_at >= (record.fetched_at or 0.0)
    if failed or record.meaning is None:
        return Meaning.UNREACHABLE.value
    return record.no_robots_txt or record.meaning.value


def deciding_line(decision: Decision) -> tuple[int | None, str | None, str | None]:
    """Number, text and path pattern of the deciding line, cut."""
    if decision.usage is not None:
        from scrapy_robotspec.access.usage_policy import as_written

        statement = decision.usage.statement
        return decision.usage.line, None if statement is None else cut(as_written(statement)), None
    rule = decision.verdict.rule if decision.verdict is not None else None
    return (None, None, None) if rule is None else (rule.line, cut(rule.text), cut(rule.pattern))


def cut(text: str) -> str:
    """*text*, at most :data:`MAX_TEXT` characters of it."""
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"
