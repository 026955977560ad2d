"""Single flight: one fetch per origin at a time, across processes (CAC-05).

A flight searches the shared store, takes the lease on its origin, fetches, applies the result to
the record and announces new rules. It returns what is known from now on to the lookup.
"""

from __future__ import annotations

import asyncio
import logging
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from twisted.internet.defer import CancelledError, Deferred

from scrapy_robotspec.access.outcome import FetchResult, Meaning
from scrapy_robotspec.access.policy import Action, Plan
from scrapy_robotspec.lookup.live_origins import fire, pause
from scrapy_robotspec.lookup.rules_cache import Pending
from scrapy_robotspec.lookup.tiered_store import newer
from scrapy_robotspec.store.base import Claim

if TYPE_CHECKING:
    from collections.abc import Callable

    from twisted.python.failure import Failure

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.policy import AccessPolicy
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.lookup.limiter import FetchLimiter
    from scrapy_robotspec.lookup.live_origins import LiveOrigins
    from scrapy_robotspec.lookup.rules_cache import Resolved, RulesCache
    from scrapy_robotspec.lookup.tiered_store import TieredStore
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt

logger = logging.getLogger(__name__)

_Request = TypeVar("_Request", contravariant=True)

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


class Runtime(Protocol[_Request]):
    """Implemented by the plugin (``CrawlRuntime``)."""

    def policy(self, origin: Origin) -> AccessPolicy:
        """The access policy for *origin*."""

    def clock(self) -> float:
        """The time (epoch seconds)."""

    def random(self) -> float:
        """A number in [0, 1) that spreads retries."""

    def call_later(self, delay: float, call: Callable[..., Any], *args: Any) -> Any:
        """Call *call* in *delay* seconds; the result has ``cancel()``."""

    def agent(self, request: _Request) -> str:
        """Product name of the User-Agent that the robots.txt request for *request* has."""

    def take_turn(self, origin: Origin, request: _Request) -> float:
        """Use up the turn of *request* to *origin*; seconds until then."""

    def fetch(self, origin: Origin, request: _Request) -> Deferred[FetchResult]:
        """Fetch the robots.txt of *origin*, with its redirects, because of *request*."""

    def on_rules(
        self, found: Resolved, request: _Request, replaced: RobotsTxt | None
    ) -> Deferred[None]:
        """Handle new rules before any request uses them."""

    def on_fetch_done(self, done: FetchDone) -> None:
        """Handle the end of a fetch."""


@dataclass(frozen=True, slots=True)
class FetchDone:
    """The end of a fetch or of a store lookup."""

    found: Resolved | Pending
    """The origin's state from now on."""
    record: RobotsRecord | None
    """The record behind it."""
    before: RobotsRecord | None
    """The record held when the fetch began."""
    result: FetchResult | None
    """The fetched response; None: preempted, or the shared store had a newer record."""
    seconds: float
    """Duration."""
    base: RobotsRecord | None = None
    """The record that the result was applied to."""


@dataclass(frozen=True, slots=True)
class _Flight(Generic[_Request]):
    """One flight."""

    origin: Origin
    held: RobotsRecord | None
    """The record in memory as it began."""
    plan: Plan
    """The plan that asked for it."""
    request: _Request
    """The request that caused it."""
    started: float
    """Epoch seconds."""


class SingleFlight(Generic[_Request]):
    """The fetches of one lookup, at most one per origin."""

    def __init__(
        self,
        runtime: Runtime[_Request],
        store: TieredStore,
        limiter: FetchLimiter,
        rules_cache: RulesCache,
        live: LiveOrigins,
    ) -> None:
        self._runtime = runtime
        self._store = store
        self._limiter = limiter
        self._rules_cache = rules_cache
        self._live = live

    def start(
        self, origin: Origin, held: RobotsRecord | None, plan: Plan, now: float, request: _Request
    ) -> Deferred[FetchDone | None] | None:
        """Start the flight that *plan* asks for; None: no free slot.

        The Deferred never fails, and may have fired already. Its result is None for a refresh that
        was preempted, which changes nothing.
        """
        if not self._take_slot(origin, held, now):
            return None
        flight = _Flight(origin, held, plan, request, now)
        live = self._live.use(origin)
        live.is_flying = True  # handlers may look up the origin before the first pause
        running = Deferred.fromCoroutine(self._fly(flight))
        live.flight = running
        return running.addBoth(self._land, flight)

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

    async def _fly(self, flight: _Flight[_Request]) -> FetchDone:
        try:
            return await self._look_up(flight)
        except CancelledError:
            raise
        except Exception:
            logger.exception("Error while looking up the robots.txt of %s", flight.origin)
            self._limiter.release(flight.origin)
            await self._pause(ERROR_PAUSE)  # so that it is not repeated without end
            raise

    async def _look_up(self, flight: _Flight[_Request]) -> FetchDone:
        """Fetch, unless a shared store has a newer record or another process fetches."""
        origin, held, plan = flight.origin, flight.held, flight.plan
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
                    self._limiter.release(origin)
                    return await self._hand_over(flight, record, plan)
            elif claim.granted or (claim.record is not None and has_slot):
                turn = 0.0 if has_turn else self._runtime.take_turn(origin, flight.request)
                if turn <= 0:
                    return await self._fetch(flight, record, known)
                has_turn = True
                self._store.release(origin)  # the turn may outlast the lease
                await self._pause(turn)
            else:
                if has_slot:
                    wait.see(claim.holder)
                self._limiter.release(origin)
                has_slot = False
                await self._pause(wait.next_pause(self._runtime.random()))

    async def _fetch(
        self,
        flight: _Flight[_Request],
        base: RobotsRecord | None,
        known: RobotsRecord | None,
    ) -> FetchDone:
        """Fetch and apply the result to *base*; share it and release the lease.

        *known*: the record in the shared store.
        """
        origin, shared = flight.origin, None
        policy = self._runtime.policy(origin)
        try:
            result = await self._attempt(flight)
            record = policy.apply(base, origin, result, self._now(), self._runtime.random())
            shared = None if result.local else record
        finally:
            self._limiter.release(origin)
            if shared is None:
                self._store.release(origin)
            else:
                self._store.share(shared, known)
        done = await self._hand_over(flight, record, self._plan(record))
        return replace(done, result=result, base=base)

    async def _attempt(self, flight: _Flight[_Request]) -> FetchResult:
        try:
            return await self._runtime.fetch(flight.origin, flight.request)
        except CancelledError:
            raise
        except Exception as error:
            # Counted as an attempt without an answer, so that it is not repeated without end.
            logger.exception("Error while fetching the robots.txt of %s", flight.origin)
            return FetchResult(error=f"{type(error).__name__} in the fetcher")

    def _plan(self, record: RobotsRecord) -> Plan:
        """The plan of a flight that ends with *record*.

        An attempt may be due already; then the next request starts it.
        """
        now = self._now()
        plan = self._runtime.policy(record.origin).plan(record, now)
        return replace(plan, until=now) if plan.ask else plan

    async def _hand_over(
        self, flight: _Flight[_Request], record: RobotsRecord, plan: Plan
    ) -> FetchDone:
        """Parse *record*, announce its rules if they are new, and keep it in memory."""
        try:
            found = await self._announce(flight, record, plan)
        finally:
            self._store.put(record)  # not earlier: from now on requests use it
        return FetchDone(found, record, flight.held, None, self._seconds(flight))

    async def _announce(
        self, flight: _Flight[_Request], record: RobotsRecord, plan: Plan
    ) -> Resolved | Pending:
        if plan.action is Action.WAIT:
            until = plan.until if math.isfinite(plan.until) else self._now()
            return Pending(flight.origin, until, record.failures > 0)
        edition = self._runtime.policy(flight.origin).edition
        resolved = self._rules_cache.make(record, plan, edition, self._now())
        if resolved.robots is not None and not _is_same_answer(flight.held, record):
            replaced = self._replaced(flight.held, record)
            handling = self._runtime.on_rules(resolved, flight.request, replaced)
            await self._wait_for_handlers(flight.origin, handling)
        return resolved

    def _replaced(self, held: RobotsRecord | None, record: RobotsRecord) -> RobotsTxt | None:
        """The rules that those of *record* replace; None for a first or an equal file."""
        if held is None or held.meaning is not Meaning.RULES or held.body == record.body:
            return None
        return self._rules_cache.parse(held, self._runtime.policy(held.origin).edition)

    async def _wait_for_handlers(self, origin: Origin, handling: Deferred[None]) -> None:
        """Return when *handling* ends, or with a warning after ``HANDLER_TIMEOUT``.

        Cancelling the wait cancels the handlers.
        """
        handled: Deferred[None] = Deferred()
        handling.addErrback(_log_error).addCallback(lambda _: fire(handled))
        try:
            await self._pause(HANDLER_TIMEOUT, handled)
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

    # --- the end of a flight

    def _land(self, end: FetchDone | Failure, flight: _Flight[_Request]) -> FetchDone | None:
        origin, held = flight.origin, flight.held
        live = self._live.use(origin)
        live.is_flying, live.flight = False, None
        self._limiter.release(origin)
        if isinstance(end, FetchDone):
            live.was_preempted = False
            return end
        if flight.plan.action is not Action.WAIT:
            return None
        preempted = isinstance(end.value, CancelledError)
        found = Pending(origin, self._now(), self.was_asked(origin, held), preempted)
        return FetchDone(found, held, held, None, self._seconds(flight))

    def _seconds(self, flight: _Flight[_Request]) -> float:
        return max(0.0, self._now() - flight.started)

    async def _pause(self, seconds: float, waiter: Deferred[None] | None = None) -> None:
        await pause(self._runtime.call_later, seconds, waiter)

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


def _log_error(failure: Failure) -> None:
    if not isinstance(failure.value, _CANCELLED):
        logger.error("Error in a handler of robots_parsed: %s", failure.getTraceback())
