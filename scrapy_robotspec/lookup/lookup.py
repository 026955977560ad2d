"""Lookup: returns what is known, starts fetches, wakes waiters.

Where the state of an origin is kept: its record in the ``TieredStore``, its parsed rules in the
``RulesCache``, its flight in the ``SingleFlight``, its slot in the ``FetchLimiter``; its waiters,
and the pause after a flight that came to nothing, are kept here.
"""

from __future__ import annotations

import logging
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Generic, TypeVar

from twisted.internet.defer import CancelledError, Deferred

from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.lookup.limiter import SlotWaits
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
        *,
        max_size: int | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._runtime = runtime
        self._store = self.store = store
        self._limiter = limiter
        self._max_size = max_size
        self._rules_cache = RulesCache(max_bytes, max_size)
        self._flights = SingleFlight(runtime, store, limiter, self._rules_cache)
        self._waiters: dict[Origin, list[Deferred[None]]] = {}
        self._paused: dict[Origin, float] = {}  # since a flight without any attempt
        self._slot_waits = SlotWaits(limiter, clock=runtime.clock, call_later=runtime.call_later)
        self._closed = False

    # --- asking

    def ask(self, origin: Origin, now: float, request: _Request) -> Resolved | Pending:
        """Return what is known of *origin*; start a fetch if due."""
        return self._rules_cache.get_valid(origin, now) or self._look_up(origin, now, request)

    def is_current(self, found: Resolved, now: float) -> bool:
        """Whether :meth:`ask` would return *found* itself at *now*."""
        return self._rules_cache.get_valid(found.origin, now) is found

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

    async def answer(self, origin: Origin, request: _Request) -> Resolved:
        """Wait until *origin* is resolved. Raises ``CancelledError`` when the lookup closes."""
        while True:
            if self._closed:
                raise CancelledError
            now = self._runtime.clock()
            found = self.ask(origin, now, request)
            if isinstance(found, Resolved):
                return found
            if found.until > now:
                await self._wait(origin, found.until - now, Deferred())
            else:
                await self._wait(origin, math.inf, self._slot_waits.add(found.asked_before))

    def sweep(self, before: float) -> None:
        """Delete records whose last attempt was before *before* from the shared store."""
        self._store.sweep(before)

    @property
    def busy(self) -> bool:
        """Whether a flight is in progress or an answer is awaited."""
        return bool(self._flights or self._waiters)

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

    # --- closing

    def stop(self) -> None:
        """Cancel every fetch and every wait."""
        self._closed = True
        self._flights.stop()
        for origin in list(self._waiters):
            self._wake(origin)

    async def close(self) -> None:
        """Stop, finish pending writes, close the stores."""
        self.stop()
        await self._store.close()

    # --- from record to result

    def _look_up(self, origin: Origin, now: float, request: _Request) -> Resolved | Pending:
        record = self._store.get(origin)
        plan = self._runtime.policy(origin).plan(record, now)
        flying, retry_at = origin in self._flights, plan.until
        if plan.ask and not flying:
            retry_at = self._paused_until(origin, plan, now)
            if retry_at <= now:
                self._start(origin, record, plan, now, request)
                flying = origin in self._flights  # it may have ended at once
        if plan.action is Action.WAIT:
            asked_before = self._flights.was_asked(origin, record)
            return Pending(origin, math.inf if flying else retry_at, asked_before)
        if plan.ask and not flying:
            plan = replace(plan, until=min(plan.until, now + REFRESH_RETRY))
        return self._keep(origin, record, plan, now)

    def _paused_until(self, origin: Origin, plan: Plan, now: float) -> float:
        """When the flight that *plan* asks for may start: *now*, unless the last one was void."""
        until = self._paused.get(origin, now)
        put_back = until > now + max(ERROR_PAUSE, self._runtime.policy(origin).retry_delay)
        return now if put_back else max(now, until)

    def _start(
        self, origin: Origin, record: RobotsRecord | None, plan: Plan, now: float, request: _Request
    ) -> None:
        flight = self._flights.start(origin, record, plan, now, request)
        if flight is not None:
            self._paused.pop(origin, None)
            flight.addCallback(self._on_flight_end, origin, record, now)

    def _on_flight_end(
        self, end: FlightResult, origin: Origin, before: RobotsRecord | None, started: float
    ) -> None:
        """Report what is known from now on, and wake the waiters."""
        if self._closed:
            return
        now = self._runtime.clock()
        found: Resolved | Pending
        if end.plan.ask and now < end.plan.until < math.inf:
            self._paused[origin] = end.plan.until
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
        self._wake(origin)

    def _keep(
        self, origin: Origin, record: RobotsRecord | None, plan: Plan, now: float
    ) -> Resolved:
        assert record is not None  # else requests wait
        cache, edition = self._rules_cache, self._runtime.policy(origin).edition
        return cache.put(cache.make(record, plan, edition, now))

    # --- waiters

    async def _wait(self, origin: Origin, seconds: float, waiter: Deferred[None]) -> None:
        """Return when a flight of *origin* ends, *waiter* fires or *seconds* have passed."""
        self._waiters.setdefault(origin, []).append(waiter)
        try:
            await pause(self._runtime, seconds, waiter)
        finally:
            self._slot_waits.discard(waiter)
            self._forget(origin, waiter)

    def _forget(self, origin: Origin, waiter: Deferred[None]) -> None:
        waiters = self._waiters.get(origin, [])
        if waiter in waiters:
            waiters.remove(waiter)
        if not waiters:
            self._waiters.pop(origin, None)

    def _wake(self, origin: Origin) -> None:
        for waiter in self._waiters.pop(origin, ()):
            fire(waiter)


def _was_asked(end: FlightResult) -> bool:
    return end.preempted or (end.record is not None and end.record.failures > 0)
