"""Circuit breaker: a store that fails costs the crawl one warning.

The store is called in a worker thread. That it fails is known in the crawl's thread alone, which
leaves it alone for a while. A failure is one of a node, where a back end has several.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy_robotspec.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from twisted.internet.defer import Deferred

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.store.base import RecordStore

logger = logging.getLogger(__name__)

_T = TypeVar("_T")

#: A back end that failed is left alone for this time (seconds).
PAUSE = 5.0
#: Data that a call adds to a store.
A_ROW, A_RECORD = 1, 2


class CircuitBreaker:
    """Calls *store* in a worker thread, unless it has just failed.

    *in_thread* runs functions in that thread, one at a time, in the order of the calls. *monotonic*
    gives seconds and never goes back.
    """

    def __init__(
        self,
        store: RecordStore,
        in_thread: Callable[..., Deferred[Any]],
        monotonic: Callable[[], float],
    ) -> None:
        self._store = store
        self._in_thread = in_thread
        self._monotonic = monotonic
        self._retry_at: dict[str | None, float] = {}
        """When each node that fails is called again; None: the store as a whole."""
        self._failed: dict[str | None, int] = {}
        """The most that a call which failed would have added to each of them."""
        self._closed = False

    async def call(self, origin: Origin, work: Callable[[RecordStore], _T], *, adds: int = 0) -> _T:
        """The result of *work*, which calls the store once about *origin*.

        Raises ``StoreError``. Only work that *adds* as much as the one that failed proves that the
        store works again: a full one can be read, and a row may fit where no record does.
        """
        if self._closed:
            raise StoreError("the store is closed")
        now = self._monotonic()
        node, result, error = await self._in_thread(
            _attempt, self._store, origin, work, self._retry_at, now
        )
        if error is None:
            self._note_success(node, adds)
            done: _T = result
            return done
        if now >= self._retry_at.get(node, now):  # else it is known
            self._note_failure(node, error, adds)
        raise error

    async def close(self) -> None:
        """Close the store after the calls so far. Later ones fail."""
        self._closed = True
        await self._in_thread(_close, self._store)

    def _note_failure(self, node: str | None, error: StoreError, adds: int) -> None:
        is_new = node not in self._retry_at
        self._retry_at[node] = self._monotonic() + PAUSE
        self._failed[node] = max(self._failed.get(node, A_ROW), adds)
        if is_new:
            logger.warning(
                "The robots.txt store of ROBOTSPEC_CACHE fails (%s): the crawl continues with what "
                "is in memory and tries the store again every %g s",
                error,
                PAUSE,
            )

    def _note_success(self, node: str | None, adds: int) -> None:
        ended = [each for each in {None, node} if self._failed.get(each, A_RECORD + 1) <= adds]
        for each in ended:
            del self._failed[each], self._retry_at[each]
        if ended:
            logger.info("The robots.txt store works again")


# --- in the worker thread


def _attempt(
    store: RecordStore,
    origin: Origin,
    work: Callable[[RecordStore], _T],
    retry_at: Mapping[str | None, float],
    now: float,
) -> tuple[str | None, _T | None, StoreError | None]:
    """The node of *origin*, and the result of *work* or its error.

    *retry_at* is the crawl's own: a call that was queued before a failure is not made after it.
    """
    node = None
    try:
        if now >= retry_at.get(None, now):
            node = store.node_of(origin)
            if now >= retry_at.get(node, now):
                return node, work(store), None
        return node, None, StoreError("the store failed a moment ago")
    except StoreError as error:
        return node, None, error


def _close(store: RecordStore) -> None:
    with suppress(StoreError):
        store.close()
