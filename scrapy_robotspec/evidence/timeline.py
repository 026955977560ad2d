"""Timeline: the rules in force for an origin at a moment."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.evidence.log_lines import EvidenceError
from scrapy_robotspec.evidence.run_reader import Reading, read_runs
from scrapy_robotspec.evidence.states import State
from scrapy_robotspec.protocol.paths import is_robots_txt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from scrapy_robotspec.access.policy import Plan
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.evidence.run_reader import RunReader
    from scrapy_robotspec.lookup import Resolved

#: Actions that let rules or a policy decide.
_USABLE = (Action.RULES, Action.ALLOW, Action.DISALLOW)
#: A killed process may have written nothing for this long before its last request (seconds).
_LOST = 10.0
#: Max origins whose plans are kept, and max moments whose rules are.
_MAX_ORIGINS, _MAX_PARTS = 10_000, 100
#: Max plans for one state: its copy is fresh, due, expired, and its failures are recent or old.
_MAX_PLANS = 20


class InForce(NamedTuple):
    """The rules in force for an origin during some time."""

    rules: tuple[Resolved, ...]
    """Those of the newest copy, then those of the other crawls that ran; none: unknown."""
    is_sure: bool
    """Whether no crawl may have fetched others, and lost its last lines."""


class _Span(NamedTuple):
    """An origin's plan in one run, from a moment on."""

    start: float
    plan: Plan
    record: RobotsRecord
    """Without its body."""
    state: str


class Timeline:
    """The states of every origin in an evidence folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.reading = Reading()
        self.tokens: set[tuple[str, ...]] = set()
        """The product tokens of the runs: those of the settings, else those of each decision."""
        self._runs: list[RunReader] = []
        self._origins: dict[Origin, dict[RunReader, list[tuple[float, str]]]] = {}
        """Time and id of each state, as read."""
        self._held = lru_cache(_MAX_ORIGINS)(self._find_held)
        self._from = lru_cache(_MAX_PARTS)(self._in_force_from)
        self._fetches: dict[str, list[tuple[float, float]]] = defaultdict(list)
        """Begin and end of each archived exchange whose URL is not that of a robots.txt."""

    @classmethod
    def read(cls, folder: Path) -> Timeline:
        """Read and check every run in *folder*."""
        timeline = cls(folder)
        for reader, lines in read_runs(folder, timeline.reading):
            timeline._runs.append(reader)
            asked: set[tuple[str, ...]] = set()
            for line in lines:
                values = line.values
                if values["type"] == "state":
                    timeline._add_state(reader, values)
                elif values["type"] == "record" and not must_be_fetched(values["url"]):
                    times = values.get("began", values["time"]), values["time"]
                    timeline._fetches[request_key(values["url"])].append(times)
                elif tokens := values.get("tokens"):  # none where no rules were asked for
                    asked.add(tuple(tokens))
            timeline.tokens |= asked if reader.tokens is None else {reader.tokens}
        for reader in timeline._runs:
            reader.max_bytes //= len(timeline._runs)
        return timeline

    def was_fetched(self, url: str, since: float, until: float) -> bool:
        """Whether a robots.txt fetch requested *url* during that time."""
        fetches = self._fetches.get(request_key(url), ())
        return any(began <= until and since <= ended for began, ended in fetches)

    def in_force(self, origin: Origin, since: float, until: float) -> Iterator[InForce]:
        """The rules in force for *origin*, one after another (epoch seconds)."""
        bounds, _ = self._held(origin)
        first, last = (bisect_right(bounds, time) for time in (since, until))
        for time in bounds[first - 1 : last]:
            yield self._from(origin, time)

    def _find_held(self, origin: Origin) -> tuple[list[float], list[tuple[RunReader, list[_Span]]]]:
        """When something else may be in force for *origin*, and what each run held of it."""
        states = self._origins.get(origin, {})
        held = [(run, _spans(run, origin, states[run])) for run in states]
        bounds = {-math.inf}
        for run in self._runs:
            if run.is_torn:
                bounds |= {run.end - 1.0, run.end + _LOST}
        for run, spans in held:
            bounds |= {run.start, run.end, *(span.start for span in spans)}
        return sorted(bounds), held

    def _in_force_from(self, origin: Origin, time: float) -> InForce:
        """The rules in force for *origin* at *time*."""
        usable, failed = [], []
        for run, spans in self._held(origin)[1]:
            at = bisect_right(spans, time, key=lambda span: span.start)
            if at and not (run.is_torn and time >= run.end):
                span = spans[at - 1]
                if span.plan.action in _USABLE:
                    usable.append((run, span))
                elif span.plan.reason == "unreachable":
                    failed.append((run, span))
        usable.sort(key=lambda each: -(each[1].record.fetched_at or 0.0))
        # The newest copy lives on when its run has ended; others count while theirs runs.
        others = [each for each in usable[1:] if each[0].start <= time < each[0].end]
        rules: list[Resolved] = []
        for run, span in usable[:1] + others or failed[:1]:
            with run.noting(span.state):
                rules.append(run.states.resolved(span.state, origin, max(span.start, 0.0)))
        is_sure = not any(
            run.is_torn and run.end - 1.0 <= time < run.end + _LOST for run in self._runs
        )
        return InForce(tuple(rules), is_sure)

    def _add_state(self, run: RunReader, values: Mapping[str, Any]) -> None:
        with run.noting(values["id"]):
            record = State.from_values(values).record
            states = self._origins.setdefault(record.origin, {})
            states.setdefault(run, []).append((record.updated_at, values["id"]))


def _spans(run: RunReader, origin: Origin, states: list[tuple[float, str]]) -> list[_Span]:
    """The plans of a run; none where the evidence is damaged."""
    with run.noting(str(origin)):
        return list(_plans(run, origin, sorted(states, key=itemgetter(0))))
    return []


def _plans(run: RunReader, origin: Origin, states: list[tuple[float, str]]) -> Iterator[_Span]:
    ends = [time for time, _ in states[1:]] + [math.inf]
    for (start, id_), end in zip(states, ends, strict=True):
        record = run.find_state(id_).record
        policy = run.settings.policy_of(origin)
        for _ in range(_MAX_PLANS):
            if start >= end:
                break
            plan = policy.plan(record, start)
            yield _Span(start, plan, record, id_)
            start = max(plan.until, math.nextafter(start, math.inf))
        else:
            raise EvidenceError(f"the times of {id_} lead to no plan")


def request_key(url: str) -> str:
    """*url* as requests of it are compared: origin, path and query."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return f"{Origin.of(url)}{parts.path or '/'}?{parts.query}"


def must_be_fetched(url: str) -> bool:
    """Whether *url* is a robots.txt, which a crawler has to request."""
    return is_robots_txt(url.partition("?")[0])
