"""Summary: counts of a crawl, and their table for its log."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any

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
#: Max unreachable origins that are remembered.
DOWN_COUNTED = 10_000
#: Max stored length of a rule or a URL (characters).
MAX_TEXT = 200

#: The words of the table for what the latest attempt meant, in its order.
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

#: The words of the table for a page's usage preference.
_USAGE = {"allow": "allowed", "disallow": "disallowed", "unknown": "unknown"}

#: A rule as it is counted: origin, line number, beginning of the line.
_Rule = tuple["Origin", int, str]


class Summary:
    """Counts of one crawl, whose memory does not grow with it."""

    def __init__(self) -> None:
        self._origins: Counter[str] = Counter()
        """Origins by what their latest attempt meant."""
        self._attempts: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()
        self._down: dict[Origin, str] = {}
        self._rules: Counter[_Rule] = Counter()

    # --- events

    def fetched(self, record: RobotsRecord, before: RobotsRecord | None) -> None:
        """An attempt turned *before* into *record*."""
        answer = answer_of(record)
        if answer is None:
            return
        previous = answer_of(before)
        if previous is not None and self._origins[previous]:
            self._origins[previous] -= 1
        self._origins[answer] += 1
        self._attempts[answer] += 1
        if answer != Meaning.UNREACHABLE.value:
            self._down.pop(record.origin, None)
        elif record.origin in self._down or len(self._down) < DOWN_COUNTED:
            self._down[record.origin] = record.failure or "no answer"

    def refused(self, decision: Decision) -> None:
        """A request was refused."""
        self._refused[decision.reason] += 1
        line, text = deciding_line(decision)
        if line is not None and text is not None and decision.origin is not None:
            self._rules[decision.origin, line, text[:MAX_TEXT]] += 1
            if len(self._rules) > 2 * RULES_COUNTED:
                self._rules = Counter(dict(self._rules.most_common(RULES_COUNTED)))

    # --- output

    def table(
        self,
        let_through: int,
        stats: Mapping[str, Any],
        pending: Sequence[tuple[Origin, float]] = (),
    ) -> str:
        """The summary of the crawl, a few lines of text.

        *let_through*: number of requests. *stats*: the crawl's. *pending*: origins without an
        answer so far, each with its age in seconds.
        """
        requests = self._requests(let_through, stats)
        return "\n".join(columns([*self._origin_counts(pending), *requests, *self._tops(pending)]))

    def _origin_counts(self, pending: Sequence[tuple[Origin, float]]) -> Iterator[tuple[str, str]]:
        words = {**_WORDS, **{key: key for key in self._origins if key not in _WORDS}}
        numbers = [(self._origins[key], word) for key, word in words.items()]
        silent = len([origin for origin, _ in pending if origin not in self._down])
        numbers.append((silent, "without an answer so far"))
        total = sum(number for number, _ in numbers)
        parts = ", ".join(f"{number:,} {word}" for number, word in numbers if number)
        yield "origins", f"{total:,}{f' ({parts})' if parts else ''}"
        failed = self._attempts[Meaning.UNREACHABLE.value]
        if failed:
            attempts = f"{failed:,} of {self._attempts.total():,}"
            yield "attempts", f"{attempts} without a usable answer"

    def _requests(self, let_through: int, stats: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        refused = f"{self._refused.total():,} refused"
        if self._refused:
            reasons = (f"{number:,} {_reason(key)}" for key, number in self._refused.most_common())
            refused += f" ({', '.join(reasons)})"
        yield "requests", f"{let_through:,} let through, {refused}"
        overridden = _under("override", stats)
        if overridden:
            kinds = (f"{number:,} by {kind}" for kind, number in overridden.most_common())
            yield "overridden", ", ".join(kinds)
        pages = _under("usage", stats)
        for label in dict.fromkeys(key.partition("/")[0] for key in pages):
            numbers = ((pages[f"{label}/{key}"], word) for key, word in _USAGE.items())
            shown = (f"{number:,} {word}" for number, word in numbers if number)
            yield f"usage {label}", ", ".join(shown)

    def _tops(self, pending: Sequence[tuple[Origin, float]]) -> Iterator[tuple[str, str]]:
        for at, (origin, seconds) in enumerate(pending[:TOP]):
            yield "" if at else "still pending", f"{duration(seconds):>8}  {origin}"
        if len(pending) > TOP:
            yield "", f"and {len(pending) - TOP:,} more"
        for at, (origin, failure) in enumerate(islice(self._down.items(), TOP)):
            yield "" if at else "still unreachable", f"{origin}: {safe(failure)}"
        if len(self._down) > TOP:
            yield "", f"and {len(self._down) - TOP:,} more"
        for at, ((origin, line, text), number) in enumerate(self._rules.most_common(TOP)):
            place = f"{number:>8,}  {origin} line {line}"
            yield "" if at else "refused most", f"{place}: {safe(text.strip(), MAX_TEXT)}"


def _under(folder: str, stats: Mapping[str, Any]) -> Counter[str]:
    """Our counts under *folder*, by the rest of the name."""
    names = ((name, name.split("/", 2)) for name in stats if name.count("/") > 1)
    own = ["robotspec", folder]
    return Counter({parts[2]: stats[name] for name, parts in names if parts[:2] == own})


def answer_of(record: RobotsRecord | None) -> str | None:
    """Meaning of the latest attempt or its doubt, in the summary's words."""
    if record is None:
        return None
    if record.failed_at is not None and record.failed_at >= (record.fetched_at or 0.0):
        return Meaning.UNREACHABLE.value
    if record.no_robots_txt is not None:
        return record.no_robots_txt
    is_error = record.status in range(400, 500) and record.status not in (404, 410)
    if is_error and record.meaning is Meaning.ALLOW:  # a file may well exist
        return f"with HTTP status {record.status} (all allowed)"
    return record.meaning.value if record.meaning is not None else None


def deciding_line(decision: Decision) -> tuple[int | None, str | None]:
    """Number and text of the line that refused a request."""
    if decision.usage is not None:
        from scrapy_robotspec.access.usage_policy import as_written

        statement = decision.usage.statement
        return decision.usage.line, as_written(statement) if statement is not None else None
    rule = decision.verdict.rule if decision.verdict is not None else None
    return (None, None) if rule is None else (rule.line, rule.text)


def _reason(reason: str) -> str:
    return _REASONS.get(reason, reason.replace("_", " "))
