"""EvidenceObserver: opens the evidence, and logs what a crawl does."""

from __future__ import annotations

import platform
import time
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy_robotspec._version import __version__
from scrapy_robotspec.access.overrides import HostTable
from scrapy_robotspec.access.reasons import EXEMPT
from scrapy_robotspec.access.redirects import leads_inside
from scrapy_robotspec.access.usage_policy import UsagePolicy, UsageRefusal
from scrapy_robotspec.converters import wrong
from scrapy_robotspec.evidence.log_lines import DecisionLines, LoggedDecision, Stage, State, dumps
from scrapy_robotspec.evidence.recorder import Recorder, RunWriter, new_run_name
from scrapy_robotspec.evidence.run_settings import RunSettings
from scrapy_robotspec.evidence.warc import NewRecord, left_out
from scrapy_robotspec.plugin.deciding.tokens import TokenSelector, default_user_agent
from scrapy_robotspec.plugin.recording.fetch_archive import FetchArchive

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_robotspec.access.account import RequestCounts
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.lookup import FetchDone
    from scrapy_robotspec.plugin.deciding.request_policy import Answer
    from scrapy_robotspec.plugin.settings.settings import Settings

#: Max origins whose archived state is remembered; a forgotten one is archived again when used.
_MAX_ORIGINS = 20_000
_SOFTWARE = f"scrapy-robotspec {__version__}"
#: Settings that change requests. The log names those that the user has set...
_NAMED = (
    "ADDONS",
    "DEFAULT_REQUEST_HEADERS",
    "DNS_RESOLVER",
    "DOWNLOADER_MIDDLEWARES",
    "DOWNLOAD_HANDLERS",
    "DOWNLOAD_SLOTS",
    "SCHEDULER",
    "SPIDER_MIDDLEWARES",
    "TWISTED_DNS_RESOLVER",
)
#: ...and of these the values too.
_SHOWN = (
    "AUTOTHROTTLE_ENABLED",
    "CONCURRENT_REQUESTS",
    "CONCURRENT_REQUESTS_PER_DOMAIN",
    "COOKIES_ENABLED",
    "DOWNLOAD_DELAY",
    "HTTPCACHE_ENABLED",
    "HTTPPROXY_ENABLED",
    "REDIRECT_ENABLED",
    "RETRY_ENABLED",
    "ROBOTSTXT_OBEY",
    "USER_AGENT",
)


#: The id of the archive record for a body, if any, and whether the body is missing there.
_Body = tuple[str | None, bool]


class EvidenceObserver:
    """Receives every decision in the step in which it is made.

    Only ``close`` may block, in a thread; nothing here may raise.
    """

    def __init__(self, recorder: Recorder, settings: Settings, tokens: TokenSelector) -> None:
        self._recorder = recorder
        self._settings = settings
        self._tokens = tokens
        self._lines = DecisionLines(settings.edition.name, settings.overrides)
        self._numbers = count(1)
        self._archived: dict[Origin, State] = {}
        """The last state of each origin that was archived."""
        self._state_ids = map("state-{}".format, count(1))

    def open(self) -> None:
        """Start writing."""
        self._recorder.open()

    def close(self, requests: RequestCounts | None) -> None:
        """Write everything, with the account of the crawl's *requests*, and close. Blocks."""
        self._recorder.close(None if requests is None else requests.to_json())

    # --- what the crawl holds of each origin

    def of_fetch(self, origin: Origin, now: float) -> FetchArchive:
        """The archive of a fetch that begins at *now* (epoch seconds)."""
        return FetchArchive(self._recorder, self._settings, origin, now)

    def on_fetch_done(self, done: FetchDone) -> None:
        """Archive the state that a fetch led to."""
        record, result, now = done.record, done.result, time.time()
        if record is None:
            return
        if result is None:
            self._find(record, now)
            return
        archive: FetchArchive | None = result.archive
        records = () if archive is None else tuple(archive.records)
        before = None if done.base is None else self._find(done.base, now)
        body: _Body = None, False
        if record.has_failed:  # the copy stays
            body = _same_body(before, record)
        elif record.body and archive is not None:
            last = min(len(result.hops), len(records) - 1)  # probes may follow (FET-15)
            body = records[last], archive.is_left_out
        self._add(
            record,
            now,
            body,
            source="fetch",
            before=before and before.id,
            exchanges=records,
            failure=(result.error, result.local) if result.error or result.local else None,
        )

    def _find(self, record: RobotsRecord, now: float) -> State:
        """The state of *record*, archived now if a store contained it."""
        archived = self._archived.get(record.origin)
        if archived is not None and (archived.record is record or archived.record == record):
            return archived
        body = _same_body(archived, record)
        if body[0] is None and record.body:
            body = self._add_body(record)
        return self._add(record, now, body)

    def _add_body(self, record: RobotsRecord) -> _Body:
        """Archive a file that another process fetched, so that a replay needs no store."""
        target = record.hops[-1].target if record.hops else None
        is_left_out = target is not None and leads_inside(record.origin, target)  # SAF-06
        resource = NewRecord(
            "resource",
            record.origin.robots_url,
            record.fetched_at or record.updated_at,
            b"" if is_left_out else record.body,
            fields=left_out(record.body) if is_left_out else "",
        )
        self._recorder.add_record(resource)
        return resource.id, is_left_out

    def _add(self, record: RobotsRecord, now: float, body: _Body, **more: Any) -> State:
        state = State(next(self._state_ids), record, now, *body, **more)
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
        tokens, number = self._tokens.select(request), next(self._numbers)
        stated = None if usage is None else usage.preferences
        url = request.url
        fields = number, at, stage, url, tokens, decision, found, state, stated, None, None
        return self._log(tuple.__new__(LoggedDecision, fields))  # at half the cost of a call

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
        # hot path
        now = time.time()
        seconds = now - left if now > left else 0.0
        line = (
            f'{{"type":"sent","time":{left:.6f},"decision":{logged.number},'
            f'"status":{"null" if status is None else status},"seconds":{seconds:.3f}}}'
        )
        self._recorder.add_line(str, line)

    def on_answered(self, logged: LoggedDecision, status: int) -> None:
        """Log that another middleware answered the request of *logged*."""
        line = {"type": "answered", "time": time.time(), "decision": logged.number}
        self._recorder.add_line(dumps, {**line, "status": status})

    def _log(self, logged: LoggedDecision) -> LoggedDecision:
        self._recorder.add_line(self._lines, logged)
        return logged


def _same_body(archived: State | None, record: RobotsRecord) -> _Body:
    """The archived body if *record* has it too."""
    if archived is None or archived.record.body != record.body:
        return None, False
    return archived.body_record, archived.is_left_out


# --- opening


def open_evidence(
    crawler: Crawler,
    settings: Settings,
    tokens: TokenSelector,
    now: float,
) -> EvidenceObserver:
    """Open new files for a crawl that starts at *now* (epoch seconds).

    Raises ``ConfigurationError`` for a folder that cannot be written.
    """
    assert settings.evidence is not None
    run = RunSettings(
        policy=settings.access_policy(),
        redirects=settings.redirect_limits,
        max_size=settings.max_size,
        usage=UsagePolicy(settings.usage, settings.usage_policy),
        overrides=settings.overrides or HostTable({}),
    ).to_json()
    run["tokens"] = tokens.usual if tokens.is_fixed else None
    folder = Path(settings.evidence).absolute()
    try:
        folder.mkdir(0o700, parents=True, exist_ok=True)
        header, info = _header(crawler, settings, now, run), _info(crawler, run)
        writer = RunWriter(folder, new_run_name(now), header, info)
    except OSError as error:
        raise wrong(
            "ROBOTSPEC_EVIDENCE", settings.evidence, f"a folder that can be written ({error})"
        ) from None
    return EvidenceObserver(Recorder(writer, settings.evidence_timestamp), settings, tokens)


def _header(
    crawler: Crawler, settings: Settings, now: float, run: Mapping[str, Any]
) -> dict[str, Any]:
    """The first line of the log: operator, versions, settings."""
    given = crawler.settings
    changed = [
        name
        for name in sorted({*_NAMED, *_SHOWN, *settings.names()})
        if (given.getpriority(name) or 0) > 0
    ]
    return {
        "time": now,
        "software": _SOFTWARE,
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("scrapy", "twisted")},
            "scrapy-robotspec": __version__,
        },
        "operator": settings.evidence_operator,
        "spider": getattr(crawler.spider, "name", ""),
        "changed_settings": changed,
        "values": {
            name: given[name] for name in _SHOWN if isinstance(given[name], int | float | str)
        },
        "timestamp": settings.evidence_timestamp is not None,
        "settings": run,
    }


def _info(crawler: Crawler, run: Mapping[str, Any]) -> dict[str, str]:
    """The first record of the archive."""
    return {
        "software": _SOFTWARE,
        "format": "WARC File Format 1.1",
        "conformsTo": "https://iipc.github.io/warc-specifications/specifications/warc-format/"
        "warc-1.1/",
        "description": "Each robots.txt of a crawl, as received. Values of request headers and "
        "cookies, and user info in URLs, that read 'blanked' were left out",
        "http-header-user-agent": default_user_agent(crawler)[0],
        "robotspec-settings": dumps(run),
    }
