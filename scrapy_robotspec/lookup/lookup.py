"""Lookup: returns what is known, starts fetches, wakes waiters.

The ``LiveOrigin`` contains all that is under way for an origin. Its record is in the
store, its parsed rules in the ``RulesCache``, its slot in the ``FetchLimiter``.
"""

from __future__ import annotations

import logging
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from twisted.internet.defer import CancelledError, Deferred, maybeDeferred

from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.lookup.limiter import FetchLimiter
from scrapy_robotspec.lookup.live_origins import RETRY_PAUSE, fire, pause
from scrapy_robotspec.lookup.rules_cache import MAX_BYTES, Pending, Resolved, RulesCache
from scrapy_robotspec.lookup.single_flight import SingleFlight

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.lookup.live_origins import LiveOrigin, LiveOrigins
    from scrapy_robotspec.lookup.single_flight import FetchDone, Runtime
    from scrapy_robotspec.lookup.tiered_store import TieredStore
    from scrapy_robotspec.store.memory import MemoryStore

logger = logging.getLogger(__name__)


class Lookup:
    """Answers :meth:`ask` at once, and fetches in the background what is missing.

    *limit* bounds the fetches. With a ``TieredStore``, *flight_class* is ``SharedFlight``.
    *max_size* is the parsing limit in bytes, None for the edition's. *max_bytes* bounds the parsed
    files that are kept; a dropped one is parsed again from its record.
    """

    def __init__(
        self,
        runtime: Runtime,
        store: MemoryStore | TieredStore,
        limit: int,
        live: LiveOrigins,
        *,
        flight_class: Callable[..., SingleFlight] = SingleFlight,
        max_size: int | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._runtime = runtime
        self.store = store
        self.limiter = FetchLimiter(limit, clock=runtime.clock, call_later=runtime.call_later)
        self._max_size = max_size
        self._rules_cache = RulesCache(max_bytes, max_size)
        self.get_valid = self._rules_cache.get_valid
        """The reply of :meth:`ask` if the record need not be read, else None."""
        self._live = live
        self._flights = flight_class(runtime, store, self.limiter, self._rules_cache, live)
        self.may_fetch = self.limiter.may_begin
        self._closed = False

    # --- asking

    def ask(self, origin: Origin, now: float, request: Any) -> Resolved | Pending:
        """Return what is known of *origin*; start a fetch if due."""
        return self._rules_cache.get_valid(origin, now) or self._look_up(origin, now, request)

    def knows(self, origin: Origin, now: float) -> bool:
        """Whether :meth:`ask` would return a ``Resolved`` without a fetch. Starts nothing.

        It would also where a refresh is due: that is fetched in the background.
        """
        if self._rules_cache.get_valid(origin, now) is not None:
            return True
        record = self.store.get(origin)
        if record is None:
            return False
        return self._runtime.policy(origin).plan(record, now).action is not Action.WAIT

    async def wait(self, origin: Origin, request: Any) -> Resolved:
        """Wait until *origin* is resolved. Raises ``CancelledError`` when the lookup closes."""
        while True:
            if self._closed:
                raise CancelledError
            now = self._runtime.clock()
            found = self.ask(origin, now, request)
            if isinstance(found, Resolved):
                return found
            if found.until > now:
                await self._pause(origin, found.until - now, Deferred())
            else:
                await self._pause(origin, math.inf, self.limiter.wait(found.asked_before))

    @property
    def busy(self) -> bool:
        """Whether a flight is in progress or an answer is awaited."""
        return len(self._live) > 0

    def page_answered(self, origin: Origin) -> None:
        """Note that a page of *origin* answered (FET-12)."""
        now = self._runtime.clock()
        resolved = self._rules_cache.get_valid(origin, now)
        if resolved is not None and not resolved.unreachable:  # hot path: decodes no record
            return
        record = self.store.get(origin)
        if record is not None and record.unreachable_since is not None:
            noted = self._runtime.policy(origin).page_answered(record, now)
            if noted is not record:
                self.store.put(noted)
                if not noted.local:
                    self.store.share(noted, record)

    # --- closing

    def stop(self) -> None:
        """Cancel every fetch and every wait."""
        self._closed = True
        for live in list(self._live.values()):
            if live.flight is not None:
                live.flight.cancel()
            _wake(live)

    async def close(self) -> None:
        """Stop, let cancelled fetches end, finish pending writes, close the stores."""
        self.stop()
        for live in list(self._live.values()):
            if live.flight is not None:
                await live.flight
        await maybeDeferred(self.store.close)

    # --- from record to result

    def _look_up(self, origin: Origin, now: float, request: Any) -> Resolved | Pending:
        record = self.store.get(origin)
        policy = self._runtime.policy(origin)
        plan = policy.plan(record, now)
        live = self._live.get(origin)
        if plan.ask and not self._closed and (live is None or not live.is_flying):
            flight = self._flights.start(origin, record, plan, now, request)
            if flight is not None:
                flight.addCallback(self._on_flight_end, origin)
            live = self._live.get(origin)  # it may have ended at once
        flying = live is not None and live.is_flying
        if plan.action is Action.WAIT:
            retry_at = now if plan.ask else plan.until
            asked_before = self._flights.was_asked(origin, record)
            return Pending(origin, math.inf if flying else retry_at, asked_before)
        if plan.ask and not flying:
            plan = replace(plan, until=min(plan.until, now + RETRY_PAUSE))
        assert record is not None  # else requests wait
        return self._rules_cache.put(self._rules_cache.make(record, plan, policy.edition, now))

    def _on_flight_end(self, done: FetchDone | None, origin: Origin) -> None:
        """Report what is known from now on, and wake the waiters."""
        live = self._live.use(origin)
        if done is not None and isinstance(done.found, Resolved):
            self._rules_cache.put(done.found)
        else:
            self._rules_cache.discard(origin)
        if done is not None and not self._closed:
            try:
                self._runtime.on_fetch_done(done)
            except Exception:
                logger.exception("Error after the robots.txt of %s was looked up", origin)
        _wake(live)
        self._live.settle(live)

    # --- waiters

    async def _pause(self, origin: Origin, seconds: float, waiter: Deferred[None]) -> None:
        """Return when a flight of *origin* ends, *waiter* fires or *seconds* have passed."""
        live = self._live.use(origin)
        live.waiters.append(waiter)
        try:
            await pause(self._runtime.call_later, seconds, waiter)
        finally:
            self.limiter.discard(waiter)
            if waiter in live.waiters:
                live.waiters.remove(waiter)
            self._live.settle(live)


def _wake(live: LiveOrigin) -> None:
    waiters, live.waiters = live.waiters, []
    for waiter in waiters:
        fire(waiter)
