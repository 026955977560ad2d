"""When an origin's next slot is free, for all processes (EXT-01).

The store reserves slots for all processes that share it, by its own clock.

Without the store each process keeps the pace that it had at an origin: of *n* processes last seen
there each sends every *n*-th page, in slots of its own. At an origin a process is in one of six
states:

    NEW       no reply yet: it is unknown how far the store's clock differs
    FREE      it asks for a slot
    QUEUED    it has a position in the store's queue, and asks again with it
    GRANTED   it has a slot
    LOST      the store fails: it uses slots of its own, and asks a second before each
    BACK      the store replies again; other processes may still use slots of their own

    event                     NEW       FREE      QUEUED    GRANTED   LOST      BACK
    ---------------------------------------------------------------------------------
    reply: a slot             FREE (1)  GRANTED   GRANTED   -         -         BACK (2)
    reply: a later slot       QUEUED    QUEUED    QUEUED    -         BACK      BACK
    no reply                  LOST (3)  LOST      LOST      -         LOST (4)  LOST
    a page goes, or none may  -         -         -         FREE      LOST      BACK
    ``_RECOVERY`` has passed  -         -         -         -         -         FREE

1. The slot is given up, as the reply may have been read late.
2. A page goes with the slot.
3. A process that has never reached the store sends nothing for the hold timeout.
4. Or there is none by the time of its own slot, as the store hangs. A page goes with that slot.
"""

from __future__ import annotations

import logging
import math
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from twisted.internet.defer import CancelledError, Deferred, maybeDeferred

from scrapy_robotspec.errors import StoreError
from scrapy_robotspec.lookup.live_origins import RETRY_PAUSE
from scrapy_robotspec.lookup.tiered_store import PAUSE
from scrapy_robotspec.store.base import HORIZON, Reservation, SlotRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.store.base import CrawlStore

logger = logging.getLogger(__name__)

#: Slots are longer than the delay by this part of it, at least and at most this many seconds.
_MARGIN, _MARGIN_MIN, _MARGIN_MAX = 0.05, 0.015, 0.25
#: A page may be later than its slot by this part of the margin, at most by this many seconds. The
#: rest is for the time between that look and the sending.
_WINDOW, _WINDOW_MAX = 2 / 3, 0.05
#: A queue position is looked at again after about this many slots, at most this many seconds: those
#: before it may have left.
_LOOK, _LOOK_MAX = 16, 30.0
#: Own slots are this much later when the store is lost (seconds). Until then it was tried again:
#: perhaps only one call failed.
_RETRY = PAUSE + 1.0
#: Processes notice one after the other that the store is back. All of them have when this time has
#: passed: the pause of the circuit breaker and the timeout of a call, as long (seconds).
_RECOVERY = 2 * PAUSE
#: Replies that show the difference between the store's clock and ours.
_READINGS = 16


class Due(NamedTuple):
    """When a process goes on."""

    granted: bool
    """Whether it has a slot then; if not, it asks again."""
    at: float
    """Monotonic seconds."""


@dataclass(slots=True, eq=False)
class Waiter:
    """A request that waits."""

    request: Request
    delay: float
    goes: Deferred[bool]


@dataclass(slots=True, eq=False)
class OriginPace:
    """One process's pace at an origin, and its requests that wait there.

    Times are monotonic seconds unless said otherwise."""

    origin: Origin
    processes: int
    """Processes that share the origin, this one included, as last seen."""
    not_before: float = 0.0
    """No page goes before."""
    delay: float = 0.0
    """Seconds after its last page."""
    position: float = 0.0
    """Its position in the store's queue, by the store's clock; 0.0 for none."""
    slot: float = 0.0
    """Its slot by the store's clock; 0.0 for none."""
    given_up: float = 0.0
    """A slot that it had and did not use, by the store's clock; 0.0 for none."""
    seen: float = 0.0
    """The last reply, by the store's clock; 0.0 for none."""
    since: float = -math.inf
    """When it began to wait: its last page, or one slot before it asked."""
    own_slot: float = -math.inf
    """Its next page if the store is lost."""
    ends: float = -math.inf
    """When all processes have noticed the end of an outage; inf: it lasts."""
    readings: deque[float] = field(default_factory=lambda: deque(maxlen=_READINGS))
    """Receipt of a reply minus the time in it. The least is closest: others were read late."""
    waiters: list[Waiter] = field(default_factory=list)
    """In the order in which they go: by priority, then by arrival."""
    is_served: bool = False
    due_slot: str | None = None
    """A busy download slot that is kept for it."""
    is_blocked: bool = False
    """It waits for that one to be free."""
    pause: Deferred[None] | None = None
    timer: Any = None

    def find_own_slot(self, after: float, spacing: float) -> None:
        """Pass its own slots until *after*."""
        if self.own_slot <= after:
            period = self.processes * spacing
            self.own_slot += period * (1 + (after - self.own_slot) // period)

    def give_up(self) -> None:
        """The slot is not used."""
        self.given_up, self.slot = self.slot, 0.0

    def end_pause(self) -> None:
        """End the pause."""
        if self.timer is not None:
            self.timer.cancel()
        pause, self.pause = self.pause, None
        if pause is not None:
            pause.callback(None)

    def end_block(self) -> None:
        """End the pause if it is for a busy download slot."""
        if self.is_blocked:
            self.end_pause()

    def dismiss(self, waiter: Waiter, goes: bool) -> None:
        self.waiters.remove(waiter)
        waiter.goes.callback(goes)


def margin(delay: float) -> float:
    """Seconds by which slots are longer than *delay*."""
    return min(max(_MARGIN * delay, _MARGIN_MIN), _MARGIN_MAX)


def window(delay: float) -> float:
    """Seconds by which a page may be later than its slot."""
    return min(_WINDOW * margin(delay), _WINDOW_MAX)


def spacing_of(delay: float) -> float:
    """Seconds from a slot to the next one."""
    return delay + margin(delay)


@dataclass(eq=False)
class FleetPace:
    """Slots of one process.

    *monotonic* returns seconds, *call_later* makes later calls.

    A process that has never reached the store knows of no other one: it waits *hold* seconds for
    the store before it sends a page.
    """

    store: CrawlStore
    hold: float
    monotonic: Callable[[], float]
    call_later: Callable[..., Any]
    processes: int = 1
    """Processes that share the store, this one included, as last seen at any origin."""
    _holds_until: float | None = None
    """When it stops waiting for a store that it has never reached; -inf: it has reached it."""

    async def reserve(self, pace: OriginPace, delay: float) -> Due:
        """Reserve a slot; without the store *pace* has its own."""
        spacing = spacing_of(delay)
        now = self.monotonic()
        is_lost = pace.ends == math.inf
        if now < pace.ends:
            pace.find_own_slot(now - window(delay), spacing)
            asks_at = pace.own_slot - (HORIZON if is_lost else 0.0)
            if asks_at > now:
                return Due(False, min(asks_at, pace.ends))
        if not pace.position:
            pace.since = max(pace.since, now - spacing)
        asked = SlotRequest(spacing, pace.position, pace.given_up, pace.seen)
        if now < pace.ends:  # other processes may have slots of their own soon
            asked = SlotRequest(spacing, within=-HORIZON if is_lost else window(delay))
        pace.position = pace.given_up = pace.slot = 0.0
        reply: Deferred[Reservation] = Deferred()
        asking = maybeDeferred(self.store.reserve, pace.origin, asked)
        asking.addCallbacks(reply.callback, reply.errback)
        timer = None
        if is_lost:  # a store that hangs delays no page
            timer = self.call_later(max(pace.own_slot - now, 0.0), reply.cancel)
        try:
            return self._read(await reply, pace, spacing)
        except (CancelledError, StoreError):
            return self._lose(pace, delay)
        finally:
            if timer is not None:
                timer.cancel()

    def note_page(self, pace: OriginPace, at: float, delay: float) -> None:
        """A page goes with the slot at *at* (monotonic)."""
        pace.slot = 0.0
        pace.since = at
        if at >= pace.own_slot:  # else it has been found
            pace.own_slot = at + pace.processes * spacing_of(delay)

    def _read(self, reply: Reservation, pace: OriginPace, spacing: float) -> Due:
        now = self.monotonic()
        self._holds_until = -math.inf
        pace.readings.append(now - reply.now)
        pace.seen = reply.now
        at = reply.at + min(pace.readings)
        if pace.ends == math.inf:
            pace.ends = now + _RECOVERY
            if len(pace.readings) > 1:
                return Due(False, pace.own_slot)
        pace.slot = reply.at if reply.granted else 0.0
        if len(pace.readings) == 1 and (reply.granted or now < pace.ends):
            pace.give_up()  # the reply may have been read late, or others have slots
            return Due(False, max(now, pace.ends))
        if now < pace.ends:
            pace.find_own_slot(now, spacing)
            return Due(reply.granted, at if reply.granted else min(pace.own_slot, pace.ends))
        pace.own_slot = at
        waited = max(1, round((at - pace.since) / spacing))
        # A power of two: own slots of processes that have counted differently do not meet.
        # The first one back after an outage sees none of the others.
        least = pace.processes if now < pace.ends + _RECOVERY else 1
        self.processes = pace.processes = max(least, 1 << (waited - 1).bit_length())
        if reply.granted:
            return Due(True, at)
        pace.position = reply.at
        return Due(False, min(at - HORIZON, now + min(_LOOK * spacing, _LOOK_MAX)))

    # --- without the store

    def _lose(self, pace: OriginPace, delay: float) -> Due:
        now, spacing = self.monotonic(), spacing_of(delay)
        if self._holds_until is None:
            self._holds_until = now + self.hold
            logger.warning(
                "The robots.txt store has not answered yet: pages of origins with a crawl delay "
                "wait for it, because other processes may share it, at most %g s "
                "(ROBOTSPEC_HOLD_TIMEOUT)",
                self.hold,
            )
        if now >= pace.ends + _RECOVERY:
            if pace.own_slot == -math.inf:
                pace.own_slot = now
            # By whole periods: processes may notice the loss one after the other.
            pace.find_own_slot(now - window(delay), spacing)
            pace.own_slot += _RETRY
        elif pace.ends < math.inf:  # some processes may have missed the last outage, or this one
            pace.find_own_slot(now + _RETRY, spacing)
        pace.ends = math.inf
        if now < self._holds_until:
            pace.own_slot = now + HORIZON + RETRY_PAUSE
        pace.find_own_slot(now - window(delay), spacing)
        asks_at = pace.own_slot - HORIZON
        return Due(True, pace.own_slot) if asks_at <= now else Due(False, asks_at)
