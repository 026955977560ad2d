"""Audit: judges requests by the robots.txt of their time."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from dataclasses import dataclass
from math import inf, nextafter
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.evidence.log_lines import Line, Members, State, conclusion
from scrapy_robotspec.evidence.own_fetches import LOST, OwnFetches, must_be_fetched, request_key
from scrapy_robotspec.evidence.replay import MAX_WORK, ReplayResult, RunReplay
from scrapy_robotspec.evidence.run_reader import RunReader, read_runs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.resolved import Resolved
    from scrapy_robotspec.evidence.access_logs import Request

#: Max disallowed requests that are kept.
_MAX_ACCUSED = 100_000
#: Max origins without evidence and max User-Agents of strangers that are kept, and max length of a
#: User-Agent and of what stands for an origin (characters).
_MAX_ORIGINS = 100
_MAX_SHOWN = 100
#: Max changes of the rules in force during one request that are read (SAF-05). A fleet has as many
#: in a moment as it has processes.
_MAX_CHANGES = 1000

#: Max runs that are looked at: in all, for each request, and for each state of the folder. Rules
#: that are parsed again count as several (SAF-05).
_MIN_LOOKS = 1_000_000
_LOOKS_PER_REQUEST = 100
_LOOKS_PER_STATE = 10_000
_LOOKS_PER_PARSE = 1000

_time_of = itemgetter(0)
_end_of = attrgetter("end")


class InForce(NamedTuple):
    """The rules in force for an origin."""

    rules: Sequence[Resolved] = ()
    """Those of the newest copy, and of the other crawls that ran; none: unknown."""
    is_sure: bool = False
    """Whether these are all: a crawl that lost its last lines may have fetched others, and the
    archive may lack a body."""
    since: float = inf
    until: float = inf
    """They hold before this time at least (epoch seconds)."""


class Timeline:
    """The states of every origin in an evidence folder.

    The constructor replays its runs: a state that does not follow from the archive proves nothing.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.reading = ReplayResult()
        self.tokens: set[tuple[str, ...]] = set()
        """The product tokens of each decision."""
        self.reset: set[str] = set()
        """Logs of the runs whose clock was set: a moment may be there twice, with other rules."""
        self._runs: list[RunReader] = []
        self._states: dict[Origin, dict[RunReader, list[tuple[float, str]]]] = {}
        """Time and id of each state, sorted by time; those of one time as written."""
        self.fetches = OwnFetches()
        for reader in read_runs(folder, self.reading):
            self._runs.append(reader)
            replayed = RunReplay(reader, self.reading)
            for line in reader.lines():
                replayed.take(line)
                self._add(reader, line)
            self.fetches.end_run(reader)
            self.reset.update([reader.log] if reader.summary.jumps else [])
        bounds = [inf]
        for run in self._runs:
            run.rules.max_size //= len(self._runs)
            run.limit = inf  # what the log asks for is bounded by counts
            bounds += (run.start, run.end - 1.0, run.end, run.end + LOST)
        self._bounds = sorted(bounds)
        """When a run began or ended, or may have lost lines."""
        self._recent: dict[Origin, InForce] = {}
        """The latest answer about each origin with a state."""
        states = sum(len(each) for runs in self._states.values() for each in runs.values())
        self.looks = _MIN_LOOKS + states * _LOOKS_PER_STATE
        """Number of runs that may still be looked at."""

    @property
    def period(self) -> tuple[float, ...]:
        """When the first run began and the last one ended (epoch seconds).

        Empty where no run has its first line.
        """
        known = [run for run in self._runs if run.start]
        return (min(run.start for run in known), max(run.end for run in known)) if known else ()

    def in_force(self, origin: Origin, since: float, until: float) -> Iterator[InForce]:
        """The rules in force for *origin*, one after another (epoch seconds)."""
        self.looks += _LOOKS_PER_REQUEST
        for _ in range(_MAX_CHANGES):
            found = self._at(origin, since)
            yield found if self._may_look(len(found.rules)) else InForce()
            since = found.until
            if since > until:
                return
        yield InForce()

    def _at(self, origin: Origin, time: float) -> InForce:
        """The rules in force for *origin* at *time*."""
        known = self._recent.get(origin, InForce())
        if known.since <= time < known.until:
            return known
        if origin not in self._states or not self._may_look(len(self._runs)):
            return InForce()
        self._recent[origin] = self._find(origin, time)
        return self._recent[origin]

    def _may_look(self, number: int) -> bool:
        """Count runs that are looked at; False where they are too many."""
        self.looks -= number
        if self.looks < 0:
            self.reading.add_note(
                "the log has too many changes between times and sites for the number of runs: some "
                "of its further requests are unknown"
            )
        return self.looks >= 0

    def _find(self, origin: Origin, time: float) -> InForce:
        """As :meth:`_at`, from the states of all runs."""
        until, held = self._bounds[bisect_right(self._bounds, time)], []
        for run, states in self._states[origin].items():
            at = bisect_right(states, time, key=_time_of)
            if at < len(states):
                until = min(until, states[at][0])
            if at and (run.summary.complete or time < run.end):
                held.append((*states[at - 1], run))
        usable: dict[object, Resolved] = {}  # by what they decide by: a fleet shares its files
        failed: list[Resolved] = []
        is_sure = all(
            run.summary.complete or not run.end - 1.0 <= time < run.end + LOST for run in self._runs
        )
        for _, id_, run in sorted(held, key=_time_of, reverse=True):
            # The newest copy lives on when its run has ended; others count while theirs runs.
            if usable and not run.start <= time < run.end:
                continue
            found, parsed = None, run.states.get(origin)
            with run.noting(id_):
                found = run.resolved(id_, origin, time)
            if run.states.get(origin) is not parsed and not self._may_look(_LOOKS_PER_PARSE):
                return InForce()
            if found is None:  # left out or damaged: it may have allowed anything
                is_sure = False
                continue
            until = min(until, found.valid_until)
            if found.action not in (Action.WAIT, Action.REFUSE):
                rules = found.robots and (found.robots.body, found.robots.edition)
                usable.setdefault((found.action, found.reason, rules), found)
            elif found.reason == "unreachable":
                failed.append(found)
        return InForce(list(usable.values()) or failed[:1], is_sure, time, until)

    def _add(self, run: RunReader, line: Line) -> None:
        values = line.values
        kind = values["type"]
        if kind == "state":
            with run.noting(values["id"]):  # in the words of the replay
                state = State.from_values(values)
                self.fetches.end(state.record.origin)
                states = self._states.setdefault(state.record.origin, {}).setdefault(run, [])
                insort(states, (state.time, state.id), key=_time_of)
        elif kind == "record":
            self.fetches.add_record(values)
        elif kind == "decision" and values["tokens"]:  # none where no rules were asked for
            self.tokens.add(tuple(values["tokens"]))
        elif kind == "run" and isinstance(shown := values.get("values"), dict):
            self.reading.add_agent(str(shown.get("USER_AGENT")))


class Disallowed(NamedTuple):
    """Why a request was disallowed."""

    origin: Origin
    reason: str
    line: int | None
    """Line of the rule, from 1; None: no rule decided."""
    rule: str


class Logged(NamedTuple):
    """A line of the decision log."""

    file: str
    line: int
    """From 1."""
    values: Members


@dataclass(slots=True)
class Accused:
    """A disallowed request, with what the evidence says about it."""

    request: Request
    url: str
    why: Disallowed
    end: float
    """The last moment at which it may have come (epoch seconds)."""
    decision: Logged | None = None
    """The one by which it left, or else the last before it."""
    left: float | None = None
    """When it left by that decision (epoch seconds)."""
    is_excused: bool = False
    """Whether it was allowed when it left."""
    is_unknown: bool = False
    """Whether it left by a release with other rules, which allowed it."""
    noted: tuple[Any, ...] = ()
    """Time and line of the last decision between the one before it and itself."""


#: Disallowed requests for the same, in the order of their ends.
_ByKey = dict[str, list[Accused]]


class Audit:
    """Judges requests of a crawler with *tokens*, and counts.

    A request is allowed if any rules in force during its time, or *tolerance* seconds before,
    allow it: its time in the log is not exact, and the rules may have changed on its way. Redirects
    and probes of the crawl's own robots.txt fetches are allowed.
    """

    def __init__(self, timeline: Timeline, tokens: tuple[str, ...], tolerance: float) -> None:
        self._timeline = timeline
        self._tokens = tokens
        self._tolerance = tolerance
        own = [re.escape(each) for each in tokens if each.lower() != "mozilla"]  # every browser's
        self._has_token = re.compile(
            rf"(?<![a-z_-])(?:{'|'.join(own) or '(?!)'})(?![a-z_-])", re.IGNORECASE
        ).search
        self.requests = 0
        self.unknown = 0
        """Requests without evidence for their origin and time, and :attr:`other_agents`."""
        self.unknown_origins: dict[str, None] = {}
        """The first origins of those; where a URL has no valid one, its beginning."""
        self.other_agents = 0
        """Requests disallowed to a User-Agent that is not the crawls'."""
        self.strangers: dict[str, None] = {}
        """The beginnings of the first of these User-Agents."""
        self.disallowed = 0
        self.accused: list[Accused] = []
        """The first disallowed requests."""

    def add(self, request: Request, origin: Origin | None, url: str) -> None:
        """Judge *request* for *url*, whose robots.txt is that of *origin*."""
        self.requests += 1
        if must_be_fetched(url):
            return
        if origin is None:
            self._add_unknown(url[:_MAX_SHOWN])
            return
        found, is_sure = None, True
        since = request.time - self._tolerance
        until = max(request.time, nextafter(request.time + request.resolution, -inf))
        for rules, is_complete, *_ in self._timeline.in_force(origin, since, until):
            is_sure &= is_complete
            if any(len(url) * len(each.record.body) > MAX_WORK for each in rules):
                is_sure = False
            elif rules:
                found = self._judge(rules, url)
                if found is None:
                    return
        if self._timeline.fetches.include(url, since, until + self._tolerance):
            return
        if found is None or not is_sure:
            self._add_unknown(origin)
            return
        agent = request.agent
        is_own = agent is None or agent in self._timeline.reading.agents or self._has_token(agent)
        if not is_own:
            self.unknown += 1
            self.other_agents += 1
            if len(self.strangers) < _MAX_ORIGINS:
                self.strangers.setdefault((agent or "")[:_MAX_SHOWN])
            return
        self.disallowed += 1
        if len(self.accused) < _MAX_ACCUSED:
            self.accused.append(Accused(request, url, found, until))

    def _add_unknown(self, origin: str) -> None:
        self.unknown += 1
        if len(self.unknown_origins) < _MAX_ORIGINS:
            self.unknown_origins.setdefault(origin)

    def look_up(self) -> None:
        """Find the decisions about disallowed requests in the evidence, and excuse some.

        A page that left while it was allowed may reach the log of its site after the rules changed.
        """
        wanted: _ByKey = defaultdict(list)
        for each in sorted(self.accused, key=_end_of):
            wanted[request_key(each.url)].append(each)
        if wanted:
            for reader in read_runs(self._timeline.folder, ReplayResult()):
                self._look_up(reader, wanted)
        for those in wanted.values():
            last = those[0].noted
            for each in those:
                last = max(last, each.noted)
                if last and each.left is None:
                    each.decision = last[1]
        self.unknown += sum(each.is_unknown and not each.is_excused for each in self.accused)
        found = [each for each in self.accused if not (each.is_excused or each.is_unknown)]
        self.disallowed -= len(self.accused) - len(found)
        self.accused = found

    def _look_up(self, reader: RunReader, wanted: _ByKey) -> None:
        """Find the decisions of one run, each for the first request that may follow it."""
        decided: dict[int, tuple[list[Accused], Logged]] = {}
        for line in reader.lines():
            values = line.values
            if values["type"] == "decision" and (those := wanted.get(request_key(values["url"]))):
                logged = Logged(reader.log, line.number, values)
                decided[values["number"]] = those, logged
                at = bisect_left(those, values["time"] - self._tolerance, key=_end_of)
                for each in those[at : at + 1]:
                    each.noted = max(each.noted, (values["time"], logged))
            elif values["type"] in ("sent", "answered") and values["decision"] in decided:
                self._note_page(reader, *decided.pop(values["decision"]), values)

    def _note_page(
        self, reader: RunReader, those: list[Accused], logged: Logged, line: Members
    ) -> None:
        """Excuse or doubt those of *those* that may be the page of a decision.

        *line* says when it left: it is excused if it was allowed then; or that another middleware
        answered, which may have sent it meanwhile.
        """
        allowed, time, excuses = logged.values["allowed"], line["time"], False
        if line["type"] == "sent":
            rules = next(self._timeline.in_force(those[0].why.origin, time, time)).rules
            excuses = allowed and bool(rules) and self._judge(rules, those[0].url) is None
            is_known = reader.has_our_rules and reader.log not in self._timeline.reset
            doubts = allowed and "state" in logged.values and not is_known
            since, until, left = time, time + line["seconds"], time
        else:
            since, until, left, doubts = logged.values["time"], time, None, allowed
        until += self._tolerance
        begin = bisect_left(those, since - self._tolerance, key=_end_of)
        for each in those[begin : bisect_right(those, until + 1.0, key=_end_of)]:
            if each.request.time <= until:
                each.decision, each.left = logged, left or each.left
                each.is_excused |= excuses
                each.is_unknown |= doubts

    def _judge(self, rules: Sequence[Resolved], url: str) -> Disallowed | None:
        """Why the first of *rules* disallows *url*; None if some of them allow it."""
        decisions = [each.decide(url, self._tokens, 0.0) for each in rules]
        if any(each.allowed for each in decisions):
            return None
        why = conclusion(decisions[0])
        rule = (why["rule"] or "").strip()
        return Disallowed(rules[0].origin, why["reason"], why["line"], rule)
