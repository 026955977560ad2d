"""The gate: which origins' requests may leave the scheduler now.

It knows origins, states and times. It holds no requests (``lanes.py``), decides nothing about
robots.txt (``access/policy.py``) and starts no fetch (``lookup/``). Everything is told, nothing
is polled: whoever holds requests is a :class:`Listener` and hears of each change of state.
"""

from __future__ import annotations

import heapq
import itertools
import math
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request

    from scrapy_robotspec.access.origin import Origin


#: A delayed call may come so much before its time (seconds).
_EARLY = 1.0
#: No delayed call is further away (seconds).
_LONGEST_ALARM = 10.0
#: The engine is woken no sooner and no later than this for a fetch that may begin (seconds).
_SHORTEST_NUDGE, _LONGEST_NUDGE = 0.005, 0.1


class State(Enum):
    """Where an origin stands at the gate."""

    READY = "ready"  #: its requests go as they come
    DELAYED = "delayed"  #: its crawl-delay has passed: one may go
    UNKNOWN = "unknown"  #: nothing is known, or it is out of date: one may go, if a fetch may begin
    RETRY_DUE = "retry due"  #: asked without an answer, and may be asked again: likewise
    BLOCKED = "blocked"  #: none may go


class Listener(Protocol):
    """Whoever holds requests back for the gate."""

    def moved(self, origin: Origin, state: State) -> None:
        """The requests of *origin* are in *state* from now on."""

    def waiting(self, origin: Origin) -> int:
        """How many requests of *origin* are held."""


class Gate:
    """States of origins; every origin not named here is free, once its robots.txt is known.

    ``origin_of`` gives the origin whose robots.txt governs a request, or None. ``knows`` and
    ``free_at`` are the lookup's, ``clock`` gives epoch seconds, ``wake`` makes the engine look
    into the scheduler. ``states`` is for reading only.
    """

    def __init__(
        self,
        *,
        origin_of: Callable[[Request], Origin | None],
        knows: Callable[[Origin, float], bool],
        next_slot_at: Callable[[float, bool, int], float],
        clock: Callable[[], float],
        call_later: Callable[..., Any],
        wake: Callable[[], None],
    ) -> None:
        self.origin_of = origin_of
        self._knows = knows
        self._next_slot_at = next_slot_at
        self._clock = clock
        self._call_later = call_later
        self._wake = wake
        self.states: dict[Origin, State] = {}
        """Those of the origins that are not free."""
        self._until: dict[Origin, tuple[float, State]] = {}
        self._retry_due: list[tuple[float, int, Origin]] = []
        self._order = itertools.count()
        self._alarm: tuple[float, Any] | None = None
        self._seen, self._put_back = -math.inf, False
        self._nudging = False
        self._listeners: list[Listener] = []

    def subscribe(self, listener: Listener) -> None:
        """Tell *listener* of every change from now on."""
        self._listeners.append(listener)

    def enter(self, origin: Origin) -> State:
        """The state for requests of *origin* that somebody begins to hold."""
        state = self.states.get(origin)
        if state is None:
            if self._knows(origin, self._clock()):
                return State.READY
            state = self.states[origin] = State.UNKNOWN
        return state

    def hold(self, origin: Origin, until: float, then: State = State.UNKNOWN) -> None:
        """Hold the requests of *origin* until a time (``inf``: until told), when *then* holds."""
        if until <= self._clock():
            self._move(origin, then)
            return
        self._until[origin] = (until, then)
        if math.isfinite(until):
            heapq.heappush(self._retry_due, (until, next(self._order), origin))
            self._set_alarm()
        self._move(origin, State.BLOCKED)

    def free(self, origin: Origin) -> None:
        """Let the requests of *origin* go."""
        self._until.pop(origin, None)
        if self.states.pop(origin, None) is not None:
            self._tell(origin, State.READY)

    def waiting(self, origin: Origin) -> int:
        """How many requests of *origin* are held back."""
        if origin not in self.states:
            return 0
        return sum(listener.waiting(origin) for listener in self._listeners)

    def may_ask(self, state: State, ahead: int = 0) -> bool:
        """Whether a request of an origin that is NEW or DUE may go.

        *ahead* such requests have gone and not come to the gate yet. If none may go, the engine is
        woken in time: a place may come free by time alone, without any event.
        """
        now = self._clock()
        next_slot_at = self._next_slot_at(now, state is State.RETRY_DUE, ahead)
        if next_slot_at <= now:
            return True
        if not self._nudging and not ahead:
            self._nudging = True
            self._call_later(
                min(max(next_slot_at - now, _SHORTEST_NUDGE), _LONGEST_NUDGE), self._nudge
            )
        return False

    def close(self) -> None:
        """Make no more calls."""
        if self._alarm is not None:
            self._alarm[1].cancel()
            self._alarm = None
        self._listeners.clear()

    def _move(self, origin: Origin, state: State) -> None:
        if state is not State.BLOCKED:
            self._until.pop(origin, None)
        if self.states.get(origin) is not state:
            self.states[origin] = state
            self._tell(origin, state)

    def _tell(self, origin: Origin, state: State) -> None:
        for listener in self._listeners:
            listener.moved(origin, state)
        if state is not State.BLOCKED:
            self._wake()

    def _nudge(self) -> None:
        self._nudging = False
        self._wake()

    def _set_alarm(self) -> None:
        """One delayed call for all that is held, at the time of the first.

        A clock may jump, and delayed calls do not jump with it. So none is far away, and once the
        clock was put back, its times say nothing: all may ask again, at once.
        """
        now = self._look_at_clock()
        rings = now if self._put_back else min(self._retry_due[0][0], now + _LONGEST_ALARM)
        if self._alarm is not None:
            if self._alarm[0] <= rings:
                return
            self._alarm[1].cancel()
        self._alarm = (rings, self._call_later(max(0.0, rings - now), self._ring))

    def _look_at_clock(self) -> float:
        now = self._clock()
        self._put_back = self._put_back or now < self._seen - _EARLY
        self._seen = now
        return now

    def _ring(self) -> None:
        assert self._alarm is not None
        rung, self._alarm = self._alarm[0], None
        now = self._look_at_clock()
        if self._put_back or now < rung - _EARLY:
            now, self._put_back = math.inf, False
        while self._retry_due and self._retry_due[0][0] <= now:
            until, _, origin = heapq.heappop(self._retry_due)
            held = self._until.get(origin)
            if held is not None and held[0] == until:  # else it was held anew since, or let go
                self._move(origin, held[1])
        if self._retry_due:
            self._set_alarm()
