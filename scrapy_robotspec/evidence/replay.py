"""Replay: every logged decision made again, from the archive alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.evidence.log_lines import (
    DAMAGE,
    NO_ANSWER,
    OVERRIDE,
    EvidenceError,
    conclusion,
    grounds,
    stated_usage,
)
from scrapy_robotspec.evidence.run_reader import Reading, read_runs, said
from scrapy_robotspec.evidence.states import NotArchivedError
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.protocol.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from scrapy_robotspec.evidence.log_lines import Line
    from scrapy_robotspec.evidence.run_reader import RunReader
    from scrapy_robotspec.lookup import Resolved


#: Max length of a URL times that of a robots.txt: their comparison then takes up to a minute.
_MAX_WORK = 2**34
#: Max length of a URL in a problem (characters).
_MAX_SUBJECT = 200


@dataclass(slots=True)
class ReplayResult(Reading):
    """Counts and problems of a replay."""

    decisions: int = 0
    differ: int = 0
    not_checkable: int = 0
    """Decisions that need a body which was left out of the archive (SAF-06)."""
    sent: int = 0
    """Pages that left."""

    @property
    def agree(self) -> int:
        """Decisions that came out as logged."""
        return self.decisions - self.differ - self.not_checkable

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
        self._exchanges: set[str] = set()
        """Ids of the archived exchanges that states were made from."""
        self._number = 0
        """That of the last decision."""
        self._refused: set[int] = set()
        """Numbers of decisions by which no page may leave."""

    def take(self, line: Line) -> None:
        kind = line.values["type"]
        try:
            if kind == "decision":
                self._result.decisions += 1
                self._take_number(line.values)
                self._check_decision(line.values)
            elif kind == "state":
                self._check_state(line.values["id"])
            elif kind == "sent":
                self._result.sent += 1
                self._check_sent(line.values["decision"])
        except NotArchivedError:
            self._result.not_checkable += kind == "decision"
        except DAMAGE as error:
            self._result.differ += kind == "decision"
            subject = (line.values.get("url") or line.values.get("id") or kind)[:_MAX_SUBJECT]
            self._reader.add_problem(f"{subject}: {said(error)}", line.number)

    # --- states and pages

    def _check_state(self, id_: str) -> None:
        """Whether a state follows from the exchanges and the state that it names."""
        state = self._reader.find_state(id_)
        for exchange in state.exchanges:
            if exchange in self._exchanges:
                raise EvidenceError(f"the record {exchange} belongs to another state")
            self._exchanges.add(exchange)
        self._reader.check(state)

    def _take_number(self, logged: Mapping[str, Any]) -> None:
        number = logged["number"]
        if number <= self._number:
            raise EvidenceError(f"the decision {number} stands after {self._number}")
        self._number = number
        if not logged["allowed"]:
            self._refused.add(number)

    def _check_sent(self, number: int) -> None:
        if number > self._number or number in self._refused:
            raise EvidenceError(f"a page left that the decision {number} does not allow")

    # --- decisions

    def _check_decision(self, logged: Mapping[str, Any]) -> None:
        replayed = self._decide(logged, logged.get("rules_time") or logged["time"])
        replayed["edition"] = self._reader.settings.policy.edition.name
        different = [name for name, value in replayed.items() if logged.get(name) != value]
        if different:
            shown = (f"{each} {logged.get(each)!r}, not {replayed[each]!r}" for each in different)
            raise EvidenceError(f"the log says {'; '.join(shown)}")

    def _decide(self, logged: Mapping[str, Any], at: float) -> dict[str, Any]:
        """The fields of a decision at the time *at* that follow from the archive."""
        if logged["reason"] == "dont_obey_robotstxt":
            return {"allowed": True}
        origin = Origin.of(logged["url"])
        if origin is None:
            raise EvidenceError("no robots.txt applies to the URL")
        url, tokens = logged["url"], tuple(logged["tokens"])
        if logged["policy"] == NO_ANSWER:
            refused = Decision(allowed=False, reason="unreachable", origin=origin)
            return {**conclusion(refused), **grounds(None, otherwise=NO_ANSWER)}
        found, answer = None, None
        if logged["policy"] == OVERRIDE:
            override = self._reader.settings.overrides.find(origin)
            answer = None if override is None else override.replacement
            if answer is None:
                raise EvidenceError("no override of the run replaces the robots.txt")
        else:
            found = self._reader.resolved(logged["state"], origin, at)
            answer = found.robots
        usage = Usage()
        if isinstance(answer, RobotsTxt):
            if len(url) * len(answer.body) > _MAX_WORK:
                raise EvidenceError("URL and robots.txt are longer than can be compared")
            usage = answer.usage(url, tokens)
        if found is not None:
            decision = found.decide(url, tokens, at)
        elif isinstance(answer, RobotsTxt):
            verdict = answer.explain_served(url, tokens)
            decision = Decision(verdict.allowed, "override", verdict, origin=origin)
        else:
            decision = Decision(answer == "ignore", "override", origin=origin)
        return self._conclude(decision, usage, found, logged)

    def _conclude(
        self, decision: Decision, usage: Usage, found: Resolved | None, logged: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Apply the usage preferences of file and header to what the rules said."""
        policy, header = self._reader.settings.usage, logged.get("header")
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
