"""CrawlRuntime: clock, threads, fetches and signals of a crawl.

Implements ``lookup.Runtime``. ``access/policy.py`` says when to fetch. A fetch goes by one route
after another; an attempt fetches a robots.txt over one route, with its redirects.
"""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from scrapy.exceptions import IgnoreRequest
from twisted.internet.defer import CancelledError

from scrapy_robotspec import signals
from scrapy_robotspec.access.exchange import (
    MISPLACED,
    Exchange,
    RedirectChain,
    leading_product,
    result_of,
)
from scrapy_robotspec.access.origin import Origin, without_user_info
from scrapy_robotspec.access.outcome import (
    MISDIRECTED,
    NOT_FROM_THE_SITE,
    NOT_MODIFIED,
    SERVER_ERRORS,
    FetchResult,
    retry_after,
)
from scrapy_robotspec.access.reasons import IMPOSSIBLE_HOST
from scrapy_robotspec.lookup import Lookup, Resolved
from scrapy_robotspec.lookup.live_origins import LiveOrigins
from scrapy_robotspec.lookup.loop_time import LoopTime, TimeLimitError
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.deciding.tokens import TokenSelector, default_user_agent

# Not where it is used: a process without a free file could not read it then.
from scrapy_robotspec.plugin.fetching.failures import in_one_line, is_local
from scrapy_robotspec.plugin.fetching.robots_request import (
    Downloads,
    Transfer,
    exchange_of,
    robots_request,
)
from scrapy_robotspec.plugin.fetching.routes import Route, Routes
from scrapy_robotspec.store import MEMORY
from scrapy_robotspec.store.memory import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector
    from twisted.internet.defer import Deferred

    from scrapy_robotspec.access.policy import AccessPolicy
    from scrapy_robotspec.plugin.fetching.threads import Threads
    from scrapy_robotspec.plugin.recording.observer import EvidenceObserver
    from scrapy_robotspec.plugin.settings.settings import Settings
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
    from scrapy_robotspec.store.base import CrawlStore

#: A lease outlives the fetch that it is taken for by this much (seconds).
_LEASE_MARGIN = 5.0
#: Max routes or proxies that one fetch tries where each fails before it reaches the origin.
_MAX_TRIES = 4
#: A cancelled coroutine ends with one or the other, depending on the reactor.
_CANCELLED = (CancelledError, asyncio.CancelledError)


class CrawlRuntime:
    """Connects the lookup to the crawl.

    *stats* counts fetches.
    """

    random = staticmethod(random.random)

    def __init__(self, crawler: Crawler, settings: Settings, stats: StatsCollector) -> None:
        self.crawler = crawler
        self.engine = _compat.Engine(crawler)
        self.settings = settings
        self.tokens = TokenSelector(crawler, settings)
        self.live = LiveOrigins()
        self.stats = stats
        self._default_agent = default_user_agent(crawler)[0].encode()
        self.routes = Routes(settings.inherit_meta, self.live)
        self.loop_time = LoopTime(time.monotonic, _compat.call_later)
        """Counts the seconds of ``ROBOTSPEC_FETCH_TIMEOUT``."""
        self.downloads = Downloads(
            crawler, settings.max_size, self.loop_time, settings.fetch_timeout
        )
        # A cached response has no reliable lifetime, but offline it is the only source.
        self.use_http_cache = crawler.settings.getbool("HTTPCACHE_IGNORE_MISSING")
        self.probes: Probes | None = None
        """None: misplaced server errors are not looked for."""
        if settings.probe_server_errors:
            from scrapy_robotspec.plugin.fetching.probes import Probes

            self.probes = Probes()
        self.observer: EvidenceObserver | None = None
        """Archives requests and responses, and logs decisions; None: no evidence is kept."""
        self._access_policy = settings.access_policy()

    def clock(self) -> float:
        return time.time()  # looked up at each call, as elsewhere: a test may replace it

    def policy_of(self, origin: Origin) -> AccessPolicy:
        overrides = self.settings.overrides
        override = overrides.find(origin) if overrides else None
        policy = self._access_policy
        return policy if override is None else override.adjust(policy)

    @property
    def is_paused(self) -> bool:
        return self.engine.is_paused

    def agent(self, request: Request) -> str:
        """Product name of the User-Agent that goes with *request* (CAC-04)."""
        return leading_product(request.headers.get(b"User-Agent") or self._default_agent)

    @cached_property
    def in_thread(self) -> Threads:
        """Runs blocking calls, which few crawls make."""
        from scrapy_robotspec.plugin.fetching.threads import Threads

        return Threads()

    # --- fetches

    def download_delay(self, origin: Origin, request: Request) -> float:
        """Use the next time of the page's download slot; seconds until then.

        A retry uses none. The first request to an origin is spaced like a page. It takes no place
        in that slot, so a silent robots.txt delays no other origin of the slot.
        """
        if self.routes.has_failed(origin):
            return 0.0
        return _compat.take_slot_turn(self.crawler.engine, request)

    def fetch(self, origin: Origin, request: Request, failed: int | None) -> Deferred[FetchResult]:
        """Fetch the robots.txt of *origin* because of *request* (FET-01 to FET-07).

        Fails only by being cancelled: any other failure is in the result.
        """
        return _compat.deferred(self._fetch_by_routes(origin, request, failed))

    async def _fetch_by_routes(
        self, origin: Origin, request: Request, failed: int | None
    ) -> FetchResult:
        """Fetch the robots.txt of *origin* because of *request*.

        *failed*: the status of the attempt before, if it failed with one. Routes are tried until
        one reaches the origin, or fails for another reason than the way.
        """
        own = self.routes.see(origin, request)
        tried: list[str] = []
        proxies = {None, _proxy_in(request.meta)}
        route = self.routes.best(origin, own)
        with self.downloads.watched(use_idle=failed != MISDIRECTED):
            while True:
                tried.append(route.name)
                proxies.add(_proxy_in(dict(route.meta)))
                attempt = Attempt(self, origin, request, route, failed == NOT_MODIFIED)
                result = await attempt.run()
                route = self.routes.best(origin, own)
                # A middleware that has chosen another proxy than before may do so again.
                is_new = route.name not in tried or attempt.proxy not in proxies
                proxies.add(attempt.proxy)
                # After a server error the site may want a pause.
                may_repeat = result.local and not result.answered
                if not (is_new and may_repeat) or len(tried) == _MAX_TRIES:
                    return result

    # --- what fetches bring

    async def on_rules(self, found: Resolved, request: Request, replaced: RobotsTxt | None) -> None:
        if self.settings.dry_run:
            return  # these rules decide nothing
        sent = (_compat.robots_parsed, signals.robots_changed)
        if any(_compat.has_receivers(self.crawler, signal) for signal in sent):
            from scrapy_robotspec.plugin.robotparser import send_rules

            sending = send_rules(self.crawler, self.tokens, found, request, replaced)
            await _compat.deferred(sending)


def _proxy_in(meta: Mapping[str, Any]) -> str | None:
    """The proxy that a request with *meta* goes by, as Scrapy then names it."""
    proxy = meta.get("proxy")
    return without_user_info(proxy) if proxy else None


@dataclass(eq=False)
class Attempt:
    """Fetches the robots.txt of *origin* because of *page_request*, over *route*.

    With *past_caches* no cache on the way may answer for the origin (FET-07).
    """

    runtime: CrawlRuntime
    origin: Origin
    page_request: Request
    route: Route
    past_caches: bool = False
    _transfer: Transfer | None = None
    """The last request."""
    _probed: FetchResult | None = None
    """The server error that probes are made for; it stands where one fails (FET-15)."""

    def __post_init__(self) -> None:
        observer, limits = self.runtime.observer, self.runtime.settings.redirect_limits
        self._archive = None if observer is None else observer.of_fetch(self.origin, time.time())
        self._chain = RedirectChain(self.origin, limits)

    async def run(self) -> FetchResult:
        """The result; only cancelling it from outside raises."""
        fetching = _compat.deferred(self._follow())
        limited = self.runtime.loop_time.limit(fetching, self.runtime.settings.fetch_timeout)
        try:
            result: FetchResult = await _compat.as_future(limited)
        except _CANCELLED:
            self._archive_failure("cancelled")  # the request may have left
            raise
        except Exception as error:
            failed = self._failed(error)
            result = self._probed or failed
        self._count(result)
        if result.status is None or result.local or result.status >= 500:
            self.route.failures += 1
        else:
            self.runtime.routes.forget(self.origin)
        return replace(result, archive=self._archive)

    async def _follow(self) -> FetchResult:
        chain = self._chain
        while chain.follow(response := await self._download(chain.url)):
            pass
        assert self._transfer is not None
        result = replace(
            result_of(response, chain.hops, chain.error, self.runtime.settings.max_size),
            local=self._may_be_the_proxys(response.status),
            agent=leading_product(self._transfer.request.headers.get(b"User-Agent")),
            way_varies=chain.varies,
        )
        probes, now = self.runtime.probes, time.time()
        if (
            probes is None
            or response.status not in SERVER_ERRORS
            or retry_after(response.fields, now)
        ):
            return result
        self._probed = result
        if await probes.find_errors(self.origin, self._download, now):
            return replace(result, redirect_error=MISPLACED)
        return result

    async def _download(self, url: str) -> Exchange:
        self._transfer = transfer = robots_request(
            url,
            self.origin,
            route=self.route,
            user_agent=self.page_request.headers.get(b"User-Agent"),
            timeout=self.runtime.settings.fetch_timeout * LoopTime.STRETCH,  # our own limit ends it
            use_http_cache=self.runtime.use_http_cache,
            past_caches=self.past_caches,
        )
        response = await self.runtime.downloads.send(transfer)
        origin = Origin.of(url)
        if origin is not None and not self._may_be_the_proxys(response.status):
            self.runtime.routes.worked(self.proxy, origin, time.time())
        exchange = exchange_of(url, response, transfer)
        if self._archive is not None:
            self._archive.add_response(exchange, transfer.request, response, time.time())
        return exchange

    # --- failures

    def _failed(self, error: Exception) -> FetchResult:
        kind, words = str(type(error)), in_one_line(error)
        if isinstance(error, TimeLimitError):
            kind, limit = "timeout", self.runtime.settings.fetch_timeout
            words = str(error) or f"no answer within {limit:g} s"
            waits = self._transfer is not None and self._transfer.sending is None
            if waits and self.runtime.engine.sees_sending:
                words += ", not seen leaving"
        if not isinstance(error, IgnoreRequest):
            self.runtime.stats.inc_value(f"robotstxt/exception_count/{kind}")
        local = is_local(error, resolves=self.runtime.routes.resolves_names(time.time()))
        if self._is_unproven:
            local = True  # each failure may be the proxy's
            words += " through a proxy"
        asked = Origin.of(self._chain.url)
        if asked is not None and not asked.is_possible:
            words, local = IMPOSSIBLE_HOST, False
        self._archive_failure(words)
        return FetchResult(error=words, hops=self._chain.hops, local=local)

    def _archive_failure(self, error: str) -> None:
        if self._archive is not None:
            url = self._chain.url if self._transfer is None else self._transfer.request.url
            self._archive.add_failure(url, error, time.time())

    # --- the end

    def _count(self, result: FetchResult) -> None:
        count = self.runtime.stats.inc_value
        count("robotstxt/request_count")
        if result.hops:
            count("robotspec/redirect_hops", len(result.hops))
        if result.status is not None:
            count("robotstxt/response_count")
            count(f"robotstxt/response_status_count/{result.status}")
        if result.truncated:
            count("robotspec/truncated")

    # --- the route

    @property
    def proxy(self) -> str | None:
        """The proxy of the last request, which another middleware may have chosen."""
        return None if self._transfer is None else self._transfer.request.meta.get("proxy") or None

    @property
    def _is_unproven(self) -> bool:
        """Whether the last request went through a proxy that may never have worked."""
        proxy = self.proxy
        return proxy is not None and not self.runtime.routes.is_proven(proxy, time.time())

    def _may_be_the_proxys(self, status: int) -> bool:
        """Whether a proxy, and not the site, may have given the response.

        Until a proxy has brought another response, its server errors may be its own.
        """
        return status in NOT_FROM_THE_SITE or (status >= 500 and self._is_unproven)


def open_lookup(runtime: CrawlRuntime) -> Lookup:
    """The lookup of a crawl, with its stores."""
    settings, kind = runtime.settings, Lookup
    store: CrawlStore = MemoryStore()
    if settings.cache != MEMORY:
        from scrapy_robotspec.store.uri import open_store

        opened = open_store(settings.cache, settings.cache_schemes)
        if isinstance(opened, MemoryStore):
            store = opened
        else:
            from scrapy_robotspec.lookup.shared_lookup import SharedLookup
            from scrapy_robotspec.lookup.tiered_store import TieredStore

            kind = SharedLookup
            store = TieredStore(
                opened,
                runtime.in_thread,
                time.monotonic,
                owner=uuid4().hex,
                lease_seconds=settings.fetch_timeout + _LEASE_MARGIN,
            )
    return kind(runtime, store, settings.concurrent_fetches, settings.max_size)
