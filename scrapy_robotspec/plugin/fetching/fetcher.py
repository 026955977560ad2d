"""Fetcher: fetches robots.txt files, by another route where one fails.

``attempt.py`` follows the redirects of one route, ``downloads.py`` sends the requests.
``access/outcome.py`` gives a response its meaning, ``access/policy.py`` says when to fetch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.utils.python import to_bytes

from scrapy_robotspec.access.exchange import product_name
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.fetching.attempt import Attempt, FetchContext, Probes
from scrapy_robotspec.plugin.fetching.downloads import Downloads
from scrapy_robotspec.plugin.fetching.routes import Routes

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector
    from twisted.internet.defer import Deferred
    from twisted.python.failure import Failure

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.outcome import FetchResult
    from scrapy_robotspec.lookup.live_origins import LiveOrigins
    from scrapy_robotspec.plugin.crawl_origin import CrawlOrigin
    from scrapy_robotspec.plugin.evidence.exchange_archive import ExchangeArchive
    from scrapy_robotspec.plugin.settings.settings import Settings

#: Max routes or proxies that one fetch tries where each fails before it reaches the origin.
_MAX_TRIES_PER_FETCH = 4


class Fetcher:
    """Fetches robots.txt files for one crawler; see :meth:`fetch`."""

    def __init__(
        self,
        crawler: Crawler,
        settings: Settings,
        stats: StatsCollector,
        clock: Callable[[], float],
        live: LiveOrigins[CrawlOrigin],
    ) -> None:
        self._stats = stats
        agent = getattr(crawler.spider, "user_agent", None) or crawler.settings["USER_AGENT"]
        self._default_agent = to_bytes(agent) if isinstance(agent, str | bytes) else b""
        self._downloads = Downloads(crawler, settings.max_size)
        self.routes = Routes(settings.inherit_meta, live)
        self._context = FetchContext(
            settings=settings,
            downloads=self._downloads,
            routes=self.routes,
            probes=Probes(enabled=settings.probe_server_errors),
            stats=stats,
            clock=clock,
            # A cached response has no reliable lifetime, but offline it is the only source.
            use_http_cache=crawler.settings.getbool("HTTPCACHE_IGNORE_MISSING"),
        )

    def archive_exchanges(self, archive: ExchangeArchive) -> None:
        """Archive each robots.txt request from now on."""
        self._context.archive = archive

    def agent(self, page_request: Request) -> str:
        """Product name of the User-Agent that goes with *page_request* (CAC-04)."""
        header = page_request.headers.get(b"User-Agent") or self._default_agent
        return product_name(header)

    def take_turn(self, origin: Origin, page_request: Request) -> float:
        """Use the page's turn, unless this is a retry; seconds until then."""
        return 0.0 if self.routes.has_failed(origin) else self._downloads.take_turn(page_request)

    def fetch(self, origin: Origin, page_request: Request) -> Deferred[FetchResult]:
        """Fetch the robots.txt of *origin* because of *page_request* (FET-01 to FET-07).

        Fails only by being cancelled: any other failure is in the result.
        """
        release = self._downloads.open()
        fetching = _compat.deferred(self._fetch(origin, page_request))

        def finish(result: FetchResult | Failure) -> FetchResult | Failure:
            release()
            return result

        return fetching.addBoth(finish)

    async def _fetch(self, origin: Origin, page_request: Request) -> FetchResult:
        """Try routes until one reaches the origin, or fails for another reason than the way."""
        own = self.routes.see(origin, page_request)
        tried: list[str] = []
        route = self.routes.best(origin, own)
        while True:
            tried.append(route.name)
            result = await Attempt(self._context, origin, page_request, route).run()
            self._count(result)
            route = self.routes.best(origin, own)
            is_new = route.name not in tried or self.routes.rotates(route)
            # After a server error the site may want a pause.
            may_repeat = result.local and not result.answered
            if not (is_new and may_repeat) or len(tried) == _MAX_TRIES_PER_FETCH:
                return result

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
