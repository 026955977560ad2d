"""The gate: which origins' requests may leave the scheduler now.

A request waits in the middleware, for its robots.txt or its crawl delay; the gate keeps the other
requests of that origin in their queues. An origin is in one of three states:

    READY     all its requests may go
    UNKNOWN   it has no valid rules: one may go, if a fetch may begin
    HELD      a request waits, or has left to do so: none may go

    event                                         READY     UNKNOWN   HELD
    -----------------------------------------------------------------------
    a request is queued and there are no rules    UNKNOWN   -         -
    a request leaves alone                        HELD      HELD      -
    a request begins to wait                      HELD      HELD      -
    the last wait ends, or the request is lost:
        there are valid rules, or no requests     -         READY     READY
        there are requests and no rules           -         -         UNKNOWN

A request leaves alone where its origin is UNKNOWN or has a crawl delay in force.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Protocol

from scrapy_robotspec.lookup.live_origins import QueueState
from scrapy_robotspec.plugin import _compat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.lookup.live_origins import LiveOrigin, LiveOrigins


class GatedQueues(Protocol):
    """Queues that offer the requests of an origin by its state."""

    size: int
    """Number of queued requests."""

    def on_state(self, origin: Origin, state: QueueState) -> None:
        """*origin* is in *state* from now on."""

    def count(self, origin: Origin) -> int:
        """The number of queued requests of *origin*."""

    def may_go(self) -> bool:
        """Whether any request may leave the queues now."""


class Gate:
    """States of *live* origins; any other origin is READY.

    *origin_of* returns the origin whose robots.txt governs a request, or None. *knows* says whether
    an origin has valid rules, *is_spaced* whether a crawl delay is in force for it. *may_fetch* is
    the lookup's; *wake* makes the engine look into the scheduler. *on_waiting* is called with each
    request that is queued while its origin is not READY, *count_waiting* with each change of the
    number of queued requests whose origin is HELD.
    """

    def __init__(
        self,
        live: LiveOrigins,
        *,
        origin_of: Callable[[Request], Origin | None],
        knows: Callable[[Origin], bool],
        is_spaced: Callable[[Origin], bool],
        may_fetch: Callable[[Callable[[], object]], bool],
        wake: Callable[[], None],
        on_waiting: Callable[[Origin, Request], object],
        count_waiting: Callable[[int], None],
    ) -> None:
        self._live = live
        self.origin_of = origin_of
        self.count_waiting = count_waiting
        self._knows = knows
        self.is_spaced = is_spaced
        self.may_fetch = partial(may_fetch, wake)
        """Whether a fetch may begin; else the engine is woken later."""
        self._wake = wake
        self._on_waiting = on_waiting
        self.left: dict[Origin, Request] = {}
        """Requests that have left alone and have not arrived in the middleware."""
        self.queues: list[GatedQueues] = []
        """Those of the scheduler; none if it is not ours. Each is told of every change of state."""

    # --- events

    def queue(self, request: Request) -> Origin | None:
        """Note that *request* is queued; return its origin, or None."""
        origin = self.origin_of(request)
        if origin is not None and self._live.get(origin) is not None:
            self._on_waiting(origin, request)
        return origin

    def state(self, origin: Origin) -> QueueState:
        """The state of *origin*."""
        live = self._live.get(origin)
        return QueueState.READY if live is None else live.state

    def enter(self, origin: Origin) -> QueueState:
        """The state for requests of *origin* that are queued from now on."""
        state = self.state(origin)
        if state is QueueState.READY and not self._knows(origin):
            state = self._live.use(origin).state = QueueState.UNKNOWN
        return state

    def leave(self, origin: Origin, request: Request) -> None:
        """*request* leaves its queue alone."""
        self.left[origin] = request
        self._set(self._live.use(origin), QueueState.HELD)

    @contextmanager
    def hold(self, origin: Origin) -> Iterator[None]:
        """Let no request of *origin* go while one of them waits."""
        live = self._live.use(origin)
        self.left.pop(origin, None)
        live.holds += 1
        self._set(live, QueueState.HELD)
        try:
            yield
        finally:
            live.holds -= 1
            _compat.when_passed_on(partial(self.update, origin))

    def update(self, origin: Origin) -> None:
        """Let requests of *origin* go, unless one waits.

        All go if its rules are known, else one.
        """
        live = self._live.get(origin)
        if live is None or live.holds:
            return
        self.left.pop(origin, None)
        if live.state is not QueueState.READY:
            all_go = not self.count(origin) or self._knows(origin)
            self._set(live, QueueState.READY if all_go else QueueState.UNKNOWN)
        self._live.settle(live)

    def _set(self, live: LiveOrigin, state: QueueState) -> None:
        if state is live.state:
            return
        live.state = state
        for queues in self.queues:
            queues.on_state(live.origin, state)
        if state is not QueueState.HELD:
            self._wake()

    # --- queues

    def count(self, origin: Origin) -> int:
        """The number of requests of *origin* that are held back in queues."""
        live = self._live.get(origin)
        if live is None or live.state is QueueState.READY:
            return 0
        return sum(queues.count(origin) for queues in self.queues)

    def must_wait(self, is_full: Callable[[], bool]) -> bool:
        """Whether the engine must send nothing.

        The downloader is full, or requests are queued and none of them may go.
        """
        # hot path
        if is_full():
            return True
        waiting = False
        for queues in self.queues:
            if queues.size:
                if queues.may_go():
                    return False
                waiting = True
        return waiting

    def return_lost(self, is_active: Callable[[Request], bool]) -> None:
        """Let other requests go where the one that left is lost.

        Another middleware has dropped it. *is_active* says whether a request is in the downloader.
        """
        for origin, request in list(self.left.items()):
            if not is_active(request):
                self.update(origin)

    def close(self) -> None:
        """Make no more calls."""
        self.queues.clear()


class GateOwner:
    """Base of the middleware whose gate a crawl's queues obey."""

    gate: Gate


def find_gate(crawler: Crawler) -> Gate | None:
    """The gate of the crawl's middleware; None where no robots.txt is obeyed."""
    with suppress(AttributeError, RuntimeError):  # no engine, or one without middlewares
        owner = crawler.get_downloader_middleware(GateOwner)
        return None if owner is None else owner.gate
    return None
