"""Sequence: whether the lines of a run can follow each other.

The owner of a folder can write all lines and hashes again; lines that then contradict each other
are found here. The rules of a page hold until it leaves (CAC-07).
"""

from __future__ import annotations

from collections import Counter
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy_robotspec.access.account import RequestCounts
from scrapy_robotspec.access.reasons import EXEMPT, OUTCOMES, Group
from scrapy_robotspec.evidence.log_lines import EvidenceError, logged_outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.evidence.states import State

#: The clock may be off by a second without a note in the log, at each of two lines (seconds).
_UNNOTED = 2.0
#: Seconds between the last check of a page and the time at which it leaves.
_SENDING = 1.0
#: Stages of decisions that refuse no page.
_ASIDE = ("question", "dry_run")
#: Lines that the recorder writes, before or after those of the same time.
_OWN = ("clock", "gap")


class _Passed(NamedTuple):
    """A decision by which one page may leave."""

    time: float
    valid_until: float
    """Epoch seconds."""
    state: str | None
    outcome: str


class Sequence:
    """Takes the lines of a run in order.

    Each method raises ``EvidenceError`` for a line that contradicts those before it.
    """

    def __init__(self) -> None:
        self._number = 0
        """That of the last decision."""
        self._latest = 0.0
        self._set_back = 0.0
        """Seconds by which the clock was set back so far."""
        self._states: dict[Origin, str] = {}
        """Id of the latest of each origin."""
        self._answered: dict[str, float] = {}
        """When a request of this crawl was answered, by the id of its archive record.

        A state takes what it was made from: one record cannot have all states read it.
        """
        self._replaced: dict[str | None, float] = {}
        """When a state was replaced, by its id (epoch seconds)."""
        self._passed: dict[int, _Passed] = {}
        """Decisions by which no page has left yet, by number."""
        self._decided: Counter[tuple[str, bool]] = Counter()
        """Decisions about pages, by outcome, and whether a browser may have asked for a part."""

    def take_time(self, values: Mapping[str, Any]) -> None:
        """Check that times do not go back."""
        kind, written = values["type"], values["time"] + values.get("seconds", 0.0)
        if kind == "clock":
            self._set_back += max(0.0, -values["jump"])
        if kind in _OWN or (kind == "record" and values.get("began") is None):
            return  # another process has fetched the record
        if kind == "record":
            self._answered[values["id"]] = values["time"]
            if values["began"] > written + self._set_back:
                raise EvidenceError("its answer is older than its request")
        before, self._latest = self._latest, max(self._latest, written)
        if written < before - _UNNOTED - self._set_back:
            self._latest = written
            raise EvidenceError(f"its time is {before - written:g} s before that of another line")

    def take_state(self, state: State) -> None:
        """Take a state, which replaces the one before it."""
        self._check_held(state.before, state.time)
        if state.source == "fetch":
            self._check_fetched(state)
        known = self._states.get(state.record.origin)
        if known is not None:
            self._replaced[known] = state.time
        self._states[state.record.origin] = state.id

    def _check_fetched(self, state: State) -> None:
        """Check that a fetch ends after its answers, and before its record is taken over."""
        ended = answered = state.record.updated_at
        for each in state.exchanges:
            if each not in self._answered:
                raise EvidenceError(
                    f"{each} answers no request of this crawl, or belongs to another state"
                )
            answered = self._answered.pop(each)
        if max(answered - ended, ended - state.time) > _UNNOTED + self._set_back:
            raise EvidenceError("its record is not of the time of its fetch")

    def _check_held(self, state: str | None, at: float) -> None:
        late = at - self._replaced.get(state, inf) - self._set_back
        if late > 0:
            raise EvidenceError(f"{state} had been replaced {late:g} s before")

    def take_decision(self, values: Mapping[str, Any], valid_until: float) -> None:
        """Take a decision by rules that hold up to *valid_until* (epoch seconds)."""
        before, self._number = self._number, values["number"]
        state, rules_time = values.get("state"), values.get("rules_time")
        if rules_time is not None and values["stage"] != "response":
            raise EvidenceError("it is made by the rules of another time, before its page left")
        self._check_held(state, rules_time or values["time"])
        outcome = logged_outcome(values)
        allowed, stage = values["allowed"], values["stage"]
        if stage == "request" or not (allowed or stage in _ASIDE):
            self._decided[outcome, stage == "browser"] += 1
        if allowed and stage == "request":
            self._passed[values["number"]] = _Passed(values["time"], valid_until, state, outcome)
        if self._number != before + 1:
            raise EvidenceError(f"the decision {self._number} stands after {before}")

    def take_sent(self, values: Mapping[str, Any]) -> str:
        """Take a page that left, and return its decision's outcome."""
        number, left = values["decision"], values["time"]
        passed = self._passed.pop(number, None)
        if passed is None:
            raise EvidenceError(
                f"a page left that the decision {number} does not allow (any more), or its line is "
                "missing"
            )
        until = min(passed.valid_until, self._replaced.get(passed.state, inf))
        seconds, moment = max(
            (passed.time - left - _UNNOTED, "before it"),
            (left - until - _SENDING, "after its rules had expired or had been replaced"),
        )
        if seconds > self._set_back:
            raise EvidenceError(f"a page of decision {number} left {seconds:g} s {moment}")
        return passed.outcome

    def take_end(self, values: Mapping[str, Any]) -> None:
        """Compare the account of the crawl with its lines.

        A request without a check may be a renderer's, which counts by the page's decision.
        """
        given = values.get("requests")
        if given is None or values["lost"]:
            return
        account, logged = RequestCounts(Counter(given)), self._decided
        allowed = account.of(Group.LET_THROUGH) + account.of(Group.NOT_CHECKED)
        counts = {"pages that left": allowed + given["after_sending"] - given["not_sent"]}
        found = {"pages that left": values["sent"]}
        for name, row in OUTCOMES.items():
            least = logged[name, False]
            most = least + logged[name, True] + (name != EXEMPT) * logged[EXEMPT, False]
            is_less = row.group is Group.REFUSED and given[name] < least
            if row.group is not Group.NO_ROBOTS_TXT and (is_less or given[name] > most):
                counts[name], found[name] = given[name], most
        if counts != found:
            raise EvidenceError(f"the crawl counts {counts}, the log has {found}")
