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

from scrapy_robotspec.access.outcome import Attempt, Meaning
from scrapy_robotspec.access.policy import Stance

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.policy import AccessPolicy
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.lookup.answers import Answers, Known, Landing
    from scrapy_robotspec.lookup.places import FetchPlaces
    from scrapy_robotspec.lookup.shelf import Shelf
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt

logger = logging.getLogger(__name__)

_Cause = TypeVar("_Cause", contravariant=True)

#: First and longest pause between looks at a record that another process is fetching (seconds).
FIRST_LOOK, LONGEST_LOOK = 0.2, 2.0
#: Signal handlers may hold an origin's requests back for so long (seconds).
LONGEST_TELLING = 30.0
#: What handlers that are cancelled end with: a Deferred's word or, with older Twisted, a task's.
_CANCELLED = (CancelledError, asyncio.CancelledError)
#: Nobody looks again sooner than after this (seconds).
SHORTEST_PAUSE = 0.02


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

    def landed(self, landing: Landing) -> None:
        """A flight has ended."""


class Flights(Generic[_Cause]):
    """All flights of one lookup.

    ``landed`` is called at the end of each, with its origin, the record held when it began, the
    time it took (seconds), and whether it was called back.
    """

    def __init__(
        self,
        around: Surroundings[_Cause],
        shelf: Shelf,
        places: FetchPlaces,
        answers: Answers,
        landed: Callable[[Origin, RobotsRecord | None, float, bool], None],
    ) -> None:
        self._around = around
        self._shelf = shelf
        self._places = places
        self._answers = answers
        self._landed = landed
        self._under_way: dict[Origin, Deferred[None]] = {}
        self._gave_way: set[Origin] = set()
        self._closed = False

    def __len__(self) -> int:
        return len(self._under_way)

    def __contains__(self, origin: Origin) -> bool:
        return origin in self._under_way

    def free_at(self, now: float, again: bool = False, ahead: int = 0) -> float:
        """When another may start; see :meth:`FetchPlaces.free_at`."""
        return self._places.free_at(now, again, ahead)

    def start(self, origin: Origin, now: float, cause: _Cause, *, background: bool) -> bool:
        """Set out for *origin*; whether there was a place to do so."""
        before = self._shelf.get(origin)
        again = origin in self._gave_way or (before is not None and before.failures > 0)
        if self._closed or self._places.free_at(now, again) > now:
            return False
        self._call_back(self._places.take(origin, now, again))
        flight = self._under_way[origin] = Deferred.fromCoroutine(
            self._fly(origin, cause, background)
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
            self._gave_way.add(origin)
            # Not at once: whoever awaits that origin would start it anew in the midst of this.
            self._around.call_later(0, self._under_way[origin].cancel)

    async def _fly(self, origin: Origin, cause: _Cause, background: bool) -> None:
        """Find the newest record; fetch if it says so and no other process does (CAC-05)."""
        held, look = self._shelf.get(origin), FIRST_LOOK
        while True:
            record = await self._shelf.newest(origin)
            if not self._is_due(origin, record) or (held is None and self._is_of_use(record)):
                await self._tell(origin, cause, held, record)
                if record is not None:
                    self._shelf.remember(record)
                return
            if await self._shelf.lease(origin, self._around.clock()):
                await self._fetch(origin, cause, background, held)
                return
            self._places.give(origin)
            await pause(self._around, look)
            look = min(2 * look, LONGEST_LOOK)

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
            self._places.give(origin)  # what follows sends nothing, so nobody need wait for it
            await self._tell(origin, cause, held, record)
        finally:
            self._shelf.keep_and_release(brought, origin)

    def _is_due(self, origin: Origin, record: RobotsRecord | None) -> bool:
        return self._around.policy(origin).plan(record, self._around.clock()).ask

    def _is_of_use(self, record: RobotsRecord | None) -> bool:
        """Whether a copy that came from the store may be used while it is refreshed: nobody who
        waits for it has to wait for that, which is a flight of its own."""
        if record is None:
            return False
        plan = self._around.policy(record.origin).plan(record, self._around.clock())
        return plan.stance not in (Stance.WAIT, Stance.REFUSE)

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

    # --- telling of new rules

    async def _tell(
        self, origin: Origin, cause: _Cause, held: RobotsRecord | None, record: RobotsRecord | None
    ) -> None:
        """Announce rules that have just come in, before they are used for anybody."""
        if record is None or record.meaning is not Meaning.RULES:
            return
        if held is not None and held.fetched_at == record.fetched_at:
            return
        now, policy = self._around.clock(), self._around.policy(origin)
        plan = policy.plan(record, now)
        if plan.stance is not Stance.RULES:
            return
        found = self._answers.make(record, plan, policy.edition, now)
        replaced = None
        if held is not None and held.meaning is Meaning.RULES and held.body != record.body:
            replaced = self._answers.parse(held, policy.edition)
        await self._heard(origin, self._around.parsed(found, cause, replaced))

    async def _heard(self, origin: Origin, telling: Deferred[None]) -> None:
        """Wait for those who are told, but not for ever: they may be waiting for us."""
        heard: Deferred[None] = Deferred()
        telling.addBoth(_pass_on, heard)
        try:
            await pause(self._around, LONGEST_TELLING, heard)
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

    # --- the end of a flight

    def _land(self, result: Any, origin: Origin, before: RobotsRecord | None, began: float) -> None:
        self._under_way.pop(origin, None)
        self._places.give(origin)
        called_back = isinstance(result, Failure) and isinstance(result.value, CancelledError)
        if isinstance(result, Failure) and not called_back:
            logger.error(
                "Error while asking for the robots.txt of %s: %s", origin, result.getTraceback()
            )
        if not called_back:
            self._gave_way.discard(origin)
        if not self._closed:
            self._landed(origin, before, max(0.0, self._around.clock() - began), called_back)


async def pause(
    around: Surroundings[Any], seconds: float, waiter: Deferred[None] | None = None
) -> None:
    """Return after *seconds*, or when *waiter* is fired before."""
    waiter = Deferred() if waiter is None else waiter
    later = None
    if math.isfinite(seconds):
        later = around.call_later(max(seconds, SHORTEST_PAUSE), fire, waiter)
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
