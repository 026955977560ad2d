"""Tiered store: records in memory, with a slow shared store behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from twisted.internet.defer import CancelledError, Deferred, succeed

from scrapy_robotspec.store.base import Claim

if TYPE_CHECKING:
    from collections.abc import Callable

    from twisted.python.failure import Failure

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.store.base import RecordStore
    from scrapy_robotspec.store.memory import MemoryStore
    from scrapy_robotspec.store.page_slots import Reservation, SlotRequest

_T = TypeVar("_T")


class InThread(Protocol):
    """Runs a blocking call in a thread; the Deferred fires here."""

    def __call__(self, call: Callable[..., _T], *args: Any) -> Deferred[_T]: ...


class TieredStore:
    """Records of origins, and leases on the right to fetch them.

    *shared* is a slow store behind a circuit breaker, or None. *owner* names this process in
    leases, which last *lease_seconds*.
    """

    def __init__(
        self,
        memory: MemoryStore,
        shared: RecordStore | None,
        in_thread: InThread,
        *,
        owner: str,
        lease_seconds: float,
    ) -> None:
        self._memory = memory
        self._shared = shared
        self._in_thread = in_thread
        self._owner = owner
        self.lease_seconds = lease_seconds
        self._pending: set[Deferred[Any]] = set()

    def get(self, origin: Origin) -> RobotsRecord | None:
        """The record in memory."""
        return self._memory.get(origin)

    async def get_news(
        self, origin: Origin, known: RobotsRecord | None, agent: str
    ) -> RobotsRecord | None:
        """The record for *agent* in the shared store, unless it is *known*."""
        if self._shared is None:
            return None
        record = await self._in_thread(self._shared.get, origin, agent)
        return None if record is None or record.updated_at == _time_of(known) else record

    async def claim(
        self,
        origin: Origin,
        now: float,
        known: RobotsRecord | None,
        agent: str,
        instead_of: str | None = None,
    ) -> Claim:
        """Get another record than *known*, or the lease (CAC-05), or neither."""
        shared = self._shared
        if shared is None:
            return Claim(True)
        lease = (origin, self._owner, now, self.lease_seconds)
        claiming = self._track(
            self._in_thread(shared.claim, *lease, _time_of(known), agent, instead_of)
        )
        try:
            return await _outcome_of(claiming)
        except CancelledError:
            # A thread cannot be cancelled: the lease that it takes is released.
            claiming.addCallback(lambda claim: self.release(origin) if claim.granted else None)
            raise

    def put(self, record: RobotsRecord) -> None:
        """Put *record* into memory."""
        self._memory.put(record)

    def share(self, record: RobotsRecord, known: RobotsRecord | None) -> None:
        """Replace *known* by *record* in the shared store; release the lease."""
        if self._shared is not None:
            self._write(self._shared.put, record, self._owner, _time_of(known))

    def release(self, origin: Origin) -> None:
        """Release the lease on *origin*."""
        if self._shared is not None:
            self._write(self._shared.release, origin, self._owner)

    def reserve(self, origin: Origin, asked: SlotRequest) -> Deferred[Reservation]:
        """Reserve a page slot in the shared store; fails with ``StoreError``."""
        if self._shared is None:
            return succeed(self._memory.reserve(origin, asked))
        return self._track(self._in_thread(self._shared.reserve, origin, asked))

    def sweep(self, before: float) -> None:
        """Delete records whose last attempt was before *before* from the shared store."""
        if self._shared is not None:
            self._write(self._shared.purge, before)

    async def close(self) -> None:
        """Finish pending writes and close both stores."""
        while self._pending:
            await _outcome_of(next(iter(self._pending)))
        if self._shared is not None:
            await self._in_thread(self._shared.close)
        self._memory.close()

    def _write(self, call: Callable[..., Any], *args: Any) -> None:
        self._track(self._in_thread(call, *args))

    def _track(self, work: Deferred[_T]) -> Deferred[_T]:
        """Have :meth:`close` wait for *work*."""
        self._pending.add(work)

        def end(result: _T | Failure) -> _T | Failure:
            self._pending.discard(work)
            return result

        return work.addBoth(end)


def newer(one: RobotsRecord | None, other: RobotsRecord) -> RobotsRecord:
    """The record with the later attempt."""
    return other if one is None or other.updated_at >= one.updated_at else one


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
