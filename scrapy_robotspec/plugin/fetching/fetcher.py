"""Fetcher: downloads a robots.txt with a timeout and a size limit.

Redirects are followed in ``access/redirects.py``, headers and meta made in ``robots_request.py``.
``access/outcome.py`` gives a response its meaning, ``access/policy.py`` says when to fetch.
"""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from scrapy import Request, signals
from scrapy.exceptions import IgnoreRequest, StopDownload
from twisted.internet.defer import CancelledError, Deferred

from scrapy_robotspec.access.exchange import result_of
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import NOT_FROM_THE_SITE, FetchResult
from scrapy_robotspec.access.redirects import RedirectChain
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.fetching.failures import in_one_line, is_local
from scrapy_robotspec.plugin.fetching.robots_request import (
    META_KEY,
    Transfer,
    exchange_of,
    robots_request,
    slot_of,
    transfer_of,
)
from scrapy_robotspec.plugin.fetching.routes import Route, Routes
from scrapy_robotspec.plugin.fetching.time_limit import TimeLimitError, with_time_limit

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from scrapy_robotspec.access.exchange import Exchange
    from scrapy_robotspec.plugin.evidence.exchange_archive import ExchangeArchive
    from scrapy_robotspec.plugin.reporting.tolerant_stats import TolerantStats
    from scrapy_robotspec.plugin.settings.settings import Settings

#: Seconds between two probes of one origin (FET-15), and max origins that are remembered.
_PROBE_INTERVAL = 86400.0
_MAX_PROBED = 10_000
#: A cancelled coroutine ends with one or the other, depending on the reactor.
_CANCELLED = (CancelledError, asyncio.CancelledError)
#: Max routes or proxies that one fetch tries where each fails before it reaches the origin.
_MAX_TRIES_PER_FETCH = 4


class Fetcher:
    """Fetches robots.txt files for one crawler; see :meth:`fetch`."""

    def __init__(
        self,
        crawler: Crawler,
        settings: Settings,
        stats: TolerantStats,
        clock: Callable[[], float],
    ) -> None:
        self._crawler = crawler
        self._settings = settings
        self._stats = stats
        self._clock = clock
        self._running = 0
        self._probed: dict[Origin, float] = {}
        self.routes = Routes(settings.inherit_meta)
        self.archive: ExchangeArchive | None = None
        """Where requests and responses are archived."""
        # A cached response has no reliable lifetime, but offline it is the only source.
        self._use_http_cache = crawler.settings.getbool("HTTPCACHE_IGNORE_MISSING")

    def fetch(
        self, origin: Origin, page_request: Request, *, background: bool
    ) -> Deferred[FetchResult]:
        """Fetch the robots.txt of *origin* because of *page_request* (FET-01 to FET-07).

        *background*: no request waits for it. Fails only by being cancelled: any other failure
        is in the result.
        """
        assert self._crawler.engine is not None
        _compat.close_idle_connections(self._crawler.engine)  # many origins: none free for this one
        release_slot = _compat.extra_download_slot(self._crawler.engine)
        self._watch()
        fetching = _compat.deferred(self._fetch(origin, page_request, background))

        def finish(result: FetchResult | Failure) -> FetchResult | Failure:
            release_slot()
            self._unwatch()
            return result

        fetching.addBoth(finish)
        return fetching

    async def _fetch(self, origin: Origin, page_request: Request, background: bool) -> FetchResult:
        """Try routes until one reaches the origin, or fails for another reason than the way."""
        own = self.routes.see(origin, page_request)
        if not background and not self.routes.has_failed(origin):
            await self._take_turn(page_request)
        tried: list[str] = []
        route = self.routes.best(origin, own)
        while True:
            tried.append(route.name)
            result = await _Attempt(self, origin, page_request, route).run()
            self._count(result)
            route = self.routes.best(origin, own)
            is_new = route.name not in tried or self.routes.rotates(route)
            # After a server error the site may want a pause.
            may_repeat = result.local and not result.answered
            if not (is_new and may_repeat) or len(tried) == _MAX_TRIES_PER_FETCH:
                return result

    async def _take_turn(self, page_request: Request) -> None:
        """Wait for the turn that the page would have had, and use it up.

        The first request to an origin is spaced like a page. It takes no place of the page's
        download slot, so a silent robots.txt delays no other origin of that slot.
        """
        assert self._crawler.engine is not None
        pause = _compat.take_slot_turn(self._crawler.engine, page_request)
        if pause > 0:
            await _compat.sleep(pause)

    @cached_property
    def slots(self) -> _compat.UndelayedSlots:
        """Download slots of the robots.txt requests, once the engine exists."""
        assert self._crawler.engine is not None
        return _compat.UndelayedSlots(self._crawler.engine, slot_of)

    # --- stats

    def _count(self, result: FetchResult) -> None:
        count = self._stats.inc_value
        count("robotstxt/request_count")
        if result.hops:
            count("robotspec/redirect_hops", len(result.hops))
        if result.status is not None:
            count("robotstxt/response_count")
            count(f"robotstxt/response_status_count/{result.status}")
        if result.truncated:
            count("robotspec/truncated")

    # --- notes about the requests that are being downloaded

    def _watch(self) -> None:
        """Connect to the downloader's signals only while a robots.txt is being fetched."""
        self._running += 1
        if self._running == 1:
            connect = self._crawler.signals.connect
            connect(self._begin, signals.request_reached_downloader)
            connect(self._bytes_received, signals.bytes_received)
            connect(self._response_downloaded, signals.response_downloaded)

    def _unwatch(self) -> None:
        self._running -= 1
        if self._running == 0:
            disconnect = self._crawler.signals.disconnect
            disconnect(self._begin, signals.request_reached_downloader)
            disconnect(self._bytes_received, signals.bytes_received)
            disconnect(self._response_downloaded, signals.response_downloaded)

    def _begin(self, request: Request) -> None:
        transfer = transfer_of(request)
        if transfer is not None:
            transfer.begin(request)

    def _bytes_received(self, data: bytes, request: Request) -> None:
        transfer = transfer_of(request)
        if transfer is None:
            return
        transfer.received += len(data)
        if transfer.received > self._settings.max_size:  # FMT-12
            transfer.stopped = True
            raise StopDownload(fail=False)

    def _response_downloaded(self, response: Response, request: Request) -> None:
        """Keep the body encoded: it is decoded up to the limit in ``access/decoding.py``."""
        transfer = transfer_of(request)
        if transfer is None:
            return
        transfer.content_encoding = response.headers.getlist("Content-Encoding")
        response.headers.pop("Content-Encoding", None)

    # --- probes

    def probe_due(self, origin: Origin, now: float) -> bool:
        """Whether to probe *origin* for misplaced server errors (FET-15)."""
        if not self._settings.probe_server_errors:
            return False
        if now < self._probed.get(origin, 0.0) + _PROBE_INTERVAL:
            return False
        if len(self._probed) >= _MAX_PROBED:
            self._probed.pop(next(iter(self._probed)))
        self._probed[origin] = now
        return True


class _Attempt:
    """One robots.txt with its redirects, on one route."""

    def __init__(
        self, fetcher: Fetcher, origin: Origin, page_request: Request, route: Route
    ) -> None:
        self._fetcher = fetcher
        self._settings = fetcher._settings
        self._origin = origin
        self._page_request = page_request
        self._route = route
        self._request: Request | None = None
        self._records: list[str] = []
        self._chain = RedirectChain(origin, fetcher._settings.redirect_limits)

    async def run(self) -> FetchResult:
        """The result; only cancelling it from outside raises."""
        fetching = _compat.deferred(self._follow())
        limited = with_time_limit(fetching, self._settings.fetch_timeout, _compat.call_later)
        try:
            result: FetchResult = await _compat.as_future(limited)
        except _CANCELLED:
            raise
        except TimeLimitError:
            result = self._timed_out()
        except Exception as error:
            result = self._failed(error)
        return self._note_route(result)

    async def _follow(self) -> FetchResult:
        chain = self._chain
        while chain.follow(response := await self._download(chain.url)):
            pass
        error = chain.error
        if response.status >= 500 and await self._has_misplaced_errors():
            error = "server errors for missing pages"
        result = result_of(response, chain.hops, error, self._settings.max_size)
        local = self._may_be_the_proxys(response.status)
        return replace(result, local=local, records=tuple(self._records))

    async def _download(self, url: str) -> Exchange:
        engine = self._fetcher._crawler.engine
        assert engine is not None
        slot = f"robotspec@{self._origin}"
        self._request = request = robots_request(
            url,
            self._origin,
            slot=slot,
            route=self._route,
            user_agent=self._page_request.headers.get(b"User-Agent"),
            timeout=self._settings.fetch_timeout,
            use_http_cache=self._fetcher._use_http_cache,
        )
        with self._fetcher.slots.use(slot):
            response: Response = await _compat.as_future(_compat.download(engine, request))
        host = Origin.of(url)
        if host is not None and not self._may_be_the_proxys(response.status):
            self._fetcher.routes.worked(self._proxy, host.host, self._fetcher._clock())
        transfer: Transfer = request.meta[META_KEY]
        exchange = exchange_of(url, response, transfer)
        archive = self._fetcher.archive
        if archive is not None:
            sent, now = transfer.sent or request, self._fetcher._clock()
            self._records.append(archive.add_response(exchange, sent, response, now))
        return exchange

    async def _has_misplaced_errors(self) -> bool:
        """FET-15: a page that surely is missing answers 5xx, while ``/`` answers 2xx."""
        if not self._fetcher.probe_due(self._origin, self._fetcher._clock()):
            return False
        base = self._origin.robots_url.removesuffix("robots.txt")
        missing = await self._download(f"{base}{secrets.token_hex(16)}")
        if missing.status < 500:
            return False
        root = await self._download(base)
        return 200 <= root.status < 300

    # --- failures

    def _timed_out(self) -> FetchResult:
        self._fetcher._stats.inc_value("robotstxt/exception_count/timeout")
        error = f"no answer within {self._settings.fetch_timeout:g} s"
        return self._failure(error, self._is_unproven)

    def _failed(self, error: Exception) -> FetchResult:
        if not isinstance(error, IgnoreRequest):
            self._fetcher._stats.inc_value(f"robotstxt/exception_count/{type(error)}")
        local = is_local(error, self._proxy, self._fetcher.routes, self._fetcher._clock())
        return self._failure(in_one_line(error), local)

    def _failure(self, error: str, local: bool) -> FetchResult:
        if self._is_unproven:
            error += " through a proxy"
        archive = self._fetcher.archive
        if archive is not None:
            url = self._chain.url if self._request is None else self._request.url
            self._records.append(archive.add_failure(url, error, self._fetcher._clock()))
        hops, records = tuple(self._chain.hops), tuple(self._records)
        return FetchResult(error=error, hops=hops, local=local, records=records)

    @property
    def _proxy(self) -> str | None:
        """The proxy of the last request, also one from the environment or another middleware."""
        if self._request is None:
            return None
        transfer: Transfer = self._request.meta[META_KEY]
        return (transfer.sent or self._request).meta.get("proxy") or None

    @property
    def _is_unproven(self) -> bool:
        """Whether the last request went through a proxy that may never have worked."""
        proxy = self._proxy
        return proxy is not None and not self._fetcher.routes.is_proven(
            proxy, self._fetcher._clock()
        )

    def _may_be_the_proxys(self, status: int) -> bool:
        """Whether a proxy, and not the site, may have given the response.

        Until a proxy has brought another response, its server errors may be its own.
        """
        if status in NOT_FROM_THE_SITE:
            return True
        return status >= 500 and self._is_unproven

    def _note_route(self, result: FetchResult) -> FetchResult:
        self._fetcher.routes.used(self._route, self._proxy)
        if result.status is None or result.local or result.status >= 500:
            self._fetcher.routes.failed(self._origin, self._route)
        else:
            self._fetcher.routes.forget(self._origin)
        return result
