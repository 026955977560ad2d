"""Tiered store: the records in memory, with a slow, shared store behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from twisted.internet.defer import CancelledError, Deferred

if TYPE_CHECKING:
    from collections.abc import Callable

    from twisted.python.failure import Failure

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.store.base import Fleet, RecordStore

_T = TypeVar("_T")


class InThread(Protocol):
    """Runs a blocking call in a thread; the Deferred fires in this one."""

    def __call__(self, call: Callable[..., _T], *args: Any) -> Deferred[_T]: ...


class TieredStore:
    """Records of origins, and leases on the right to fetch them.

    *shared* is a slow store behind a circuit breaker, or None. *owner* names this process in
    leases, which last *lease_seconds*.
    """

    def __init__(
        self,
        memory: RecordStore,
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

    @property
    def is_shared(self) -> bool:
        """Whether there is a store behind the memory."""
        return self._shared is not None

    async def get_newest(self, origin: Origin) -> RobotsRecord | None:
        """The record with the latest attempt, ours or another process's."""
        held = self._memory.get(origin)
        if self._shared is None:
            return held
        return _newer(held, await self._in_thread(self._shared.get, origin))

    async def acquire(self, origin: Origin, now: float) -> bool:
        """Take the lease on *origin*: whether this process is the one to fetch it (CAC-05)."""
        shared = self._shared
        if shared is None:
            return True
        taking = self._track(
            self._in_thread(shared.acquire, origin, self._owner, now, self.lease_seconds)
        )
        try:
            return await _outcome_of(taking)
        except CancelledError:
            # A thread cannot be cancelled: the lease that it takes is released.
            taking.addCallback(
                lambda taken: self._write(shared.release, origin, self._owner) if taken else None
            )
            raise

    def put(self, record: RobotsRecord) -> None:
        """Put *record* into memory now and into the shared store soon, unless it is local."""
        self._memory.put(record)
        if self._shared is not None and not record.local:
            self._write(self._shared.put, record)

    def put_local(self, record: RobotsRecord) -> None:
        """Put *record* into memory alone."""
        self._memory.put(record)

    def share_and_release(self, record: RobotsRecord | None, origin: Origin) -> None:
        """Put *record*, if any, into the shared store alone, and release the lease."""
        shared = self._shared
        if shared is None:
            return

        def put_then_release() -> None:  # in this order: the next holder of the lease must find it
            if record is not None:
                shared.put(record)
            shared.release(origin, self._owner)

        self._write(put_then_release)

    def reserve_local(self, origin: Origin, now: float, delay: float) -> float:
        """Reserve the next page of *origin* in this process; see :meth:`RecordStore.reserve`."""
        return self._memory.reserve(origin, now, delay)

    def reserve(self, origin: Origin, now: float, delay: float) -> Deferred[float]:
        """Reserve the next page of *origin* in the shared store; may fail with ``StoreError``."""
        assert self._shared is not None
        return self._track(self._in_thread(self._shared.reserve, origin, now, delay))

    def heartbeat(self, now: float, seconds: float) -> Deferred[Fleet]:
        """Tell the shared store that this process is alive; may fail with ``StoreError``."""
        assert self._shared is not None
        return self._track(self._in_thread(self._shared.heartbeat, self._owner, now, seconds))

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


def _newer(one: RobotsRecord | None, other: RobotsRecord | None) -> RobotsRecord | None:
    if one is None or other is None:
        return one or other
    return max(one, other, key=lambda record: record.updated_at)


def _outcome_of(work: Deferred[_T]) -> Deferred[_T]:
    """A second Deferred with the outcome of *work*; cancelling it does not stop *work*."""
    outcome: Deferred[_T] = Deferred()

    def pass_on(result: _T | Failure) -> _T | Failure:
        outcome.callback(result)
        return result

    work.addBoth(pass_on)
    return outcome
