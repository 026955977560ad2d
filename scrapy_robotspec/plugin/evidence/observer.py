"""EvidenceObserver: logs decisions and pages that leave."""

from __future__ import annotations

import atexit
import time
from itertools import count
from typing import TYPE_CHECKING

from scrapy_robotspec.access.exchange import leads_inside
from scrapy_robotspec.access.reasons import EXEMPT
from scrapy_robotspec.evidence.decision_lines import DecisionLines, LoggedDecision
from scrapy_robotspec.evidence.log_lines import dumps
from scrapy_robotspec.evidence.run_writer import record_ids
from scrapy_robotspec.evidence.states import State
from scrapy_robotspec.evidence.warc import NewRecord, left_out

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_robotspec.access.account import RequestCounts
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.access.usage_policy import UsageRefusal
    from scrapy_robotspec.evidence.log_lines import Stage
    from scrapy_robotspec.evidence.recorder import Recorder
    from scrapy_robotspec.lookup import FetchDone
    from scrapy_robotspec.plugin.settings.request_policy import Answer
    from scrapy_robotspec.plugin.settings.settings import Settings
    from scrapy_robotspec.plugin.settings.tokens import TokenSelector

#: Max origins whose archived state is remembered; a forgotten one is archived again when used.
_MAX_ORIGINS = 20_000


class EvidenceObserver:
    """Receives every decision in the step in which it is made.

    Only ``close`` may block, in a thread; nothing here may raise.
    """

    def __init__(self, recorder: Recorder, settings: Settings, tokens: TokenSelector) -> None:
        self._recorder = recorder
        self._tokens = tokens
        self._lines = DecisionLines(settings.edition.name, settings.overrides)
        self._numbers = count(1)
        self._archived: dict[Origin, State] = {}
        """The last state of each origin that was archived."""
        self._record_ids = record_ids()
        self._state_ids = map("state-{}".format, count(1))

    def open(self) -> None:
        """Start writing."""
        self._recorder.open()

    def close(self, requests: RequestCounts | None) -> None:
        """Write everything, with the account of the crawl's *requests*, and close. Blocks."""
        atexit.unregister(self.close)
        self._recorder.close(None if requests is None else requests.to_json())

    # --- what the crawl holds of each origin

    def on_fetch_done(self, done: FetchDone) -> None:
        """Archive the state that a fetch led to."""
        record, result, now = done.record, done.result, time.time()
        if record is None:
            return
        if result is None:
            self._find(record, now)
            return
        before = None if done.base is None else self._find(done.base, now)
        body_record, is_left_out = None, False
        if record.unreachable_since is not None:  # the copy stays
            body_record, is_left_out = _same_body(before, record)
        elif record.body:
            last = min(len(result.hops), len(result.records) - 1)  # probes may follow (FET-15)
            body_record, is_left_out = result.records[last], result.is_left_out
        failed = (result.error, result.local) if result.error or result.local else None
        state = State(
            next(self._state_ids),
            record,
            now,
            body_record,
            is_left_out=is_left_out,
            source="fetch",
            before=None if before is None else before.id,
            exchanges=result.records,
            failure=failed,
        )
        self._add(state)

    def _find(self, record: RobotsRecord, now: float) -> State:
        """The state of *record*, archived now if a store contained it."""
        archived = self._archived.get(record.origin)
        if archived is not None and (archived.record is record or archived.record == record):
            return archived
        body_record, is_left_out = _same_body(archived, record)
        if body_record is None and record.body:
            target = record.hops[-1].target if record.hops else None
            is_left_out = target is not None and leads_inside(record.origin, target)  # SAF-06
            body_record = self._add_body(record, is_left_out=is_left_out)
        state = State(next(self._state_ids), record, now, body_record, is_left_out=is_left_out)
        return self._add(state)

    def _add_body(self, record: RobotsRecord, *, is_left_out: bool) -> str:
        """Archive a file that another process fetched, so that a replay needs no store."""
        resource = NewRecord(
            next(self._record_ids),
            "resource",
            record.origin.robots_url,
            record.fetched_at or record.updated_at,
            b"" if is_left_out else record.body,
            fields=left_out(record.body) if is_left_out else "",
        )
        self._recorder.add_record(resource)
        return resource.id

    def _add(self, state: State) -> State:
        self._recorder.add_line(State.to_line, state)
        if len(self._archived) >= _MAX_ORIGINS:
            self._archived.pop(next(iter(self._archived)))
        self._archived[state.record.origin] = state
        return state

    # --- decisions

    def on_decision(self, request: Request, answer: Answer, stage: Stage) -> LoggedDecision:
        """Log *answer* about *request*."""
        # hot path
        decision, found, _, usage = answer
        at = time.time() if decision.time is None else decision.time
        state = None if found is None else self._find(found.record, at)
        tokens, number = self._tokens(request), next(self._numbers)
        stated = None if usage is None else usage.preferences
        return self._log(
            LoggedDecision(number, at, stage, request.url, tokens, decision, found, state, stated)
        )

    def on_exempt(self, request: Request) -> LoggedDecision | None:
        """Log *request* if it needs no robots.txt because its meta says so."""
        if not request.meta.get(EXEMPT):
            return None
        return self._log(
            LoggedDecision(next(self._numbers), time.time(), "request", request.url, ())
        )

    def on_usage(self, logged: LoggedDecision, header: bytes, refusal: UsageRefusal | None) -> None:
        """Log a page that is refused, or has a usage *header* (USE-05)."""
        decision = logged.decision
        if decision is None or (refusal is None and not header):
            return
        self._log(
            logged._replace(
                number=next(self._numbers),
                time=time.time(),
                stage="response",
                decision=decision if refusal is None else decision.refused_for(refusal),
                rules_time=logged.time,
                header=header.decode("latin-1"),
            )
        )

    def on_sent(self, logged: LoggedDecision, left: float, status: int | None) -> None:
        """Log that the page of *logged* left at *left* (epoch seconds).

        *status* answered it, or nothing did.
        """
        seconds = max(0.0, time.time() - left)
        line = (
            f'{{"type":"sent","time":{left:.6f},"decision":{logged.number},'
            f'"status":{dumps(status)},"seconds":{seconds:.3f}}}'
        )
        self._recorder.add_line(str, line)

    def _log(self, logged: LoggedDecision) -> LoggedDecision:
        self._recorder.add_line(self._lines, logged)
        return logged


def _same_body(archived: State | None, record: RobotsRecord) -> tuple[str | None, bool]:
    """Id of the archive record of the body that *record* has too; whether it is left out."""
    if archived is None or archived.record.body != record.body:
        return None, False
    return archived.body_record, archived.is_left_out
