"""Tiered store: memory, with a shared store behind a circuit breaker.

The shared store is called in a worker thread. The crawl's thread alone knows that it fails, and
leaves it alone for a while then. A failure is one of a node, where a back end has several.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from twisted.internet.defer import CancelledError, Deferred, fail

from scrapy_robotspec.errors import StoreError
from scrapy_robotspec.store.base import Claim, RecordStore, Reservation, SlotRequest
from scrapy_robotspec.store.memory import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from twisted.python.failure import Failure

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord

logger = logging.getLogger(__name__)

_T = TypeVar("_T")
_Outcome = tuple[str | None, _T | None, StoreError | None]

#: A store that failed is left alone for this time (seconds).
PAUSE = 5.0
#: Data that a call adds to a store.
_A_ROW, _A_RECORD = 1, 2


@dataclass(eq=False)
class TieredStore:
    """Memory with a shared store behind it, and leases to fetch.

    While *shared* fails, reads find nothing and writes are dropped, so the crawl continues with its
    memory. *in_thread* runs functions in the worker thread, one at a time, in the order of the
    calls. *monotonic* gives seconds. *owner* names this process in leases, which last
    *lease_seconds*.
    """

    shared: RecordStore
    in_thread: Callable[..., Deferred[Any]]
    monotonic: Callable[[], float]
    owner: str
    lease_seconds: float
    _retry_at: dict[str | None, float] = field(default_factory=dict)
    """When each node that fails is called again; None: the store as a whole."""
    _failed: dict[str | None, int] = field(default_factory=dict)
    """The most that a call which failed would have added to each of them."""
    memory: MemoryStore = field(default_factory=MemoryStore)
    _closed: bool = False

    def get(self, origin: Origin) -> RobotsRecord | None:
        """Return the record of *origin* in memory."""
        return self.memory.get(origin)

    def put(self, record: RobotsRecord) -> None:
        """Keep *record* in memory."""
        self.memory.put(record)

    async def get_shared(
        self, origin: Origin, known: RobotsRecord | None, agent: str
    ) -> RobotsRecord | None:
        """The record for *agent* in the shared store, unless it is *known*."""
        try:
            return await self._call(origin, lambda store: store.get(origin, agent, _time_of(known)))
        except StoreError:
            return None

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
        lease = (origin, self.owner, now, self.lease_seconds, _time_of(known), agent)
        try:
            return await self._call(origin, lambda store: store.claim(*lease), _A_ROW)
        except StoreError:
            return Claim(True)
        except CancelledError:
            self.release(origin)  # the worker thread takes the lease before
            raise

    def share(self, record: RobotsRecord, known: RobotsRecord | None) -> None:
        """Replace *known* by *record* in the shared store; release the lease."""
        self._call(
            record.origin,
            lambda store: store.put(record, self.owner, _time_of(known)),
            _A_RECORD,
        ).addErrback(_ignore)

    def release(self, origin: Origin) -> None:
        """Release the lease on *origin*."""
        self._call(origin, lambda store: store.release(origin, self.owner)).addErrback(_ignore)

    def reserve(self, origin: Origin, asked: SlotRequest) -> Deferred[Reservation]:
        """Reserve a page slot in the shared store.

        Fails with ``StoreError``: without that store a shared pace has no safe default, and the
        caller keeps one of its own.
        """
        return self._call(origin, lambda store: store.reserve(origin, asked), _A_ROW)

    def close(self) -> Deferred[None]:
        """Close both stores after the calls so far. Later ones fail."""
        self._closed = True
        self.memory.close()
        return self.in_thread(self.shared.close).addErrback(_ignore)

    # --- calls of the shared store

    def _call(
        self, origin: Origin, work: Callable[[RecordStore], _T], adds: int = 0
    ) -> Deferred[_T]:
        """The result of *work*, which calls the store once about *origin*.

        Only work that *adds* as much as the one that failed proves that the store works again: a
        full one can be read, and a row may fit where no record does.
        """
        if self._closed:
            return fail(StoreError("the store is closed"))
        now = self.monotonic()
        return self.in_thread(_attempt, self.shared, origin, work, self._retry_at, now).addCallback(
            self._note, now, adds
        )

    def _note(self, outcome: _Outcome[_T], now: float, adds: int) -> _T:
        """The result of a call made at *now*, whose success or failure is noted."""
        node, result, error = outcome
        if error is None:
            ended = [each for each in {None, node} if self._failed.get(each, adds + 1) <= adds]
            for each in ended:
                del self._failed[each], self._retry_at[each]
            if ended:
                logger.info("The robots.txt store works again")
            return result  # type: ignore[return-value]
        if now >= self._retry_at.get(node, now):  # else it is known
            if node not in self._failed:
                logger.warning(
                    "The robots.txt store of ROBOTSPEC_CACHE fails (%s): the crawl continues with "
                    "what is in memory and tries the store again every %g s",
                    error,
                    PAUSE,
                )
            self._retry_at[node] = self.monotonic() + PAUSE
            self._failed[node] = max(self._failed.get(node, _A_ROW), adds)
        raise error


def _ignore(failure: Failure) -> None:
    """The failure is logged, and the crawl goes on without the store."""


def _time_of(record: RobotsRecord | None) -> float | None:
    return None if record is None else record.updated_at


# --- in the worker thread


def _attempt(
    store: RecordStore,
    origin: Origin,
    work: Callable[[RecordStore], _T],
    retry_at: Mapping[str | None, float],
    now: float,
) -> _Outcome[_T]:
    """The node of *origin*, and the result of *work*, or any error as a ``StoreError``.

    *retry_at* is the crawl's own: a call that was queued before a failure is not made after it.
    """
    node = None
    try:
        if now >= retry_at.get(None, now):
            node = store.node_of(origin)
            if now >= retry_at.get(node, now):
                return node, work(store), None
        return node, None, StoreError("the store failed a moment ago")
    except Exception as error:
        name = store.name or type(store).__name__
        return node, None, StoreError(f"{name}: {type(error).__name__}: {error}")
