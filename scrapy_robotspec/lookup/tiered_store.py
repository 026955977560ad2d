"""The shelf: the record store in memory with a slow, shared one behind it, as one thing.

It keeps, finds and leases. When to look and what a record means is the lookup's and the policy's
business; how a back end works, that of ``store/``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from twisted.internet.defer import CancelledError, Deferred

if TYPE_CHECKING:
    from collections.abc import Callable

    from twisted.python.failure import Failure

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.store.base import RecordStore

_T = TypeVar("_T")


class InThread(Protocol):
    """Runs a blocking call elsewhere and gives its outcome here."""

    def __call__(self, call: Callable[..., _T], *args: Any) -> Deferred[_T]: ...


class TieredStore:
    """Records of origins.

    ``shared`` is a slow store behind a circuit breaker, or None. ``owner`` names this process in
    leases, which last ``lease`` seconds.
    """

    def __init__(
        self,
        memory: RecordStore,
        shared: RecordStore | None,
        in_thread: InThread,
        *,
        owner: str,
        lease: float,
    ) -> None:
        self._memory = memory
        self._shared = shared
        self._in_thread = in_thread
        self._owner = owner
        self._lease = lease
        self._writing: set[Deferred[Any]] = set()

    def get(self, origin: Origin) -> RobotsRecord | None:
        """What is in memory."""
        return self._memory.get(origin)

    @property
    def is_shared(self) -> bool:
        """Whether more may be found than what is in memory."""
        return self._shared is not None

    async def get_newest(self, origin: Origin) -> RobotsRecord | None:
        """The record that tells of the latest attempt, ours or another process's."""
        held = self._memory.get(origin)
        if self._shared is None:
            return held
        return _newer(held, await self._in_thread(self._shared.get, origin))

    async def lease(self, origin: Origin, now: float) -> bool:
        """Whether this process is the one to fetch for now (CAC-05)."""
        shared = self._shared
        if shared is None:
            return True
        taking = self._noted(self._in_thread(shared.acquire, origin, self._owner, now, self._lease))
        try:
            taken = await _outcome_of(taking)
        except CancelledError:
            # A thread cannot be called back: what it takes for nobody is given back.
            taking.addCallback(
                lambda taken: self._write(shared.release, origin, self._owner) if taken else None
            )
            raise
        return taken

    def put(self, record: RobotsRecord) -> None:
        """Put *record* into memory now and into the shared store in a while."""
        self._memory.put(record)
        if self._shared is not None:
            self._write(self._shared.put, record)

    def put_local(self, record: RobotsRecord) -> None:
        """Put *record*, which came from the shared store, into memory."""
        self._memory.put(record)

    def put_and_release(self, record: RobotsRecord | None, origin: Origin) -> None:
        """Keep what the holder of a lease has brought, if anything, and give the lease back."""
        if record is not None:
            self._memory.put(record)
        shared = self._shared
        if shared is None:
            return

        def put_then_release() -> None:  # in this order: who gets the lease next must find it
            if record is not None:
                shared.put(record)
            shared.release(origin, self._owner)

        self._write(put_then_release)

    def sweep(self, before: float) -> None:
        """Let the shared store forget what no attempt has changed since *before*."""
        if self._shared is not None:
            self._write(self._shared.purge, before)

    async def close(self) -> None:
        """Finish what is being written and close both stores."""
        while self._writing:
            await _outcome_of(next(iter(self._writing)))
        if self._shared is not None:
            await self._in_thread(self._shared.close)
        self._memory.close()

    def _write(self, call: Callable[..., Any], *args: Any) -> None:
        self._noted(self._in_thread(call, *args))

    def _noted(self, work: Deferred[_T]) -> Deferred[_T]:
        """Let the end wait for *work*."""
        self._writing.add(work)

        def end(result: _T | Failure) -> _T | Failure:
            self._writing.discard(work)
            return result

        return work.addBoth(end)


def _newer(one: RobotsRecord | None, other: RobotsRecord | None) -> RobotsRecord | None:
    if one is None or other is None:
        return one or other
    return max(one, other, key=lambda record: record.updated_at)


def _outcome_of(work: Deferred[_T]) -> Deferred[_T]:
    """A Deferred of one's own with the outcome of *work*, which cancelling it does not stop."""
    outcome: Deferred[_T] = Deferred()

    def pass_on(result: _T | Failure) -> _T | Failure:
        outcome.callback(result)
        return result

    work.addBoth(pass_on)
    return outcome
