"""Places for robots.txt fetches: how many may be under way at once, and who may begin.

Counting only: the queues choose the next origin, the single flight cancels a preempted fetch.
"""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy_robotspec.access.origin import Origin


class FetchLimiter:
    """At most *limit* fetches at once, if *ceiling* is no greater.

    Silent servers must not keep everybody else from being asked, however many they are. So where
    *ceiling* is greater, places are lent: beyond *limit*, no more than *limit* fetches begin in
    ``LEND_AFTER`` seconds, and the more are under way the more slowly. At the ceiling the fetch
    that began longest ago gives its place to the next, once it has taken ``GIVE_WAY_AFTER``
    seconds. It may begin again later and then need not give way; those that may not be called
    back take half of the ceiling at most. So there is always room for an origin not yet asked.
    """

    BURST_INTERVAL = 0.1
    PREEMPT_AFTER = 5.0

    def __init__(self, limit: int, ceiling: int) -> None:
        self._limit = limit
        self._ceiling = ceiling
        self._first: dict[Origin, float] = {}
        self._again: set[Origin] = set()
        self._started: deque[float] = deque(maxlen=limit)
        # With a pause of _pause * n * n before the place after n, all are lent in GIVE_WAY_AFTER:
        # a crowd comes in a stream that ends when the first of them may be called back.
        self._pause = 3 * self.PREEMPT_AFTER / ceiling**3

    def __len__(self) -> int:
        return len(self._first) + len(self._again)

    def next_slot_at(self, now: float, again: bool = False, ahead: int = 0) -> float:
        """When one more fetch may begin: *now* or later (epoch seconds), ``inf`` if not by time.

        *again*: of an origin that was asked before and brought no answer. *ahead* fetches are about
        to begin; beyond the limit one waits for the other.
        """
        taken = len(self)
        if taken + ahead < self._limit:
            return now
        if ahead:
            return math.inf
        if again and 2 * len(self._again) >= self._ceiling:
            return math.inf
        if taken < self._ceiling:
            burst = _after(self._started[0], self.BURST_INTERVAL, now)
            return max(burst, _after(self._started[-1], self._pause * taken * taken, now))
        if not self._first or self._ceiling == self._limit:
            return math.inf
        return _after(next(iter(self._first.values())), self.PREEMPT_AFTER, now)

    def acquire(self, origin: Origin, now: float, again: bool = False) -> Origin | None:
        """A fetch of *origin* begins; returns the origin whose fetch gives way to it, if any."""
        preempted = next(iter(self._first)) if len(self) >= self._ceiling else None
        if preempted is not None:
            del self._first[preempted]
        if again:
            self._again.add(origin)
        else:
            self._first[origin] = now
        self._started.append(now)
        return preempted

    def release(self, origin: Origin) -> None:
        """The fetch of *origin* has ended, or needs no place any more."""
        self._first.pop(origin, None)
        self._again.discard(origin)


def _after(began: float, seconds: float, now: float) -> float:
    """So long after *began*, or *now* if that has passed or the clock was put back since."""
    return began + seconds if began <= now < began + seconds else now
