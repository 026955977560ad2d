"""Deadlines: one timer for many keys, safe against clock changes."""

from __future__ import annotations

import heapq
import itertools
import math
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

_Key = TypeVar("_Key", bound="Hashable")
_Value = TypeVar("_Value")

#: A timer may fire early, or a clock step back, by this without meaning (seconds).
_TOLERANCE = 1.0
#: Longest delayed call (seconds): a clock that is set forward is noticed within this time.
_MAX_DELAY = 10.0


class Deadlines(Generic[_Key, _Value]):
    """Calls ``expired(key, value)`` when the clock reaches the deadline of a key.

    Once the clock (epoch seconds) was set back, no deadline can be trusted: all keys expire at
    once.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        call_later: Callable[..., Any],
        expired: Callable[[_Key, _Value], None],
    ) -> None:
        self._clock = clock
        self._call_later = call_later
        self._expired = expired
        self._deadlines: dict[_Key, tuple[float, _Value]] = {}
        self._heap: list[tuple[float, int, _Key]] = []
        self._serial = itertools.count()
        self._timer: tuple[float, Any] | None = None
        self._latest = -math.inf
        self._set_back = False

    def set(self, key: _Key, until: float, value: _Value) -> None:
        """Replace the deadline of *key*; ``inf`` never expires."""
        self._deadlines[key] = (until, value)
        if math.isfinite(until):
            heapq.heappush(self._heap, (until, next(self._serial), key))
            self._start_timer()

    def discard(self, key: _Key) -> None:
        """Forget the deadline of *key*, if there is one."""
        self._deadlines.pop(key, None)

    def close(self) -> None:
        """Cancel the delayed call."""
        if self._timer is not None:
            self._timer[1].cancel()
            self._timer = None

    def _start_timer(self) -> None:
        now = self._now()
        at = now if self._set_back else min(self._heap[0][0], now + _MAX_DELAY)
        if self._timer is not None:
            if self._timer[0] <= at:
                return
            self._timer[1].cancel()
        self._timer = (at, self._call_later(max(0.0, at - now), self._fire))

    def _now(self) -> float:
        now = self._clock()
        self._set_back = self._set_back or now < self._latest - _TOLERANCE
        self._latest = now
        return now

    def _fire(self) -> None:
        assert self._timer is not None
        at, self._timer = self._timer[0], None
        now = self._now()
        if self._set_back or now < at - _TOLERANCE:
            now, self._set_back = math.inf, False
        try:
            self._expire_until(now)
        finally:  # after an error the other keys still expire
            if self._heap:
                self._start_timer()

    def _expire_until(self, now: float) -> None:
        while self._heap and self._heap[0][0] <= now:
            until, _, key = heapq.heappop(self._heap)
            deadline = self._deadlines.get(key)
            if deadline is not None and deadline[0] == until:  # else replaced or discarded since
                del self._deadlines[key]
                self._expired(key, deadline[1])
