"""Replay: every logged decision made again, from the archive alone."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.access.decision import Decision, decision_by
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.reasons import EXEMPT
from scrapy_robotspec.evidence.decision_lines import (
    NO_ANSWER,
    OVERRIDE,
    LoggedDecision,
    members_of,
)
from scrapy_robotspec.evidence.log_lines import FORMAT, EvidenceError, dumps, loads
from scrapy_robotspec.evidence.run_reader import Reading, read_runs
from scrapy_robotspec.evidence.sequence import Sequence
from scrapy_robotspec.evidence.states import NotArchivedError, State
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.protocol.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from scrapy_robotspec.access.overrides import Replacement
    from scrapy_robotspec.evidence.log_lines import Line
    from scrapy_robotspec.evidence.run_reader import RunReader
    from scrapy_robotspec.evidence.run_settings import RunSettings
    from scrapy_robotspec.lookup import Resolved


#: Members that a decision may lack.
_MAY_MISS = dict.fromkeys(("usage", "label", "override", "resolved"))
#: Max length of a URL times that of a robots.txt: their comparison then takes up to a minute.
_MAX_WORK = 2**34
#: Max length of a URL in a problem (characters).
_MAX_SUBJECT = 200


@dataclass(slots=True)
class ReplayResult(Reading):
    """Counts and problems of a replay."""

    agree: int = 0
    """Decisions by a replayed robots.txt that came out as logged."""
    not_checkable: int = 0
    """Decisions that need a body which was left out of the archive (SAF-06)."""
    without_file: int = 0
    """Decisions that no robots.txt was replayed for: overrides, and requests not checked."""
    sent: int = 0
    """Pages that left."""
    sent_by_rules: int = 0
    """Pages that left by the rules of a robots.txt."""
    answered: dict[Origin, bool] = field(default_factory=dict)
    """Whether the archive has a robots.txt of an origin, or an answer that there is none."""

    @property
    def differ(self) -> int:
        """Decisions that came out otherwise."""
        return self.decisions - self.agree - self.not_checkable - self.without_file

    @property
    def origins(self) -> int:
        """Number of origins."""
        return len(self.answered)

    @property
    def origins_without_file(self) -> int:
        """Number of these without an archived robots.txt."""
        return list(self.answered.values()).count(False)

    @property
    def is_good(self) -> bool:
        """Whether everything is as it was written, and no decision differs."""
        return not self.problem_count


def replay(folder: Path) -> ReplayResult:
    """Replay every run in *folder*."""
    result = ReplayResult()
    for reader, lines in read_runs(folder, result):
        run = _RunReplay(reader, result)
        for line in lines:
            run.take(line)
    return result


class _RunReplay:
    """Replays one run, line by line."""

    def __init__(self, reader: RunReader, result: ReplayResult) -> None:
        self._reader = reader
        self._result = result
        self._sequence = Sequence()

    def take(self, line: Line) -> None:
        values = line.values
        subject = (values.get("url") or values.get("id") or values["type"])[:_MAX_SUBJECT]
        with self._reader.noting(subject, line.number):
            with suppress(NotArchivedError):
                self._check(values)
            if self._reader.format >= FORMAT:
                self._sequence.take_time(values)

    def _check(self, values: Mapping[str, Any]) -> None:
        kind = values["type"]
        if kind == "decision":
            self._take_decision(values)
        elif kind == "state":
            self._take_state(State.from_values(values))
        elif kind == "sent":
            self._result.sent += 1
            self._result.sent_by_rules += self._sequence.take_sent(values) == "rules"
        elif kind == "end":
            self._sequence.take_end(values)

    def _take_state(self, state: State) -> None:
        """Check that a state follows from the exchanges and the state that it names."""
        if state.record.fetched_at is not None:
            self._result.answered[state.record.origin] = True
        if self._reader.format >= FORMAT:
            self._sequence.take_state(state)
        self._reader.check(state)

    # --- decisions

    def _take_decision(self, logged: Mapping[str, Any]) -> None:
        """Check that a decision is made again as logged, and at its place."""
        result, until = self._result, inf
        try:
            found = self._repeat(logged)
            if found is None:
                result.without_file += 1
            else:
                result.agree += 1
                until = found.valid_until
        except NotArchivedError:
            result.not_checkable += 1
            raise
        finally:
            self._sequence.take_decision(logged, until)

    def _repeat(self, logged: Mapping[str, Any]) -> Resolved | None:
        """Make a decision again, as logged, and return the archived rules that it follows from."""
        settings = self._reader.settings
        again = self._decide(logged, settings)
        members = members_of(again, settings.policy.edition.name, settings.overrides)
        expected = {**_MAY_MISS, **loads(dumps(members))}
        different = [name for name, value in expected.items() if logged.get(name) != value]
        if different:
            shown = (f"{each} {logged.get(each)!r}, not {expected[each]!r}" for each in different)
            raise EvidenceError(f"the log says {'; '.join(shown)}")
        return again.found

    def _decide(self, logged: Mapping[str, Any], settings: RunSettings) -> LoggedDecision:
        """Decide about the question of a line."""
        number, time, stage, url = (logged[name] for name in ("number", "time", "stage", "url"))
        tokens, header = tuple(logged["tokens"]), logged.get("header")
        rules_time = logged.get("rules_time")
        again = LoggedDecision(
            number, time, stage, url, tokens, rules_time=rules_time, header=header
        )
        origin = Origin.of(url)
        if origin is not None:
            self._result.answered.setdefault(origin, False)
        if logged["reason"] == EXEMPT:
            return again
        if origin is None:
            raise EvidenceError("no robots.txt applies to the URL")
        if logged["policy"] == NO_ANSWER:
            failure = logged.get("failure")
            return again._replace(
                decision=Decision(False, "unreachable", origin=origin, failure=failure)
            )
        robots: Replacement | None
        at = rules_time or time
        if logged["policy"] == OVERRIDE:
            override = settings.overrides.find(origin)
            if override is None or override.replacement is None:
                raise EvidenceError("no override of the run replaces the robots.txt")
            robots = override.replacement
            decide = partial(decision_by, robots, origin)
        else:
            found = self._reader.resolved(logged["state"], origin, at)
            robots, decide = found.robots, partial(found.decide, now=at)
            again = again._replace(found=found, state=self._reader.states[origin])
        rules = robots if isinstance(robots, RobotsTxt) else None
        if rules is not None and len(url) * len(rules.body) > _MAX_WORK:
            raise EvidenceError("URL and robots.txt are longer than can be compared")
        decision = decide(url, tokens)
        if not decision.allowed or robots == "ignore":
            return again._replace(decision=decision)
        usage = Usage() if rules is None else rules.usage(url, tokens)
        stated = usage | Usage.from_header(header or "")
        refusal = settings.usage.refusal(stated, final=header is not None)
        if refusal is not None:
            decision = decision.refused_for(refusal)
        return again._replace(decision=decision, usage=usage.preferences)
