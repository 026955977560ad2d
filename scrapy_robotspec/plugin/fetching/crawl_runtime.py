"""CrawlRuntime: clock, threads, fetches and signals of a crawl.

Implements ``lookup.Runtime``. ``access/policy.py`` says when to fetch.
"""

from __future__ import annotations

import random
import time
from functools import cached_property
from typing import TYPE_CHECKING
from uuid import uuid4

from scrapy_robotspec import signals
from scrapy_robotspec.access.exchange import leading_product
from scrapy_robotspec.lookup import Lookup, Resolved
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.deciding.tokens import TokenSelector, default_user_agent
from scrapy_robotspec.plugin.fetching.attempt import Fetcher
from scrapy_robotspec.store import MEMORY
from scrapy_robotspec.store.memory import MemoryStore

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector
    from twisted.internet.defer import Deferred

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.outcome import FetchResult
    from scrapy_robotspec.access.policy import AccessPolicy
    from scrapy_robotspec.lookup.live_origins import LiveOrigins
    from scrapy_robotspec.plugin.fetching.threads import Threads
    from scrapy_robotspec.plugin.settings.settings import Settings
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt

#: A lease outlives the fetch that it is taken for by this much (seconds).
_LEASE_MARGIN = 5.0


class CrawlRuntime:
    """Connects the lookup to the crawl.

    *stats* counts fetches.
    """

    random = staticmethod(random.random)

    def __init__(
        self,
        crawler: Crawler,
        settings: Settings,
        tokens: TokenSelector,
        stats: StatsCollector,
        live: LiveOrigins,
    ) -> None:
        self._crawler = crawler
        self._tokens = tokens
        self._default_agent = default_user_agent(crawler)[0].encode()
        self.fetcher = Fetcher(crawler, settings, stats, live)
        self.loop_time = self.fetcher.loop_time
        self._policy = settings.access_policy()
        self._overrides = settings.overrides
        self.live = live

    def clock(self) -> float:
        return time.time()  # looked up at each call, as elsewhere: a test may replace it

    def policy(self, origin: Origin) -> AccessPolicy:
        override = self._overrides.find(origin) if self._overrides else None
        return self._policy if override is None else override.adjust(self._policy)

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
        if self.fetcher.routes.has_failed(origin):
            return 0.0
        return _compat.take_slot_turn(self._crawler.engine, request)

    def fetch(self, origin: Origin, request: Request, failed: int | None) -> Deferred[FetchResult]:
        """Fetch the robots.txt of *origin* because of *request* (FET-01 to FET-07).

        Fails only by being cancelled: any other failure is in the result.
        """
        return _compat.deferred(self.fetcher.fetch(origin, request, failed))

    # --- what fetches bring

    async def on_rules(self, found: Resolved, request: Request, replaced: RobotsTxt | None) -> None:
        if self.fetcher.settings.dry_run:
            return  # these rules decide nothing
        sent = (_compat.robots_parsed, signals.robots_changed)
        if any(_compat.has_receivers(self._crawler, signal) for signal in sent):
            from scrapy_robotspec.plugin.robotparser import send_rules

            sending = send_rules(self._crawler, self._tokens, found, request, replaced)
            await _compat.deferred(sending)

    def close(self) -> None:
        if "in_thread" in vars(self):
            self.in_thread.close()


def open_lookup(runtime: CrawlRuntime, settings: Settings) -> Lookup:
    """The lookup of a crawl, with its stores."""
    bounds = settings.concurrent_fetches, settings.max_size
    # The store behind it has every record, but only after a call in a thread.
    memory = MemoryStore()
    if settings.cache != MEMORY:
        from scrapy_robotspec.store.uri import open_store

        opened = open_store(settings.cache, settings.cache_schemes)
        if not isinstance(opened, MemoryStore):
            from scrapy_robotspec.lookup.shared_lookup import SharedLookup
            from scrapy_robotspec.lookup.tiered_store import TieredStore

            store = TieredStore(
                memory,
                opened,
                runtime.in_thread,
                time.monotonic,
                owner=uuid4().hex,
                lease_seconds=settings.fetch_timeout + _LEASE_MARGIN,
            )
            return SharedLookup(runtime, store, *bounds)
        memory = opened
    return Lookup(runtime, memory, *bounds)
