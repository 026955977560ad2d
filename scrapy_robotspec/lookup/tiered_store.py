"""Tiered store: records in memory, with a slow shared store behind.

With it, a flight searches the shared store and takes the lease on its origin before it fetches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from twisted.internet.defer import CancelledError, Deferred

from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.lookup.lookup import Lookup
from scrapy_robotspec.store.base import Claim

if TYPE_CHECKING:
    from collections.abc import Callable

    from twisted.python.failure import Failure

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.policy import Plan
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.lookup.lookup import FetchDone, Flight
    from scrapy_robotspec.store.base import RecordStore, Reservation, SlotRequest
    from scrapy_robotspec.store.memory import MemoryStore

_T = TypeVar("_T")
#: First and longest pause between looks for the record that another process fetches (seconds).
POLL_MIN, POLL_MAX = 0.2, 2.0
#: Max records of the shared store that one flight reads before it fetches all the same.
_MAX_NEWS = 8


class TieredStore:
    """Records of origins, and leases on the right to fetch them.

    *shared* is a slow store behind a circuit breaker. *in_thread* runs a blocking call in a thread.
    *owner* names this process in leases, which last *lease_seconds*.
    """

    def __init__(
        self,
        memory: MemoryStore,
        shared: RecordStore,
        in_thread: Callable[..., Deferred[Any]],
        *,
        owner: str,
        lease_seconds: float,
    ) -> None:
        self._memory = memory
        self._shared = shared
        self._in_thread = in_thread
        self._owner = owner
        self._lease_seconds = lease_seconds
        self._pending: set[Deferred[Any]] = set()
        self.get = memory.get
        """The record in memory."""
        self.put = memory.put

    async def get_news(
        self, origin: Origin, known: RobotsRecord | None, agent: str
    ) -> RobotsRecord | None:
        """The record for *agent* in the shared store, unless it is *known*."""
        record: RobotsRecord | None = await self._in_thread(self._shared.get, origin, agent)
        return None if record is None or record.updated_at == _time_of(known) else record

    async def claim(
        self,
        origin: Origin,
        now: float,
        known: RobotsRecord | None,
        agent: str,
    ) -> Claim:
        """Get another record than *known*, or the lease (CAC-05), or neither."""
        lease = (origin, self._owner, now, self._lease_seconds)
        claiming: Deferred[Claim] = self._call(self._shared.claim, *lease, _time_of(known), agent)
        try:
            return await _outcome_of(claiming)
        except CancelledError:
            # A thread cannot be cancelled: the lease that it takes is released.
            claiming.addCallback(lambda claim: self.release(origin) if claim.granted else None)
            raise

    def share(self, record: RobotsRecord, known: RobotsRecord | None) -> None:
        """Replace *known* by *record* in the shared store; release the lease."""
        self._call(self._shared.put, record, self._owner, _time_of(known))

    def release(self, origin: Origin) -> None:
        """Release the lease on *origin*."""
        self._call(self._shared.release, origin, self._owner)

    def reserve(self, origin: Origin, asked: SlotRequest) -> Deferred[Reservation]:
        """Reserve a page slot in the shared store; fails with ``StoreError``."""
        return self._call(self._shared.reserve, origin, asked)

    def close(self) -> Deferred[None]:
        """Finish pending writes and close both stores."""
        return Deferred.fromCoroutine(self._close())

    async def _close(self) -> None:
        while self._pending:
            await _outcome_of(next(iter(self._pending)))
        await self._in_thread(self._shared.close)
        self._memory.close()

    def _call(self, call: Callable[..., _T], *args: Any) -> Deferred[_T]:
        """Call in a thread; :meth:`close` waits for it."""
        work: Deferred[_T] = self._in_thread(call, *args)
        self._pending.add(work)

        def end(result: _T | Failure) -> _T | Failure:
            self._pending.discard(work)
            return result

        return work.addBoth(end)


def _time_of(record: RobotsRecord | None) -> float | None:
    return None if record is None else record.updated_at


def _outcome_of(work: Deferred[_T]) -> Deferred[_T]:
    """A second Deferred with the outcome of *work*; cancelling it does not stop *work*."""
    outcome: Deferred[_T] = Deferred()

    def pass_on(result: _T | Failure) -> _T | Failure:
        outcome.callback(result)
        return result

    work.addBoth(pass_on)
    return outcome


# --- single flight across processes


class SharedLookup(Lookup):
    """Shares its fetches and their results with other processes."""

    store: TieredStore

    async def _find(self, flight: Flight) -> FetchDone:
        origin, held, plan = flight.origin, flight.held, flight.plan
        agent = self._runtime.agent(flight.request)
        look = POLL_MIN
        record = known = held
        news, has_slot, has_turn = 0, True, False
        while True:
            has_slot = has_slot or self._take_slot(origin, held, self._now())
            if has_slot:
                claim = await self.store.claim(origin, self._now(), known, agent)
            else:
                claim = Claim(False, await self.store.get_news(origin, known, agent))
            if claim.record is not None and news < _MAX_NEWS:
                news += 1
                known = record = claim.record
                if held is not None and held.updated_at > known.updated_at:
                    record = held  # the later attempt counts
                plan = self._plan(record)
                if not plan.ask or (held is None and _is_usable(plan)):
                    self.limiter.release(origin)
                    return await self._hand_over(flight, record, plan)
            elif claim.granted or (claim.record is not None and has_slot):
                turn = 0.0 if has_turn else self._turn(flight)
                if turn <= 0:
                    return await self._fetch(flight, record, known)
                has_turn = True
                self.store.release(origin)  # the turn may outlast the lease
                await self._sleep(turn)
            else:
                self.limiter.release(origin)
                has_slot = False
                # At random, which keeps processes out of step.
                await self._sleep(look * (0.5 + self._runtime.random()))
                look = min(2 * look, POLL_MAX)


def _is_usable(plan: Plan) -> bool:
    """Whether requests can be decided while the origin is asked again."""
    return plan.action not in (Action.WAIT, Action.REFUSE)
