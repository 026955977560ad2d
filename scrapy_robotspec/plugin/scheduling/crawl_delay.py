"""CrawlDelay: requests of an origin wait for its next slot (EXT-01).

``fleet_pace.py`` says when a slot is free. Only then is it decided which request goes: the best one
that its rules still allow and that the downloader would send at once.
"""

from __future__ import annotations

import logging
import random
import time
from bisect import insort
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from twisted.internet.defer import Deferred

from scrapy_robotspec.lookup.live_origins import RETRY_PAUSE
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.scheduling.fleet_pace import FleetPace, window
from scrapy_robotspec.store.page_slots import HORIZON

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.plugin.robots import CrawlRobots
    from scrapy_robotspec.plugin.scheduling.fleet_pace import Place

logger = logging.getLogger(__name__)

#: A timer may end this much early (seconds): reactors count by other clocks.
_EARLY = 0.002


class CrawlDelay:
    """Requests of one process that wait for slots.

    *delay_now* returns the delay by the rules in force (seconds); None or 0.0 if the request has to
    be decided again. *send_wait* returns the seconds until the downloader would send it. *clock*
    gives epoch seconds, *monotonic* seconds.
    """

    def __init__(
        self,
        pace: FleetPace,
        *,
        delay_now: Callable[[Origin, Request], float | None],
        send_wait: Callable[[Request], float],
        clock: Callable[[], float],
        monotonic: Callable[[], float],
        call_later: Callable[..., Any],
    ) -> None:
        self._pace = pace
        self._delay_now = delay_now
        self._send_wait = send_wait
        self._clock = clock
        self._monotonic = monotonic
        self._call_later = call_later
        self._lines: dict[Origin, _Line] = {}
        self._numbers = count()
        self._closed = False

    def wait(
        self, request: Request, origin: Origin, delay: float, earliest: float = 0.0
    ) -> Deferred[bool]:
        """Fires when *request* may go; with False, decide again.

        Before *earliest* (epoch seconds) no page goes. Cancelling is harmless.
        """
        line = self._lines.get(origin)
        if line is None:
            ahead = earliest - self._clock()
            # A time further ahead than the delay comes from a clock that differs from ours.
            not_before = self._monotonic() + (ahead if ahead <= delay else 0.0)
            line = self._lines[origin] = _Line(self._pace.enter(origin), not_before)
        turn: Deferred[bool] = Deferred(lambda _: line.waiters.remove(waiter))
        waiter = _Waiter((-request.priority, next(self._numbers)), request, delay, turn)
        insort(line.waiters, waiter)
        if not line.is_served:
            line.is_served = True
            line.wake()
            Deferred.fromCoroutine(self._serve(line))
        return turn

    def is_spaced(self, origin: Origin) -> bool:
        """Whether requests of *origin* should leave their queue one at a time."""
        return origin in self._lines

    def close(self) -> None:
        """Ask for no more slots."""
        self._closed = True
        for line in self._lines.values():
            line.wake()
        self._lines.clear()

    # --- one origin

    async def _serve(self, line: _Line) -> None:
        """Let the requests of *line* go, one with each slot."""
        delay = 0.0
        while line.waiters and not self._closed:
            delay = line.waiters[0].delay
            try:
                await self._take_turn(line)
            except Exception:
                logger.exception("Error in the crawl delay of %s", line.place.origin)
                await self._sleep(line, RETRY_PAUSE)
        line.is_served = False
        if not self._closed:  # until its last slot has ended
            line.timer = self._call_later(2 * delay + HORIZON, self._lines.pop, line.place.origin)

    async def _take_turn(self, line: _Line) -> None:
        best, now = line.waiters[0], self._monotonic()
        if not self._is_current(line, best):
            return
        wait, delay = max(line.not_before - now, self._send_wait(best.request)), best.delay
        if wait > 0:
            await self._sleep(line, wait)
            return
        turn = await self._pace.ask(line.place, delay)
        await self._sleep(line, turn.at - self._monotonic())
        if turn.granted:
            self._use(line, turn.at, delay)

    def _use(self, line: _Line, at: float, delay: float) -> None:
        """Let a request go with the slot at *at*, which has a spacing for *delay*."""
        now = self._monotonic()
        if at - _EARLY <= now <= at + window(delay) and not self._closed:
            for waiter in list(line.waiters):
                if waiter.turn.called:  # cancelled, because another one was dismissed
                    continue
                fits = self._is_current(line, waiter) and waiter.delay <= delay
                if fits and self._send_wait(waiter.request) <= 0:
                    self._pace.use(line.place, at, delay)
                    line.dismiss(waiter, True)
                    return
        self._pace.give_up(line.place)

    def _is_current(self, line: _Line, waiter: _Waiter) -> bool:
        """Whether *waiter* waits for a delay by the rules in force; else it is dismissed."""
        waiter.delay = self._delay_now(line.place.origin, waiter.request) or 0.0
        if not waiter.delay:
            line.dismiss(waiter, False)
        return waiter.delay > 0

    async def _sleep(self, line: _Line, seconds: float) -> None:
        if seconds > 0 and not self._closed:
            line.pause = Deferred()
            line.timer = self._call_later(seconds, line.wake)
            await line.pause


@dataclass(slots=True, order=True)
class _Waiter:
    """A request that waits."""

    rank: tuple[int, int]
    """Lowest first: by priority, then by arrival."""
    request: Request = field(compare=False)
    delay: float = field(compare=False)
    turn: Deferred[bool] = field(compare=False)


@dataclass(slots=True, eq=False)
class _Line:
    """The waiting requests of one origin."""

    place: Place
    not_before: float
    """Monotonic seconds."""
    waiters: list[_Waiter] = field(default_factory=list)
    """In the order in which they go."""
    is_served: bool = False
    pause: Deferred[None] | None = None
    timer: Any = None

    def wake(self) -> None:
        """End the pause."""
        if self.timer is not None:
            self.timer.cancel()
        pause, self.pause = self.pause, None
        if pause is not None:
            pause.callback(None)

    def dismiss(self, waiter: _Waiter, goes: bool) -> None:
        self.waiters.remove(waiter)
        waiter.turn.callback(goes)


def open_crawl_delay(
    crawler: Crawler,
    robots: CrawlRobots,
    delay_now: Callable[[Origin, Request], float | None],
) -> CrawlDelay:
    """The crawl delay, kept with all processes that share the store."""
    pace = FleetPace(
        robots.lookup.store,
        hold=robots.settings.hold_timeout,
        monotonic=time.monotonic,
        random=random.random,
    )
    return CrawlDelay(
        pace,
        delay_now=delay_now,
        send_wait=lambda request: _compat.send_wait(crawler.engine, request),
        clock=time.time,
        monotonic=time.monotonic,
        call_later=_compat.call_later,
    )
