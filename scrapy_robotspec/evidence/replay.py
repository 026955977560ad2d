"""Replay: every logged decision made again, from the archive alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.evidence.bodies import load_state
from scrapy_robotspec.evidence.decisions import (
    NO_ANSWER,
    OVERRIDE,
    conclusion,
    grounds,
    stated_usage,
)
from scrapy_robotspec.evidence.errors import EvidenceError
from scrapy_robotspec.evidence.runs import read_runs
from scrapy_robotspec.evidence.states import check_fetch
from scrapy_robotspec.lookup.rules_cache import RulesCache
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.protocol.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from scrapy_robotspec.evidence.log_lines import Line
    from scrapy_robotspec.evidence.run_reader import RunReader
    from scrapy_robotspec.evidence.run_settings import RunSettings
    from scrapy_robotspec.evidence.runs import Progress
    from scrapy_robotspec.lookup import Resolved

#: An answer that came this much earlier (seconds) may not have reached the request that waited.
_RACE = 1.0
#: Max problems and differences that are listed; all are counted.
MAX_LISTED = 1000


@dataclass(slots=True)
class ReplayResult:
    """Counts and problems of a replay."""

    decisions: int = 0
    differ: int = 0
    problem_count: int = 0
    problems: list[str] = field(default_factory=list)
    """The first of the problems and differences, each a sentence."""
    notes: list[str] = field(default_factory=list)
    heads: dict[str, str] = field(default_factory=dict)
    """The hash of the last line of each run."""

    @property
    def agree(self) -> int:
        """Decisions that came out as logged."""
        return self.decisions - self.differ

    @property
    def is_good(self) -> bool:
        """Whether everything is as it was written, and every decision agrees."""
        return not (self.differ or self.problem_count)

    def add_problem(self, problem: str) -> None:
        """Note a part that is missing, damaged or different."""
        self.problem_count += 1
        if len(self.problems) < MAX_LISTED:
            self.problems.append(problem)


def replay(folder: Path, progress: Progress | None = None) -> ReplayResult:
    """Replay every run in *folder*."""
    result = ReplayResult()
    for reader, lines in read_runs(folder, progress):
        run = _RunReplay(reader, result)
        for line in lines:
            run.take(line)
        for problem in reader.problems:
            result.add_problem(problem)
        result.notes += reader.notes
        result.heads[reader.name] = reader.hash
    return result


class _RunReplay:
    """Replays one run, line by line."""

    def __init__(self, reader: RunReader, result: ReplayResult) -> None:
        self._reader = reader
        self._result = result
        self._cached: RulesCache | None = None
        self._states: dict[Origin, str] = {}
        """The id of the state that each resolved origin in the cache was made from."""
        self._newest: dict[Origin, str] = {}
        """The id of the last state of each origin."""

    def take(self, line: Line) -> None:
        kind = line.values["type"]
        try:
            if kind == "decision":
                self._result.decisions += 1
                self._check_decision(line.values)
            elif kind in ("state", "record") and self._reader.is_state(line.values["id"]):
                self._check_state(line.values["id"])
        except (EvidenceError, LookupError, TypeError, ValueError) as error:
            if kind == "decision":
                self._result.differ += 1
            text = str(error) if isinstance(error, EvidenceError) else f"unreadable: {error!r}"
            subject = line.values.get("url") or line.values.get("id")
            self._result.add_problem(f"{self._reader.name}: {subject}: {text}")

    # --- states

    def _check_state(self, id_: str) -> None:
        """Whether a state follows from the exchanges and the state that it names."""
        state = load_state(self._reader, id_)
        self._newest[state.record.origin] = id_
        if state.fetched:
            before = None if state.before is None else load_state(self._reader, state.before).record
            exchanges = [self._reader.find(each) for each in state.exchanges]
            received = [each.exchange() for each in exchanges if each.kind != "metadata"]
            problem = check_fetch(state, before, received, self._settings)
            if problem is not None:
                raise EvidenceError(f"state {id_}: {problem}")

    @property
    def _settings(self) -> RunSettings:
        assert self._reader.settings is not None  # the first line of a log contains them
        return self._reader.settings

    @property
    def _cache(self) -> RulesCache:
        if self._cached is None:
            self._cached = RulesCache(max_size=self._settings.max_size)
        return self._cached

    # --- decisions

    def _check_decision(self, logged: Mapping[str, Any]) -> None:
        replayed = self._decide(logged)
        different = [name for name, value in replayed.items() if logged.get(name) != value]
        if different:
            shown = (f"{each} {logged.get(each)!r}, not {replayed[each]!r}" for each in different)
            raise EvidenceError(f"the log says {'; '.join(shown)}")

    def _decide(self, logged: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of a decision that follow from the archive."""
        edition = {"edition": self._settings.policy.edition.name}
        if logged["reason"] == "dont_obey_robotstxt":
            return {"allowed": True, **edition}
        origin = Origin.of(logged["url"])
        if origin is None:
            raise EvidenceError("no robots.txt applies to the URL")
        url, tokens = logged["url"], tuple(logged["tokens"])
        at = logged.get("rules_time", logged["time"])
        found = None
        if logged["policy"] == NO_ANSWER:
            return {**self._unanswered(origin, at), **edition}
        if logged["policy"] == OVERRIDE:
            decision, robots = self._overridden(origin, url, tokens)
        else:
            found = self._resolved(logged["state"], origin, at)
            decision, robots = found.decide(url, tokens, at), found.robots
        has_usage = robots is not None and (found is None or found.extensions is not None)
        usage = robots.usage(url, tokens) if robots is not None and has_usage else Usage()
        return {**self._conclude(decision, usage, found, logged), **edition}

    def _unanswered(self, origin: Origin, at: float) -> dict[str, Any]:
        """The refusal of a request that could not wait; an answer in the archive is a problem."""
        id_ = self._newest.get(origin)
        if id_ is not None:
            record = self._reader.find_state(id_).record
            plan = self._settings.policy_of(origin).plan(record, at)
            if plan.action not in (Action.WAIT, Action.REFUSE) and record.updated_at < at - _RACE:
                raise EvidenceError(f"the state {id_} had answered before")
        refused = Decision(allowed=False, reason="unreachable", origin=origin)
        return {**conclusion(refused), **grounds(None, otherwise=NO_ANSWER)}

    def _conclude(
        self, decision: Decision, usage: Usage, found: Resolved | None, logged: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Apply the usage preferences of file and header to what the rules said."""
        policy, header = self._settings.usage, logged.get("header")
        stated, is_final = usage, header is not None
        if header:
            usage |= Usage.from_header(header)
        ignored = decision.reason == "override" and decision.verdict is None
        if decision.allowed and not ignored:
            refusal = policy.refusal(usage, final=is_final)
            if refusal is not None:
                decision = decision.refused_for(refusal)
        expected = {**conclusion(decision), **grounds(found)}
        if decision.allowed or decision.usage is not None:
            expected |= stated_usage(stated.preferences)
        return {"usage": None, "label": None, **expected}

    def _overridden(
        self, origin: Origin, url: str, tokens: tuple[str, ...]
    ) -> tuple[Decision, RobotsTxt | None]:
        override = self._settings.overrides.find(origin)
        answer = None if override is None else override.replacement
        if answer is None:
            raise EvidenceError("no override of the run replaces the robots.txt")
        if isinstance(answer, RobotsTxt):
            verdict = answer.explain_served(url, tokens)
            return Decision(verdict.allowed, "override", verdict, origin=origin), answer
        return Decision(answer == "ignore", "override", origin=origin), None

    def _resolved(self, state_id: str, origin: Origin, now: float) -> Resolved:
        """The origin as a state resolved it at *now*, by the run's policy."""
        cache = self._cache
        found = cache.get_valid(origin, now)
        if found is not None and self._states.get(origin) == state_id:
            return found
        record = load_state(self._reader, state_id).record
        if record.origin != origin:
            raise EvidenceError(f"the state {state_id} is that of {record.origin}")
        policy = self._settings.policy_of(origin)
        resolved = cache.make(record, policy.plan(record, now), policy.edition, now)
        self._states[origin] = state_id
        return cache.put(resolved)
