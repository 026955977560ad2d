"""CrawlDelay: requests of an origin wait for its next slot (EXT-01).

``fleet_pace.py`` says when a slot is free. Only then is it decided which request goes: the best one
that its rules still allow and that the downloader would send at once.
"""

from __future__ import annotations

import logging
import time
from bisect import insort
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from twisted.internet.defer import Deferred

from scrapy_robotspec.lookup import Pending
from scrapy_robotspec.lookup.live_origins import RETRY_PAUSE
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.scheduling.fleet_pace import FleetPace, OriginPace, Waiter, window
from scrapy_robotspec.store.base import HORIZON

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.lookup import Resolved
    from scrapy_robotspec.plugin._compat_rare import SendTimes
    from scrapy_robotspec.plugin.deciding.request_policy import Answer
    from scrapy_robotspec.plugin.robots import CrawlRobots

logger = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class DueSlot:
    """A busy download slot, kept for pages that are due."""

    paces: list[OriginPace] = field(default_factory=list)
    is_served: bool = False
    """One of them has gone. Those due from now on wait until others had their turn, too."""


class CrawlDelay:
    """Requests of one process that wait for slots.

    *robots* decides, and has the store. *monotonic* returns seconds.
    """

    def __init__(
        self,
        robots: CrawlRobots,
        downloads: SendTimes,
        monotonic: Callable[[], float] = time.monotonic,
        call_later: Callable[..., Any] = _compat.call_later,
    ) -> None:
        hold = robots.settings.hold_timeout
        self._fleet = FleetPace(robots.lookup.store, hold, monotonic, call_later)
        self._robots = robots
        self._downloads = downloads
        self._monotonic = monotonic
        self._call_later = call_later
        self._paces: dict[Origin, OriginPace] = {}
        self._closed = False
        self.due_slots: dict[str, DueSlot] = {}
        """Busy download slots in which pages are due: no other page goes there."""

    def pace(
        self, request: Request, origin: Origin, delay: float, ahead: float = 0.0
    ) -> Deferred[bool]:
        """Fires when *request* may go; with False, decide again.

        No page goes in the next *ahead* seconds. Cancelling is harmless.
        """
        pace = self._paces.get(origin)
        if pace is None:
            # A time further ahead than the delay comes from a clock that differs from ours.
            not_before = self._monotonic() + (ahead if ahead <= delay else 0.0)
            pace = self._paces[origin] = OriginPace(origin, self._fleet.processes, not_before)
        goes: Deferred[bool] = Deferred(lambda _: pace.waiters.remove(waiter))
        waiter = Waiter(request, delay, goes)
        insort(pace.waiters, waiter, key=lambda each: -each.request.priority)
        if not pace.is_served:
            pace.is_served = True
            pace.end_pause()
            Deferred.fromCoroutine(self._serve(pace))
        return goes

    def note_sent(self, origin: Origin) -> None:
        """A page of *origin* leaves, late if its download slot was busy."""
        pace = self._paces.get(origin)
        if pace is not None:
            pace.not_before = max(pace.not_before, self._monotonic() + pace.delay)

    def note_left(self, request: Request) -> None:
        """*request* has left its download slot, where a page may be due."""
        due = self.due_slots.get(self._downloads.slot_key(request)) if self.due_slots else None
        blocked = next((pace for pace in due.paces if pace.is_blocked), None) if due else None
        if blocked is not None:  # in a turn of its own: the downloader is at work
            self._call_later(0, blocked.end_block)

    def begins(self, before: Resolved, request: Request, answer: Answer) -> bool:
        """Whether *answer* has a delay, and *before* had none for *request*."""
        policy = self._robots.policy
        if not policy.delay(answer):
            return False
        return not policy.delay(policy.by_rules(before, request, 0.0))

    def is_spaced(self, origin: Origin | None) -> bool:
        """Whether requests of *origin* should leave their queue one at a time."""
        return origin in self._paces

    def close(self) -> None:
        """Ask for no more slots."""
        self._closed = True
        for pace in self._paces.values():
            pace.end_pause()

    # --- one origin

    async def _serve(self, pace: OriginPace) -> None:
        """Let the requests of *pace* go, one with each slot."""
        delay = 0.0
        while pace.waiters and not self._closed:
            delay = pace.waiters[0].delay
            try:
                await self._await_slot(pace)
            except Exception:
                logger.exception("Error in the crawl delay of %s", pace.origin)
                await self._sleep(pace, RETRY_PAUSE)
        pace.is_served = False
        self._open_slot(pace)
        if not self._closed:  # until its last slot has ended
            pace.timer = self._call_later(2 * delay + HORIZON, self._paces.pop, pace.origin)

    async def _await_slot(self, pace: OriginPace) -> None:
        best = pace.waiters[0]
        if not self._is_current(pace, best):
            return
        delay = best.delay
        ahead = pace.not_before - self._monotonic()
        wait = max(ahead, self._downloads.send_wait(best.request))
        if wait > 0:
            if ahead > 0:
                self._open_slot(pace)
            else:
                self._keep_slot(pace, self._downloads.slot_key(best.request))
            await self._sleep(pace, wait)
            pace.is_blocked = False
            return
        due = await self._fleet.reserve(pace, delay)
        if not due.granted:
            self._open_slot(pace)
        await self._sleep(pace, due.at - self._monotonic())
        if due.granted:
            late = pace.not_before - self._monotonic()
            await self._sleep(pace, late if late <= window(delay) else 0.0)
            self._send_best(pace, due.at, delay)

    def _send_best(self, pace: OriginPace, at: float, delay: float) -> None:
        """Let a request go with the slot at *at*, which has a spacing for *delay*."""
        now = self._monotonic()
        if max(at, pace.not_before) <= now <= at + window(delay) and not self._closed:
            for waiter in list(pace.waiters):
                if waiter.goes.called:  # cancelled, because another one was dismissed
                    continue
                fits = self._is_current(pace, waiter) and waiter.delay <= delay
                if fits and self._downloads.send_wait(waiter.request) <= 0:
                    pace.delay = delay
                    self._downloads.let_go(waiter.request)
                    self._fleet.note_page(pace, at, delay)
                    pace.dismiss(waiter, True)
                    self._open_slot(pace)
                    return
        pace.give_up()

    def _keep_slot(self, pace: OriginPace, key: str) -> None:
        """Keep the busy download slot *key* for *pace*."""
        if pace.due_slot != key:
            self._open_slot(pace)
            due = self.due_slots.setdefault(key, DueSlot())
            if not due.is_served:
                pace.due_slot = key
                due.paces.append(pace)
        pace.is_blocked = pace.due_slot == key

    def _open_slot(self, pace: OriginPace) -> None:
        """Keep no download slot for *pace*; the last one lets other pages go."""
        key, pace.due_slot = pace.due_slot, None
        if key is not None:
            due = self.due_slots[key]
            due.paces.remove(pace)
            due.is_served = True
            if not due.paces:
                del self.due_slots[key]
                self._robots.engine.wake()

    def _is_current(self, pace: OriginPace, waiter: Waiter) -> bool:
        """Whether *waiter* waits for a delay by the rules in force; else it is dismissed."""
        answer = self._robots.decide_now(pace.origin, waiter.request, time.time())
        delay = None if isinstance(answer, Pending) else self._robots.policy.delay(answer)
        waiter.delay = delay or 0.0
        if not waiter.delay:
            pace.dismiss(waiter, False)
        return waiter.delay > 0

    async def _sleep(self, pace: OriginPace, seconds: float) -> None:
        if seconds > 0 and not self._closed:
            pace.pause = Deferred()
            pace.timer = self._call_later(seconds, pace.end_pause)
            await pace.pause
