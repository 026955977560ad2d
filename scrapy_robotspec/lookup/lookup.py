"""Lookup: returns what is known, starts fetches, wakes waiters.

The ``LiveOrigin`` contains all that is under way for an origin. Its record is in the
``TieredStore``, its parsed rules in the ``RulesCache``, its slot in the ``FetchLimiter``.
"""

from __future__ import annotations

import logging
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from twisted.internet.defer import CancelledError, Deferred

from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.lookup.limiter import SlotWaits
from scrapy_robotspec.lookup.live_origins import LiveOrigin, LiveOrigins
from scrapy_robotspec.lookup.results import FetchDone, Pending, Resolved
from scrapy_robotspec.lookup.rules_cache import MAX_BYTES, RulesCache
from scrapy_robotspec.lookup.runtime import fire, pause
from scrapy_robotspec.lookup.single_flight import ERROR_PAUSE, SingleFlight

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.policy import Plan
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.lookup.limiter import FetchLimiter
    from scrapy_robotspec.lookup.runtime import Runtime
    from scrapy_robotspec.lookup.single_flight import FlightResult
    from scrapy_robotspec.lookup.tiered_store import TieredStore

logger = logging.getLogger(__name__)

_Request = TypeVar("_Request", contravariant=True)

#: Pause until a due refresh for which no slot was free is tried again (seconds).
REFRESH_RETRY = 1.0


class Lookup(Generic[_Request]):
    """Answers :meth:`ask` at once, and fetches in the background what is missing.

    *max_size* is the parsing limit in bytes, None for the edition's. *max_bytes* bounds the parsed
    files that are kept; a dropped one is parsed again from its record.
    """

    def __init__(
        self,
        runtime: Runtime[_Request],
        store: TieredStore,
        limiter: FetchLimiter,
        live: LiveOrigins[Any] | None = None,
        *,
        max_size: int | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._runtime = runtime
        self._store = self.store = store
        self._limiter = limiter
        self._max_size = max_size
        self._rules_cache = RulesCache(max_bytes, max_size)
        self.get_valid = self._rules_cache.get_valid
        """The reply of :meth:`ask` if the record need not be read, else None."""
        self._live: LiveOrigins[Any] = LiveOrigins(LiveOrigin) if live is None else live
        self._flights = SingleFlight(runtime, store, limiter, self._rules_cache, self._live)
        self._slot_waits = SlotWaits(limiter, clock=runtime.clock, call_later=runtime.call_later)
        self._closed = False

    # --- asking

    def ask(self, origin: Origin, now: float, request: _Request) -> Resolved | Pending:
        """Return what is known of *origin*; start a fetch if due."""
        return self._rules_cache.get_valid(origin, now) or self._look_up(origin, now, request)

    def knows(self, origin: Origin, now: float) -> bool:
        """Whether :meth:`ask` would return a ``Resolved`` without a fetch. Starts nothing.

        It would also where a refresh is due: that is fetched in the background.
        """
        if self._rules_cache.get_valid(origin, now) is not None:
            return True
        record = self._store.get(origin)
        if record is None:
            return False
        return self._runtime.policy(origin).plan(record, now).action is not Action.WAIT

    def may_fetch(self, when_free: Callable[[], object]) -> bool:
        """Whether a fetch may begin; see :meth:`SlotWaits.may_begin`."""
        return self._slot_waits.may_begin(when_free)

    async def wait(self, origin: Origin, request: _Request) -> Resolved:
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
                await self._pause(origin, math.inf, self._slot_waits.add(found.asked_before))

    def sweep(self, before: float) -> None:
        """Delete records whose last attempt was before *before* from the shared store."""
        self._store.sweep(before)

    @property
    def busy(self) -> bool:
        """Whether a flight is in progress or an answer is awaited."""
        return len(self._live) > 0

    def record(self, origin: Origin) -> RobotsRecord | None:
        """The record in memory."""
        return self._store.get(origin)

    def page_answered(self, origin: Origin) -> None:
        """Note that a page of *origin* answered (FET-12)."""
        resolved = self._rules_cache.get(origin)
        if resolved is not None and not resolved.unreachable:  # hot path: decodes no record
            return
        record = self._store.get(origin)
        if record is not None and record.unreachable_since is not None:
            now = self._runtime.clock()
            noted = self._runtime.policy(origin).page_answered(record, now)
            if noted is not record:
                self._store.put(noted)
                if not noted.local:
                    self._store.share(noted, record)

    # --- closing

    def stop(self) -> None:
        """Cancel every fetch and every wait."""
        self._closed = True
        self._flights.stop()
        for live in list(self._live.values()):
            _wake(live)

    async def close(self) -> None:
        """Stop, let cancelled fetches end, finish pending writes, close the stores."""
        self.stop()
        for live in list(self._live.values()):
            if live.flight is not None:
                await live.flight
        await self._store.close()

    # --- from record to result

    def _look_up(self, origin: Origin, now: float, request: _Request) -> Resolved | Pending:
        record = self._store.get(origin)
        plan = self._runtime.policy(origin).plan(record, now)
        flying, retry_at = self._is_flying(origin), plan.until
        if plan.ask and not flying:
            retry_at = self._paused_until(origin, now)
            if retry_at <= now:
                self._start(origin, record, plan, now, request)
                flying = self._is_flying(origin)  # it may have ended at once
        if plan.action is Action.WAIT:
            asked_before = self._flights.was_asked(origin, record)
            return Pending(origin, math.inf if flying else retry_at, asked_before)
        if plan.ask and not flying:
            plan = replace(plan, until=min(plan.until, now + REFRESH_RETRY))
        return self._keep(origin, record, plan, now)

    def _is_flying(self, origin: Origin) -> bool:
        live = self._live.get(origin)
        return live is not None and live.is_flying

    def _paused_until(self, origin: Origin, now: float) -> float:
        """When the next flight of *origin* may start: *now*, unless the last one was void."""
        live = self._live.get(origin)
        until = now if live is None else live.paused_until
        put_back = until > now + max(ERROR_PAUSE, self._runtime.policy(origin).retry_delay)
        return now if put_back else max(now, until)

    def _start(
        self, origin: Origin, record: RobotsRecord | None, plan: Plan, now: float, request: _Request
    ) -> None:
        flight = self._flights.start(origin, record, plan, now, request)
        if flight is not None:
            flight.addCallback(self._on_flight_end, origin, record, now)

    def _on_flight_end(
        self, end: FlightResult, origin: Origin, before: RobotsRecord | None, started: float
    ) -> None:
        """Report what is known from now on, and wake the waiters."""
        live = self._live.use(origin)
        live.paused_until = 0.0
        if self._closed:
            self._live.settle(live)
            return
        now = self._runtime.clock()
        found: Resolved | Pending
        if end.plan.ask and now < end.plan.until < math.inf:
            live.paused_until = end.plan.until
            self._runtime.call_later(end.plan.until - now, self._end_pause, live)
        if end.plan.action is Action.WAIT:
            self._rules_cache.discard(origin)
            until = end.plan.until if math.isfinite(end.plan.until) else now
            found = Pending(origin, until, _was_asked(end), end.preempted)
        elif end.resolved is not None:
            found = self._rules_cache.put(end.resolved)
        else:
            found = self._keep(origin, end.record, end.plan, now)
        try:
            if isinstance(found, Pending) or not end.preempted:
                seconds = max(0.0, now - started)
                self._runtime.on_fetch_done(
                    FetchDone(found, end.record, before, end.result, seconds, end.base)
                )
        except Exception:
            logger.exception("Error after the robots.txt of %s was looked up", origin)
        _wake(live)
        self._live.settle(live)

    def _end_pause(self, live: LiveOrigin) -> None:
        live.paused_until = 0.0
        self._live.settle(live)

    def _keep(
        self, origin: Origin, record: RobotsRecord | None, plan: Plan, now: float
    ) -> Resolved:
        assert record is not None  # else requests wait
        cache, edition = self._rules_cache, self._runtime.policy(origin).edition
        return cache.put(cache.make(record, plan, edition, now))

    # --- waiters

    async def _pause(self, origin: Origin, seconds: float, waiter: Deferred[None]) -> None:
        """Return when a flight of *origin* ends, *waiter* fires or *seconds* have passed."""
        live = self._live.use(origin)
        live.waiters.append(waiter)
        try:
            await pause(self._runtime, seconds, waiter)
        finally:
            self._slot_waits.discard(waiter)
            if waiter in live.waiters:
                live.waiters.remove(waiter)
            self._live.settle(live)


def _wake(live: LiveOrigin) -> None:
    waiters, live.waiters = live.waiters, []
    for waiter in waiters:
        fire(waiter)


def _was_asked(end: FlightResult) -> bool:
    return end.preempted or (end.record is not None and end.record.failures > 0)
