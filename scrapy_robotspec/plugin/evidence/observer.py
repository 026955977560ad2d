"""EvidenceObserver: logs decisions and pages that leave."""

from __future__ import annotations

import platform
import time
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy_robotspec import __version__
from scrapy_robotspec.access.host_table import HostTable
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
from scrapy_robotspec.evidence.run_writer import RunWriter, new_run_name
from scrapy_robotspec.evidence.timestamp import stamp
from scrapy_robotspec.evidence.warc import BLANKED, blank_user_info
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.enforcement import HEADER
from scrapy_robotspec.plugin.evidence.exchange_archive import ExchangeArchive
from scrapy_robotspec.plugin.evidence.state_archive import StateArchive, leads_inside
from scrapy_robotspec.plugin.fetching.robots_request import META_KEY
from scrapy_robotspec.plugin.settings.tokens import default_user_agent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.lookup import Resolved
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


#: Why a request needs no robots.txt.
_EXEMPT = "dont_obey_robotstxt"


class EvidenceObserver:
    """Receives every decision that a crawl applies.

    Only ``close`` may block, in a thread; nothing here may raise.
    """

    def __init__(self, recorder: Recorder, robots: CrawlRobots, crawler: Crawler) -> None:
        self._recorder = recorder
        self._crawler = crawler
        self._policy = robots.policy
        self._tokens = robots.tokens
        self._edition = robots.settings.edition.name
        self._states = StateArchive(recorder)
        self.on_fetch_done = self._states.on_fetch_done
        self._passed: WeakKeyDictionary[Request, dict[str, Any]] = WeakKeyDictionary()
        """The lines of requests that were let through."""
        self._number = 0
        """That of the last decision."""

    def open(self) -> None:
        self._recorder.open()
        _compat.note_downloads(self._crawler, self._on_download)

    def close(self) -> None:
        self._recorder.close()

    # --- decisions

    def on_decision(
        self, request: Request, decision: Decision, found: Resolved | None, stage: Stage
    ) -> None:
        # hot path
        tokens = self._tokens.decided(request)
        line = self._line(request, stage, tokens)
        if decision.time is not None:
            line["time"] = decision.time
        line |= _conclusion(decision, found)
        if found is None and decision.reason == "unreachable":  # it could wait no longer
            line |= grounds(None, otherwise=NO_ANSWER)
            line["failure"] = blank_user_info(decision.failure or "")
        else:
            line |= self._grounds(found)
        line |= self._more(request, decision, found)
        self._log(line)
        if decision.allowed and stage in ("request", "final_url"):
            self._passed[request] = line

    def on_exempt(self, request: Request) -> None:
        if request.meta.get(_EXEMPT) and META_KEY not in request.meta:
            line = self._line(request, "request", ())
            line |= {"allowed": True, "reason": _EXEMPT}
            self._log(line)
            self._passed[request] = line

    def on_usage(self, request: Request, response: Response, decision: Decision | None) -> None:
        line = self._passed.pop(request, {})
        if "group" not in line or (decision is None and HEADER not in response.headers):
            return
        header = b", ".join(response.headers.getlist(HEADER)).decode("latin-1")
        said = {} if decision is None else {**conclusion(decision), "group": line["group"]}
        said |= {"stage": "response", "rules_time": line["time"], "header": header}
        self._log({**line, **said, "time": time.time()})

    def _on_download(self, request: Request, left: float, status: int | None) -> None:
        """*request* left at *left* (epoch seconds); *status* answered it, or nothing did."""
        passed = self._passed.get(request)
        if passed is not None:
            seconds = round(max(0.0, time.time() - left), 3)
            line = {
                "type": "sent",
                "time": left,
                "decision": passed["number"],
                "status": status,
                "seconds": seconds,
            }
            self._recorder.add_line(partial(dumps, line))

    def _line(self, request: Request, stage: Stage, tokens: Tokens) -> dict[str, Any]:
        """The line of a decision that is made now, as far as *request* is concerned."""
        return {
            "type": "decision",
            "number": 0,
            "time": time.time(),
            "stage": stage,
            "url": blank_user_info(request.url),
            "tokens": tokens,
            "edition": self._edition,
        }

    def _log(self, line: dict[str, Any]) -> None:
        """Number and log *line*."""
        self._number += 1
        line["number"] = self._number
        self._recorder.add_line(partial(dumps, line))

    def _grounds(self, found: Resolved | None) -> dict[str, Any]:
        """The state of the origin, with the ids of its records."""
        if found is None or found.record is None:
            return grounds(None)
        archived = self._states.find(found.record)
        return {**grounds(found), "state": archived.id, "record": archived.state.body_record}

    def _more(self, request: Request, decision: Decision, found: Resolved | None) -> dict[str, Any]:
        """Override and usage preferences, which few requests have."""
        override = None if decision.origin is None else self._policy.override(decision.origin)
        more = {} if override is None else {"override": override.kinds}
        may_state_usage = found is None or found.extensions is not None
        if may_state_usage and (decision.allowed or decision.usage is not None):
            extensions = self._policy.extensions(decision, request, found)
            more |= stated_usage(extensions.usage_of(request.url).preferences)
        return more


def _conclusion(decision: Decision, found: Resolved | None) -> dict[str, Any]:
    """The decision; it quotes no rule of a file that is left out of the archive (SAF-06)."""
    said = conclusion(decision)
    record = None if found is None else found.record
    if record is not None and record.hops and leads_inside(record):
        said["rule"] = BLANKED
    return said


# --- opening the files


def open_evidence(
    crawler: Crawler, robots: CrawlRobots, now: float
) -> tuple[EvidenceObserver, ExchangeArchive]:
    """Open new files for a crawl that starts at *now* (epoch seconds).

    Raises ``ConfigurationError`` for a folder that cannot be written.
    """
    recorder, settings = _open_recorder(crawler, robots, now), robots.settings
    exchanges = ExchangeArchive(recorder, settings.evidence_headers, settings.max_size)
    return EvidenceObserver(recorder, robots, crawler), exchanges


def _open_recorder(crawler: Crawler, robots: CrawlRobots, now: float) -> Recorder:
    settings, name = robots.settings, new_run_name(now)
    command = settings.evidence_timestamp
    assert settings.evidence is not None
    run = RunSettings(
        policy=settings.policy(),
        redirects=settings.redirect_limits,
        max_size=settings.max_size,
        usage=UsagePolicy(settings.usage, settings.usage_policy),
        overrides=settings.overrides or HostTable(),
        tokens=robots.tokens.fixed,
    ).to_json()
    folder = Path(settings.evidence)
    output = (folder / f"decisions-{name}.tsr").absolute()
    try:
        folder.mkdir(0o700, parents=True, exist_ok=True)
        header, info = _header(crawler, robots, now, run), _info(crawler, run)
        on_closed = None if command is None else partial(stamp, command, output)
        return Recorder(RunWriter(folder, name, header, info), on_closed=on_closed)
    except OSError as error:
        raise wrong(
            "ROBOTSPEC_EVIDENCE", settings.evidence, f"a folder that can be written ({error})"
        ) from None


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
        "values": {name: settings[name] for name in _SHOWN if _is_plain(settings[name])},
        "timestamp": robots.settings.evidence_timestamp is not None,
        "settings": run,
    }


def _is_plain(value: object) -> bool:
    return isinstance(value, bool | int | float | str)


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
