"""Timeline: the rules in force for an origin at a moment."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.evidence.bodies import load_state
from scrapy_robotspec.evidence.errors import EvidenceError
from scrapy_robotspec.evidence.runs import read_runs
from scrapy_robotspec.lookup.rules_cache import RulesCache

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.policy import Plan
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.evidence.run_reader import RunReader
    from scrapy_robotspec.evidence.runs import Progress
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt

#: Actions that let rules or a policy decide.
_USABLE = (Action.RULES, Action.ALLOW, Action.DISALLOW)


class InForce(NamedTuple):
    """The rules in force for an origin during some time."""

    since: float
    until: float
    """Epoch seconds, exclusive."""
    action: Action | None
    """None: unknown, for lack of evidence."""
    reason: str
    robots: RobotsTxt | None


class _Span(NamedTuple):
    """An origin's plan in one run, from a moment on."""

    start: float
    plan: Plan
    record: RobotsRecord
    """Without its body."""
    state: str
    run: int


class Timeline:
    """The states of every origin in an evidence folder."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.tokens: set[tuple[str, ...]] = set()
        """The product tokens of the runs: those of the settings, else those of each decision."""
        self._readers: list[RunReader] = []
        self._states: dict[Origin, list[tuple[float, int, str]]] = defaultdict(list)
        """Time, run and id of each state, as read."""
        self._spans: dict[Origin, dict[int, list[_Span]]] = {}
        self._rules: dict[int, RulesCache] = {}
        self._cached: dict[tuple[int, Origin], str] = {}
        """The state that each origin in a cache was made from."""

    def __contains__(self, origin: Origin) -> bool:
        return origin in self._states

    @classmethod
    def read(cls, folder: Path, progress: Progress | None = None) -> Timeline:
        """Read and check every run in *folder*."""
        timeline = cls()
        for number, (reader, lines) in enumerate(read_runs(folder, progress)):
            timeline._readers.append(reader)
            asked: set[tuple[str, ...]] = set()
            for line in lines:
                if reader.is_state(line.values.get("id", "")):
                    timeline._add(number, line.values["id"])
                elif tokens := line.values.get("tokens"):  # none where no rules were asked for
                    asked.add(tuple(tokens))
            timeline.problems += reader.problems
            fixed = None if reader.settings is None else reader.settings.tokens
            timeline.tokens |= asked if fixed is None else {fixed}
        return timeline

    def in_force(self, origin: Origin, time: float) -> InForce:
        """The rules in force for *origin* at *time*, by the newest copy."""
        runs = self._spans_of(origin)
        since, until = -math.inf, math.inf
        found = []
        for spans in runs.values():
            at = bisect_right(spans, time, key=lambda span: span.start)
            if at < len(spans):
                until = min(until, spans[at].start)
            if at:
                since = max(since, spans[at - 1].start)
                found.append(spans[at - 1])
        usable = [span for span in found if span.plan.action in _USABLE]
        if usable:
            span = max(usable, key=lambda span: span.record.fetched_at or 0.0)
            if span.plan.action is not Action.RULES:
                return InForce(since, until, span.plan.action, span.plan.reason, None)
            robots = self._robots(origin, span)
            action = None if robots is None else Action.RULES
            return InForce(since, until, action, "", robots)
        if any(span.plan.reason == "unreachable" for span in found):
            return InForce(since, until, Action.REFUSE, "unreachable", None)
        return InForce(since, until, None, "unknown", None)

    def _add(self, run: int, id_: str) -> None:
        reader = self._readers[run]
        try:
            record = reader.find_state(id_).record
            self._states[record.origin].append((record.updated_at, run, id_))
        except EvidenceError as error:
            self.problems.append(f"{reader.name}: {error}")

    def _spans_of(self, origin: Origin) -> dict[int, list[_Span]]:
        spans = self._spans.get(origin)
        if spans is None:
            spans = self._spans[origin] = defaultdict(list)
            states = self._states.get(origin, [])
            for run in dict.fromkeys(run for _, run, _ in states):
                own = sorted(((time, id_) for time, of, id_ in states if of == run), key=_time)
                ends = [time for time, _ in own[1:]] + [math.inf]
                for (start, id_), end in zip(own, ends, strict=True):
                    spans[run] += self._plans(run, id_, start, end)
        return spans

    def _plans(self, run: int, id_: str, start: float, end: float) -> Iterator[_Span]:
        """The plans for a state until the next one replaces it."""
        reader = self._readers[run]
        record = reader.find_state(id_).record
        assert reader.settings is not None
        policy = reader.settings.policy_of(record.origin)
        while start < end:
            plan = policy.plan(record, start)
            yield _Span(start, plan, record, id_, run)
            start = max(plan.until, math.nextafter(start, math.inf))

    def _robots(self, origin: Origin, span: _Span) -> RobotsTxt | None:
        """The rules of a span; None where their record is damaged."""
        reader = self._readers[span.run]
        settings = reader.settings
        assert settings is not None
        cache = self._rules.setdefault(span.run, RulesCache(max_size=settings.max_size))
        kept = cache.get(origin)
        if kept is not None and self._cached.get((span.run, origin)) == span.state:
            return kept.robots
        try:
            state = load_state(reader, span.state)
        except EvidenceError as error:
            self.problems.append(f"{reader.name}: {error}")
            return None
        edition = settings.policy_of(origin).edition
        resolved = cache.put(cache.make(state.record, span.plan, edition, span.start))
        self._cached[span.run, origin] = span.state
        return resolved.robots


def _time(state: tuple[float, str]) -> float:
    return state[0]
