"""FetchLimiter: how many robots.txt fetches run, and when others start."""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from twisted.internet.defer import Deferred

from scrapy_robotspec.lookup.live_origins import MIN_PAUSE, fire

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.lookup.loop_time import LoopTime

#: One fetch of this number is for an origin that was asked before, if one waits.
ASKED_BEFORE_SHARE = 4

#: No wait is shorter (seconds): differences of times are inexact.
_INSTANT = 1e-6


class FetchLimiter:
    """Admits *limit* fetches, and more while servers are silent.

    - A fetch without an answer for ``SILENT_AFTER`` seconds no longer counts towards *limit*.
    - All fetches together are at most *limit* × ``BURST_FACTOR``. At this burst limit the next
      fetch preempts the oldest that has run for ``PREEMPT_AFTER`` seconds.
    - An origin asked before without an answer, a preempted one among them, is not preempted. Such
      fetches get at most half of the burst limit: the other half is for origins never asked.

    So *limit* fetches may start every ``SILENT_AFTER`` seconds even if every server is silent, and
    never more than *limit* start at once.

    A wait for a slot ends when a fetch may begin. Origins never asked and origins asked before
    share the slots in a fixed ratio. Newest and oldest alternate, so a site found now does not wait
    behind thousands of silent ones.

    Seconds are those of *time*, in which servers could be heard. While the process is starved, no
    more than *limit* fetches run, and none is preempted.
    """

    BURST_FACTOR = 8
    PREEMPT_AFTER = 5.0
    #: When the burst limit is reached, the oldest fetch is old enough to be preempted, so a fetch
    #: can always start.
    SILENT_AFTER = PREEMPT_AFTER / BURST_FACTOR

    def __init__(self, limit: int, time: LoopTime) -> None:
        self._limit = limit
        self._burst = limit * self.BURST_FACTOR
        self._running: dict[bool, dict[Origin, float]] = {False: {}, True: {}}
        """Start times (counted seconds), oldest first, by whether the origin was asked before."""
        self._young: dict[Origin, float] = {}
        """Start times of fetches that are not silent yet."""
        self.started = 0
        """Number of fetches that have begun."""
        self._time = time
        self._waiters: dict[bool, OrderedDict[Deferred[None], None]] = {
            False: OrderedDict(),
            True: OrderedDict(),
        }
        self._newcomer: Deferred[None] | None = None
        self._timer: Any = None

    def __len__(self) -> int:
        return sum(map(len, self._running.values()))

    def slot_in(self, asked_before: bool = False) -> float:
        """Seconds until a fetch may start, 0 for now; inf: unknown.

        *asked_before*: of an origin that was asked and gave no answer.
        """
        now = self._time.now()
        while self._young and _oldest(self._young) + self.SILENT_AFTER <= now:
            del self._young[next(iter(self._young))]
        if asked_before and len(self._running[True]) >= self._burst // 2:
            return math.inf
        slot = now
        if len(self._young) >= self._limit:
            slot = _oldest(self._young) + self.SILENT_AFTER
        if len(self) >= self._limit:
            slot = max(slot, self._time.late_until())
        if len(self) >= self._burst:
            slot = max(slot, _oldest(self._running[False]) + self.PREEMPT_AFTER)
        return slot - now if slot > now + _INSTANT else 0.0

    def begin(self, origin: Origin, asked_before: bool = False) -> Origin | None:
        """Count a fetch of *origin*; return the origin it preempts."""
        preempted = None
        if len(self) >= self._burst:
            preempted = next(iter(self._running[False]))
            self.end(preempted)
        self._time.add_user()
        self._running[asked_before][origin] = self._young[origin] = self._time.now()
        self.started += 1
        return preempted

    def restart(self, origin: Origin, at: float) -> None:
        """Count the seconds of a fetch from *at* on; inf: not yet."""
        for fetches in (self._young, *self._running.values()):
            if fetches.pop(origin, None) is not None:
                fetches[origin] = at
        self._plan()

    def end(self, origin: Origin) -> None:
        """Give back the slot of *origin*, if it has one."""
        self._young.pop(origin, None)
        for fetches in self._running.values():
            if fetches.pop(origin, None) is not None:
                self._time.remove_user()
                self._plan()

    # --- waits for a slot

    def wait_for_slot(self, asked_before: bool) -> Deferred[None]:
        """A wait for a slot; *asked_before* as in :meth:`slot_in`."""
        waiter: Deferred[None] = Deferred()
        self._waiters[asked_before][waiter] = None
        self._plan()
        return waiter

    def discard(self, waiter: Deferred[None]) -> None:
        """End a wait."""
        for waiters in self._waiters.values():
            waiters.pop(waiter, None)

    def may_begin(self, coming: int, when_free: Callable[[], object]) -> bool:
        """Whether a fetch of a new origin may begin, besides those *coming*.

        If slots are missing, *when_free* is called when one is free; one call at a time is kept.
        """
        if self._next_kind(with_newcomer=True) is False:
            return len(self._young) + coming < self._limit
        if self._newcomer is None or self._newcomer.called:
            self._newcomer = self.wait_for_slot(asked_before=False)
            self._newcomer.addCallback(lambda _: when_free())
        return False

    def _next_kind(self, *, with_newcomer: bool = False) -> bool | None:
        """Which waiter is next to begin, one asked before or not; None: none, or no free slot.

        *with_newcomer*: as if one more waited that was never asked.
        """
        is_turn = self.started % ASKED_BEFORE_SHARE == ASKED_BEFORE_SHARE - 1
        for asked_before in (is_turn, not is_turn):
            waits = self._waiters[asked_before] or (with_newcomer and not asked_before)
            if waits and not self.slot_in(asked_before):
                return asked_before
        return None

    def _plan(self, min_pause: float = 0.0) -> None:
        """Serve when a slot is free: at a known time, else when a fetch ends."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        slots = [self.slot_in(kind) for kind, waiters in self._waiters.items() if waiters]
        pause = min(slots, default=math.inf)
        if math.isfinite(pause):
            self._timer = self._time.call_later(max(pause, min_pause), self._serve)

    def _serve(self) -> None:
        self._timer = None
        while (kind := self._next_kind()) is not None:
            started = self.started
            # Slots of origins asked before all have odd numbers: their own number alternates.
            takes_newest = (started + started // ASKED_BEFORE_SHARE) % 2 == 1
            waiter, _ = self._waiters[kind].popitem(last=takes_newest)
            fire(waiter)
            if self.started == started:  # it may begin in a moment, and comes first
                self._plan(MIN_PAUSE)
                return
        self._plan()


def _oldest(fetches: dict[Origin, float]) -> float:
    return next(iter(fetches.values()))
