"""The hallway: origin in, and out comes what is known of it or how long to wait.

Only here do clock, stores and fetch meet; all of them are given, so that this file needs neither
a reactor nor Scrapy. What an answer means is decided in ``access``, what a file says in
``protocol``, what happens to a request in ``plugin``; the stores come as one ``shelf.py``.

Of every origin there is at most one flight at a time: load the record, and if the policy asks for
it, fetch and absorb. Whoever awaits an answer gets a Deferred of their own, so that no waiter can
spoil another's result or cancel the fetch.
"""

from __future__ import annotations

import logging
import math
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from twisted.internet.defer import CancelledError, Deferred
from twisted.python.failure import Failure

from scrapy_robotspec.access.outcome import Attempt, Meaning
from scrapy_robotspec.access.policy import Stance
from scrapy_robotspec.access.retrying import SKEW
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.policy import AccessPolicy, Plan
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.places import FetchPlaces
    from scrapy_robotspec.shelf import Shelf

logger = logging.getLogger(__name__)

_Cause = TypeVar("_Cause", contravariant=True)

#: First and longest pause between looks at a record that another process is fetching (seconds).
FIRST_LOOK, LONGEST_LOOK = 0.2, 2.0
#: Files that are kept compiled.
COMPILED = 2000
#: Octets of files that are kept compiled. The rules of the worst file take 15 times its octets.
COMPILED_OCTETS = 2**24
#: Signal handlers may hold an origin's requests back for so long (seconds).
LONGEST_TELLING = 30.0
#: Nobody looks again sooner than after this (seconds).
SHORTEST_PAUSE = 0.02


@dataclass(frozen=True, slots=True)
class Known:
    """An answer: ``plan`` says how to take the record, ``robots`` holds its rules if they count."""

    origin: Origin
    record: RobotsRecord | None
    plan: Plan
    robots: RobotsTxt | None
    made: float
    """When it was made; at an earlier time, of a clock that was put back, it says nothing."""
    aside: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)
    """For whoever answers with this object: what was worked out from its rules, gone with them."""


@dataclass(frozen=True, slots=True)
class Wait:
    """No answer before ``until`` (epoch seconds; ``inf``: before the flight under way has landed).

    A time that has come already means that no place was free to ask now.
    """

    origin: Origin
    until: float
    record: RobotsRecord | None = None


class Surroundings(Protocol[_Cause]):
    """What the lookup needs of the world around it, given by the plugin or the command line."""

    def policy(self, origin: Origin) -> AccessPolicy:
        """The access policy that holds for *origin*."""

    def clock(self) -> float:
        """The time, in epoch seconds."""

    def random(self) -> float:
        """A number in [0, 1) that spreads retries."""

    def call_later(self, delay: float, call: Callable[..., Any], *args: Any) -> Any:
        """Call in *delay* seconds; the result has ``cancel()``."""

    def fetch(self, origin: Origin, cause: _Cause, *, background: bool) -> Deferred[Attempt]:
        """One robots.txt with its redirects. *background*: nobody waits for it."""

    def parsed(self, found: Known, cause: _Cause, replaced: RobotsTxt | None) -> Deferred[None]:
        """Rules came in, before anybody is released; *replaced*: other rules held before."""

    def landed(self, found: Known | Wait, before: RobotsRecord | None, seconds: float) -> None:
        """A flight of *seconds* has ended; *before* is the record held when it began."""


class Lookup(Generic[_Cause]):
    """Answers :meth:`ask` at once and fetches what it must behind the scenes.

    ``max_size`` is the parsing limit in octets, None for the edition's. ``compiled`` bounds the
    number of parsed files that are kept and ``octets`` their size; what falls out is made again
    from its record.
    """

    def __init__(
        self,
        around: Surroundings[_Cause],
        shelf: Shelf,
        places: FetchPlaces,
        *,
        max_size: int | None = None,
        compiled: int = COMPILED,
        octets: int = COMPILED_OCTETS,
    ) -> None:
        self._around = around
        self._shelf = shelf
        self._places = places
        self._max_size = max_size
        self._compiled = compiled
        self._most_octets = octets
        self._octets = 0
        self._known: OrderedDict[Origin, Known] = OrderedDict()
        self._flights: dict[Origin, Deferred[None]] = {}
        self._waiters: dict[Origin, list[Deferred[None]]] = {}
        self._closed = False

    # --- asking

    def ask(self, origin: Origin, now: float, cause: _Cause) -> Known | Wait:
        """What is known of *origin* at *now*, or how long to wait; starts a fetch if one is due."""
        known = self._known.get(origin)
        if known is not None and known.made - SKEW <= now < known.plan.until:
            self._known.move_to_end(origin)
            return known
        return self._look(origin, now, cause)

    def knows(self, origin: Origin, now: float) -> bool:
        """Whether :meth:`ask` would answer without a flight. Starts nothing."""
        known = self._known.get(origin)
        if known is not None:
            return known.made - SKEW <= now < known.plan.until
        record = self._shelf.get(origin)
        if record is None:
            return False
        return self._around.policy(origin).plan(record, now).stance is not Stance.WAIT

    def may_fetch(self, now: float) -> bool:
        """Whether a new origin could be asked at *now*."""
        return self._places.free(now)

    async def answer(self, origin: Origin, cause: _Cause) -> Known:
        """Wait until *origin* is known. Raises ``CancelledError`` when the lookup closes."""
        while True:
            if self._closed:
                raise CancelledError
            now = self._around.clock()
            found = self.ask(origin, now, cause)
            if isinstance(found, Known):
                return found
            await self._news(origin, found.until - now)

    def sweep(self, before: float) -> None:
        """Let the shared store forget what no attempt has changed since *before*."""
        self._shelf.sweep(before)

    @property
    def busy(self) -> bool:
        """Whether a flight is under way or somebody awaits an answer."""
        return bool(self._flights or self._waiters)

    def record(self, origin: Origin) -> RobotsRecord | None:
        """The record in memory."""
        return self._shelf.get(origin)

    def page_answered(self, origin: Origin) -> None:
        """A page of *origin* answered, which matters while its robots.txt does not (FET-12)."""
        record = self._shelf.get(origin)
        if record is not None and record.unreachable_since is not None:
            now = self._around.clock()
            noted = self._around.policy(origin).page_answered(record, now)
            if noted is not record:
                self._shelf.keep(noted)

    # --- closing

    def stop(self) -> None:
        """Cancel every fetch and send every waiter away."""
        self._closed = True
        for flight in list(self._flights.values()):
            flight.cancel()
        for origin in list(self._waiters):
            self._wake(origin)

    async def close(self) -> None:
        """Stop, finish what is being written, close the stores."""
        self.stop()
        await self._shelf.close()

    # --- the record at hand

    def _look(self, origin: Origin, now: float, cause: _Cause) -> Known | Wait:
        record = self._shelf.get(origin)
        flying = origin in self._flights
        if record is None and self._shelf.is_shared:
            flying = flying or self._start(origin, now, cause, background=False)
            return Wait(origin, self._landing(origin, flying, now))
        plan = self._around.policy(origin).plan(record, now)
        if plan.ask and not flying:
            background = plan.stance is not Stance.WAIT
            flying = self._start(origin, now, cause, background=background)
        if plan.stance is Stance.WAIT:
            until = plan.until if not plan.ask else now
            return Wait(origin, self._landing(origin, flying, until), record)
        if plan.ask and not flying:  # no place was free: look again soon
            plan = replace(plan, until=min(plan.until, now + 1.0))
        return self._remember(Known(origin, record, plan, self._rules(origin, record, plan), now))

    def _landing(self, origin: Origin, flying: bool, otherwise: float) -> float:
        """Until when to wait: for a flight's landing, unless it has landed at once."""
        return math.inf if flying and origin in self._flights else otherwise

    def _remember(self, known: Known) -> Known:
        """Keep *known* for the next question, and no more of them than are allowed."""
        self._forget_known(known.origin)
        self._known[known.origin] = known
        self._octets += _octets_of(known)
        while len(self._known) > self._compiled or self._octets > self._most_octets:
            if len(self._known) == 1:
                break
            self._forget_known(next(iter(self._known)))
        return known

    def _forget_known(self, origin: Origin) -> None:
        known = self._known.pop(origin, None)
        if known is not None:
            self._octets -= _octets_of(known)

    def _rules(self, origin: Origin, record: RobotsRecord | None, plan: Plan) -> RobotsTxt | None:
        if record is None or plan.stance is not Stance.RULES:
            return None
        before = self._known.get(origin)
        held = before.record if before is not None and before.robots is not None else None
        if before is not None and held is not None and held.body == record.body:
            return before.robots
        return self._parse(origin, record)

    def _parse(self, origin: Origin, record: RobotsRecord) -> RobotsTxt:
        edition = self._around.policy(origin).edition
        return RobotsTxt.parse(record.body, edition, limit=self._max_size)

    # --- flights

    def _start(self, origin: Origin, now: float, cause: _Cause, *, background: bool) -> bool:
        if self._closed or not self._places.free(now):
            return False
        self._places.take(origin, now)
        before = self._shelf.get(origin)
        flight = self._flights[origin] = Deferred.fromCoroutine(
            self._fly(origin, cause, background)
        )
        flight.addBoth(self._land, origin, before, now)
        return True

    async def _fly(self, origin: Origin, cause: _Cause, background: bool) -> None:
        """Find the newest record; fetch if it says so and no other process does (CAC-05)."""
        held, pause = self._shelf.get(origin), FIRST_LOOK
        while True:
            record = await self._shelf.newest(origin)
            if not self._is_due(origin, record):
                await self._tell(origin, cause, held, record)
                if record is not None:
                    self._shelf.remember(record)
                return
            if await self._shelf.lease(origin, self._around.clock()):
                await self._fetch(origin, cause, background, held)
                return
            self._places.give(origin)
            await self._pause(pause)
            pause = min(2 * pause, LONGEST_LOOK)

    async def _fetch(
        self, origin: Origin, cause: _Cause, background: bool, held: RobotsRecord | None
    ) -> None:
        """Fetch as the holder of the lease, which is given back whatever happens."""
        around, policy, brought = self._around, self._around.policy(origin), None
        try:
            record = await self._shelf.newest(origin)  # one may have come just before the lease
            if self._is_due(origin, record):
                attempt = await self._attempt(origin, cause, background)
                record = policy.absorb(record, origin, attempt, around.clock(), around.random())
            brought = record
            await self._tell(origin, cause, held, record)
        finally:
            self._shelf.keep_and_release(brought, origin)

    def _is_due(self, origin: Origin, record: RobotsRecord | None) -> bool:
        return self._around.policy(origin).plan(record, self._around.clock()).ask

    async def _attempt(self, origin: Origin, cause: _Cause, background: bool) -> Attempt:
        try:
            return await self._around.fetch(origin, cause, background=background)
        except CancelledError:
            raise
        except Exception as error:
            # No failure of ours may become an endless loop of attempts: it counts as one that
            # brought no answer.
            logger.exception("Error while fetching the robots.txt of %s", origin)
            return Attempt(error=f"{type(error).__name__} in the fetcher")

    async def _tell(
        self, origin: Origin, cause: _Cause, held: RobotsRecord | None, record: RobotsRecord | None
    ) -> None:
        """Announce rules that have just come in, before they are used for anybody."""
        if record is None or record.meaning is not Meaning.RULES:
            return
        if held is not None and held.fetched_at == record.fetched_at:
            return
        now = self._around.clock()
        plan = self._around.policy(origin).plan(record, now)
        if plan.stance is not Stance.RULES:
            return
        found = Known(origin, record, plan, self._rules(origin, record, plan), now)
        replaced = None
        if held is not None and held.meaning is Meaning.RULES and held.body != record.body:
            replaced = self._parse(origin, held)
        await self._heard(origin, self._around.parsed(found, cause, replaced))

    async def _heard(self, origin: Origin, telling: Deferred[None]) -> None:
        """Wait for those who are told, but not for ever: they may be waiting for us."""
        heard: Deferred[None] = Deferred()
        telling.addBoth(_pass_on, heard)
        try:
            await self._pause(LONGEST_TELLING, heard)
        except CancelledError:
            telling.cancel()
            raise
        if not telling.called:
            logger.warning(
                "A handler of robots_parsed or robots_changed takes longer than %g s for %s: the "
                "origin's requests go on without it",
                LONGEST_TELLING,
                origin,
            )

    def _land(self, result: Any, origin: Origin, before: RobotsRecord | None, began: float) -> None:
        self._flights.pop(origin, None)
        self._places.give(origin)
        if isinstance(result, Failure) and not isinstance(result.value, CancelledError):
            logger.error(
                "Error while asking for the robots.txt of %s: %s", origin, result.getTraceback()
            )
        if self._closed:
            return
        now = self._around.clock()
        record = self._shelf.get(origin)
        plan = self._around.policy(origin).plan(record, now)
        found: Known | Wait
        if plan.stance is Stance.WAIT:
            self._forget_known(origin)
            found = Wait(origin, plan.until if math.isfinite(plan.until) else now, record)
        else:
            rules = self._rules(origin, record, plan)
            found = self._remember(Known(origin, record, plan, rules, now))
        self._around.landed(found, before, max(0.0, now - began))
        self._wake(origin)

    # --- waiters

    async def _news(self, origin: Origin, seconds: float) -> None:
        """Return when a flight of *origin* lands or *seconds* have passed."""
        waiter: Deferred[None] = Deferred()
        self._waiters.setdefault(origin, []).append(waiter)
        try:
            await self._pause(seconds, waiter)
        finally:
            self._forget(origin, waiter)

    async def _pause(self, seconds: float, waiter: Deferred[None] | None = None) -> None:
        """Return after *seconds*, or when *waiter* is fired before."""
        waiter = Deferred() if waiter is None else waiter
        if math.isfinite(seconds):
            later = self._around.call_later(max(seconds, SHORTEST_PAUSE), _fire, waiter)
        else:
            later = None
        try:
            await waiter
        finally:
            if later is not None:
                later.cancel()

    def _forget(self, origin: Origin, waiter: Deferred[None]) -> None:
        waiters = self._waiters.get(origin, [])
        if waiter in waiters:
            waiters.remove(waiter)
        if not waiters:
            self._waiters.pop(origin, None)

    def _wake(self, origin: Origin) -> None:
        for waiter in self._waiters.pop(origin, ()):
            _fire(waiter)


def _octets_of(known: Known) -> int:
    return 0 if known.record is None else len(known.record.body)


def _pass_on(result: Failure | None, heard: Deferred[None]) -> None:
    """Bring an outcome, unless it comes too late."""
    if not heard.called:
        heard.callback(result)
    elif isinstance(result, Failure) and not isinstance(result.value, CancelledError):
        logger.error("Error in a handler that took too long: %s", result.getTraceback())


def _fire(waiter: Deferred[None]) -> None:
    if not waiter.called:
        waiter.callback(None)
