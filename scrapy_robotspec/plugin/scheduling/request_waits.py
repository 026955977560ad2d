"""RequestWaits: gate and crawl delay, wired to the lookup."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from scrapy import signals as scrapy_signals
from twisted.internet.defer import Deferred

from scrapy_robotspec.lookup import Pending
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.scheduling.crawl_delay import CrawlDelay
from scrapy_robotspec.plugin.scheduling.fleet_pace import FleetPace
from scrapy_robotspec.plugin.scheduling.gate import Event, Gate

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.lookup import Resolved
    from scrapy_robotspec.plugin.robots import CrawlRobots


class RequestWaits:
    """Keeps requests in the scheduler until they may go."""

    def __init__(self, crawler: Crawler, robots: CrawlRobots) -> None:
        self._crawler = crawler
        self._robots = robots
        self._policy = policy = robots.policy
        lookup = robots.lookup
        self.gate = Gate(
            origin_of=policy.origin_asked if robots.settings.overrides else policy.origin,
            knows=lookup.knows,
            next_slot_at=lookup.next_slot_at,
            clock=time.time,
            call_later=_compat.call_later,
            wake=lambda: _compat.wake(crawler.engine),
            on_waiting=robots.note_route,
        )
        clocks: Any = {
            "clock": time.time,
            "monotonic": time.monotonic,
            "call_later": _compat.call_later,
        }
        self._crawl_delay = CrawlDelay(
            FleetPace(lookup.store, hold=robots.settings.hold_timeout, **clocks),
            self.gate,
            send_wait=lambda request: _compat.send_wait(crawler.engine, request),
            **clocks,
        )

    # --- origins

    def block(self, found: Pending) -> None:
        """Keep the requests of an origin without valid rules in the scheduler."""
        then = Event.RETRY_ALLOWED if found.asked_before else Event.FETCH_ALLOWED
        self.gate.block(found.origin, found.until, then)

    def update(self, found: Resolved | Pending) -> None:
        """Block or release the requests of an origin after a fetch."""
        if isinstance(found, Pending):
            self.block(found)
        elif found.origin in self.gate.states:
            self._crawl_delay.open_gate(found.origin)

    def release(self, origin: Origin) -> None:
        """Let all requests of *origin* go."""
        self._crawl_delay.free(origin)

    # --- requests that wait

    def count(self, origin: Origin) -> int:
        """Number of requests that wait for *origin*, in or outside the scheduler."""
        return self.gate.count(origin) + self._robots.waits.count(origin)

    # --- crawl delay

    def turn(self, request: Request, found: Resolved, delay: float) -> bool | Deferred[bool]:
        """Whether the queued *request* may go now; a Deferred asks the store."""
        return self._crawl_delay.take(request, found.origin, delay, _earliest(found, delay))

    async def until_turn(self, request: Request, found: Resolved, delay: float) -> None:
        """Wait until *request*, which is not from the scheduler, may go."""
        earliest = _earliest(found, delay)
        turn = self._crawl_delay.wait(request, found.origin, delay, earliest)
        await self._robots.waits.until(turn)

    # --- start and end

    def connect(self) -> None:
        """Connect the crawl delay to the downloader's signals, if needed."""
        if self._policy.spaces:
            connect, pages = self._crawler.signals.connect, self._crawl_delay.pages
            connect(pages.sent, scrapy_signals.request_reached_downloader)
            connect(pages.answered, scrapy_signals.headers_received)
            connect(pages.answered, scrapy_signals.response_downloaded)  # handlers without headers
            connect(pages.left, scrapy_signals.request_left_downloader)

    def open(self) -> None:
        """Prepare the engine, which exists when the spider is opened."""
        assert self._crawler.engine is not None
        _compat.back_out_while(self._crawler.engine, self.gate.all_wait)
        if self._policy.spaces:
            _compat.load_handlers(self._crawler.engine)

    async def close(self) -> None:
        """Make no more calls, and leave the fleet."""
        await _compat.as_future(Deferred.fromCoroutine(self._crawl_delay.close()))


def _earliest(found: Resolved, delay: float) -> float:
    """When the origin's first page may go: its robots.txt counts as the page before."""
    return (found.fetched_at or 0.0) + delay
