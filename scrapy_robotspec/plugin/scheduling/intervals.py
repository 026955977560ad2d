"""Intervals: one pace for processes that cannot reach their store.

Time is divided: of *n* processes last seen alive each has every *n*-th interval, counted by the
store's clock as it was last read. Pages of neighbouring intervals keep the delay.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.store.base import Fleet

#: Intervals are longer than the delay by this factor and this many seconds: a page may go a little
#: after the beginning of its interval, and clocks are read with an error.
_STRETCH, _GUARD = 1.1, 0.02
#: Two clocks may drift apart this much between two readings (seconds).
_DRIFT = 0.0001


class Intervals:
    """Intervals of one process. *monotonic* gives seconds."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self.fleet: Fleet | None = None
        """The processes that divide the time; None: unknown, no interval is ours."""
        self._offset = 0.0  # store's clock minus ours
        self._offset_error = math.inf
        self._used: dict[Origin, int] = {}

    def learn(self, fleet: Fleet, began: float) -> None:
        """Read processes and clock from a call that began at *began*.

        The shorter the call, the better the reading of the clock.
        """
        self.fleet = fleet
        ended = self._monotonic()
        offset, error = fleet.clock - (began + ended) / 2, (ended - began) / 2
        if error <= self._offset_error or abs(offset - self._offset) > error + self._offset_error:
            self._offset, self._offset_error = offset, error
        self._offset_error += _DRIFT

    def wait(self, origin: Origin, delay: float) -> float:
        """Seconds until an interval begins; 0.0 if it just has."""
        assert self.fleet is not None
        length, size = _length(delay), self.fleet.size
        passed = self._store_clock()
        number = int(passed // length)
        ours = number % size == self.fleet.rank
        if ours and passed % length <= latest_start(delay) and self._used.get(origin) != number:
            return 0.0
        ahead = (self.fleet.rank - number) % size or size
        return (number + ahead) * length - passed

    def use(self, origin: Origin, delay: float) -> None:
        """A page of *origin* goes in the interval that has begun."""
        self._used[origin] = int(self._store_clock() // _length(delay))

    def clear(self) -> None:
        """Forget which intervals were used."""
        self._used.clear()

    def _store_clock(self) -> float:
        """The store's clock now, as far as it is known (seconds)."""
        return self._monotonic() + self._offset


def latest_start(delay: float) -> float:
    """Latest start of a page in its interval (seconds)."""
    return (_length(delay) - delay) / 2


def _length(delay: float) -> float:
    return delay * _STRETCH + _GUARD
