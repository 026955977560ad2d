"""Flights: load the record of an origin, and if the policy asks for it, fetch and absorb.

Of every origin there is at most one at a time, and of all together no more fetches than there are
places. What is answered to whom stands in ``hall.py``.
"""

from __future__ import annotations

import asyncio
import logging
import math
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from twisted.internet.defer import CancelledError, Deferred
from twisted.python.failure import Failure

from scrapy_robotspec.access.outcome import FetchResult, Meaning
from scrapy_robotspec.access.policy import Action

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.policy import AccessPolicy
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.lookup.limiter import FetchLimiter
    from scrapy_robotspec.lookup.results import FetchDone, Resolved
    from scrapy_robotspec.lookup.rules_cache import RulesCache
    from scrapy_robotspec.lookup.tiered_store import TieredStore
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt

logger = logging.getLogger(__name__)

_Request = TypeVar("_Request", contravariant=True)

#: First and longest pause between looks at a record that another process is fetching (seconds).
POLL_MIN, POLL_MAX = 0.2, 2.0
#: Signal handlers may hold an origin's requests back for so long (seconds).
HANDLER_TIMEOUT = 30.0
#: What handlers that are cancelled end with: a Deferred's word or, with older Twisted, a task's.
_CANCELLED = (CancelledError, asyncio.CancelledError)
#: Nobody looks again sooner than after this (seconds).
SHORTEST_PAUSE = 0.02


class Runtime(Protocol[_Request]):
    """What the lookup needs of the world around it, given by the plugin or the command line."""

    def policy(self, origin: Origin) -> AccessPolicy:
        """The access policy that holds for *origin*."""

    def clock(self) -> float:
        """The time, in epoch seconds."""

    def random(self) -> float:
        """A number in [0, 1) that spreads retries."""

    def call_later(self, delay: float, call: Callable[..., Any], *args: Any) -> Any:
        """Call in *delay* seconds; the result has ``cancel()``."""

    def fetch(
        self, origin: Origin, request: _Request, *, background: bool
    ) -> Deferred[FetchResult]:
        """One robots.txt with its redirects. *background*: nobody waits for it."""

    def on_rules(
        self, found: Resolved, request: _Request, replaced: RobotsTxt | None
    ) -> Deferred[None]:
        """Rules came in, before anybody is released; *replaced*: other rules held before."""

    def on_fetch_done(self, landing: FetchDone) -> None:
        """A flight has ended."""


class SingleFlight(Generic[_Request]):
    """All flights of one lookup.

    ``landed`` is called at the end of each, with its origin, the record held when it began, the
    time it took (seconds), and whether it was called back.
    """

    def __init__(
        self,
        runtime: Runtime[_Request],
        shelf: TieredStore,
        places: FetchLimiter,
        answers: RulesCache,
        on_fetch_done: Callable[[Origin, RobotsRecord | None, float, bool], None],
    ) -> None:
        self._runtime = runtime
        self._store = shelf
        self._limiter = places
        self._rules_cache = answers
        self._on_fetch_done = on_fetch_done
        self._under_way: dict[Origin, Deferred[None]] = {}
        self._preempted: set[Origin] = set()
        self._closed = False

    def __len__(self) -> int:
        return len(self._under_way)

    def __contains__(self, origin: Origin) -> bool:
        return origin in self._under_way

    def next_slot_at(self, now: float, again: bool = False, ahead: int = 0) -> float:
        """When another may start; see :meth:`FetchPlaces.free_at`."""
        return self._limiter.next_slot_at(now, again, ahead)

    def start(self, origin: Origin, now: float, request: _Request, *, background: bool) -> bool:
        """Set out for *origin*; whether there was a place to do so."""
        before = self._store.get(origin)
        again = origin in self._preempted or (before is not None and before.failures > 0)
        if self._closed or self._limiter.next_slot_at(now, again) > now:
            return False
        self._call_back(self._limiter.acquire(origin, now, again))
        flight = self._under_way[origin] = Deferred.fromCoroutine(
            self._fly(origin, request, background)
        )
        flight.addBoth(self._land, origin, before, now)
        return True

    def stop(self) -> None:
        """Cancel all."""
        self._closed = True
        for flight in list(self._under_way.values()):
            flight.cancel()

    def _call_back(self, origin: Origin | None) -> None:
        if origin is not None:
            self._preempted.add(origin)
            # Not at once: whoever awaits that origin would start it anew in the midst of this.
            self._runtime.call_later(0, self._under_way[origin].cancel)

    async def _fly(self, origin: Origin, request: _Request, background: bool) -> None:
        """Find the newest record; fetch if it says so and no other process does (CAC-05)."""
        held, look = self._store.get(origin), POLL_MIN
        while True:
            record = await self._store.get_newest(origin)
            if not self._is_due(origin, record) or (held is None and self._is_of_use(record)):
                await self._tell(origin, request, held, record)
                if record is not None:
                    self._store.put_local(record)
                return
            if await self._store.lease(origin, self._runtime.clock()):
                await self._fetch(origin, request, background, held)
                return
            self._limiter.release(origin)
            await pause(self._runtime, look)
            look = min(2 * look, POLL_MAX)

    async def _fetch(
        self, origin: Origin, request: _Request, background: bool, held: RobotsRecord | None
    ) -> None:
        """Fetch as the holder of the lease, which is given back whatever happens."""
        runtime, policy, brought = self._runtime, self._runtime.policy(origin), None
        try:
            record = await self._store.get_newest(origin)  # one may have come just before the lease
            if self._is_due(origin, record):
                attempt = await self._attempt(origin, request, background)
                record = policy.apply(record, origin, attempt, runtime.clock(), runtime.random())
            brought = record
            self._limiter.release(origin)  # what follows sends nothing, so nobody need wait for it
            await self._tell(origin, request, held, record)
        finally:
            self._store.put_and_release(brought, origin)

    def _is_due(self, origin: Origin, record: RobotsRecord | None) -> bool:
        return self._runtime.policy(origin).plan(record, self._runtime.clock()).ask

    def _is_of_use(self, record: RobotsRecord | None) -> bool:
        """Whether a copy that came from the store may be used while it is refreshed: nobody who
        waits for it has to wait for that, which is a flight of its own."""
        if record is None:
            return False
        plan = self._runtime.policy(record.origin).plan(record, self._runtime.clock())
        return plan.action not in (Action.WAIT, Action.REFUSE)

    async def _attempt(self, origin: Origin, request: _Request, background: bool) -> FetchResult:
        try:
            return await self._runtime.fetch(origin, request, background=background)
        except CancelledError:
            raise
        except Exception as error:
            # No failure of ours may become an endless loop of attempts: it counts as one that
            # brought no answer.
            logger.exception("Error while fetching the robots.txt of %s", origin)
            return FetchResult(error=f"{type(error).__name__} in the fetcher")

    # --- telling of new rules

    async def _tell(
        self,
        origin: Origin,
        request: _Request,
        held: RobotsRecord | None,
        record: RobotsRecord | None,
    ) -> None:
        """Announce rules that have just come in, before they are used for anybody."""
        if record is None or record.meaning is not Meaning.RULES:
            return
        if held is not None and held.fetched_at == record.fetched_at:
            return
        now, policy = self._runtime.clock(), self._runtime.policy(origin)
        plan = policy.plan(record, now)
        if plan.action is not Action.RULES:
            return
        found = self._rules_cache.make(record, plan, policy.edition, now)
        replaced = None
        if held is not None and held.meaning is Meaning.RULES and held.body != record.body:
            replaced = self._rules_cache.parse(held, policy.edition)
        await self._heard(origin, self._runtime.on_rules(found, request, replaced))

    async def _heard(self, origin: Origin, telling: Deferred[None]) -> None:
        """Wait for those who are told, but not for ever: they may be waiting for us."""
        heard: Deferred[None] = Deferred()
        telling.addBoth(_pass_on, heard)
        try:
            await pause(self._runtime, HANDLER_TIMEOUT, heard)
        except CancelledError:
            telling.cancel()
            raise
        if not telling.called:
            logger.warning(
                "A handler of robots_parsed or robots_changed takes longer than %g s for %s: the "
                "origin's requests go on without it",
                HANDLER_TIMEOUT,
                origin,
            )

    # --- the end of a flight

    def _land(self, result: Any, origin: Origin, before: RobotsRecord | None, began: float) -> None:
        self._under_way.pop(origin, None)
        self._limiter.release(origin)
        called_back = isinstance(result, Failure) and isinstance(result.value, CancelledError)
        if isinstance(result, Failure) and not called_back:
            logger.error(
                "Error while asking for the robots.txt of %s: %s", origin, result.getTraceback()
            )
        if not called_back:
            self._preempted.discard(origin)
        if not self._closed:
            self._on_fetch_done(
                origin, before, max(0.0, self._runtime.clock() - began), called_back
            )


async def pause(
    runtime: Runtime[Any], seconds: float, waiter: Deferred[None] | None = None
) -> None:
    """Return after *seconds*, or when *waiter* is fired before."""
    waiter = Deferred() if waiter is None else waiter
    later = None
    if math.isfinite(seconds):
        later = runtime.call_later(max(seconds, SHORTEST_PAUSE), fire, waiter)
    try:
        await waiter
    finally:
        if later is not None:
            later.cancel()


def fire(waiter: Deferred[None]) -> None:
    """Let whoever waits go on, if nobody did before."""
    if not waiter.called:
        waiter.callback(None)


def _pass_on(result: Failure | None, heard: Deferred[None]) -> None:
    """Bring an outcome, unless it comes too late."""
    if not heard.called:
        heard.callback(result)
    elif isinstance(result, Failure) and not isinstance(result.value, _CANCELLED):
        logger.error("Error in a handler that took too long: %s", result.getTraceback())
