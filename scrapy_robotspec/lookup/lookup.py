"""Lookup: returns what is known, fetches what is missing, wakes waiters.

The ``LiveOrigin`` contains all that is under way for an origin. Its record is in the
store, its parsed rules in the ``RulesCache``, its slot in the ``FetchLimiter``.

An origin has one fetch in progress at a time (CAC-05). Its result is applied to the record, and
new rules are announced. For processes that share a store, see ``shared_lookup.py``.
"""

from __future__ import annotations

import logging
import math
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from twisted.internet.defer import CancelledError, Deferred, maybeDeferred

from scrapy_robotspec.access.outcome import FetchResult, Meaning
from scrapy_robotspec.access.policy import AccessPolicy, Action, Plan
from scrapy_robotspec.access.resolved import Resolved
from scrapy_robotspec.lookup.limiter import FetchLimiter
from scrapy_robotspec.lookup.live_origins import (
    MIN_PAUSE,
    RETRY_PAUSE,
    LiveOrigin,
    LiveOrigins,
    fire,
)
from scrapy_robotspec.lookup.rules_cache import Pending, RulesCache

if TYPE_CHECKING:
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.lookup.loop_time import LoopTime
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
    from scrapy_robotspec.store.base import CrawlStore

logger = logging.getLogger(__name__)


class Runtime(Protocol):
    """Implemented by the plugin (``CrawlRuntime``); a request may be any object."""

    live: LiveOrigins
    loop_time: LoopTime
    """Counts the seconds of fetches, and makes later calls."""

    @property
    def is_paused(self) -> bool:
        """Whether the crawl pauses."""

    def policy_of(self, origin: Origin) -> AccessPolicy:
        """The access policy for *origin*."""

    def clock(self) -> float:
        """The time (epoch seconds)."""

    def random(self) -> float:
        """A number in [0, 1) that spreads retries."""

    def agent(self, request: Any) -> str:
        """Product name of the User-Agent that the robots.txt request for *request* has."""

    def download_delay(self, origin: Origin, request: Any) -> float:
        """Seconds until *request* may be sent to *origin*.

        The delay of the page after it begins then.
        """

    def fetch(self, origin: Origin, request: Any, failed: int | None) -> Deferred[FetchResult]:
        """Fetch the robots.txt of *origin*, with its redirects, because of *request*.

        *failed*: the status of the attempt before, if it failed with one.
        """

    async def on_rules(self, found: Resolved, request: Any, replaced: RobotsTxt | None) -> None:
        """Handle new rules before any request uses them."""


class FetchFollower(Protocol):
    """Learns of the end of each fetch."""

    def on_fetch_done(self, done: FetchDone) -> None:
        """Handle the end of a fetch."""


@dataclass(frozen=True, slots=True)
class FetchDone:
    """The end of a fetch or of a store lookup."""

    found: Resolved | Pending
    """The origin's state from now on."""
    record: RobotsRecord | None
    """The record behind it."""
    held: RobotsRecord | None
    """The record held when the fetch began."""
    result: FetchResult | None
    """The fetched response; None: preempted, or the shared store had a newer record."""
    started: float
    """When it began (epoch seconds)."""
    base: RobotsRecord | None = None
    """The record that the result was applied to."""


@dataclass(frozen=True, slots=True)
class Fetch:
    """One fetch, from its slot to what is known at its end."""

    origin: Origin
    held: RobotsRecord | None
    """The record in memory as it began."""
    plan: Plan
    """The plan that asked for it."""
    request: Any
    """The request that caused it."""
    started: float
    """Epoch seconds."""


class Lookup:
    """Answers :meth:`ask` at once, and fetches in the background what is missing.

    *limit* bounds the fetches. *parsing_limit* is in bytes, None for the edition's.
    """

    def __init__(
        self,
        runtime: Runtime,
        store: CrawlStore,
        limit: int,
        parsing_limit: int | None = None,
    ) -> None:
        self._runtime = runtime
        self.store = store
        self.limiter = FetchLimiter(limit, runtime.loop_time)
        self.rules = RulesCache(parsing_limit=parsing_limit)
        self._live = runtime.live
        self._closed = False
        self._is_paused = False
        """Whether a wait was held up by a pause, or the last tick was in one."""
        self.followers: list[FetchFollower] = []
        """Called in this order; an error in one stops no other."""

    # --- asking

    def ask(self, origin: Origin, now: float, request: Any) -> Resolved | Pending:
        """Return what is known of *origin*; start a fetch if due."""
        return self.rules.get_valid(origin, now) or self.look_up(origin, now, request)

    def knows(self, origin: Origin) -> bool:
        """Whether :meth:`ask` would return a ``Resolved`` without a fetch. Starts nothing.

        It would also where a refresh is due: that is fetched in the background.
        """
        now = self._runtime.clock()
        if self.rules.get_valid(origin, now) is not None:
            return True
        plan = self._runtime.policy_of(origin).plan(self.store.get(origin), now)
        return plan.action is not Action.WAIT

    async def wait(self, origin: Origin, request: Any, *, in_pauses: bool = True) -> Resolved:
        """Wait until *origin* is resolved. Raises ``CancelledError`` when the lookup closes.

        *in_pauses*: begin fetches, and return, while the crawl pauses, too.
        """
        while not self._closed:
            if self._runtime.is_paused and not in_pauses:
                self._is_paused = True
                await self.pause(Pending(origin, math.inf))
                continue
            found = self.ask(origin, self._runtime.clock(), request)
            if isinstance(found, Resolved):
                return found
            await self.pause(found)
        raise CancelledError

    def tick(self, seconds: float) -> None:
        """Count the last *seconds* as paused if the crawl was.

        Its end wakes what waits for it.
        """
        was_paused, self._is_paused = self._is_paused, self._runtime.is_paused
        if was_paused or self._is_paused:
            for live in list(self._live.values()):
                live.paused += seconds
                if not self._is_paused:
                    _wake(live)

    async def pause(self, pending: Pending) -> None:
        """Return when *pending* ends, or the fetch of its origin does.

        If that time has passed, no slot was free for a fetch: return when one is.
        """
        waiter: Deferred[None] = Deferred()
        origin, seconds = pending.origin, pending.until - self._runtime.clock()
        if seconds <= 0:
            waiter, seconds = self.limiter.wait_for_slot(self._was_asked(origin)), math.inf
        live = self._live.use(origin)
        live.waiters[waiter] = None
        try:
            await self._sleep(seconds, waiter)
        finally:
            self.limiter.discard(waiter)
            live.waiters.pop(waiter, None)
            self._live.settle(live)

    # --- closing

    def stop(self) -> None:
        """Cancel every fetch and every wait."""
        self._closed = True
        for live in list(self._live.values()):
            _cancel(live)
            _wake(live)

    async def close(self) -> None:
        """Stop, let cancelled fetches end, finish pending writes, close the stores."""
        self.stop()
        for live in list(self._live.values()):
            if live.fetch is not None:
                await live.fetch
        await maybeDeferred(self.store.close)

    # --- from record to result

    def look_up(self, origin: Origin, now: float, request: Any) -> Resolved | Pending:
        """As :meth:`ask`, where the rules cache has nothing valid."""
        record = self.store.get(origin)
        plan = self._runtime.policy_of(origin).plan(record, now)
        if plan.ask and not self._closed and not self._is_fetched(origin):
            self._start(Fetch(origin, record, plan, request, now))
        if plan.action is Action.WAIT and self._is_fetched(origin):  # it may have ended at once
            return Pending(origin, math.inf)
        found = self._resolve(origin, record, plan, now)
        if isinstance(found, Resolved):
            self.rules.put(origin, found)
        return found

    def _resolve(
        self, origin: Origin, record: RobotsRecord | None, plan: Plan, now: float
    ) -> Resolved | Pending:
        """*origin* under *plan*, until the fetch that is due, if one is, is tried again."""
        if plan.action is Action.WAIT:
            return Pending(origin, now if plan.ask else plan.until)
        if plan.ask:
            plan = replace(plan, until=min(plan.until, now + RETRY_PAUSE))
        assert record is not None  # else requests wait
        return self.rules.make(record, plan, self._runtime.policy_of(origin).edition, now)

    def _was_asked(self, origin: Origin) -> bool:
        """Whether *origin* was asked already and gave no answer."""
        live, held = self._live.get(origin), self.store.get(origin)
        was_preempted = live is not None and live.was_preempted
        return was_preempted or (held is not None and held.failures > 0)

    # --- the fetch in progress

    def _is_fetched(self, origin: Origin) -> bool:
        live = self._live.get(origin)
        return live is not None and live.fetch is not None

    def _start(self, fetch: Fetch) -> None:
        """Start *fetch* if there is a free slot. It may end at once."""
        if not self._take_slot(fetch):
            return
        live = self._live.use(fetch.origin)
        live.fetch = Deferred()  # handlers may look up the origin before the first pause
        live.fetch = Deferred.fromCoroutine(self._run(fetch))
        live.fetch.addCallback(self._end, fetch)

    def _take_slot(self, fetch: Fetch) -> bool:
        asked_before = self._was_asked(fetch.origin)
        if self.limiter.slot_in(asked_before):
            return False
        preempted = self.limiter.begin(fetch.origin, asked_before)
        if preempted is not None:
            live = self._live.use(preempted)
            live.was_preempted = True
            # Later: now a waiter of that origin would start it again before this call returns.
            self._runtime.loop_time.call_later(0, _cancel, live)
        return True

    async def _run(self, fetch: Fetch) -> FetchDone | None:
        """Run *fetch*; None: a refresh has no result, which changes nothing."""
        was_cancelled = False
        try:
            return await self._find(fetch)
        except CancelledError:
            was_cancelled = True
        except Exception:
            logger.exception("Error while looking up the robots.txt of %s", fetch.origin)
            self.limiter.end(fetch.origin)
            with suppress(CancelledError):
                await self._sleep(RETRY_PAUSE)  # so that it is not repeated without end
        if fetch.plan.action is not Action.WAIT:
            return None
        found = Pending(fetch.origin, self._runtime.clock(), was_cancelled)
        return FetchDone(found, fetch.held, fetch.held, None, fetch.started)

    async def _find(self, fetch: Fetch) -> FetchDone:
        delay = self._delay(fetch)
        if delay > 0:
            await self._sleep(delay)
        return await self._fetch(fetch, fetch.held, fetch.held)

    def _delay(self, fetch: Fetch) -> float:
        """Seconds until the request that waits may be sent; 0.0 for a refresh."""
        if fetch.plan.action is not Action.WAIT:
            return 0.0
        return self._runtime.download_delay(fetch.origin, fetch.request)

    async def _fetch(
        self, fetch: Fetch, base: RobotsRecord | None, known: RobotsRecord | None
    ) -> FetchDone:
        """Fetch and apply the result to *base*; share it and release the lease.

        *known*: the record in the shared store.
        """
        origin, shared, live = fetch.origin, None, self._live[fetch.origin]
        try:
            failed = None if base is None else base.failure_status
            result = await self._attempt(fetch, failed)
            if base is fetch.held:
                base = self.store.get(origin)  # a page may have answered meanwhile
            if base is not None and live.paused:
                base = base.after_pause(live.paused)
            live.paused = 0.0
            policy, now = self._runtime.policy_of(origin), self._runtime.clock()
            record = policy.apply(base, origin, result, now, self._runtime.random())
            shared = None if result.local else record
        finally:
            self.limiter.end(origin)
            if shared is None:
                self.store.release(origin)
            else:
                self.store.share(shared, known)
        return replace(await self._keep(fetch, record), result=result, base=base)

    async def _attempt(self, fetch: Fetch, failed: int | None) -> FetchResult:
        try:
            return await self._runtime.fetch(fetch.origin, fetch.request, failed)
        except CancelledError:
            raise
        except Exception as error:
            # Counted as an attempt without an answer, so that it is not repeated without end.
            logger.exception("Error while fetching the robots.txt of %s", fetch.origin)
            return FetchResult(error=f"{type(error).__name__} in the fetcher")

    async def _keep(self, fetch: Fetch, record: RobotsRecord) -> FetchDone:
        """Announce the rules of *record* if they are new, and keep it in memory."""
        origin, held, now = fetch.origin, fetch.held, self._runtime.clock()
        self._live[origin].was_preempted = False
        try:
            plan = self._runtime.policy_of(origin).plan(record, now)
            if plan.ask:
                plan = replace(plan, until=now)  # the next request starts the fetch
            found = self._resolve(origin, record, plan, now)
            is_new = held is None or held.fetched_at != record.fetched_at
            if is_new and isinstance(found, Resolved) and found.robots is not None:
                await self._announce(found, held, fetch.request)
        finally:
            self.store.put(record)  # not earlier: from now on requests use it
        return FetchDone(found, record, held, None, fetch.started)

    async def _announce(self, found: Resolved, held: RobotsRecord | None, request: Any) -> None:
        """Announce new rules, with those that they replace unless the file is equal."""
        replaced = None
        if held is not None and held.meaning is Meaning.RULES and held.body != found.record.body:
            replaced = self.rules.parse(held, self._runtime.policy_of(held.origin).edition)
        try:
            await self._runtime.on_rules(found, request, replaced)
        except CancelledError:
            pass  # the rules hold all the same
        except Exception:
            logger.exception("Error while the rules of %s were announced", found.origin)

    def _end(self, done: FetchDone | None, fetch: Fetch) -> None:
        """Report what is known from now on, and wake the waiters."""
        live = self._live[fetch.origin]
        live.fetch = None
        self.limiter.end(live.origin)
        if done is not None and isinstance(done.found, Resolved):
            self.rules.put(live.origin, done.found)
        else:
            self.rules.pop(live.origin)
        if done is not None and not self._closed:
            for follower in self.followers:
                _report(follower, done)
        _wake(live)
        self._live.settle(live)

    async def _sleep(self, seconds: float, waiter: Deferred[None] | None = None) -> None:
        """Return after *seconds* (inf: never), or when *waiter* is fired before."""
        waiter = Deferred() if waiter is None else waiter
        later = None
        if math.isfinite(seconds):
            later = self._runtime.loop_time.call_later(max(seconds, MIN_PAUSE), fire, waiter)
        try:
            await waiter
        finally:
            if later is not None:
                later.cancel()


def _cancel(live: LiveOrigin) -> None:
    if live.fetch is not None:
        live.fetch.cancel()


def _wake(live: LiveOrigin) -> None:
    for waiter in list(live.waiters):
        fire(waiter)


def _report(follower: FetchFollower, done: FetchDone) -> None:
    try:
        follower.on_fetch_done(done)
    except Exception:
        logger.exception("Error after the robots.txt of %s was looked up", done.found.origin)
