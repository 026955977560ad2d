"""EvidenceObserver: logs decisions and pages that leave."""

from __future__ import annotations

import platform
import time
from functools import partial
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy_robotspec._version import __version__
from scrapy_robotspec.access.exchange import leads_inside
from scrapy_robotspec.access.overrides import HostTable
from scrapy_robotspec.access.usage_policy import UsagePolicy
from scrapy_robotspec.converters import wrong
from scrapy_robotspec.evidence.log_lines import (
    NO_ANSWER,
    conclusion,
    dumps,
    grounds,
    stated_usage,
)
from scrapy_robotspec.evidence.recorder import Recorder
from scrapy_robotspec.evidence.run_settings import RunSettings
from scrapy_robotspec.evidence.run_writer import RunWriter, new_run_name, record_ids
from scrapy_robotspec.evidence.states import State
from scrapy_robotspec.evidence.timestamp import stamp
from scrapy_robotspec.evidence.warc import BLANKED, NewRecord, blank_user_info, left_out
from scrapy_robotspec.plugin.enforcement import HEADER
from scrapy_robotspec.plugin.evidence.exchange_archive import ExchangeArchive
from scrapy_robotspec.plugin.fetching.robots_request import META_KEY
from scrapy_robotspec.plugin.settings.tokens import default_user_agent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.outcome import FetchResult
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.lookup import FetchDone, Resolved
    from scrapy_robotspec.plugin.robots import CrawlRobots, Stage
    from scrapy_robotspec.plugin.settings.tokens import Tokens

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


#: Max origins whose archived state is remembered; a forgotten one is archived again when used.
_MAX_ORIGINS = 20_000
#: Why a request needs no robots.txt.
_EXEMPT = "dont_obey_robotstxt"


#: A logged decision: number, time (epoch seconds), stage, URL, tokens, decision (None: the request
#: needs no robots.txt), the rules and their archived state, further members of the line.
Logged = tuple[
    int,
    float,
    "Stage",
    str,
    "Tokens",
    "Decision | None",
    "Resolved | None",
    "State | None",
    dict[str, Any],
]


class EvidenceObserver:
    """Receives every decision that a crawl applies.

    Only ``close`` may block, in a thread; nothing here may raise.
    """

    def __init__(self, recorder: Recorder, robots: CrawlRobots) -> None:
        self._recorder = recorder
        self._policy = robots.policy
        self._tokens = robots.tokens
        self._edition = robots.settings.edition.name
        self.open, self.close = recorder.open, recorder.close
        self._numbers = count(1)
        self._archived: dict[Origin, State] = {}
        """The last state of each origin that was archived."""
        self._record_ids = record_ids()
        self._state_ids = map("state-{}".format, count(1))
        self._make_line = self._line
        self._basis: tuple[object, ...] = ()
        """Grounds of the latest decision; the recorder's thread alone uses this and the next."""
        self._shared = ""
        """Members of that decision's line, as JSON: the next one may share them."""

    # --- what the crawl holds of each origin

    def on_fetch_done(self, done: FetchDone) -> None:
        """Archive the state that a fetch led to."""
        record, result = done.record, done.result
        if record is None:
            return
        if result is None:
            self._find(record)
            return
        before = None if done.base is None else self._find(done.base)
        if record.unreachable_since is None:
            body_record = _last_of_chain(result) if record.body else None
        else:  # the copy stays
            body_record = _same_body(before, record)
        failed = (result.error, result.local) if result.error or result.local else None
        state = State(
            next(self._state_ids),
            record,
            body_record,
            fetched=True,
            before=None if before is None else before.id,
            exchanges=result.records,
            failure=failed,
        )
        self._add(state)

    def _find(self, record: RobotsRecord) -> State:
        """The state of *record*, archived now if a store contained it."""
        archived = self._archived.get(record.origin)
        if archived is not None and (archived.record is record or archived.record == record):
            return archived
        body_record = _same_body(archived, record)
        if body_record is None and record.body:
            body_record = self._add_body(record)
        return self._add(State(next(self._state_ids), record, body_record))

    def _add_body(self, record: RobotsRecord) -> str:
        """Archive a file that another process fetched, so that a replay needs no store."""
        is_hidden = _is_from_inside(record)
        resource = NewRecord(
            next(self._record_ids),
            "resource",
            record.origin.robots_url,
            record.fetched_at or record.updated_at,
            b"" if is_hidden else record.body,
            fields=left_out(record.body) if is_hidden else "",
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

    def on_decision(
        self, request: Request, decision: Decision, found: Resolved | None, stage: Stage
    ) -> Logged:
        # hot path
        archived = None if found is None else self._find(found.record)
        more: dict[str, Any] = {}
        may_state_usage = found is None or found.extensions is not None
        if may_state_usage and (decision.allowed or decision.usage is not None):
            extensions = self._policy.extensions(decision, request, found)
            more = stated_usage(extensions.usage_of(request.url).preferences)
        at = time.time() if decision.time is None else decision.time
        tokens = self._tokens(request)
        number, url = next(self._numbers), request.url
        return self._log((number, at, stage, url, tokens, decision, found, archived, more))

    def on_exempt(self, request: Request) -> Logged | None:
        """*request* may need no robots.txt because its meta says so."""
        if not request.meta.get(_EXEMPT) or META_KEY in request.meta:
            return None
        more = {"allowed": True, "reason": _EXEMPT}
        number, url = next(self._numbers), request.url
        return self._log((number, time.time(), "request", url, (), None, None, None, more))

    def on_usage(self, logged: Logged, response: Response, refused: Decision | None) -> None:
        """The page of *logged* is *refused*, or has a header (USE-05)."""
        _, decided_at, _, url, tokens, decision, found, archived, more = logged
        if decision is None or (refused is None and HEADER not in response.headers):
            return
        header = b", ".join(response.headers.getlist(HEADER)).decode("latin-1")
        more = {**more, "rules_time": decided_at, "header": header}
        if refused is not None:
            group = None if decision.verdict is None else decision.verdict.group
            more |= {**conclusion(refused), "group": group}
        at, number = time.time(), next(self._numbers)
        self._log((number, at, "response", url, tokens, decision, found, archived, more))

    def on_sent(self, logged: Logged, left: float, status: int | None) -> None:
        """The page of *logged* left at *left* (epoch seconds).

        *status* answered it, or nothing did.
        """
        seconds = max(0.0, time.time() - left)
        self._recorder.add_line(str, _sent_line(logged[0], left, status, seconds))

    def _log(self, logged: Logged) -> Logged:
        self._recorder.add_line(self._make_line, logged)
        return logged

    # --- in the recorder's thread

    def _line(self, logged: Logged) -> str:
        # hot path: most requests of an origin are decided as the one before
        number, at, stage, url, tokens, decision, found, archived, more = logged
        if archived is None or decision is None or more:
            rest = dumps(self._members(logged))
        else:
            basis = archived.id, decision.allowed, decision.verdict, found, tokens
            if self._basis != basis:
                self._basis, self._shared = basis, dumps(self._members(logged))
            rest = self._shared
        return (
            f'{{"type":"decision","number":{number},"time":{at!r},'
            f'"stage":"{stage}","url":{dumps(blank_user_info(url))},{rest[1:]}'
        )

    def _members(self, logged: Logged) -> dict[str, Any]:
        """The members of a line that other requests may share."""
        _, _, _, _, tokens, decision, found, archived, more = logged
        said: dict[str, Any] = {"tokens": tokens, "edition": self._edition}
        if decision is not None:
            said |= conclusion(decision)
            if found is not None and found.record.hops and _is_from_inside(found.record):
                said["rule"] = BLANKED  # the file is left out of the archive (SAF-06)
            if found is None and decision.reason == "unreachable":  # it could wait no longer
                said |= grounds(None, otherwise=NO_ANSWER)
                said["failure"] = blank_user_info(decision.failure or "")
            else:
                said |= grounds(found)
            override = None if decision.origin is None else self._policy.override(decision.origin)
            if override is not None:
                said["override"] = override.kinds
        if archived is not None:
            said |= {"state": archived.id, "record": archived.body_record}
        return said | more


def _sent_line(number: int, left: float, status: int | None, seconds: float) -> str:
    return (
        f'{{"type":"sent","time":{left:.6f},"decision":{number},'
        f'"status":{"null" if status is None else status},"seconds":{seconds:.3f}}}'
    )


def _is_from_inside(record: RobotsRecord) -> bool:
    """Whether the file is from behind a redirect inside (SAF-06)."""
    target = record.hops[-1].target if record.hops else None
    return target is not None and leads_inside(record.origin, target)


def _same_body(archived: State | None, record: RobotsRecord) -> str | None:
    """Id of the archive record of the body that *record* has too."""
    if archived is None or archived.record.body != record.body:
        return None
    return archived.body_record


def _last_of_chain(result: FetchResult) -> str:
    """Id of the response that ended the redirect chain; probes may follow it (FET-15)."""
    return result.records[min(len(result.hops), len(result.records) - 1)]


# --- opening the files


def open_evidence(
    crawler: Crawler, robots: CrawlRobots, now: float
) -> tuple[EvidenceObserver, ExchangeArchive]:
    """Open new files for a crawl that starts at *now* (epoch seconds).

    Raises ``ConfigurationError`` for a folder that cannot be written.
    """
    settings, name = robots.settings, new_run_name(now)
    command = settings.evidence_timestamp
    assert settings.evidence is not None
    run = RunSettings(
        policy=settings.policy(),
        redirects=settings.redirect_limits,
        max_size=settings.max_size,
        usage=UsagePolicy(settings.usage, settings.usage_policy),
        overrides=settings.overrides or HostTable(),
    ).to_json()
    run["tokens"] = robots.tokens.fixed
    folder = Path(settings.evidence).absolute()
    output = folder / f"decisions-{name}.tsr"
    try:
        folder.mkdir(0o700, parents=True, exist_ok=True)
        header, info = _header(crawler, robots, now, run), _info(crawler, run)
        on_closed = None if command is None else partial(stamp, command, output)
        recorder = Recorder(RunWriter(folder, name, header, info), on_closed)
    except OSError as error:
        raise wrong(
            "ROBOTSPEC_EVIDENCE", settings.evidence, f"a folder that can be written ({error})"
        ) from None
    exchanges = ExchangeArchive(recorder, settings.evidence_headers, settings.max_size)
    return EvidenceObserver(recorder, robots), exchanges


def _header(
    crawler: Crawler, robots: CrawlRobots, now: float, run: Mapping[str, Any]
) -> dict[str, Any]:
    """The first line of the log: operator, versions, settings."""
    settings = crawler.settings
    changed = [
        name
        for name in sorted({*_NAMED, *_SHOWN, *type(robots.settings).names()})
        if (settings.getpriority(name) or 0) > 0
    ]
    return {
        "time": now,
        "software": _software(),
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("scrapy", "twisted")},
            "scrapy-robotspec": __version__,
        },
        "operator": robots.settings.evidence_operator,
        "spider": getattr(crawler.spider, "name", ""),
        "changed_settings": changed,
        "values": {
            name: settings[name]
            for name in _SHOWN
            if isinstance(settings[name], bool | int | float | str)
        },
        "timestamp": robots.settings.evidence_timestamp is not None,
        "settings": run,
    }


def _info(crawler: Crawler, run: Mapping[str, Any]) -> dict[str, str]:
    """The first record of the archive."""
    return {
        "software": _software(),
        "format": "WARC File Format 1.1",
        "conformsTo": "https://iipc.github.io/warc-specifications/specifications/warc-format/"
        "warc-1.1/",
        "description": "Each robots.txt of a crawl, as received. Values of request headers and "
        f"cookies, and user info in URLs, that read '{BLANKED}' were left out",
        "http-header-user-agent": default_user_agent(crawler)[0],
        "robotspec-settings": dumps(run),
    }


def _software() -> str:
    return f"scrapy-robotspec {__version__}"
