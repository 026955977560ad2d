"""FleetPace: one crawl delay for all processes that share a store.

The store reserves slots by its own clock. Without it each process keeps the turns that it had at an
origin: of *n* processes last seen there each sends every *n*-th page.
"""

from __future__ import annotations

import logging
import math
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from twisted.internet.defer import maybeDeferred

from scrapy_robotspec.errors import StoreError
from scrapy_robotspec.lookup.live_origins import RETRY_PAUSE
from scrapy_robotspec.store.circuit_breaker import PAUSE
from scrapy_robotspec.store.page_slots import HORIZON, SlotRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.store.page_slots import Reservation

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


class SlotStore(Protocol):
    """The part of a store that reserves slots."""

    def reserve(self, origin: Origin, asked: SlotRequest) -> Any:
        """The ``Reservation``, or a Deferred of it; fails with ``StoreError``."""


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

    *monotonic* returns seconds, *random* numbers from 0 to 1.

    A process that has never reached the store knows of no other one: it waits *hold* seconds for
    the store before it sends a page.
    """

    def __init__(
        self,
        store: SlotStore,
        *,
        hold: float,
        monotonic: Callable[[], float],
        random: Callable[[], float],
    ) -> None:
        self._store = store
        self._hold = hold
        self._monotonic = monotonic
        self._random = random
        self._processes = 1
        self._has_reached = False
        self._holds_until: float | None = None

    def enter(self, origin: Origin) -> Place:
        """A place at *origin*."""
        return Place(origin, self._processes)

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
        self._processes = place.processes = 1 << (waited - 1).bit_length()
        if reply.granted:
            return Turn(True, at)
        place.ticket = reply.at
        look = min(_LOOK * spacing, _LOOK_MAX) * (1 + _LOOK_JITTER * (2 * self._random() - 1))
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
