"""The gate: which origins' requests may leave the scheduler now.

The gate maps origins to states. It holds no requests (``origin_queues.py``), knows no rules
(``access/policy.py``) and starts no fetch (``lookup/``). An event changes the state of an origin:

    event           READY     DELAYED   UNKNOWN   RETRY_DUE   BLOCKED
    ------------------------------------------------------------------
    QUEUED          UNKNOWN   -         -         -           -
    BLOCK           BLOCKED   BLOCKED   BLOCKED   BLOCKED     -
    FETCH_ALLOWED   -         -         -         -           UNKNOWN
    RETRY_ALLOWED   -         -         -         -           RETRY_DUE
    DELAY_PASSED    -         -         -         -           DELAYED
    RELEASE         -         READY     READY     READY       READY

Every state of waiting is in three places: ``Gate.states`` (the origins that are not READY),
``Gate._deadlines`` (when a BLOCKED origin moves on) and ``OriginQueues`` (the requests).
"""

from __future__ import annotations

import math
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

from scrapy_robotspec.plugin.scheduling.deadlines import Deadlines

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request

    from scrapy_robotspec.access.origin import Origin

#: Bounds of the pause before the engine looks again for a free fetch slot (seconds).
_WAKE_MIN, _WAKE_MAX = 0.005, 0.1


class State(Enum):
    """Whether requests of an origin may leave the scheduler."""

    READY = "ready"  #: all may go
    DELAYED = "delayed"  #: the crawl-delay has passed: one may go
    UNKNOWN = "unknown"  #: no valid rules: one may go, if a fetch may begin
    RETRY_DUE = "retry due"  #: an attempt failed, the next is due: as UNKNOWN
    BLOCKED = "blocked"  #: none may go


class Event(Enum):
    """An event that may change the state of an origin."""

    QUEUED = "queued"  #: a request is queued and there are no valid rules
    BLOCK = "block"  #: a fetch, a backoff or a crawl-delay begins
    FETCH_ALLOWED = "fetch allowed"  #: the block ends, its rules may be fetched
    RETRY_ALLOWED = "retry allowed"  #: a backoff ends
    DELAY_PASSED = "delay passed"  #: a crawl-delay ends
    RELEASE = "release"  #: the decision needs no waiting any more


#: The table above; no entry, no change.
TRANSITIONS = {
    Event.QUEUED: {State.READY: State.UNKNOWN},
    Event.BLOCK: dict.fromkeys(State, State.BLOCKED),
    Event.FETCH_ALLOWED: {State.BLOCKED: State.UNKNOWN},
    Event.RETRY_ALLOWED: {State.BLOCKED: State.RETRY_DUE},
    Event.DELAY_PASSED: {State.BLOCKED: State.DELAYED},
    Event.RELEASE: dict.fromkeys(State, State.READY),
}


class GatedQueues(Protocol):
    """Queues that offer the requests of an origin by its state."""

    def on_state(self, origin: Origin, state: State) -> None:
        """*origin* is in *state* from now on."""

    def count(self, origin: Origin) -> int:
        """The number of queued requests of *origin*."""

    def may_go(self) -> bool:
        """Whether any request may leave the queues now."""

    def __len__(self) -> int: ...


class Gate:
    """States of origins; an origin without an entry in ``states`` is READY.

    ``origin_of`` returns the origin whose robots.txt governs a request, or None. ``knows`` tells
    whether an origin has valid rules; ``next_slot_at`` is the lookup's; ``clock`` returns epoch
    seconds; ``wake`` makes the engine look into the scheduler; ``on_waiting`` is called with each
    request that is queued while its origin is not READY.
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
        on_waiting: Callable[[Origin, Request], object] = lambda origin, request: None,
    ) -> None:
        self.origin_of = origin_of
        self._on_waiting = on_waiting
        self._knows = knows
        self._next_slot_at = next_slot_at
        self._clock = clock
        self._call_later = call_later
        self._wake = wake
        self.states: dict[Origin, State] = {}
        self._deadlines: Deadlines[Origin, Event] = Deadlines(clock, call_later, self._apply)
        self._queues: list[GatedQueues] = []
        self._wake_planned = False

    # --- events

    def queue(self, request: Request) -> Origin | None:
        """Note that *request* is queued; return its origin, or None."""
        origin = self.origin_of(request)
        if origin is not None and origin in self.states:
            self._on_waiting(origin, request)
        return origin

    def enter(self, origin: Origin) -> State:
        """The state for requests of *origin* that are queued from now on."""
        state = self.states.get(origin, State.READY)
        if state is State.READY and not self._knows(origin, self._clock()):
            state = self.states[origin] = TRANSITIONS[Event.QUEUED][state]
        return state

    def block(self, origin: Origin, until: float, then: Event) -> None:
        """Block *origin* until *until*; then apply the event *then*.

        *until* is in epoch seconds; ``inf`` blocks until the next call for *origin*.
        """
        if until > self._clock():
            self._deadlines.set(origin, until, then)
            self._apply(origin, Event.BLOCK)
        else:
            self._deadlines.discard(origin)
            blocked = TRANSITIONS[Event.BLOCK][self.states.get(origin, State.READY)]
            self._set(origin, TRANSITIONS[then][blocked])

    def release(self, origin: Origin) -> None:
        """Let all requests of *origin* go."""
        self._deadlines.discard(origin)
        self._apply(origin, Event.RELEASE)

    def _apply(self, origin: Origin, event: Event) -> None:
        before = self.states.get(origin, State.READY)
        self._set(origin, TRANSITIONS[event].get(before, before))

    def _set(self, origin: Origin, state: State) -> None:
        if state is self.states.get(origin, State.READY):
            return
        if state is State.READY:
            del self.states[origin]
        else:
            self.states[origin] = state
        for queues in self._queues:
            queues.on_state(origin, state)
        if state is not State.BLOCKED:
            self._wake()

    # --- queues

    def attach(self, queues: GatedQueues) -> None:
        """Report every change of state to *queues* from now on."""
        self._queues.append(queues)

    def count(self, origin: Origin) -> int:
        """The number of requests of *origin* that are held back."""
        if origin not in self.states:
            return 0
        return sum(queues.count(origin) for queues in self._queues)

    def all_wait(self) -> bool:
        """Whether requests are queued and none of them may go."""
        queued = [queues for queues in self._queues if len(queues)]
        return bool(queued) and not any(queues.may_go() for queues in queued)

    def may_fetch(self, state: State, ahead: int = 0) -> bool:
        """Whether an UNKNOWN or RETRY_DUE origin may start a fetch.

        *ahead* such requests have left the queues and not started their fetch yet. If none may go,
        the engine is woken later: a fetch slot may become free without any event.
        """
        now = self._clock()
        next_slot_at = self._next_slot_at(now, state is State.RETRY_DUE, ahead)
        if next_slot_at <= now:
            return True
        if not self._wake_planned and not ahead:
            self._wake_planned = True
            pause = _WAKE_MAX if math.isinf(next_slot_at) else next_slot_at - now
            self._call_later(min(max(pause, _WAKE_MIN), _WAKE_MAX), self._planned_wake)
        return False

    def _planned_wake(self) -> None:
        self._wake_planned = False
        self._wake()

    def close(self) -> None:
        """Make no more calls."""
        self._deadlines.close()
        self._queues.clear()
