"""EvidenceObserver: archives the states of origins and logs decisions."""

from __future__ import annotations

import time
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy_robotspec.access.outcome import without_user_info
from scrapy_robotspec.evidence.decisions import conclusion, grounds, stated_usage
from scrapy_robotspec.evidence.log_lines import dumps
from scrapy_robotspec.evidence.run_writer import new_record_id
from scrapy_robotspec.evidence.states import CONTENT_TYPE, State
from scrapy_robotspec.evidence.warc import NewRecord, iso_date
from scrapy_robotspec.plugin.deciding.extensions import extensions_of
from scrapy_robotspec.plugin.deciding.response_usage import HEADER, usage_of_page
from scrapy_robotspec.plugin.fetching.robots_request import META_KEY
from scrapy_robotspec.protocol.usage import Usage

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.outcome import FetchResult
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.evidence.recorder import Recorder
    from scrapy_robotspec.lookup import FetchDone, Resolved
    from scrapy_robotspec.plugin.deciding.observer import Stage
    from scrapy_robotspec.plugin.robots import CrawlRobots
    from scrapy_robotspec.plugin.settings.product_tokens import Tokens

#: Max origins whose archived state is remembered; a forgotten one is archived again when used.
_MAX_ORIGINS = 20_000


@dataclass(slots=True)
class _Archived:
    """The last state of an origin that was archived."""

    state: State
    id: str
    found: Resolved | None = None
    """What was last decided by, and the grounds that the log gives for it."""
    grounds: dict[str, Any] | None = None


class EvidenceObserver:
    """The :class:`DecisionObserver` of a crawl with ``ROBOTSPEC_EVIDENCE``."""

    def __init__(self, recorder: Recorder, robots: CrawlRobots) -> None:
        self._recorder = recorder
        self._policy = robots.policy
        self._tokens = robots.tokens
        self._edition = robots.settings.edition.name
        self._archived: dict[Origin, _Archived] = {}
        self._passed: WeakKeyDictionary[Request, dict[str, Any]] = WeakKeyDictionary()
        """What the log says about requests that were let through."""

    def open(self) -> None:
        self._recorder.open()

    def close(self) -> None:
        self._recorder.close()

    # --- fetches

    def on_fetch_done(self, done: FetchDone) -> None:
        """Archive the state that a fetch led to."""
        record, result = done.record, done.result
        if record is None:
            return
        if result is None:
            self._state_of(record)
            return
        before = None if done.base is None else self._state_of(done.base)
        body, digest = _same_body(before, record) or (None, "")
        if body is None and record.body:
            body, digest = _last_of_chain(result), sha256(record.body).hexdigest()
        failed = None if result.error is None else (result.error, result.local)
        state = State(
            record,
            body,
            digest,
            fetched=True,
            before=None if before is None else before.id,
            exchanges=result.records,
            failure=failed,
        )
        self._archive(state)

    def _state_of(self, record: RobotsRecord) -> _Archived:
        """The archived state of *record*; one that was found in a store is archived now."""
        archived = self._archived.get(record.origin)
        if archived is not None and (
            archived.state.record is record or archived.state.record == record
        ):
            return archived
        body, digest = _same_body(archived, record) or (None, "")
        if body is None and record.body:
            body, digest = self._archive_body(record), sha256(record.body).hexdigest()
        return self._archive(State(record, body, digest))

    def _archive_body(self, record: RobotsRecord) -> str:
        """Archive a file that another process fetched, so that a replay needs no store."""
        resource = NewRecord(
            new_record_id(),
            "resource",
            record.origin.robots_url,
            record.fetched_at or record.updated_at,
            record.body,
            record.content_type if record.content_type.isprintable() else "",
        )
        self._recorder.add_record(resource)
        return resource.id

    def _archive(self, state: State) -> _Archived:
        record = NewRecord(
            new_record_id(),
            "metadata",
            state.record.origin.robots_url,
            state.record.updated_at,
            state.to_payload(),
            CONTENT_TYPE,
            fields=tuple(("WARC-Concurrent-To", each) for each in state.exchanges[-1:]),
        )
        self._recorder.add_record(record)
        if len(self._archived) >= _MAX_ORIGINS:
            self._archived.pop(next(iter(self._archived)))
        archived = self._archived[state.record.origin] = _Archived(state, record.id)
        return archived

    # --- decisions

    def on_decision(
        self, request: Request, decision: Decision, found: Resolved | None, stage: Stage
    ) -> None:
        tokens = self._tokens.decided(request)
        said = self._line(request.url, stage, tokens, decision.time)
        said |= conclusion(decision)
        said |= self._grounds(found)
        if decision.origin is not None:
            override = self._policy.override(decision.origin)
            if override is not None:
                said["override"] = override.kinds
        if decision.allowed or decision.usage is not None:
            said |= self._usage(request, found, decision, tokens)
        self._recorder.add_decision(dumps(said))
        if decision.allowed and stage in ("request", "final_url"):
            self._passed[request] = said

    def on_exempt(self, request: Request) -> None:
        if request.meta.get("dont_obey_robotstxt") and META_KEY not in request.meta:
            said = self._line(request.url, "request", (), None)
            said |= {"allowed": True, "reason": "dont_obey_robotstxt"}
            self._recorder.add_decision(dumps(said))

    def on_usage(self, request: Request, response: Response, decision: Decision | None) -> None:
        before = self._passed.pop(request, None)
        if before is None or (decision is None and HEADER not in response.headers):
            return
        usage_of_page(Usage(), response)
        header = b", ".join(response.headers.getlist(HEADER)).decode("latin-1")
        said = {**before, "time": time.time(), "stage": "response", "header": header}
        said["rules_time"] = before["time"]
        if decision is not None:
            said |= {**conclusion(decision), "group": before["group"]}
        self._recorder.add_decision(dumps(said))

    def _line(self, url: str, stage: str, tokens: Tokens, at: float | None) -> dict[str, Any]:
        return {
            "type": "decision",
            "time": time.time() if at is None else at,
            "stage": stage,
            "url": without_user_info(url),
            "tokens": tokens,
            "edition": self._edition,
        }

    def _grounds(self, found: Resolved | None) -> dict[str, Any]:
        """What was known of the origin, with the ids of its records."""
        if found is None or found.record is None:
            return grounds(None)
        archived = self._state_of(found.record)
        if archived.found is not found or archived.grounds is None:
            archived.found = found
            archived.grounds = {**grounds(found), **_references(archived)}
        return archived.grounds

    def _usage(
        self, request: Request, found: Resolved | None, decision: Decision, tokens: Tokens
    ) -> dict[str, Any]:
        """The usage preferences that robots.txt, or the user's text for it, states for a URL."""
        if found is not None:
            extensions = extensions_of(found, tokens) if found.extensions is not None else None
        elif decision.origin is not None:
            extensions = self._policy.override_extensions(decision.origin, request)
        else:
            extensions = None
        return (
            {} if extensions is None else stated_usage(extensions.usage_of(request.url).preferences)
        )


def _same_body(archived: _Archived | None, record: RobotsRecord) -> tuple[str, str] | None:
    """Id and digest of an archived body that *record* has too."""
    if archived is None or archived.state.body_record is None:
        return None
    if archived.state.record.body != record.body:
        return None
    return archived.state.body_record, archived.state.body_digest


def _last_of_chain(result: FetchResult) -> str:
    """Id of the response that ended the redirect chain; probes may follow it (FET-15)."""
    return result.records[min(len(result.hops), len(result.records) - 1)]


def _references(archived: _Archived) -> dict[str, Any]:
    """The records behind a decision; of a file from a store, its digest and date too."""
    state = archived.state
    references: dict[str, Any] = {"state": archived.id, "record": state.body_record}
    if not state.fetched:
        fetched_at = state.record.fetched_at
        date = None if fetched_at is None else iso_date(fetched_at)
        references["store"] = {"sha256": state.body_digest, "date": date}
    return references
