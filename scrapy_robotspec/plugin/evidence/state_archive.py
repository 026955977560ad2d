"""StateArchive: archives what a crawl holds of each origin."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.private_hosts import is_private
from scrapy_robotspec.evidence.run_writer import record_ids
from scrapy_robotspec.evidence.states import State
from scrapy_robotspec.evidence.warc import NewRecord, blank_user_info, left_out

if TYPE_CHECKING:
    from scrapy_robotspec.access.outcome import FetchResult
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.evidence.recorder import Recorder
    from scrapy_robotspec.lookup import FetchDone

#: Max origins whose archived state is remembered; a forgotten one is archived again when used.
_MAX_ORIGINS = 20_000


@dataclass(slots=True)
class ArchivedState:
    """The last state of an origin that was archived."""

    record: RobotsRecord
    body_record: str | None
    """Id of the archive record that contains the body; None: none."""
    id: str
    """The id of the state."""
    basis: tuple[object, ...] = ()
    """The rules and the verdict of the latest decision; the recorder's thread sets it."""
    members: str = ""
    """The members of that decision's line, as JSON."""


class StateArchive:
    """The states of one crawl."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._archived: dict[Origin, ArchivedState] = {}
        self._ids = record_ids()
        self._numbers = count(1)

    def on_fetch_done(self, done: FetchDone) -> None:
        """Archive the state that a fetch led to."""
        record, result = done.record, done.result
        if record is None:
            return
        if result is None:
            self.find(record)
            return
        before = None if done.base is None else self.find(done.base)
        if record.unreachable_since is None:
            body_record = _last_of_chain(result) if record.body else None
        else:  # the copy stays
            body_record = _same_body(before, record)
        failed = (result.error, result.local) if result.error or result.local else None
        state = State(
            record,
            body_record,
            fetched=True,
            before=None if before is None else before.id,
            exchanges=result.records,
            failure=failed,
        )
        self._add(state)

    def find(self, record: RobotsRecord) -> ArchivedState:
        """The state of *record*, archived now if a store contained it."""
        archived = self._archived.get(record.origin)
        if archived is not None and (archived.record is record or archived.record == record):
            return archived
        body_record = _same_body(archived, record)
        if body_record is None and record.body:
            body_record = self._add_body(record)
        return self._add(State(record, body_record))

    def _add_body(self, record: RobotsRecord) -> str:
        """Archive a file that another process fetched, so that a replay needs no store."""
        is_hidden = leads_inside(record)
        resource = NewRecord(
            next(self._ids),
            "resource",
            record.origin.robots_url,
            record.fetched_at or record.updated_at,
            b"" if is_hidden else record.body,
            record.content_type if record.content_type.isprintable() else "",
            fields=left_out(record.body) if is_hidden else (),
        )
        self._recorder.add_record(resource)
        return resource.id

    def _add(self, state: State) -> ArchivedState:
        id_ = f"state-{next(self._numbers)}"
        self._recorder.add_line(_line_of, state, id_)
        if len(self._archived) >= _MAX_ORIGINS:
            self._archived.pop(next(iter(self._archived)))
        record = state.record
        archived = self._archived[record.origin] = ArchivedState(record, state.body_record, id_)
        return archived


def _line_of(state: State, id_: str) -> str:
    """The line of *state*, with the causes of failures as they may be archived."""
    cause, failure = state.record.failure, state.failure
    if cause is not None and "@" in cause:
        record = replace(state.record, failure=blank_user_info(cause))
        if failure is not None and failure[0] is not None:
            failure = blank_user_info(failure[0]), failure[1]
        state = state._replace(record=record, failure=failure)
    return state.to_line(id_)


def leads_inside(record: RobotsRecord) -> bool:
    """Whether the file is from behind a redirect inside (SAF-06)."""
    target = record.hops[-1].target if record.hops else None
    host = None if target is None else Origin.of(target)
    return host is not None and is_private(host.host) and not is_private(record.origin.host)


def _same_body(archived: ArchivedState | None, record: RobotsRecord) -> str | None:
    """Id of the archive record of the body that *record* has too."""
    if archived is None or archived.record.body != record.body:
        return None
    return archived.body_record


def _last_of_chain(result: FetchResult) -> str:
    """Id of the response that ended the redirect chain; probes may follow it (FET-15)."""
    return result.records[min(len(result.hops), len(result.records) - 1)]
