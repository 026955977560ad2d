"""CrawlRuntime: clock, threads, fetcher and signals of a crawl.

Implements ``lookup.Runtime``. It passes on, it decides nothing.
"""

from __future__ import annotations

import random
import time
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from scrapy_robotspec import signals
from scrapy_robotspec.lookup import FetchLimiter, Lookup, TieredStore
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.fetching.fetcher import Fetcher
from scrapy_robotspec.plugin.robotparser import RobotSpecParser
from scrapy_robotspec.store import open_shared_store, open_store
from scrapy_robotspec.store.memory import MAX_SPILLED, MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector
    from twisted.internet.defer import Deferred

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.outcome import FetchResult
    from scrapy_robotspec.access.policy import AccessPolicy
    from scrapy_robotspec.lookup import FetchDone, Resolved
    from scrapy_robotspec.lookup.live_origins import LiveOrigins
    from scrapy_robotspec.plugin.crawl_origin import CrawlOrigin
    from scrapy_robotspec.plugin.evidence.exchange_archive import ExchangeArchive
    from scrapy_robotspec.plugin.settings.settings import Settings
    from scrapy_robotspec.plugin.settings.tokens import Tokens, TokenSelector
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
    from scrapy_robotspec.store.base import RecordStore

_T = TypeVar("_T")

#: A lease outlives the fetch that it is taken for by this much (seconds).
_LEASE_MARGIN = 5.0


class CrawlRuntime:
    """Connects the lookup to the crawl.

    *fetching* is called before every fetch, *on_fetch_done* after it; *stats* counts fetches.
    """

    def __init__(
        self,
        crawler: Crawler,
        settings: Settings,
        tokens: TokenSelector,
        on_fetch_done: Callable[[FetchDone], None],
        fetching: Callable[[], None],
        stats: StatsCollector,
        live: LiveOrigins[CrawlOrigin],
    ) -> None:
        self._crawler = crawler
        self._tokens = tokens
        self._fetcher = Fetcher(crawler, settings, stats, self.clock, live)
        self._threads: _compat.Threads | None = None
        self._policy = settings.policy()
        self._policies = settings.overrides.map(lambda override: override.adjust(self._policy))
        self._on_fetch_done = on_fetch_done
        self._fetching = fetching
        self.live = live

    def policy(self, origin: Origin) -> AccessPolicy:
        return (self._policies and self._policies.find(origin)) or self._policy

    def clock(self) -> float:
        return time.time()

    def random(self) -> float:
        return random.random()

    def call_later(self, delay: float, call: Callable[..., Any], *args: Any) -> Any:
        return _compat.call_later(delay, call, *args)

    def in_thread(self, call: Callable[..., _T], *args: Any) -> Deferred[_T]:
        if self._threads is None:
            self._threads = _compat.Threads()
        return self._threads(call, *args)

    def agent(self, request: Request) -> str:
        return self._fetcher.agent(request)

    def take_turn(self, origin: Origin, request: Request) -> float:
        return self._fetcher.take_turn(origin, request)

    def fetch(self, origin: Origin, request: Request) -> Deferred[FetchResult]:
        self._fetching()
        return self._fetcher.fetch(origin, request)

    def on_rules(
        self, found: Resolved, request: Request, replaced: RobotsTxt | None
    ) -> Deferred[None]:
        return _compat.deferred(self._send_signals(found, request, replaced))

    async def _send_signals(
        self, found: Resolved, request: Request, replaced: RobotsTxt | None
    ) -> None:
        """Send ``robots_parsed``, and ``robots_changed`` where other rules held before."""
        assert found.robots is not None
        parser = RobotSpecParser(found.robots, self._tokens_of(request))
        await _compat.send_signal(
            self._crawler, _compat.robots_parsed, robotparser=parser, request=request
        )
        if replaced is not None:
            await _compat.send_signal(
                self._crawler,
                signals.robots_changed,
                origin=found.origin,
                old=replaced,
                new=found.robots,
            )

    def _tokens_of(self, request: Request) -> Tokens | None:
        """The tokens of *request*; None where the user's function fails, which ends it later."""
        try:
            return self._tokens(request)
        except Exception:
            return None

    def on_fetch_done(self, done: FetchDone) -> None:
        self._on_fetch_done(done)

    def archive_exchanges(self, archive: ExchangeArchive) -> None:
        """Archive each robots.txt request from now on."""
        self._fetcher.archive_exchanges(archive)

    def note_route(self, origin: Origin, request: Request) -> None:
        """Remember how *request*, which waits for *origin*, reaches it."""
        self._fetcher.routes.see(origin, request)

    def close(self) -> None:
        if self._threads is not None:
            self._threads.close()


def open_lookup(runtime: CrawlRuntime, settings: Settings) -> Lookup[Request]:
    """The lookup of a crawl, with its stores."""
    memory, shared = _open_stores(settings.cache)
    store = TieredStore(
        memory,
        shared,
        runtime.in_thread,
        owner=uuid4().hex,
        lease_seconds=settings.fetch_timeout + _LEASE_MARGIN,
    )
    limiter = FetchLimiter(settings.concurrent_fetches)
    return Lookup(runtime, store, limiter, runtime.live, max_size=settings.max_size)


def _open_stores(uri: str) -> tuple[MemoryStore, RecordStore | None]:
    """The store in memory, and the slow one behind it if the setting names one."""
    if not uri.startswith("memory:"):
        from scrapy_robotspec.store.circuit_breaker import CircuitBreakerStore

        shared = CircuitBreakerStore(partial(open_shared_store, uri), time.monotonic)
        shared.open()
        # The store behind it has every record, but only after a call in a thread.
        return MemoryStore(max_spilled=MAX_SPILLED, warn=False), shared
    memory = open_store(uri)
    assert isinstance(memory, MemoryStore)
    return memory, None
