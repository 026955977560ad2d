"""CrawlDelay: requests of an origin wait for its next slot (EXT-01).

``FleetPace`` says when a slot is free: the store reserves slots for all processes that share it, by
its own clock. Only then is it decided which request goes: the best one that its rules still allow
and that the downloader would send at once.

Without the store each process keeps the turns that it had at an origin: of *n* processes last seen
there each sends every *n*-th page. At an origin a process is in one of six states:

    NEW       no reply yet: it is unknown how far the store's clock differs
    FREE      it asks for a slot
    IN LINE   it has a ticket, and asks again with it
    GRANTED   it has a slot
    LOST      the store fails: it takes its own turns, and asks at each
    BACK      the store replies again; other processes may still take turns of their own

    event                     NEW       FREE      IN LINE   GRANTED   LOST      BACK
    ---------------------------------------------------------------------------------
    reply: a slot             FREE (1)  GRANTED   GRANTED   -         BACK (2)  BACK (2)
    reply: a later slot       IN LINE   IN LINE   IN LINE   -         BACK      BACK
    no reply                  LOST (3)  LOST      LOST      -         LOST      LOST
    a page goes, or none may  -         -         -         FREE      LOST      BACK
    ``_RECOVERY`` has passed  -         -         -         -         -         FREE

1. The slot is given up, as the reply may have been read late.
2. A page goes with the slot, unless this is the first reply.
3. A process that has never reached the store sends nothing for the hold timeout.
"""

from __future__ import annotations

import logging
import math
import random
import time
from bisect import insort
from collections import deque
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from twisted.internet.defer import Deferred, maybeDeferred

from scrapy_robotspec.errors import StoreError
from scrapy_robotspec.lookup.live_origins import RETRY_PAUSE
from scrapy_robotspec.lookup.tiered_store import PAUSE
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.store.base import HORIZON, SlotRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.lookup.tiered_store import TieredStore
    from scrapy_robotspec.plugin.robots import CrawlRobots
    from scrapy_robotspec.store.base import Reservation
    from scrapy_robotspec.store.memory import MemoryStore

logger = logging.getLogger(__name__)

#: Slots are longer than the delay by this part of it, at least and at most this many seconds.
_MARGIN, _MARGIN_MIN, _MARGIN_MAX = 0.05, 0.015, 0.25
#: A page may be later than its slot by this part of the margin, at most by this many seconds. The
#: rest is for the time between that look and the sending.
_WINDOW, _WINDOW_MAX = 2 / 3, 0.05
#: A place in line is looked at again after about this many slots, at most this many seconds: those
#: before it may have left.
_LOOK, _LOOK_MAX, _LOOK_JITTER = 16, 30.0, 0.25
#: Turns are this much later when the store is lost (seconds). Until then it was tried again:
#: perhaps only one call failed.
_RETRY = PAUSE + 1.0
#: Processes notice one after the other that the store is back. All of them have when this time has
#: passed: the pause of the circuit breaker and the timeout of a call, as long (seconds).
_RECOVERY = 2 * PAUSE
#: Replies that show the difference between the store's clock and ours.
_READINGS = 16
#: A timer may end this much early (seconds): reactors count by other clocks.
_EARLY = 0.002


class Turn(NamedTuple):
    """When a process goes on."""

    granted: bool
    """Whether it has a slot then; if not, it asks again."""
    at: float
    """Monotonic seconds."""


@dataclass(slots=True)
class Place:
    """One process's place at an origin.

    Times are monotonic seconds unless said otherwise."""

    origin: Origin
    processes: int
    """Processes that share the origin, this one included, as last seen."""
    ticket: float = 0.0
    """Its place in line by the store's clock; 0.0 for none."""
    slot: float = 0.0
    """Its slot by the store's clock; 0.0 for none."""
    given_up: float = 0.0
    """A slot that it had and did not use, by the store's clock; 0.0 for none."""
    since: float = -math.inf
    """When it began to wait: its last page, or one slot before it asked."""
    turn: float = -math.inf
    """Its next page if the store is lost."""
    ends: float = -math.inf
    """When all processes have noticed the end of an outage; inf: it lasts."""
    readings: deque[float] = field(default_factory=lambda: deque(maxlen=_READINGS))
    """Receipt of a reply minus the time in it. The least is closest: others were read late."""


def margin(delay: float) -> float:
    """Seconds by which slots are longer than *delay*."""
    return min(max(_MARGIN * delay, _MARGIN_MIN), _MARGIN_MAX)


def window(delay: float) -> float:
    """Seconds by which a page may be later than its slot."""
    return min(_WINDOW * margin(delay), _WINDOW_MAX)


class FleetPace:
    """Turns of one process.

    *monotonic* returns seconds.

    A process that has never reached the store knows of no other one: it waits *hold* seconds for
    the store before it sends a page.
    """

    def __init__(
        self, store: MemoryStore | TieredStore, hold: float, monotonic: Callable[[], float]
    ) -> None:
        self._store = store
        self._hold = hold
        self._monotonic = monotonic
        self.processes = 1
        """Processes that share the store, this one included, as last seen at any origin."""
        self._has_reached = False
        self._holds_until: float | None = None

    async def ask(self, place: Place, delay: float) -> Turn:
        """Ask for a slot; without the store *place* has its own turn."""
        spacing = delay + margin(delay)
        now = self._monotonic()
        in_outage = now < place.ends
        if in_outage:
            self._find_turn(place, now - window(delay), spacing)
            if place.turn > now:
                return Turn(False, min(place.turn, place.ends))
        if not place.ticket:
            place.since = max(place.since, now - spacing)
        asked = SlotRequest(spacing, place.ticket, place.given_up, bool(place.readings))
        if in_outage:  # other processes may have their turns soon
            asked = SlotRequest(spacing, within=window(delay))
        place.ticket = place.given_up = place.slot = 0.0
        try:
            reply: Reservation = await maybeDeferred(self._store.reserve, place.origin, asked)
        except StoreError:
            return self._lose(place, delay)
        return self._read(reply, place, spacing)

    def use(self, place: Place, at: float, delay: float) -> None:
        """A page goes with the slot at *at* (monotonic)."""
        place.slot = 0.0
        place.since = at
        place.turn = at + place.processes * (delay + margin(delay))

    def give_up(self, place: Place) -> None:
        """The slot is not used."""
        place.given_up, place.slot = place.slot, 0.0

    def _read(self, reply: Reservation, place: Place, spacing: float) -> Turn:
        now = self._monotonic()
        self._has_reached = True
        place.readings.append(now - reply.now)
        at = reply.at + min(place.readings)
        if place.ends == math.inf:
            place.ends = now + _RECOVERY
        place.slot = reply.at if reply.granted else 0.0
        if len(place.readings) == 1 and (reply.granted or now < place.ends):
            self.give_up(place)  # the reply may have been read late, or others have turns
            return Turn(False, max(now, place.ends))
        if now < place.ends:
            self._find_turn(place, now, spacing)
            return Turn(reply.granted, at if reply.granted else min(place.turn, place.ends))
        place.turn = at
        waited = max(1, round((at - place.since) / spacing))
        # A power of two: turns of processes that have counted differently do not meet.
        self.processes = place.processes = 1 << (waited - 1).bit_length()
        if reply.granted:
            return Turn(True, at)
        place.ticket = reply.at
        look = min(_LOOK * spacing, _LOOK_MAX) * (1 + _LOOK_JITTER * (2 * random.random() - 1))
        return Turn(False, min(at - HORIZON, now + look))

    # --- without the store

    def _lose(self, place: Place, delay: float) -> Turn:
        now, spacing = self._monotonic(), delay + margin(delay)
        if place.ends < math.inf:
            place.turn = max(place.turn, now) + _RETRY
        place.ends = math.inf
        if not self._has_reached and now < self._hold_until(now):
            place.turn = now + RETRY_PAUSE
        self._find_turn(place, now - window(delay), spacing)
        return Turn(place.turn <= now, place.turn)

    def _hold_until(self, now: float) -> float:
        if self._holds_until is None:
            self._holds_until = now + self._hold
            logger.warning(
                "The robots.txt store has not answered yet: pages of origins with a crawl delay "
                "wait for it, because other processes may share it, at most %g s "
                "(ROBOTSPEC_HOLD_TIMEOUT)",
                self._hold,
            )
        return self._holds_until

    def _find_turn(self, place: Place, after: float, spacing: float) -> None:
        """Pass the turns of *place* until *after*."""
        if place.turn <= after:
            period = place.processes * spacing
            place.turn += period * (1 + (after - place.turn) // period)


@dataclass(slots=True, order=True)
class _Waiter:
    """A request that waits."""

    rank: tuple[int, int]
    """Lowest first: by priority, then by arrival."""
    request: Request = field(compare=False)
    delay: float = field(compare=False)
    turn: Deferred[bool] = field(compare=False)


@dataclass(slots=True, eq=False)
class _Line(Place):
    """The waiting requests of one origin."""

    not_before: float = 0.0
    """Monotonic seconds: no page goes before."""
    waiters: list[_Waiter] = field(default_factory=list)
    """In the order in which they go."""
    is_served: bool = False
    pause: Deferred[None] | None = None
    timer: Any = None

    def wake(self) -> None:
        """End the pause."""
        if self.timer is not None:
            self.timer.cancel()
        pause, self.pause = self.pause, None
        if pause is not None:
            pause.callback(None)

    def dismiss(self, waiter: _Waiter, goes: bool) -> None:
        self.waiters.remove(waiter)
        waiter.turn.callback(goes)


class CrawlDelay:
    """Requests of one process that wait for slots of *store*.

    *robots* decides. *hold* is :class:`FleetPace`'s. *clock* gives epoch seconds, *monotonic*
    seconds.
    """

    def __init__(
        self,
        store: MemoryStore | TieredStore,
        robots: CrawlRobots,
        *,
        hold: float,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        call_later: Callable[..., Any] = _compat.call_later,
    ) -> None:
        self._pace = FleetPace(store, hold, monotonic)
        self._robots = robots
        self._clock = clock
        self._monotonic = monotonic
        self._call_later = call_later
        self._lines: dict[Origin, _Line] = {}
        self._numbers = count()
        self._closed = False

    def wait(
        self, request: Request, origin: Origin, delay: float, earliest: float = 0.0
    ) -> Deferred[bool]:
        """Fires when *request* may go; with False, decide again.

        Before *earliest* (epoch seconds) no page goes. Cancelling is harmless.
        """
        line = self._lines.get(origin)
        if line is None:
            ahead = earliest - self._clock()
            # A time further ahead than the delay comes from a clock that differs from ours.
            not_before = self._monotonic() + (ahead if ahead <= delay else 0.0)
            line = self._lines[origin] = _Line(origin, self._pace.processes, not_before=not_before)
        turn: Deferred[bool] = Deferred(lambda _: line.waiters.remove(waiter))
        waiter = _Waiter((-request.priority, next(self._numbers)), request, delay, turn)
        insort(line.waiters, waiter)
        if not line.is_served:
            line.is_served = True
            line.wake()
            Deferred.fromCoroutine(self._serve(line))
        return turn

    def is_spaced(self, origin: Origin) -> bool:
        """Whether requests of *origin* should leave their queue one at a time."""
        return origin in self._lines

    def close(self) -> None:
        """Ask for no more slots."""
        self._closed = True
        for line in self._lines.values():
            line.wake()
        self._lines.clear()

    # --- one origin

    async def _serve(self, line: _Line) -> None:
        """Let the requests of *line* go, one with each slot."""
        delay = 0.0
        while line.waiters and not self._closed:
            delay = line.waiters[0].delay
            try:
                await self._take_turn(line)
            except Exception:
                logger.exception("Error in the crawl delay of %s", line.origin)
                await self._sleep(line, RETRY_PAUSE)
        line.is_served = False
        if not self._closed:  # until its last slot has ended
            line.timer = self._call_later(2 * delay + HORIZON, self._lines.pop, line.origin)

    async def _take_turn(self, line: _Line) -> None:
        best, now = line.waiters[0], self._monotonic()
        if not self._is_current(line, best):
            return
        delay = best.delay
        wait = max(line.not_before - now, self._robots.engine.send_wait(best.request))
        if wait > 0:
            await self._sleep(line, wait)
            return
        turn = await self._pace.ask(line, delay)
        await self._sleep(line, turn.at - self._monotonic())
        if turn.granted:
            self._use(line, turn.at, delay)

    def _use(self, line: _Line, at: float, delay: float) -> None:
        """Let a request go with the slot at *at*, which has a spacing for *delay*."""
        now = self._monotonic()
        if at - _EARLY <= now <= at + window(delay) and not self._closed:
            for waiter in list(line.waiters):
                if waiter.turn.called:  # cancelled, because another one was dismissed
                    continue
                fits = self._is_current(line, waiter) and waiter.delay <= delay
                if fits and self._robots.engine.send_wait(waiter.request) <= 0:
                    self._pace.use(line, at, delay)
                    line.dismiss(waiter, True)
                    return
        self._pace.give_up(line)

    def _is_current(self, line: _Line, waiter: _Waiter) -> bool:
        """Whether *waiter* waits for a delay by the rules in force; else it is dismissed."""
        waiter.delay = self._robots.delay_now(line.origin, waiter.request) or 0.0
        if not waiter.delay:
            line.dismiss(waiter, False)
        return waiter.delay > 0

    async def _sleep(self, line: _Line, seconds: float) -> None:
        if seconds > 0 and not self._closed:
            line.pause = Deferred()
            line.timer = self._call_later(seconds, line.wake)
            await line.pause
