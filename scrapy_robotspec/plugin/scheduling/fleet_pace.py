"""FleetPace: one crawl delay for all processes sharing a store.

Answers when the next page of an origin may go; ``crawl_delay.py`` makes requests wait for it.

With the store, each page takes a slot there, so that no two pages of all processes are closer than
the delay. Without it, time is divided: of *n* processes last seen alive each has every *n*-th
interval, counted by the store's clock as it was last read.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from twisted.internet.defer import Deferred, succeed

from scrapy_robotspec.errors import StoreError
from scrapy_robotspec.store.base import Fleet

if TYPE_CHECKING:
    from collections.abc import Callable

    from twisted.python.failure import Failure

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.lookup.tiered_store import TieredStore

#: A process says that it is alive this often, and counts as alive this long after (seconds).
HEARTBEAT, LIFETIME = 2.0, 10.0
#: Processes notice one after the other that the store works again. All of them have noticed when
#: this time has passed (seconds): pause of the circuit breaker, timeout of a call, a heartbeat.
RECOVERY = 10.0
#: Intervals are longer than the delay by this factor. A page that would go later than that in its
#: interval waits for the next one, so pages of neighbouring intervals keep the delay.
STRETCH = 1.1
#: Two clocks may drift apart this much between two heartbeats (seconds).
_DRIFT = 0.0001
#: After the store was lost, another process may send a page that it has reserved (× delay).
LOST_PAUSE = 1.5


class FleetPace:
    """Slots for pages, reserved in the store."""

    def __init__(
        self,
        store: TieredStore,
        *,
        clock: Callable[[], float],
        monotonic: Callable[[], float],
        call_later: Callable[..., Any],
    ) -> None:
        self._store = store
        self._clock = clock
        self._monotonic = monotonic
        self._call_later = call_later
        self._fleet = Fleet(0, 1, 0.0)
        self._offset = 0.0  # store's clock minus ours
        self._offset_error = math.inf
        self._beating: Any = None
        self._lost_at: float | None = None
        self._recovering_until = -math.inf
        self._last_interval: dict[Origin, int] = {}
        self._closed = False

    @property
    def processes(self) -> int:
        """The number of live processes that share the store, as last read."""
        return self._fleet.size

    def reserve(self, origin: Origin, delay: float) -> Deferred[float]:
        """Reserve a page of *origin*: 0.0, or seconds to wait."""
        if not self._store.is_shared:
            now = self._clock()
            return succeed(max(0.0, self._store.reserve_local(origin, now, delay) - now))
        return Deferred.fromCoroutine(self._reserve(origin, delay))

    def report(self, origin: Origin, age: float) -> None:
        """Count the next slot from a page sent earlier."""
        if self._store.is_shared:
            self._store.reserve(origin, self._clock(), -age).addErrback(_ignore_store_error)
        else:
            self._store.reserve_local(origin, self._clock(), -age)

    async def close(self) -> None:
        """Leave the fleet."""
        self._closed = True
        if self._beating is not None:
            self._beating.cancel()
            await self._beat(0.001)

    async def _reserve(self, origin: Origin, delay: float) -> float:
        if self._beating is None:
            self._beating = self._call_later(HEARTBEAT, self._beat_on)
            await self._beat(LIFETIME)
        if self._lost_at is not None or self._monotonic() < self._recovering_until:
            wait = self._wait_for_interval(origin, delay)
            if wait:
                return wait
        try:
            now = self._clock()
            wait = max(0.0, await self._store.reserve(origin, now, delay) - now)
        except StoreError:
            self._lose()
            return self._take_interval(origin, delay)
        self._recover()
        return wait

    # --- who is alive

    def _beat_on(self) -> None:
        if not self._closed:
            self._beating = self._call_later(HEARTBEAT, self._beat_on)
            Deferred.fromCoroutine(self._beat(LIFETIME))

    async def _beat(self, seconds: float) -> None:
        began = self._monotonic()
        try:
            self._fleet = await self._store.heartbeat(self._clock(), seconds)
        except StoreError:
            self._lose()
            return
        self._set_clock(began, self._monotonic(), self._fleet.clock)
        self._recover()

    def _set_clock(self, began: float, ended: float, clock: float) -> None:
        """Read the store's *clock* from a call: the shorter the call, the better the reading."""
        offset, error = clock - (began + ended) / 2, (ended - began) / 2
        if error <= self._offset_error or abs(offset - self._offset) > error + self._offset_error:
            self._offset, self._offset_error = offset, error
        self._offset_error += _DRIFT

    def _lose(self) -> None:
        if self._lost_at is None:
            self._lost_at = self._monotonic()

    def _recover(self) -> None:
        if self._lost_at is not None:
            self._lost_at = None
            self._recovering_until = self._monotonic() + RECOVERY
            self._last_interval.clear()

    # --- without the store

    def _take_interval(self, origin: Origin, delay: float) -> float:
        """Take an interval of this process if it has just begun; else the wait for the next."""
        assert self._lost_at is not None
        wait = self._lost_at + LOST_PAUSE * delay - self._monotonic()
        wait = wait if wait > 0 else self._wait_for_interval(origin, delay)
        if not wait:
            self._last_interval[origin] = self._interval(delay)
        return wait

    def _wait_for_interval(self, origin: Origin, delay: float) -> float:
        """Seconds until an interval of this process begins; 0.0 if one has just begun."""
        length, size = delay * STRETCH, self._fleet.size
        passed = self._monotonic() + self._offset
        number = self._interval(delay)
        ours = number % size == self._fleet.rank
        began = passed - number * length <= length - delay
        if ours and began and self._last_interval.get(origin) != number:
            return 0.0
        ahead = (self._fleet.rank - number) % size or size
        return (number + ahead) * length - passed

    def _interval(self, delay: float) -> int:
        return int((self._monotonic() + self._offset) // (delay * STRETCH))


def _ignore_store_error(failure: Failure) -> None:
    failure.trap(StoreError)  # type: ignore[no-untyped-call]
