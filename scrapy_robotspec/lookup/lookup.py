"""The lookup itself: answers at once what is known, starts flights, and wakes who waits.

What is kept stands in ``answers.py``, how a record comes in ``flights.py``. Whoever awaits an
answer gets a Deferred of their own, so that no waiter can spoil another's result or cancel the
fetch.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Generic, TypeVar

from twisted.internet.defer import CancelledError, Deferred

from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.lookup.results import FetchDone, Pending, Resolved
from scrapy_robotspec.lookup.rules_cache import COMPILED, COMPILED_BYTES, RulesCache
from scrapy_robotspec.lookup.single_flight import SingleFlight, fire, pause

if TYPE_CHECKING:
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.policy import Plan
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.lookup.limiter import FetchLimiter
    from scrapy_robotspec.lookup.single_flight import Runtime
    from scrapy_robotspec.lookup.tiered_store import TieredStore

_Request = TypeVar("_Request", contravariant=True)

#: First and longest pause between looks for a place by those who await an answer (seconds).
POLL_MIN, POLL_MAX = 0.02, 1.0


class Lookup(Generic[_Request]):
    """Answers :meth:`ask` at once and fetches what it must behind the scenes.

    ``max_size`` is the parsing limit in octets, None for the edition's. ``compiled`` bounds the
    number of parsed files that are kept and ``octets`` their size; what falls out is made again
    from its record.
    """

    def __init__(
        self,
        runtime: Runtime[_Request],
        shelf: TieredStore,
        places: FetchLimiter,
        *,
        max_size: int | None = None,
        compiled: int = COMPILED,
        max_bytes: int = COMPILED_BYTES,
    ) -> None:
        self._runtime = runtime
        self._store = shelf
        self._rules_cache = RulesCache(compiled, max_bytes, max_size)
        self._flights: SingleFlight[_Request] = SingleFlight(
            runtime, shelf, places, self._rules_cache, self._on_fetch_done
        )
        self._waiters: dict[Origin, list[Deferred[None]]] = {}
        self._closed = False

    # --- asking

    def ask(self, origin: Origin, now: float, request: _Request) -> Resolved | Pending:
        """What is known of *origin* at *now*, or how long to wait; starts a fetch if one is due."""
        return self._rules_cache.get_valid(origin, now) or self._look(origin, now, request)

    def knows(self, origin: Origin, now: float) -> bool:
        """Whether :meth:`ask` would answer without a flight. Starts nothing."""
        known = self._rules_cache.get(origin)
        if known is not None:
            return known.holds_at(now)
        record = self._store.get(origin)
        if record is None:
            return False
        return self._runtime.policy(origin).plan(record, now).action is not Action.WAIT

    def next_slot_at(self, now: float, again: bool = False, ahead: int = 0) -> float:
        """When an origin could be asked; see :meth:`FetchPlaces.free_at`."""
        return self._flights.next_slot_at(now, again, ahead)

    async def answer(self, origin: Origin, request: _Request) -> Resolved:
        """Wait until *origin* is known. Raises ``CancelledError`` when the lookup closes."""
        look = POLL_MIN
        while True:
            if self._closed:
                raise CancelledError
            now = self._runtime.clock()
            found = self.ask(origin, now, request)
            if isinstance(found, Resolved):
                return found
            if found.until > now:
                await self._news(origin, found.until - now)
            else:  # no place was free; many may wait for one, so each looks ever more rarely
                await self._news(origin, look)
                look = min(2 * look, POLL_MAX)

    def sweep(self, before: float) -> None:
        """Let the shared store forget what no attempt has changed since *before*."""
        self._store.sweep(before)

    @property
    def busy(self) -> bool:
        """Whether a flight is under way or somebody awaits an answer."""
        return bool(self._flights or self._waiters)

    def record(self, origin: Origin) -> RobotsRecord | None:
        """The record in memory."""
        return self._store.get(origin)

    def page_answered(self, origin: Origin) -> None:
        """A page of *origin* answered, which matters while its robots.txt does not (FET-12)."""
        record = self._store.get(origin)
        if record is not None and record.unreachable_since is not None:
            now = self._runtime.clock()
            noted = self._runtime.policy(origin).page_answered(record, now)
            if noted is not record:
                self._store.put(noted)

    # --- closing

    def stop(self) -> None:
        """Cancel every fetch and send every waiter away."""
        self._closed = True
        self._flights.stop()
        for origin in list(self._waiters):
            self._wake(origin)

    async def close(self) -> None:
        """Stop, finish what is being written, close the stores."""
        self.stop()
        await self._store.close()

    # --- the record at hand

    def _look(self, origin: Origin, now: float, request: _Request) -> Resolved | Pending:
        record = self._store.get(origin)
        flying = origin in self._flights
        if record is None and self._store.is_shared:
            flying = flying or self._flights.start(origin, now, request, background=False)
            return Pending(origin, self._landing(origin, flying, now))
        plan = self._runtime.policy(origin).plan(record, now)
        if plan.ask and not flying:
            background = plan.action is not Action.WAIT
            flying = self._flights.start(origin, now, request, background=background)
        if plan.action is Action.WAIT:
            until = plan.until if not plan.ask else now
            again = record is not None and record.failures > 0
            return Pending(origin, self._landing(origin, flying, until), asked_before=again)
        if plan.ask and not flying:  # no place was free: look again soon
            plan = replace(plan, until=min(plan.until, now + 1.0))
        return self._known(origin, record, plan, now)

    def _landing(self, origin: Origin, flying: bool, otherwise: float) -> float:
        """Until when to wait: for a flight's landing, unless it has landed at once."""
        return math.inf if flying and origin in self._flights else otherwise

    def _known(
        self, origin: Origin, record: RobotsRecord | None, plan: Plan, now: float
    ) -> Resolved:
        assert record is not None  # else there is nothing but to wait
        edition = self._runtime.policy(origin).edition
        return self._rules_cache.put(self._rules_cache.make(record, plan, edition, now))

    def _on_fetch_done(
        self, origin: Origin, before: RobotsRecord | None, seconds: float, preempted: bool
    ) -> None:
        """A flight has ended: tell of what is known now, and of nothing where it gave way."""
        now = self._runtime.clock()
        record = self._store.get(origin)
        plan = self._runtime.policy(origin).plan(record, now)
        if plan.action is Action.WAIT:
            self._rules_cache.discard(origin)
            until = plan.until if math.isfinite(plan.until) else now
            again = preempted or (record is not None and record.failures > 0)
            wait = Pending(origin, until, again, preempted)
            self._runtime.on_fetch_done(FetchDone(wait, record, before, seconds))
        else:
            if plan.ask:  # a copy from the store that has to be refreshed: whoever asks starts that
                plan = replace(plan, until=now)
            known = self._known(origin, record, plan, now)
            if not preempted:
                self._runtime.on_fetch_done(FetchDone(known, record, before, seconds))
        self._wake(origin)

    # --- waiters

    async def _news(self, origin: Origin, seconds: float) -> None:
        """Return when a flight of *origin* lands or *seconds* have passed."""
        waiter: Deferred[None] = Deferred()
        self._waiters.setdefault(origin, []).append(waiter)
        try:
            await pause(self._runtime, seconds, waiter)
        finally:
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
