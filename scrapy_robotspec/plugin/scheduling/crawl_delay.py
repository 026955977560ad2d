"""CrawlDelay: requests of an origin wait for their slots (EXT-01).

``fleet_pace.py`` decides when that is.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from scrapy_robotspec.plugin.scheduling.sent_pages import SentPages
from scrapy_robotspec.plugin.scheduling.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.plugin.scheduling.fleet_pace import FleetPace

logger = logging.getLogger(__name__)


class CrawlDelay:
    """Slots of origins. ``pages`` has to learn which requests were sent and answered."""

    def __init__(
        self,
        pace: FleetPace,
        *,
        clock: Callable[[], float],
        monotonic: Callable[[], float],
        call_later: Callable[..., Any],
        send_wait: Callable[[Request], float],
    ) -> None:
        self._pace = pace
        self._clock = clock
        self._monotonic = monotonic
        self._call_later = call_later
        self._send_wait = send_wait
        self._turns: dict[Origin, Turn] = {}
        self.pages = SentPages(pace.report, monotonic=monotonic, call_later=call_later)

    def wait(
        self, request: Request, origin: Origin, delay: float, earliest: float = 0.0
    ) -> Deferred[None]:
        """Fires when *request* may go; it may be cancelled.

        Before *earliest* (epoch seconds) no page goes; the robots.txt counts as a page.
        """
        turn = self._turns.get(origin)
        if turn is None:
            turn = self._turns[origin] = Turn(origin)
            ahead = earliest - self._clock()
            # A time further ahead than the delay comes from a clock that differs from ours.
            turn.not_before = self._monotonic() + (ahead if ahead <= delay else 0.0)
        turn.delay = delay
        waiter: Deferred[None] = Deferred(lambda cancelled: turn.waiters.remove(entry))
        entry = (request, waiter)
        turn.waiters.append(entry)
        if not turn.is_busy:
            self._ask(turn)
        return waiter

    def is_spaced(self, origin: Origin) -> bool:
        """Whether requests of *origin* have to wait now, so that one should leave at a time."""
        return origin in self._turns

    async def close(self) -> None:
        """Ask for no more slots, and leave the fleet."""
        for turn in self._turns.values():
            turn.cancel()
        self._turns.clear()
        self.pages.close()
        await self._pace.close()

    @property
    def _others(self) -> int:
        return self._pace.processes - 1

    def _ask(self, turn: Turn) -> None:
        """Ask for a slot, unless the downloader would not send a page now."""
        wait = max(turn.not_before - self._monotonic(), self._send_wait(turn.waiters[0][0]))
        if wait > 0:
            self._sleep(turn, wait)
            return
        turn.asked_at, turn.is_asking = self._monotonic(), True
        self._pace.reserve(turn.origin, turn.interval).addBoth(self._on_reply, turn)

    def _on_reply(self, reply: float | Failure, turn: Turn) -> None:
        turn.is_asking = False
        if self._turns.get(turn.origin) is not turn:  # ended meanwhile
            return
        if isinstance(reply, Failure):
            logger.error("Error in the crawl delay of %s: %s", turn.origin, reply.getTraceback())
            reply = turn.delay
        if reply:
            turn.refuse(0.0 if self._pace.divides_time else reply)
            self._sleep(turn, reply + turn.courtesy(self._others))
            return
        turn.grant(self._monotonic())
        if not turn.waiters:  # cancelled
            self._sleep(turn, turn.interval)
            return
        request, waiter = turn.waiters.popleft()
        assert turn.slot_at is not None
        self.pages.add(request, turn.origin, turn.delay, turn.slot_at, turn.latency)
        self._sleep(turn, turn.use_slot(self._others) + turn.courtesy(self._others))
        waiter.callback(None)

    def _sleep(self, turn: Turn, seconds: float) -> None:
        turn.cancel()
        turn.timer = self._call_later(seconds, self._wake, turn)

    def _wake(self, turn: Turn) -> None:
        turn.timer = None
        if turn.waiters:
            self._ask(turn)
        else:
            del self._turns[turn.origin]
