"""Summary: counts of a crawl, and their table for its log."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

from scrapy_robotspec.access.outcome import Meaning
from scrapy_robotspec.plugin.reporting.counts import Counts, answer_of, count_usage, deciding_line
from scrapy_robotspec.render.text import columns, duration, safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord

#: Max lines of the table of one kind.
TOP = 5
#: Attempts that took less are not named (seconds).
SLOW = 1.0
#: Max rules that are counted one by one; the rarest are dropped first.
RULES_COUNTED = 1000
#: Max unreachable origins that are remembered.
DOWN_COUNTED = 10_000
#: Max stored length of a rule (characters).
RULE_WIDTH = 120

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


class Summary(Counts):
    """Counts of one crawl, whose memory does not grow with it."""

    def __init__(self) -> None:
        self._origins: Counter[str] = Counter()
        """Origins by what their latest attempt meant."""
        self._attempts: Counter[str] = Counter()
        self._overridden: Counter[str] = Counter()
        self._let_through = 0
        self._refused: Counter[str] = Counter()
        self._usage: dict[str, dict[str, int]] = {}
        self._slowest: dict[Origin, float] = {}
        self._down: dict[Origin, str] = {}
        self._rules: Counter[_Rule] = Counter()

    # --- events

    def fetched(
        self, record: RobotsRecord, before: RobotsRecord | None, seconds: float, now: float
    ) -> None:
        answer, origin = answer_of(record), record.origin
        if answer is None:
            return
        previous = answer_of(before)
        if previous is not None and self._origins[previous]:
            self._origins[previous] -= 1
        self._origins[answer] += 1
        self._attempts[answer] += 1
        self._keep_slowest(origin, seconds)
        self._keep_down(origin, record if answer == Meaning.UNREACHABLE.value else None)

    def let_through(self, origin: Origin) -> None:
        self._let_through += 1

    def revoked(self, origin: Origin) -> None:
        self._let_through -= 1

    def overridden(self, kinds: tuple[str, ...], origin: Origin) -> None:
        self._overridden.update(kinds)

    def usage(self, counts: Mapping[str, str], origin: Origin) -> None:
        count_usage(self._usage, counts)

    def refused(self, decision: Decision, url: str) -> None:
        self._refused[decision.reason] += 1
        line, text = deciding_line(decision)
        if line is not None and text is not None and decision.origin is not None:
            self._rules[decision.origin, line, text[:RULE_WIDTH]] += 1
            if len(self._rules) > 2 * RULES_COUNTED:
                self._rules = Counter(dict(self._rules.most_common(RULES_COUNTED)))

    # --- output

    def table(self, pending: Sequence[tuple[Origin, float]] = ()) -> str:
        """The summary of the crawl, a few lines of text.

        *pending*: origins without an answer so far, each with its age in seconds.
        """
        return "\n".join(columns([*self._totals(pending), *self._tops(pending)]))

    def _totals(self, pending: Sequence[tuple[Origin, float]]) -> Iterator[tuple[str, str]]:
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
        refused = f"{self._refused.total():,} refused"
        if self._refused:
            reasons = (f"{number:,} {_reason(key)}" for key, number in self._refused.most_common())
            refused += f" ({', '.join(reasons)})"
        yield "requests", f"{self._let_through:,} let through, {refused}"
        if self._overridden:
            kinds = (f"{number:,} by {kind}" for kind, number in self._overridden.most_common())
            yield "overridden", ", ".join(kinds)
        for label, counts in self._usage.items():
            parts_of = (f"{counts[key]:,} {word}" for key, word in _USAGE.items() if key in counts)
            yield f"usage {label}", ", ".join(parts_of)

    def _tops(self, pending: Sequence[tuple[Origin, float]]) -> Iterator[tuple[str, str]]:
        for at, (origin, seconds) in enumerate(pending[:TOP]):
            yield "" if at else "still pending", f"{duration(seconds):>8}  {origin}"
        if len(pending) > TOP:
            yield "", f"and {len(pending) - TOP:,} more"
        for at, (origin, failure) in enumerate(islice(self._down.items(), TOP)):
            yield "" if at else "still unreachable", f"{origin}: {safe(failure)}"
        if len(self._down) > TOP:
            yield "", f"and {len(self._down) - TOP:,} more"
        slow = (item for item in self._slowest.items() if item[1] >= SLOW)
        slowest = sorted(slow, key=lambda item: -item[1])
        for at, (origin, seconds) in enumerate(slowest):
            yield "" if at else "slowest answers", f"{duration(seconds):>8}  {origin}"
        for at, ((origin, line, text), number) in enumerate(self._rules.most_common(TOP)):
            place = f"{number:>8,}  {origin} line {line}"
            yield "" if at else "refused most", f"{place}: {safe(text.strip(), RULE_WIDTH)}"

    # --- counting

    def _keep_slowest(self, origin: Origin, seconds: float) -> None:
        self._slowest[origin] = max(seconds, self._slowest.get(origin, 0.0))
        if len(self._slowest) > TOP:
            del self._slowest[min(self._slowest, key=self._slowest.__getitem__)]

    def _keep_down(self, origin: Origin, failed: RobotsRecord | None) -> None:
        if failed is None:
            self._down.pop(origin, None)
        elif origin in self._down or len(self._down) < DOWN_COUNTED:
            self._down[origin] = failed.failure or "no answer"


def _reason(reason: str) -> str:
    return _REASONS.get(reason, reason.replace("_", " "))
