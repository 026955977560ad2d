"""FetchLimiter: how many robots.txt fetches run, and when others start."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy_robotspec.access.origin import Origin


class FetchLimiter:
    """Admits *limit* fetches, and more while servers are silent.

    - A fetch without an answer for ``SILENT_AFTER`` seconds no longer counts towards *limit*.
    - All fetches together are at most *limit* × ``BURST_FACTOR``. At this burst limit the next
      fetch preempts the oldest that has run for ``PREEMPT_AFTER`` seconds.
    - An origin asked before without an answer, a preempted one among them, is not preempted. Such
      fetches get at most half of the burst limit: the other half is for origins never asked.

    So *limit* fetches may start every ``SILENT_AFTER`` seconds even if every server is silent, and
    never more than *limit* start at once.
    """

    BURST_FACTOR = 8
    PREEMPT_AFTER = 5.0
    #: As the burst limit is reached, its first fetches can just be preempted: starts never stall.
    SILENT_AFTER = PREEMPT_AFTER / BURST_FACTOR

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._burst = limit * self.BURST_FACTOR
        # Start times (epoch seconds), oldest first.
        self._first: dict[Origin, float] = {}
        self._asked_before: dict[Origin, float] = {}
        #: Those of both that are not silent yet.
        self._young: dict[Origin, float] = {}

    def __len__(self) -> int:
        return len(self._first) + len(self._asked_before)

    def next_slot_at(self, now: float, asked_before: bool = False, ahead: int = 0) -> float:
        """Time (epoch seconds) when a fetch may start; inf: unknown.

        *asked_before*: of an origin that was asked and gave no answer. *ahead*: number of fetches
        about to start, which come first.
        """
        self._forget_silent(now)
        if asked_before and len(self._asked_before) >= self._burst // 2:
            return math.inf
        if min(self._limit - len(self._young), self._burst - len(self)) > ahead:
            return now
        if ahead or (len(self) >= self._burst and not self._first):
            return math.inf
        slot = now
        if len(self._young) >= self._limit:
            slot = _after(_oldest(self._young), self.SILENT_AFTER, now)
        if len(self) >= self._burst:
            slot = max(slot, _after(_oldest(self._first), self.PREEMPT_AFTER, now))
        return slot

    def acquire(self, origin: Origin, now: float, asked_before: bool = False) -> Origin | None:
        """Count a fetch of *origin*; return the origin it preempts."""
        preempted = next(iter(self._first)) if len(self) >= self._burst else None
        if preempted is not None:
            self.release(preempted)
        (self._asked_before if asked_before else self._first)[origin] = now
        self._young[origin] = now
        return preempted

    def release(self, origin: Origin) -> None:
        """Give back the slot of *origin*, if it has one."""
        for fetches in (self._first, self._asked_before, self._young):
            fetches.pop(origin, None)

    def _forget_silent(self, now: float) -> None:
        while self._young and _after(_oldest(self._young), self.SILENT_AFTER, now) <= now:
            del self._young[next(iter(self._young))]


def _oldest(fetches: dict[Origin, float]) -> float:
    return next(iter(fetches.values()))


def _after(start: float, seconds: float, now: float) -> float:
    """Time *seconds* after *start*; *now* if it has passed or the clock was put back since."""
    return start + seconds if start <= now < start + seconds else now
