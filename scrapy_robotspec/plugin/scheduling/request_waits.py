"""RequestWaits: requests that wait in the middleware.

The gate holds the others of their origin. One request of an origin awaits its robots.txt, then its
crawl delay. When the spider closes, it goes back to the scheduler, the same object. A scheduler
whose queues do not obey the gate is asked for no more requests while ``ROBOTSPEC_MAX_PARKED`` of
them wait.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING
from weakref import WeakSet

from scrapy import signals
from scrapy.exceptions import IgnoreRequest
from twisted.internet.defer import Deferred

from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.meta_keys import DONT_FILTER
from scrapy_robotspec.plugin.scheduling.gate import Gate

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.plugin.deciding.request_policy import Answer
    from scrapy_robotspec.plugin.robots import CrawlRobots
    from scrapy_robotspec.plugin.scheduling.crawl_delay import CrawlDelay
    from scrapy_robotspec.plugin.scheduling.redis_parking import RedisParking

#: A paused crawl is looked at again after this time (seconds).
_PAUSED = 0.5
#: A call of Redis that takes longer has cost a page the time that it waited for (seconds).
_STALL = 0.1


class RequestWaits:
    """Waits of requests in ``process_request``."""

    def __init__(self, robots: CrawlRobots) -> None:
        self._robots = robots
        self.crawl_delay: CrawlDelay | None = None
        if robots.policy.spaces:
            from scrapy_robotspec.plugin._compat_rare import SendTimes
            from scrapy_robotspec.plugin.scheduling.crawl_delay import CrawlDelay

            self.crawl_delay = CrawlDelay(robots, SendTimes(robots.crawler))
            left = signals.request_left_downloader
            robots.crawler.signals.connect(self.crawl_delay.note_left, left)
        self._missing: str | None = None
        """The part of Scrapy without which another scheduler cannot be held back."""
        self._parking: RedisParking | None = None
        self._returned: WeakSet[Request] = WeakSet()
        self.gate = Gate(robots, self.crawl_delay)

    # --- requests

    async def hold_back(
        self, origin: Origin, request: Request, *, is_again: bool = False
    ) -> Answer | None:
        """The decision about *request*, once it may go.

        None: the caller returns it to the scheduler. Raises ``IgnoreRequest`` where it cannot go
        back. *is_again*: its turn has passed once, because Redis was slow.
        """
        gate = self.gate
        if self._missing and gate.parked >= self._robots.settings.max_parked:
            raise IgnoreRequest(
                f"{gate.parked} requests wait for a robots.txt (ROBOTSPEC_MAX_PARKED), and "
                f"this Scrapy has no {self._missing}, without which others cannot be held back"
            )
        popped = is_again or self._missing is not None or request in gate.popped
        parking = self._parking if popped else None
        goes_back = False
        gate.parked += popped
        try:
            if parking is not None:
                parking.park(request)
            answer = await self._decide(origin, request)
        except IgnoreRequest:
            goes_back = self._robots.engine.is_closing and request not in self._returned
            if not goes_back:
                raise
            self._returned.add(request)
            send_back(request)
            return None  # it stays parked until the scheduler has it
        finally:
            gate.parked -= popped
            began = time.monotonic()
            is_ours = goes_back or parking is None or parking.unpark(request)
        if not is_ours:
            raise IgnoreRequest("another worker has taken over the request while it waited")
        if time.monotonic() > began + _STALL and not is_again:  # else Redis is always slow
            return await self.hold_back(origin, request, is_again=True)
        return answer

    async def _decide(self, origin: Origin, request: Request) -> Answer:
        with self.gate.hold(origin, request):
            self._robots.routes.see(origin, request)
            has_slot = False
            while True:
                answer = await self._robots.decide_later(origin, request)
                delay = self._robots.policy.delay(answer)
                if self._robots.engine.is_paused:
                    pause: Deferred[None] = Deferred()
                    _compat.call_later(_PAUSED, pause.callback, None)
                    await self._robots.until(pause, "the crawl went on")
                    has_slot = False
                    continue
                if has_slot or not delay:
                    return answer
                assert self.crawl_delay is not None
                assert answer.found is not None
                self._robots.progress.account.spaced(origin, delay)
                # The robots.txt counts as a page.
                ahead = (answer.found.record.fetched_at or 0.0) + delay - time.time()
                has_slot = await self._robots.until(
                    self.crawl_delay.pace(request, origin, delay, ahead), "a crawl-delay had passed"
                )

    # --- start and end

    def open(self) -> None:
        """Prepare the engine, which exists when the spider is opened."""
        engine = self._robots.crawler.engine
        if self.crawl_delay is not None:
            from scrapy_robotspec.plugin import _compat_rare

            _compat_rare.load_handlers(engine)
        can_back_out = _compat.back_out_while(engine, self.gate.must_wait)
        if self.gate.queues:
            return
        from scrapy_robotspec.plugin import _compat_rare

        scheduler = _compat_rare.watch_scheduler(engine, self._on_given)
        if scheduler is None:
            self._missing = "_slot.scheduler.next_request"
        if not can_back_out:
            self._missing = "downloader.needs_backout"
        queue = _compat_rare.queue_of_scrapy_redis(scheduler)
        if queue is not None:
            from scrapy_robotspec.plugin.scheduling.redis_parking import RedisParking

            self._parking = RedisParking(queue)
            self._parking.open(self._robots.signals)

    def _on_given(self, request: Request | None) -> None:
        """The user's scheduler has given *request*; None: it has none."""
        if request is not None:
            self.gate.popped.setdefault(request)
        elif self._parking is not None:
            self._parking.feed(self._robots.crawler)

    def close(self) -> None:
        """Make no more calls."""
        if self._parking is not None:
            self._parking.close()
        if self.crawl_delay is not None:
            self.crawl_delay.close()


def send_back(request: Request) -> Request:
    """*request*, marked so that the duplicates filter lets it pass again."""
    request.meta.setdefault(DONT_FILTER, request.dont_filter)
    request.dont_filter = True
    return request
