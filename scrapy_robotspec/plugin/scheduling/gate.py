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
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.lookup.live_origins import LiveOrigin, QueueState
from scrapy_robotspec.plugin import _compat

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.lookup import FetchDone
    from scrapy_robotspec.plugin.robots import CrawlRobots
    from scrapy_robotspec.plugin.scheduling.crawl_delay import CrawlDelay


class Gate:
    """States of the live origins of *robots*; any other origin is READY.

    *delay* says for which origins a crawl delay is in force; None: for none.
    """

    def __init__(self, robots: CrawlRobots, delay: CrawlDelay | None = None) -> None:
        self._robots = robots
        self._live = robots.live
        self._delay = delay
        self.due_slots: Collection[str] = () if delay is None else delay.due_slots
        """Download slots to which nothing goes now: a page that has waited for its delay is due."""
        self.popped: dict[Request, Origin | None] = {}
        """Requests that have left the scheduler and neither wait nor go on, with the origin that is
        HELD for each. One that another middleware drops, answers or sends back is in the downloader
        no more."""
        self.queues: list[Any] = []
        """The scheduler's ``OriginQueues``, if they are ours; they follow every change of state."""
        self.parked = 0
        """Requests that have left the scheduler and wait."""

    # --- events

    def note_queued(self, request: Request) -> Origin | None:
        """Note that *request* is queued.

        Returns the origin whose robots.txt has to be known before it may go, or None.
        """
        # hot path
        robots = self._robots
        origin = robots.policy.origin(request)
        if origin is None:
            return None
        if robots.settings.overrides and robots.policy.replacement(origin) is not None:
            return None
        if origin in self._live:
            robots.routes.see(origin, request)
        return origin

    def may_fetch(self) -> bool:
        """Whether a fetch may begin; else the engine is woken later."""
        coming = sum(not self.is_spaced(each) for each in self.popped.values())
        return self._robots.lookup.limiter.may_begin(coming, self._robots.engine.wake)

    def is_spaced(self, origin: Origin | None) -> bool:
        """Whether requests of *origin* leave their queue one at a time."""
        return self._delay is not None and self._delay.is_spaced(origin)

    def enter(self, origin: Origin) -> QueueState:
        """The state for requests of *origin* that are queued from now on."""
        live = self._live.get(origin)
        is_ready = live is None or live.state is QueueState.READY
        if is_ready and not self._robots.lookup.knows(origin):
            live = self._live.use(origin)
            self._set(live, QueueState.UNKNOWN)  # its queues of other slots follow
        return QueueState.READY if live is None else live.state

    def leave(self, origin: Origin, request: Request) -> None:
        """*request* leaves its queue alone."""
        self.popped[request] = origin
        self._set(self._live.use(origin), QueueState.HELD)

    def goes_on(self, origin: Origin | None, request: Request) -> None:
        """*request* has not waited, and is passed on or refused."""
        # hot path
        if not self.queues and self._is_full():
            self._robots.engine.wake()
        left_for = self.popped.pop(request, None)
        if left_for is not None:  # another middleware may have changed its URL
            self.update(left_for)
        if origin is not None and origin in self._live:
            self.update(origin)

    @contextmanager
    def hold(self, origin: Origin, request: Request) -> Iterator[None]:
        """Let no request of *origin* go while *request* waits."""
        live = self._live.use(origin)
        self.popped.pop(request, None)
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
        if live.state is not QueueState.READY:
            all_go = not live.queued or self._robots.lookup.knows(origin)
            self._set(live, QueueState.READY if all_go else QueueState.UNKNOWN)
        self._live.settle(live)

    def on_fetch_done(self, done: FetchDone) -> None:
        """Let the requests of an origin go that is known now."""
        self.update(done.found.origin)

    def _set(self, live: LiveOrigin, state: QueueState) -> None:
        if state is live.state:
            return
        live.state = state
        for queues in self.queues:
            queues.on_state(live.origin, state)
        if state is not QueueState.HELD:
            self._robots.engine.wake()

    # --- queues

    def count_queued(self, origin: Origin, change: int, *, held: bool) -> None:
        """Count *change* more queued requests of *origin*, which is not READY."""
        self._live[origin].queued += change
        if held:
            self._robots.progress.waiting_changed(change)

    def must_wait(self, is_full: Callable[[], bool]) -> bool:
        """Whether the engine must send nothing.

        The downloader is full, or requests are queued and none of them may go. Another scheduler
        is asked for no more while ``ROBOTSPEC_MAX_PARKED`` of its requests wait.
        """
        # hot path
        if is_full():
            return True
        if not self.queues:
            if self._is_full():
                self.return_lost()
            return self._is_full()
        if self.popped:
            self.return_lost()
        queues = [each for each in self.queues if each.size]
        return bool(queues) and not any(each.may_go() for each in queues)

    def _is_full(self) -> bool:
        return self.parked + len(self.popped) >= self._robots.settings.max_parked

    def return_lost(self) -> None:
        """Let other requests go where the popped one will not arrive."""
        for request in [each for each in self.popped if not self._robots.engine.is_active(each)]:
            origin = self.popped.pop(request)
            if origin is not None:
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
