"""The shelf: the record store in memory with a slow, shared one behind it, as one thing.

It keeps, finds and leases. When to look and what a record means is the lookup's and the policy's
business; how a back end works, that of ``store/``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from twisted.internet.defer import Deferred

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.store.base import RecordStore

_T = TypeVar("_T")


class InThread(Protocol):
    """Runs a blocking call elsewhere and gives its outcome here."""

    def __call__(self, call: Callable[..., _T], *args: Any) -> Deferred[_T]: ...


class Shelf:
    """Records of origins.

    ``shared`` is a slow store that never raises (``store/guarded.py``), or None. ``owner`` names
    this process in leases, which last ``lease`` seconds.
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
        self._writing: set[Deferred[None]] = set()

    def get(self, origin: Origin) -> RobotsRecord | None:
        """What is in memory."""
        return self._memory.get(origin)

    @property
    def is_shared(self) -> bool:
        """Whether more may be found than what is in memory."""
        return self._shared is not None

    async def newest(self, origin: Origin) -> RobotsRecord | None:
        """The record that tells of the latest attempt, ours or another process's."""
        held = self._memory.get(origin)
        if self._shared is None:
            return held
        return _newer(held, await self._in_thread(self._shared.get, origin))

    async def lease(self, origin: Origin, now: float) -> bool:
        """Whether this process is the one to fetch for now (CAC-05)."""
        if self._shared is None:
            return True
        return await self._in_thread(self._shared.acquire, origin, self._owner, now, self._lease)

    def keep(self, record: RobotsRecord) -> None:
        """Put *record* into memory now and into the shared store in a while."""
        self._memory.put(record)
        if self._shared is not None:
            self._write(self._shared.put, record)

    def remember(self, record: RobotsRecord) -> None:
        """Put *record*, which came from the shared store, into memory."""
        self._memory.put(record)

    def keep_and_release(self, record: RobotsRecord | None, origin: Origin) -> None:
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

    async def close(self) -> None:
        """Finish what is being written and close both stores."""
        for writing in list(self._writing):
            await _end_of(writing)
        if self._shared is not None:
            await self._in_thread(self._shared.close)
        self._memory.close()

    def _write(self, call: Callable[..., None], *args: Any) -> None:
        writing = self._in_thread(call, *args)
        self._writing.add(writing)
        writing.addBoth(lambda _: self._writing.discard(writing))


def _newer(one: RobotsRecord | None, other: RobotsRecord | None) -> RobotsRecord | None:
    if one is None or other is None:
        return one or other
    return max(one, other, key=lambda record: record.updated_at)


def _end_of(work: Deferred[None]) -> Deferred[None]:
    """A Deferred of one's own that fires when *work* ends, whatever comes of it."""
    end: Deferred[None] = Deferred()

    def pass_on(result: Any) -> Any:
        end.callback(None)
        return result

    work.addBoth(pass_on)
    return end
