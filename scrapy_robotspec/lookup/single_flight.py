"""Single flight: one fetch per origin at a time (CAC-05).

A flight fetches, applies the result to the record and announces new rules. It returns what is known
from now on to the lookup. For processes that share a store, see ``tiered_store.py``.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from twisted.internet.defer import CancelledError, Deferred

from scrapy_robotspec.access.outcome import FetchResult, Meaning
from scrapy_robotspec.access.policy import Action, Plan
from scrapy_robotspec.lookup.live_origins import RETRY_PAUSE, pause
from scrapy_robotspec.lookup.rules_cache import Pending

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
    from scrapy_robotspec.store.memory import MemoryStore

logger = logging.getLogger(__name__)


class Runtime(Protocol):
    """Implemented by the plugin (``CrawlRuntime``); a request may be any object."""

    def policy(self, origin: Origin) -> AccessPolicy:
        """The access policy for *origin*."""

    def clock(self) -> float:
        """The time (epoch seconds)."""

    def random(self) -> float:
        """A number in [0, 1) that spreads retries."""

    def call_later(self, delay: float, call: Callable[..., Any], *args: Any) -> Any:
        """Call *call* in *delay* seconds; the result has ``cancel()``."""

    def agent(self, request: Any) -> str:
        """Product name of the User-Agent that the robots.txt request for *request* has."""

    def take_turn(self, origin: Origin, request: Any) -> float:
        """Use up the turn of *request* to *origin*; seconds until then."""

    def fetch(self, origin: Origin, request: Any) -> Deferred[FetchResult]:
        """Fetch the robots.txt of *origin*, with its redirects, because of *request*."""

    def on_rules(self, found: Resolved, request: Any, replaced: RobotsTxt | None) -> Deferred[None]:
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
class Flight:
    """One flight."""

    origin: Origin
    held: RobotsRecord | None
    """The record in memory as it began."""
    plan: Plan
    """The plan that asked for it."""
    request: Any
    """The request that caused it."""
    started: float
    """Epoch seconds."""


class SingleFlight:
    """The fetches of one lookup, at most one per origin."""

    def __init__(
        self,
        runtime: Runtime,
        store: MemoryStore | TieredStore,
        limiter: FetchLimiter,
        rules_cache: RulesCache,
        live: LiveOrigins,
    ) -> None:
        self._runtime = runtime
        self._store = store
        self._limiter = limiter
        self._rules_cache = rules_cache
        self._live = live
        self._now = runtime.clock
        self._pause = partial(pause, runtime.call_later)

    def start(
        self, origin: Origin, held: RobotsRecord | None, plan: Plan, now: float, request: Any
    ) -> Deferred[FetchDone | None] | None:
        """Start the flight that *plan* asks for; None: no free slot.

        The Deferred never fails, and may have fired already. Its result is None for a refresh that
        was preempted, which changes nothing.
        """
        if not self._take_slot(origin, held, now):
            return None
        flight = Flight(origin, held, plan, request, now)
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

    async def _fly(self, flight: Flight) -> FetchDone:
        try:
            return await self._look_up(flight)
        except CancelledError:
            raise
        except Exception:
            logger.exception("Error while looking up the robots.txt of %s", flight.origin)
            self._limiter.release(flight.origin)
            await self._pause(RETRY_PAUSE)  # so that it is not repeated without end
            raise

    async def _look_up(self, flight: Flight) -> FetchDone:
        turn = self._turn(flight)
        if turn > 0:
            await self._pause(turn)
        return await self._fetch(flight, flight.held, flight.held)

    def _turn(self, flight: Flight) -> float:
        """Seconds until the turn of the request that waits; 0.0 for a refresh."""
        if flight.plan.action is not Action.WAIT:
            return 0.0
        return self._runtime.take_turn(flight.origin, flight.request)

    async def _fetch(
        self,
        flight: Flight,
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

    async def _attempt(self, flight: Flight) -> FetchResult:
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

    async def _hand_over(self, flight: Flight, record: RobotsRecord, plan: Plan) -> FetchDone:
        """Parse *record*, announce its rules if they are new, and keep it in memory."""
        try:
            found = await self._announce(flight, record, plan)
        finally:
            self._store.put(record)  # not earlier: from now on requests use it
        return FetchDone(found, record, flight.held, None, self._seconds(flight))

    async def _announce(
        self, flight: Flight, record: RobotsRecord, plan: Plan
    ) -> Resolved | Pending:
        if plan.action is Action.WAIT:
            until = plan.until if math.isfinite(plan.until) else self._now()
            return Pending(flight.origin, until, record.failures > 0)
        edition = self._runtime.policy(flight.origin).edition
        resolved = self._rules_cache.make(record, plan, edition, self._now())
        if resolved.robots is not None and not _is_same_answer(flight.held, record):
            replaced = self._replaced(flight.held, record)
            handling = self._runtime.on_rules(resolved, flight.request, replaced)
            await handling.addErrback(_log_error)
        return resolved

    def _replaced(self, held: RobotsRecord | None, record: RobotsRecord) -> RobotsTxt | None:
        """The rules that those of *record* replace; None for a first or an equal file."""
        if held is None or held.meaning is not Meaning.RULES or held.body == record.body:
            return None
        return self._rules_cache.parse(held, self._runtime.policy(held.origin).edition)

    # --- the end of a flight

    def _land(self, end: FetchDone | Failure, flight: Flight) -> FetchDone | None:
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

    def _seconds(self, flight: Flight) -> float:
        return max(0.0, self._now() - flight.started)


def _is_same_answer(held: RobotsRecord | None, record: RobotsRecord) -> bool:
    return held is not None and held.fetched_at == record.fetched_at


def _log_error(failure: Failure) -> None:
    if not failure.check(CancelledError):
        logger.error("Error in a handler of robots_parsed: %s", failure.getTraceback())
