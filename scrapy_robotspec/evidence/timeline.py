"""Timeline: the rules in force for an origin at a moment."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import SplitResult, urlsplit

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.evidence.log_lines import DAMAGE, EvidenceError
from scrapy_robotspec.evidence.run_reader import Reading, RunReader, read_runs, said
from scrapy_robotspec.evidence.states import States
from scrapy_robotspec.lookup.rules_cache import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from scrapy_robotspec.access.policy import Plan
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.evidence.run_reader import Progress
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


class _Run:
    """The states in one run."""

    states: States
    """Set where there are any."""

    def __init__(self, reader: RunReader) -> None:
        self.reader = reader
        self.origins: dict[Origin, list[tuple[float, str]]] = defaultdict(list)
        """Time and id of each state, as read."""

    @property
    def is_torn(self) -> bool:
        """Whether the last lines may be missing."""
        return not self.reader.summary.complete


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
        self._runs: list[_Run] = []
        self._origins: dict[Origin, list[_Run]] = defaultdict(list)
        self._held = lru_cache(_MAX_ORIGINS)(self._find_held)
        self._from = lru_cache(_MAX_PARTS)(self._in_force_from)
        self._fetches: dict[str, list[tuple[float, float]]] = defaultdict(list)
        """Begin and end of each archived exchange whose URL is not that of a robots.txt."""

    def __contains__(self, origin: Origin) -> bool:
        return origin in self._origins

    @classmethod
    def read(cls, folder: Path, progress: Progress | None = None) -> Timeline:
        """Read and check every run in *folder*."""
        timeline = cls(folder)
        for reader, lines in read_runs(folder, timeline.reading, progress):
            run = _Run(reader)
            timeline._runs.append(run)
            asked: set[tuple[str, ...]] = set()
            for line in lines:
                values = line.values
                if values["type"] == "state":
                    timeline._add_state(run, values["id"])
                elif values["type"] == "record" and not is_robots_txt(values["url"]):
                    times = values.get("began", values["time"]), values["time"]
                    timeline._fetches[request_key(values["url"])].append(times)
                elif tokens := values.get("tokens"):  # none where no rules were asked for
                    asked.add(tuple(tokens))
            timeline.tokens |= asked if reader.tokens is None else {reader.tokens}
        for run in timeline._runs:
            if run.origins:
                run.states = States(run.reader, MAX_BYTES // len(timeline._runs))
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

    def _find_held(self, origin: Origin) -> tuple[list[float], list[tuple[_Run, list[_Span]]]]:
        """When something else may be in force for *origin*, and what each run held of it."""
        held = [(run, _spans(run, origin)) for run in self._origins.get(origin, ())]
        bounds = {-math.inf}
        for run in self._runs:
            if run.is_torn:
                bounds |= {run.reader.end - 1.0, run.reader.end + _LOST}
        for run, spans in held:
            bounds |= {run.reader.start, run.reader.end, *(span.start for span in spans)}
        return sorted(bounds), held

    def _in_force_from(self, origin: Origin, time: float) -> InForce:
        """The rules in force for *origin* at *time*."""
        usable, failed = [], []
        for run, spans in self._held(origin)[1]:
            at = bisect_right(spans, time, key=lambda span: span.start)
            if at and not (run.is_torn and time >= run.reader.end):
                span = spans[at - 1]
                if span.plan.action in _USABLE:
                    usable.append((run, span))
                elif span.plan.reason == "unreachable":
                    failed.append((run, span))
        usable.sort(key=lambda each: -(each[1].record.fetched_at or 0.0))
        # The newest copy lives on when its run has ended; others count while theirs runs.
        others = [each for each in usable[1:] if each[0].reader.start <= time < each[0].reader.end]
        chosen = usable[:1] + others or failed[:1]
        found = [_resolved(run, span, origin) for run, span in chosen]
        is_sure = not any(
            run.is_torn and run.reader.end - 1.0 <= time < run.reader.end + _LOST
            for run in self._runs
        )
        return InForce(tuple(each for each in found if each is not None), is_sure)

    def _add_state(self, run: _Run, id_: str) -> None:
        try:
            record = run.reader.find_state(id_).record
        except DAMAGE as error:
            run.reader.add_problem(f"{id_}: {said(error)}")
            return
        if record.origin not in run.origins:
            self._origins[record.origin].append(run)
        run.origins[record.origin].append((record.updated_at, id_))


def _resolved(run: _Run, span: _Span, origin: Origin) -> Resolved | None:
    """*origin* as *run* resolved it; None where the evidence is damaged."""
    try:
        return run.states.resolved(span.state, origin, max(span.start, 0.0))
    except DAMAGE as error:
        run.reader.add_problem(f"{span.state}: {said(error)}")
        return None


def _spans(run: _Run, origin: Origin) -> list[_Span]:
    try:
        return list(_plans(run, origin))
    except DAMAGE as error:
        run.reader.add_problem(f"{origin}: {said(error)}")
        return []


def _plans(run: _Run, origin: Origin) -> Iterator[_Span]:
    states = sorted(run.origins[origin], key=lambda state: state[0])
    ends = [time for time, _ in states[1:]] + [math.inf]
    for (start, id_), end in zip(states, ends, strict=True):
        record = run.reader.find_state(id_).record
        policy = run.reader.settings.policy_of(origin)
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
    parts = _split(url)
    return url if parts is None else f"{Origin.of(url)}{parts.path or '/'}?{parts.query}"


def is_robots_txt(url: str) -> bool:
    """Whether *url* is a robots.txt, which a crawler has to request."""
    parts = _split(url) if "/robots.txt" in url else None
    return parts is not None and parts.path == "/robots.txt"


def _split(url: str) -> SplitResult | None:
    try:
        return urlsplit(url)
    except ValueError:
        return None
