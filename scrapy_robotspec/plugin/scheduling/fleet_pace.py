"""FleetPace: one crawl delay for all processes sharing a store.

Answers when the next page of an origin may go; ``crawl_delay.py`` makes requests wait for it. With
the store, each page takes a slot there. Without it, ``intervals.py`` divides the time. After the
store has come back both hold for a while, until all processes have noticed.
"""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING, Any

from twisted.internet.defer import Deferred, succeed

from scrapy_robotspec.errors import StoreError
from scrapy_robotspec.plugin.scheduling.intervals import Intervals, latest_start
from scrapy_robotspec.store.base import Fleet

if TYPE_CHECKING:
    from collections.abc import Callable

    from twisted.python.failure import Failure

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.lookup.tiered_store import TieredStore

logger = logging.getLogger(__name__)

#: A process says that it is alive this often, and counts as alive this long after (seconds).
HEARTBEAT, LIFETIME = 2.0, 10.0
#: Processes notice one after the other that the store works again. All of them have noticed when
#: this time has passed (seconds): pause of the circuit breaker, timeout of a call, a heartbeat.
RECOVERY = 10.0
#: A process that loses the store sends no page until it was tried again: perhaps only one call
#: failed, and the others still use slots (seconds).
RETRY = 8.0
#: Failures no further apart belong to one outage (seconds). Calls in between may succeed: in a full
#: store those that add nothing.
_OUTAGE_GAP = 30.0
#: After that, another process may send a page that it has reserved (× delay).
_LAST_SLOT = 1.5
#: A slot is void after this part of the delay or, if that is more, after this many seconds.
_VALID, _VALID_MIN = 0.5, 0.02
#: A process that does not know the others looks for the store this often (seconds).
_LOOK = 1.0


class FleetPace:
    """Slots for pages.

    *hold* is how long a process that has never reached the store waits for it (seconds).
    """

    def __init__(
        self,
        store: TieredStore,
        *,
        hold: float,
        clock: Callable[[], float],
        monotonic: Callable[[], float],
        call_later: Callable[..., Any],
    ) -> None:
        self._store = store
        self._hold = hold
        self._clock = clock
        self._monotonic = monotonic
        self._call_later = call_later
        self._intervals = Intervals(monotonic)
        self._processes = 1
        self._beating: Any = None
        self._lost_at: float | None = None
        self._failed_at: float | None = None  # None: since then a slot was reserved
        self._outage_since = -math.inf
        self._recovered_at = -math.inf
        self._closed = False

    @property
    def processes(self) -> int:
        """The number of live processes that share the store, as last read."""
        return self._processes

    @property
    def divides_time(self) -> bool:
        """Whether the store is lost, or has just come back.

        Not all processes know then that it is back.
        """
        lost = self._lost_at is not None
        return lost or self._monotonic() < self._recovered_at + RECOVERY

    def validity(self, delay: float) -> float:
        """Seconds until a slot that was asked for expires."""
        if self.divides_time:
            return latest_start(delay)
        return max(_VALID * delay, _VALID_MIN)

    def reserve(self, origin: Origin, delay: float) -> Deferred[float]:
        """Reserve a page of *origin*: 0.0, or seconds to wait."""
        if not self._store.is_shared:
            now = self._clock()
            return succeed(max(0.0, self._store.reserve_local(origin, now, delay) - now))
        return Deferred.fromCoroutine(self._reserve(origin, delay))

    def report(self, origin: Origin, age: float) -> None:
        """Count the next slot from a page sent *age* seconds ago."""
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
        if self.divides_time:
            wait = self._wait_for_interval(origin, delay)
            if wait:
                return wait
        try:
            now = self._clock()
            wait = max(0.0, await self._store.reserve(origin, now, delay) - now)
            if not wait:  # a refusal adds nothing: a full store can give it
                self._failed_at = None
            return wait
        except StoreError:
            self._lose()
        wait = self._wait_for_interval(origin, delay)
        if not wait:
            self._intervals.use(origin, delay)
        return wait

    # --- who is alive

    def _beat_on(self) -> None:
        if not self._closed:
            self._beating = self._call_later(HEARTBEAT, self._beat_on)
            Deferred.fromCoroutine(self._beat(LIFETIME))

    async def _beat(self, seconds: float) -> None:
        began = self._monotonic()
        try:
            fleet = await self._store.heartbeat(self._clock(), seconds)
        except StoreError:
            self._lose()
            return
        self._recover()
        self._processes = fleet.size
        if not self.divides_time:  # else by the division that all know
            self._intervals.learn(fleet, began)

    # --- without the store

    def _lose(self) -> None:
        now = self._monotonic()
        if self._lost_at is None:
            self._lost_at = now
        is_same_outage = self._failed_at is not None and now <= self._failed_at + _OUTAGE_GAP
        self._failed_at = now
        if not is_same_outage:
            self._outage_since = now
            if self._intervals.fleet is None:
                logger.warning(
                    "The robots.txt store has not answered yet: pages of origins with a crawl "
                    "delay wait for it, because other processes may share it, at most %g s "
                    "(ROBOTSPEC_HOLD_TIMEOUT)",
                    self._hold,
                )

    def _recover(self) -> None:
        if self._lost_at is not None:
            self._lost_at = None
            self._recovered_at = self._monotonic()
            self._intervals.clear()

    def _wait_for_interval(self, origin: Origin, delay: float) -> float:
        """Seconds to wait without the store; 0.0 if a page may go."""
        now = self._monotonic()
        if self._intervals.fleet is None:
            wait = self._wait_for_store(now)
        elif self._lost_at is not None:
            wait = self._outage_since + RETRY + _LAST_SLOT * delay - now
        else:
            wait = 0.0
        return wait if wait > 0 else self._intervals.wait(origin, delay)

    def _wait_for_store(self, now: float) -> float:
        """Seconds to wait because the other processes are unknown; 0.0 if they are given up."""
        limit = self._outage_since + self._hold
        if self._lost_at is None:
            if self._failed_at is None or now < limit + RECOVERY:
                return self._recovered_at + RECOVERY - now
        elif now < limit:
            return _LOOK
        logger.warning(
            "The robots.txt store has not answered for %g s: this process keeps crawl delays for "
            "itself alone",
            self._hold,
        )
        self._intervals.fleet = Fleet(0, 1, 0.0)
        return 0.0


def _ignore_store_error(failure: Failure) -> None:
    failure.trap(StoreError)  # type: ignore[no-untyped-call]
