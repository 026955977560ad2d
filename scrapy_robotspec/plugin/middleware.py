"""RobotSpecMiddleware: passes requests on, refuses them, or requeues them.

``robots.py`` decides, ``scheduling/`` lets requests wait, ``reporting/`` counts.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

from scrapy import signals as scrapy_signals
from scrapy.exceptions import NotConfigured
from twisted.internet.defer import Deferred

from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.lookup import Pending
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.conclusions import Conclusions
from scrapy_robotspec.plugin.deciding.meta_keys import MetaKeys
from scrapy_robotspec.plugin.reporting.progress import Progress
from scrapy_robotspec.plugin.reporting.report import Report
from scrapy_robotspec.plugin.reporting.stats import CrawlStats
from scrapy_robotspec.plugin.robots import CrawlRobots
from scrapy_robotspec.plugin.scheduling.crawl_delay import CrawlDelay
from scrapy_robotspec.plugin.scheduling.fleet_pace import FleetPace
from scrapy_robotspec.plugin.scheduling.gate import Event, Gate
from scrapy_robotspec.plugin.scheduling.requeue import requeue, restore
from scrapy_robotspec.plugin.settings.settings import Settings
from scrapy_robotspec.plugin.settings.wiring import missing_parts

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.lookup import FetchDone, Resolved
    from scrapy_robotspec.protocol.usage import Usage


logger = logging.getLogger("scrapy_robotspec")


class RobotSpecMiddleware:
    """Downloader middleware that obeys robots.txt.

    The add-on puts it in the place of Scrapy's own (position 100). Reads ``ROBOTSTXT_OBEY`` and the
    ``ROBOTSPEC_*`` settings; a wrong one raises
    :class:`~scrapy_robotspec.errors.ConfigurationError`.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not crawler.settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured("ROBOTSTXT_OBEY is off: no robots.txt is obeyed")
        assert crawler.stats is not None
        self.settings = Settings.from_scrapy(crawler.settings)
        if self.settings.dry_run:
            raise ConfigurationError(
                "ROBOTSPEC_DRY_RUN = True is wrong where RobotSpecMiddleware was put by hand into "
                "DOWNLOADER_MIDDLEWARES: give ADDONS scrapy_robotspec.Addon, which keeps Scrapy's "
                "own in place"
            )
        self._crawler = crawler
        self._progress = Progress(
            crawler.stats,
            after=self.settings.progress_after,
            interval=crawler.settings.getfloat("LOGSTATS_INTERVAL"),
            waiting_of=lambda origin: self.gate.count(origin),
            clock=time.time,
            call_later=_compat.call_later,
        )
        report = Report(by_origin=self.settings.report is not None)
        self._crawl_stats = CrawlStats(crawler.stats, self.settings, report, self._progress)
        self.robots = CrawlRobots(crawler, self.settings, self._on_fetch_done, crawler.stats)
        self._policy = self.robots.policy
        self._conclusions = Conclusions(self.robots, self._crawl_stats)
        self._meta_keys = MetaKeys()
        self._has_overrides = bool(self.settings.overrides)
        self.gate = Gate(
            origin_of=self._policy.origin_asked if self._has_overrides else self._policy.origin,
            knows=self.robots.lookup.knows,
            next_slot_at=self.robots.lookup.next_slot_at,
            clock=time.time,
            call_later=_compat.call_later,
            wake=lambda: _compat.wake(crawler.engine),
            on_waiting=self.robots.note_route,
        )
        self._crawl_delay = _crawl_delay(crawler, self.robots, self.gate)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        middleware = cls(crawler)
        connect = crawler.signals.connect
        connect(middleware._spider_opened, scrapy_signals.spider_opened)
        connect(middleware._spider_closed, scrapy_signals.spider_closed)
        if middleware.robots.policy.spaces:
            connect(middleware._crawl_delay.sent, scrapy_signals.request_reached_downloader)
            connect(middleware._crawl_delay.answered, scrapy_signals.response_received)
        return middleware

    # --- questions of a spider

    async def decision(self, url: str) -> Decision:
        """Decide about *url*; wait for its robots.txt if needed."""
        return await self.robots.decision(url)

    async def sitemaps(self, url: str) -> tuple[str, ...]:
        """The sitemaps that the robots.txt for *url* names (SIT-01)."""
        return await self.robots.sitemaps(url)

    async def crawl_delay(self, url: str) -> float | None:
        """The crawl-delay for *url* in seconds (EXT-01); None: none is stated."""
        return await self.robots.crawl_delay(url)

    async def usage(self, url: str) -> Usage:
        """The usage preferences that robots.txt states for *url* (USE-01); empty for none."""
        return await self.robots.usage(url)

    # --- requests

    def process_request(
        self, request: Request, spider: Spider | None = None
    ) -> Request | Awaitable[Request | None] | None:
        """Pass *request* on (None), requeue it (itself), or raise."""
        # hot path
        queued = restore(request)
        origin = self._policy.origin(request)
        if origin is None:
            return None
        if not self._meta_keys.seen.issuperset(request.meta):
            self._meta_keys.check(request.meta)
        answer = self.robots.answer(origin, request, time.time())
        if isinstance(answer, Pending):
            self._crawl_stats.on_pending(origin)
            if not queued:
                return self._decide_later(origin, request)
            self._block(answer)
            return requeue(request)
        decision, found = answer
        if self._policy.spaces and found is not None and decision.allowed:
            delay = self._policy.delay(found, request)
            if delay:
                return self._space(request, found, decision, delay, queued)
        if origin in self.gate.states:
            self._crawl_delay.free(origin)
        self._conclusions.request(request, decision, found)
        return None

    async def _decide_later(self, origin: Origin, request: Request) -> None:
        """Let *request* wait here: it does not come from the scheduler and cannot go back."""
        self.count_waiting(1)
        try:
            decision, found = await self.robots.wait(origin, request)
        finally:
            self.count_waiting(-1)
        if found is not None and decision.allowed:
            delay = self._policy.delay(found, request)
            if delay:
                turn = self._crawl_delay.wait(request, origin, delay, _earliest(found, delay))
                await self.robots.waits.until(turn)
        self._conclusions.request(request, decision, found)

    # --- responses

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response | Awaitable[Response]:
        """Return *response*, unless its URL or its declared uses are not allowed."""
        return self._conclusions.response(request, response)

    # --- crawl-delay

    def _space(
        self, request: Request, found: Resolved, decision: Decision, delay: float, queued: bool
    ) -> Request | Awaitable[Request | None] | None:
        """Pass *request* on if its origin's crawl-delay has passed, else let it wait."""
        if not queued:
            return self._decide_later(found.origin, request)
        earliest = _earliest(found, delay)
        turn = self._crawl_delay.take(request, found.origin, delay, earliest)
        if isinstance(turn, Deferred):
            return self._go_or_requeue(turn, request, found, decision)
        if not turn:
            return requeue(request)
        self._conclusions.request(request, decision, found)
        return None

    async def _go_or_requeue(
        self, turn: Deferred[bool], request: Request, found: Resolved, decision: Decision
    ) -> Request | None:
        """Wait for the store's reply, which comes within milliseconds."""
        if not await _compat.as_future(turn):
            return requeue(request)
        self._conclusions.request(request, decision, found)
        return None

    # --- the gate

    def _block(self, found: Pending) -> None:
        """Keep the requests of an origin without valid rules in the scheduler."""
        then = Event.RETRY_ALLOWED if found.asked_before else Event.FETCH_ALLOWED
        self.gate.block(found.origin, found.until, then)

    def _on_fetch_done(self, done: FetchDone) -> None:
        """Count a fetch, then block or release the requests of its origin."""
        now, found = time.time(), done.found
        self._crawl_stats.on_fetch_done(done, self.gate.count(found.origin), now)
        if isinstance(found, Pending):
            self._block(found)
        elif found.origin in self.gate.states:
            self._crawl_delay.open_gate(found.origin)

    def count_waiting(self, change: int) -> None:
        """Count *change* more waiting requests; called by the queues."""
        self._crawl_stats.waiting_changed(change)

    # --- start and end

    def _spider_opened(self) -> None:
        for problem in missing_parts(self._crawler.settings):
            logger.warning("%s.", problem)
        self.robots.open()
        assert self._crawler.engine is not None
        _compat.back_out_while(self._crawler.engine, self.gate.all_wait)
        if self._policy.spaces:
            _compat.load_handlers(self._crawler.engine)

    async def _spider_closed(self) -> None:
        self.gate.close()
        self._crawl_stats.close()
        await _compat.as_future(Deferred.fromCoroutine(self._crawl_delay.close()))
        await self.robots.close()


def _crawl_delay(crawler: Crawler, robots: CrawlRobots, gate: Gate) -> CrawlDelay:
    clocks: Any = {
        "clock": time.time,
        "monotonic": time.monotonic,
        "call_later": _compat.call_later,
    }
    return CrawlDelay(
        FleetPace(robots.lookup.store, **clocks),
        gate,
        send_wait=lambda request: _compat.send_wait(crawler.engine, request),
        **clocks,
    )


def _earliest(found: Resolved, delay: float) -> float:
    """When the origin's first page may go: its robots.txt counts as the page before."""
    return (found.fetched_at or 0.0) + delay
