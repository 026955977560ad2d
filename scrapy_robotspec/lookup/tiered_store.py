"""Tiered store: records in memory, with a slow shared store behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from twisted.internet.defer import CancelledError, Deferred

from scrapy_robotspec.errors import StoreError
from scrapy_robotspec.lookup.circuit_breaker import A_RECORD, A_ROW, CircuitBreaker
from scrapy_robotspec.store.base import Claim

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.store.base import RecordStore, Reservation, SlotRequest
    from scrapy_robotspec.store.memory import MemoryStore

_T = TypeVar("_T")


class TieredStore:
    """Records of origins, and leases on the right to fetch them.

    *shared* is a slow store, called through a :class:`CircuitBreaker`, which *in_thread* and
    *monotonic* are for. While it fails, reads find nothing and writes are dropped, so the crawl
    continues with its memory. *owner* names this process in leases, which last *lease_seconds*.
    """

    def __init__(
        self,
        memory: MemoryStore,
        shared: RecordStore,
        in_thread: Callable[..., Deferred[Any]],
        monotonic: Callable[[], float],
        *,
        owner: str,
        lease_seconds: float,
    ) -> None:
        self._memory = memory
        self._breaker = CircuitBreaker(shared, in_thread, monotonic)
        self._owner = owner
        self._lease_seconds = lease_seconds

    def get(self, origin: Origin) -> RobotsRecord | None:
        """Return the record of *origin* in memory."""
        return self._memory.get(origin)

    def put(self, record: RobotsRecord) -> None:
        """Keep *record* in memory."""
        self._memory.put(record)

    async def get_news(
        self, origin: Origin, known: RobotsRecord | None, agent: str
    ) -> RobotsRecord | None:
        """The record for *agent* in the shared store, unless it is *known*."""
        record = await self._call(origin, lambda store: store.get(origin, agent), None)
        return None if record is None or record.updated_at == _time_of(known) else record

    async def claim(
        self,
        origin: Origin,
        now: float,
        known: RobotsRecord | None,
        agent: str,
    ) -> Claim:
        """Get another record than *known*, or the lease (CAC-05), or neither.

        Without the shared store nothing is shared: the lease is granted.
        """
        lease = (origin, self._owner, now, self._lease_seconds, _time_of(known), agent)
        try:
            return await self._call(origin, lambda store: store.claim(*lease), Claim(True), A_ROW)
        except CancelledError:
            self.release(origin)  # the worker thread takes the lease before
            raise

    def share(self, record: RobotsRecord, known: RobotsRecord | None) -> None:
        """Replace *known* by *record* in the shared store; release the lease."""
        change = (record, self._owner, _time_of(known))
        Deferred.fromCoroutine(
            self._call(record.origin, lambda store: store.put(*change), None, A_RECORD)
        )

    def release(self, origin: Origin) -> None:
        """Release the lease on *origin*."""
        owner = self._owner
        Deferred.fromCoroutine(self._call(origin, lambda store: store.release(origin, owner), None))

    def reserve(self, origin: Origin, asked: SlotRequest) -> Deferred[Reservation]:
        """Reserve a page slot in the shared store.

        Fails with ``StoreError``: without that store a shared pace has no safe default, and the
        caller keeps one of its own.
        """
        return Deferred.fromCoroutine(
            self._breaker.call(origin, lambda store: store.reserve(origin, asked), adds=A_ROW)
        )

    def close(self) -> Deferred[None]:
        """Finish pending writes and close both stores."""
        self._memory.close()
        return Deferred.fromCoroutine(self._breaker.close())

    async def _call(
        self,
        origin: Origin,
        work: Callable[[RecordStore], _T],
        otherwise: _T,
        adds: int = 0,
    ) -> _T:
        """The result of *work*; *otherwise* if the store fails."""
        try:
            return await self._breaker.call(origin, work, adds=adds)
        except StoreError:
            return otherwise


def _time_of(record: RobotsRecord | None) -> float | None:
    return None if record is None else record.updated_at
