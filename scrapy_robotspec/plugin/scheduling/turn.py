"""Turn: one process's part in the crawl delay of an origin."""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.plugin.scheduling.sent_pages import UsualLatency, margin

if TYPE_CHECKING:
    from scrapy import Request
    from twisted.internet.defer import Deferred

    from scrapy_robotspec.access.origin import Origin

#: Processes that compete ask up to this part of the delay, at most this many seconds, after the
#: slot is free: the sooner, the longer they have waited.
_YIELD, _YIELD_MAX = 0.01, 0.02


class Turn:
    """An origin's slots as one process knows them. Times are monotonic seconds."""

    __slots__ = (
        "_is_contested",
        "asked_at",
        "delay",
        "granted_at",
        "is_asking",
        "latency",
        "lost",
        "not_before",
        "origin",
        "request",
        "served_waiter",
        "slot_at",
        "timer",
        "waiters",
    )

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.delay = 0.0
        self.not_before = 0.0
        self.request: Request
        self.asked_at = self.granted_at = 0.0
        self.slot_at: float | None = None
        """When the slot that is held was asked for; None: there is none. It may have expired."""
        self.is_asking = False
        self.timer: Any = None
        self.lost = 0
        """Slots that other processes took since this one's last."""
        self._is_contested = False
        self.latency = UsualLatency()
        self.waiters: deque[tuple[Request, Deferred[None]]] = deque()
        """Requests that do not come from the scheduler."""
        self.served_waiter = False

    @property
    def interval(self) -> float:
        """Seconds from one slot to the next."""
        return self.delay + margin(self.delay)

    @property
    def is_busy(self) -> bool:
        """Whether a timer or the store will continue the turn."""
        return self.is_asking or self.timer is not None

    @property
    def next_request(self) -> Request:
        """A request with the download slot of the next one."""
        return self.waiters[0][0] if self.waiters else self.request

    def has_slot(self, now: float, validity: float) -> bool:
        """Whether a slot is held and younger than *validity* seconds."""
        return self.slot_at is not None and now - self.slot_at <= validity

    def spacing(self, now: float) -> float:
        """Seconds between the last page and the next slot.

        A slot that has expired is renewed, unless another process has taken one since it was
        granted. After a slow reply it is not known when that was.
        """
        if self.slot_at is None or self.granted_at - self.slot_at > self.interval / 4:
            return self.interval
        return min(now - self.granted_at, self.interval)

    def grant(self, now: float) -> None:
        """Hold the slot that was asked for, from *now* on."""
        self.slot_at, self.granted_at = self.asked_at, now

    def refuse(self, wait: float) -> None:
        """The next slot is *wait* seconds away."""
        self.slot_at = None
        if wait > self.interval / 2:  # less: a late page has moved the slot
            self.lost += 1
            self._is_contested = True

    def use_slot(self, others: int) -> float:
        """Use the slot; seconds until asking for the next one is worthwhile.

        Some of the *others*, processes, took ``lost`` slots since the last one of this process, and
        will probably take as many before its next. Most of them are slept through: a call for each
        is not worth it. If the first one after the sleep is free, the others may be gone.
        """
        rivals = min(self.lost, others) if self._is_contested else 0
        self.slot_at = None
        self.lost = rivals - math.ceil(math.sqrt(rivals))
        self._is_contested = False
        return self.interval * (1 + self.lost)

    def courtesy(self, others: int) -> float:
        """Seconds to leave to *others*, the processes that have probably waited longer."""
        if self.lost >= others:
            return 0.0
        return min(_YIELD * self.delay, _YIELD_MAX) * (1 - self.lost / others)

    def cancel(self) -> None:
        """End the sleep."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
