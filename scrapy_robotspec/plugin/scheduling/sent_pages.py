"""SentPages: moves the next slot after a late page.

Slots of the store count from the moment of the grant. On a busy machine the request leaves later,
and on a new connection it reaches the server later still: the next page would follow too closely.
"""

from __future__ import annotations

import math
from bisect import insort
from collections import deque
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request

    from scrapy_robotspec.access.origin import Origin

#: Slots are longer than the delay by this part of it, at most this many seconds. Only a page that
#: is later than that moves the next slot.
_MARGIN, _MARGIN_MAX = 0.015, 0.02
#: An unanswered page moves the next slot this part of the delay, at most this many seconds, before
#: that slot is free. The store must learn of it in time. It does so this many times.
_LEAD, _LEAD_MAX = 0.25, 0.25
_HOLDS = 3
#: Servers that usually take longer than this part of the delay are not waited for.
_QUICK = 0.5
#: Responses that are remembered for the usual latency of an origin, and the number of slots that
#: the late ones among them may cost.
_REMEMBERED, _COST = 200, 4


def margin(delay: float) -> float:
    """Seconds by which slots are longer than *delay*."""
    return min(_MARGIN * delay, _MARGIN_MAX)


class UsualLatency:
    """Usual time from sending to the response, for one origin.

    It is the shortest one seen, so that any longer one counts as a late arrival. It is longer where
    varying responses would otherwise cost more than ``_COST`` slots.
    """

    __slots__ = ("_latest", "_sorted")

    def __init__(self) -> None:
        self._latest: deque[float] = deque()
        self._sorted: list[float] = []

    def add(self, seconds: float, delay: float) -> None:
        """Add the latency of a response. A later one than *delay* costs no more than a slot."""
        seconds = min(seconds, delay)
        insort(self._sorted, seconds)
        self._latest.append(seconds)
        if len(self._latest) > _REMEMBERED:
            self._sorted.remove(self._latest.popleft())

    @property
    def is_known(self) -> bool:
        """Whether there were two responses to compare."""
        return len(self._sorted) > 1

    def usual(self, delay: float) -> float:
        """Seconds that a response takes; 0.0 until there was one."""
        if not self._sorted:
            return 0.0
        usual, cost = self._sorted[-1], 0.0
        for longer, seconds in enumerate(reversed(self._sorted)):
            cost += longer * (usual - seconds)
            if cost > _COST * delay:
                break
            usual = seconds
        return usual


class SentPages:
    """Pages between their slot and their response.

    *report* moves the next slot of an origin: it counts from *age* seconds ago. *monotonic* gives
    seconds.
    """

    def __init__(
        self,
        report: Callable[[Origin, float], None],
        *,
        monotonic: Callable[[], float],
        call_later: Callable[..., Any],
    ) -> None:
        self._report = report
        self._monotonic = monotonic
        self._call_later = call_later
        self._pages: WeakKeyDictionary[Request, _Page] = WeakKeyDictionary()

    def add(
        self, request: Request, origin: Origin, delay: float, slot_at: float, latency: UsualLatency
    ) -> None:
        """Send *request* with a slot asked for at *slot_at* (monotonic)."""
        self._pages[request] = _Page(origin, delay, slot_at, latency)

    def sent(self, request: Request) -> None:
        """*request* has reached the downloader. A handler of Scrapy's signal."""
        page = self._pages.get(request)
        if page is not None:
            page.sent_at = self._monotonic()
            # Not now: the downloader sends it after this, in the same turn of the event loop.
            self._call_later(0.0, self._count_from, page, page.sent_at)
            self._hold_later(page)

    def answered(self, request: Request) -> None:
        """*request* has a response. A handler of Scrapy's signals.

        It arrived the usual latency ago, if not earlier.
        """
        page = self._pages.pop(request, None)
        if page is not None and page.sent_at is not None:
            now = self._monotonic()
            page.latency.add(now - page.sent_at, page.delay)
            usual = page.latency.usual(page.delay) if page.latency.is_known else 0.0
            self._count_from(page, now - usual)
            page.counted_at = math.inf

    def left(self, request: Request) -> None:
        """*request* has left the downloader. A handler of Scrapy's signal."""
        page = self._pages.pop(request, None)
        if page is not None:
            page.counted_at = math.inf

    def close(self) -> None:
        """Move no more slots."""
        for request in list(self._pages):
            self.left(request)

    def _hold_later(self, page: _Page) -> None:
        lead = min(_LEAD * page.delay, _LEAD_MAX)
        self._call_later(page.delay - lead, self._hold, page)

    def _hold(self, page: _Page) -> None:
        """Count *page* from now on if its server, usually quick, has not answered."""
        is_pending = page.counted_at < math.inf
        if is_pending and page.latency.usual(page.delay) < _QUICK * page.delay:
            self._count_from(page, self._monotonic())
            page.holds += 1
            if page.holds < _HOLDS:
                self._hold_later(page)

    def _count_from(self, page: _Page, arrived_at: float) -> None:
        """Move the next slot if *page* arrived later than that allows for."""
        age = self._monotonic() - arrived_at + margin(page.delay)
        if arrived_at > page.counted_at and age < page.delay:  # else the next slot is past
            page.counted_at = arrived_at
            self._report(page.origin, age)


class _Page:
    """A page that goes with a slot."""

    __slots__ = ("counted_at", "delay", "holds", "latency", "origin", "sent_at")

    def __init__(self, origin: Origin, delay: float, slot_at: float, latency: UsualLatency) -> None:
        self.origin = origin
        self.delay = delay
        self.latency = latency
        self.holds = 0
        self.counted_at = slot_at + margin(delay)
        """Latest arrival that the next slot allows for; ``inf``: no later one is looked for."""
        self.sent_at: float | None = None
