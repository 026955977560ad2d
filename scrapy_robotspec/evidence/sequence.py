"""Sequence: whether the lines of a run can follow each other.

The owner of a folder can write all lines and hashes again; lines that then contradict each other
are found here. The rules of a page hold until it leaves (CAC-07).
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy_robotspec.evidence.log_lines import EvidenceError, logged_outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.evidence.states import State

#: The clock may be off by a second without a note in the log, at each of two lines (seconds).
_UNNOTED = 2.0
#: Seconds between the last check of a page and the time at which it leaves.
_SENDING = 1.0


class _Passed(NamedTuple):
    """A decision by which one page may leave."""

    time: float
    valid_until: float
    """Epoch seconds."""
    state: str | None
    outcome: str


class Sequence:
    """Takes the lines of a run in order.

    *start*: the time of the first one (epoch seconds). Each method raises ``EvidenceError`` for a
    line that contradicts those before it.
    """

    def __init__(self, start: float) -> None:
        self._number = 0
        """That of the last decision."""
        self._latest = start
        self._set_back = 0.0
        """Seconds by which the clock was set back so far."""
        self._states: dict[Origin, State] = {}
        """The latest of each origin."""
        self._replaced: dict[str, float] = {}
        """When a state was replaced, by its id (epoch seconds)."""
        self._passed: dict[int, _Passed] = {}
        """Decisions by which no page has left yet, by number."""

    def take_number(self, number: int) -> None:
        """Check that the numbers of decisions follow each other."""
        before, self._number = self._number, number
        if number != before + 1:
            raise EvidenceError(f"the decision {number} stands after {before}")

    def take_time(self, values: Mapping[str, Any]) -> None:
        """Check that times do not go back."""
        if values["type"] == "clock":
            self._set_back += max(0.0, -values["jump"])
        written = _written_at(values)
        if written is None:
            return
        before, self._latest = self._latest, max(self._latest, written)
        if written < before - _UNNOTED - self._set_back:
            self._latest = written
            raise EvidenceError(f"its time is {before - written:g} s before that of another line")

    def take_state(self, state: State) -> None:
        """Take a state, which replaces the one before it."""
        origin = state.record.origin
        known = self._states.get(origin)
        if state.before is not None:
            self.check_state(state.before, state.time)
        if known is not None and state.time < known.time - self._set_back:
            self._replaced[state.id] = known.time  # of a decision that took a moment to apply
            return
        if known is not None:
            self._replaced[known.id] = state.time
        self._states[origin] = state

    def check_state(self, id_: str, at: float) -> None:
        """Check that no later state was held at the time *at*."""
        late = at - self._replaced.get(id_, inf) - self._set_back
        if late > 0:
            raise EvidenceError(f"{id_} had been replaced {late:g} s before")

    def take_decision(self, values: Mapping[str, Any], valid_until: float = inf) -> None:
        """Take a decision by rules that hold up to *valid_until* (epoch seconds)."""
        state, rules_time = values.get("state"), values.get("rules_time")
        if rules_time is not None and values["stage"] != "response":
            raise EvidenceError("it is made by the rules of another time, before its page left")
        if state is not None:
            self.check_state(state, rules_time or values["time"])
        if values["allowed"] and values["stage"] == "request":
            outcome = logged_outcome(values)
            self._passed[values["number"]] = _Passed(values["time"], valid_until, state, outcome)

    def take_sent(self, values: Mapping[str, Any]) -> str:
        """Take a page that left, and return its decision's outcome."""
        number, left = values["decision"], values["time"]
        passed = self._passed.pop(number, None)
        if passed is None:
            raise EvidenceError(
                f"a page left that the decision {number} does not allow (any more), or its line is "
                "missing"
            )
        early = passed.time - left - _UNNOTED - self._set_back
        if early > 0:
            raise EvidenceError(f"a page left {early:g} s before its decision {number}")
        until = min(passed.valid_until, self._replaced.get(passed.state or "", inf))
        late = left - until - _SENDING - self._set_back
        if late > 0:
            raise EvidenceError(
                f"a page left {late:g} s after the rules of its decision {number} had expired or "
                "had been replaced"
            )
        return passed.outcome


def _written_at(values: Mapping[str, Any]) -> float | None:
    """When a line was made (epoch seconds); None where its time says nothing about that."""
    kind = values["type"]
    time: float = values["time"]
    if kind == "sent":
        return time + float(values["seconds"])
    if kind in ("run", "clock", "gap"):  # written by the recorder, before or after others
        return None
    if kind == "record" and values.get("began") is None:  # fetched by another process
        return None
    if kind == "decision" and values["stage"] == "browser":  # applied some time later
        return None
    return time
