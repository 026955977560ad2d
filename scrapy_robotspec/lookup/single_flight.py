"""Single flight: one fetch per origin at a time, across processes (CAC-05).

A flight searches the shared store, takes the lease on its origin, fetches, applies the result to
the record and announces new rules. It returns the record with its plan to the lookup.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from twisted.internet.defer import CancelledError, Deferred
from twisted.python.failure import Failure

from scrapy_robotspec.access.outcome import FetchResult, Meaning
from scrapy_robotspec.access.policy import Action, Plan
from scrapy_robotspec.lookup.runtime import pause
from scrapy_robotspec.lookup.tiered_store import newer
from scrapy_robotspec.store.base import Claim

if TYPE_CHECKING:
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.lookup.limiter import FetchLimiter
    from scrapy_robotspec.lookup.live_origins import LiveOrigins
    from scrapy_robotspec.lookup.results import Resolved
    from scrapy_robotspec.lookup.rules_cache import RulesCache
    from scrapy_robotspec.lookup.runtime import Runtime
    from scrapy_robotspec.lookup.tiered_store import TieredStore
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt

logger = logging.getLogger(__name__)

_Request = TypeVar("_Request")

#: First and longest pause between looks for the record that another process fetches (seconds).
POLL_MIN, POLL_MAX = 0.2, 2.0
#: Max records of a shared store that one flight reads before it fetches all the same.
_MAX_NEWS = 8
#: Longest time that signal handlers may delay the requests of an origin (seconds).
HANDLER_TIMEOUT = 30.0

#: How cancelled handlers end: a Deferred's error or, with older Twisted, a task's.
_CANCELLED = (CancelledError, asyncio.CancelledError)
#: Pause after an error in our own code (seconds).
ERROR_PAUSE = 1.0


@dataclass(frozen=True, slots=True)
class _Flight(Generic[_Request]):
    """One flight."""

    origin: Origin
    held: RobotsRecord | None
    """The record in memory as it began."""
    request: _Request
    """The request that caused it."""


class FlightResult(NamedTuple):
    """The end of a flight."""

    record: RobotsRecord | None
    """The origin's record from now on."""
    plan: Plan
    """The plan for it. Where an attempt is due, ``until`` is when the next flight may start."""
    result: FetchResult | None = None
    """The fetched response; None: nothing, the shared store had a newer record, or preempted."""
    resolved: Resolved | None = None
    """The record with its rules parsed, if requests can be decided by it."""
    preempted: bool = False
    """The flight was cancelled in favour of another origin's."""
    base: RobotsRecord | None = None
    """The record that the result was applied to."""


class SingleFlight(Generic[_Request]):
    """The fetches of one lookup, at most one per origin."""

    def __init__(
        self,
        runtime: Runtime[_Request],
        store: TieredStore,
        limiter: FetchLimiter,
        rules_cache: RulesCache,
        live: LiveOrigins[Any],
    ) -> None:
        self._runtime = runtime
        self._store = store
        self._limiter = limiter
        self._rules_cache = rules_cache
        self._live = live
        self._closed = False

    def start(
        self, origin: Origin, held: RobotsRecord | None, plan: Plan, now: float, request: _Request
    ) -> Deferred[FlightResult] | None:
        """Start the flight that *plan* asks for; None: no free slot.

        The Deferred never fails, and may have fired already.
        """
        if self._closed or not self._take_slot(origin, held, now):
            return None
        live = self._live.use(origin)
        live.is_flying = True  # handlers may look up the origin before the first pause
        running = Deferred.fromCoroutine(self._fly(_Flight(origin, held, request), plan))
        live.flight = running
        return running.addBoth(self._land, origin, held, plan)

    def stop(self) -> None:
        """Cancel all fetches and start no more."""
        self._closed = True
        for live in list(self._live.values()):
            if live.flight is not None:
                live.flight.cancel()

    # --- slots

    def was_asked(self, origin: Origin, held: RobotsRecord | None) -> bool:
        """Whether *origin* was asked already and gave no answer."""
        live = self._live.get(origin)
        if live is not None and live.was_preempted:
            return True
        return held is not None and held.failures > 0

    def _take_slot(self, origin: Origin, held: RobotsRecord | None, now: float) -> bool:
        asked_before = self.was_asked(origin, held)
        if self._limiter.next_slot_at(now, asked_before) > now:
            return False
        preempted = self._limiter.acquire(origin, now, asked_before)
        if preempted is not None:
            self._live.use(preempted).was_preempted = True
            # Later: now a waiter of that origin would start it again before this call returns.
            self._runtime.call_later(0, self._cancel, preempted)
        return True

    def _cancel(self, origin: Origin) -> None:
        live = self._live.get(origin)
        if live is not None and live.flight is not None:
            live.flight.cancel()

    # --- one flight

    async def _fly(self, flight: _Flight[_Request], plan: Plan) -> FlightResult:
        """Fetch, unless a shared store has a newer record or another process fetches."""
        origin, held = flight.origin, flight.held
        agent = self._runtime.agent(flight.request)
        wait = _LeaseWait(self._store.lease_seconds + self._runtime.random() * POLL_MAX)
        record = known = held
        news, has_slot = 0, True
        has_turn = plan.action is not Action.WAIT  # no request waits for a refresh
        while True:
            has_slot = has_slot or self._take_slot(origin, held, self._now())
            if has_slot:
                claim = await self._store.claim(origin, self._now(), known, agent, wait.overdue)
            else:
                claim = Claim(False, await self._store.get_news(origin, known, agent))
            if claim.record is not None and news < _MAX_NEWS:
                news += 1
                known, record = claim.record, newer(held, claim.record)
                plan = self._plan(record)
                if not plan.ask or (held is None and _is_usable(plan)):
                    return await self._take_over(flight, record, plan)
            elif claim.granted or (claim.record is not None and has_slot):
                turn = 0.0 if has_turn else self._runtime.take_turn(origin, flight.request)
                if turn <= 0:
                    return await self._fetch(flight, record, known, plan)
                has_turn = True
                self._store.release(origin)  # the turn may outlast the lease
                await pause(self._runtime, turn)
            else:
                if has_slot:
                    wait.see(claim.holder)
                self._limiter.release(origin)
                has_slot = False
                await pause(self._runtime, wait.next_pause(self._runtime.random()))

    async def _fetch(
        self,
        flight: _Flight[_Request],
        record: RobotsRecord | None,
        known: RobotsRecord | None,
        plan: Plan,
    ) -> FlightResult:
        """Fetch and apply the result to *record*; share it and release the lease.

        *known*: the record in the shared store.
        """
        origin, shared, base = flight.origin, None, record
        policy = self._runtime.policy(origin)
        try:
            result = await self._attempt(flight)
            record = policy.apply(record, origin, result, self._now(), self._runtime.random())
            shared = None if result.local else record
        finally:
            self._limiter.release(origin)
            if shared is None:
                self._store.release(origin)
            else:
                self._store.share(shared, known)
        plan = self._plan(record)
        resolved = await self._hand_over(flight, record, plan)
        return FlightResult(record, plan, result, resolved, base=base)

    async def _take_over(
        self, flight: _Flight[_Request], record: RobotsRecord, plan: Plan
    ) -> FlightResult:
        """End with a record of the shared store."""
        self._limiter.release(flight.origin)
        resolved = await self._hand_over(flight, record, plan)
        return FlightResult(record, plan, None, resolved)

    def _plan(self, record: RobotsRecord) -> Plan:
        """The plan of a flight that ends with *record*.

        An attempt may be due already; then the next request starts it.
        """
        now = self._now()
        plan = self._runtime.policy(record.origin).plan(record, now)
        return replace(plan, until=now) if plan.ask else plan

    async def _attempt(self, flight: _Flight[_Request]) -> FetchResult:
        try:
            return await self._runtime.fetch(flight.origin, flight.request)
        except CancelledError:
            raise
        except Exception as error:
            # Counted as an attempt without an answer, so that it is not repeated without end.
            logger.exception("Error while fetching the robots.txt of %s", flight.origin)
            return FetchResult(error=f"{type(error).__name__} in the fetcher")

    async def _hand_over(
        self, flight: _Flight[_Request], record: RobotsRecord, plan: Plan
    ) -> Resolved | None:
        """Parse *record*, announce its rules if they are new, and keep it in memory."""
        try:
            if plan.action is Action.WAIT:
                return None
            edition = self._runtime.policy(flight.origin).edition
            resolved = self._rules_cache.make(record, plan, edition, self._now())
            if resolved.robots is not None and not _is_same_answer(flight.held, record):
                replaced = self._replaced(flight.held, record)
                handling = self._runtime.on_rules(resolved, flight.request, replaced)
                await _wait_for_handlers(self._runtime, flight.origin, handling)
            return resolved
        finally:
            self._store.put(record)  # not earlier: from now on requests use it

    def _replaced(self, held: RobotsRecord | None, record: RobotsRecord) -> RobotsTxt | None:
        """The rules that those of *record* replace; None for a first or an equal file."""
        if held is None or held.meaning is not Meaning.RULES or held.body == record.body:
            return None
        return self._rules_cache.parse(held, self._runtime.policy(held.origin).edition)

    # --- the end of a flight

    def _land(
        self,
        end: FlightResult | Failure,
        origin: Origin,
        held: RobotsRecord | None,
        plan: Plan,
    ) -> FlightResult:
        live = self._live.use(origin)
        live.is_flying, live.flight = False, None
        self._limiter.release(origin)
        if isinstance(end, FlightResult):
            live.was_preempted = False
            return end
        preempted = isinstance(end.value, CancelledError)
        if not preempted:
            logger.error(
                "Error while looking up the robots.txt of %s: %s", origin, end.getTraceback()
            )
        until = self._now() + (0.0 if preempted else ERROR_PAUSE)
        return FlightResult(held, replace(plan, until=until), preempted=preempted)

    def _now(self) -> float:
        return self._runtime.clock()


class _LeaseWait:
    """A wait for the holder of a lease; each holder restarts it.

    *longest*: seconds after which a lease is foreign or damaged, as it outlasts any fetch.
    """

    def __init__(self, longest: float) -> None:
        self._longest = longest
        self._holder: str | None = None
        self._waited, self._look = 0.0, POLL_MIN

    @property
    def overdue(self) -> str | None:
        """The holder whose lease has lasted too long."""
        return self._holder if self._waited >= self._longest else None

    def see(self, holder: str | None) -> None:
        """*holder* has the lease now."""
        if holder != self._holder:
            self._holder, self._waited, self._look = holder, 0.0, POLL_MIN

    def next_pause(self, jitter: float) -> float:
        """Seconds until the next look.

        *jitter* in [0, 1) keeps processes out of step.
        """
        pause = self._look * (0.5 + jitter)
        self._waited += pause
        self._look = min(2 * self._look, POLL_MAX)
        return pause


def _is_usable(plan: Plan) -> bool:
    """Whether requests can be decided while the origin is asked again."""
    return plan.action not in (Action.WAIT, Action.REFUSE)


def _is_same_answer(held: RobotsRecord | None, record: RobotsRecord) -> bool:
    return held is not None and held.fetched_at == record.fetched_at


async def _wait_for_handlers(
    runtime: Runtime[Any], origin: Origin, handling: Deferred[None]
) -> None:
    """Return when *handling* ends, or with a warning after ``HANDLER_TIMEOUT``.

    Raises the error of *handling*. Cancelling the wait cancels the handlers.
    """
    handled: Deferred[None] = Deferred()
    handling.addBoth(_pass_on, handled)
    try:
        await pause(runtime, HANDLER_TIMEOUT, handled)
    except CancelledError:
        handling.cancel()
        raise
    if not handling.called:
        logger.warning(
            "A handler of robots_parsed or robots_changed takes longer than %g s for %s: the "
            "origin's requests go on without it",
            HANDLER_TIMEOUT,
            origin,
        )


def _pass_on(result: Failure | None, handled: Deferred[None]) -> None:
    """Give *result* to the flight, unless it comes too late."""
    if not handled.called:
        handled.callback(result)
    elif isinstance(result, Failure) and not isinstance(result.value, _CANCELLED):
        logger.error("Error in a handler that took too long: %s", result.getTraceback())
