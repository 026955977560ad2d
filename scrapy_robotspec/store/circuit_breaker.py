"""A store whose failures cost the crawl one warning (circuit breaker).

Wraps another store. While the back end fails, reads find nothing and writes are dropped, so the
crawl continues with its memory. The back end is tried again every few seconds.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy_robotspec.errors import ConfigurationError, StoreError
from scrapy_robotspec.store.base import Claim, RecordStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.store.base import Reservation, SlotRequest

logger = logging.getLogger(__name__)

_T = TypeVar("_T")

#: A back end that failed is left alone for this time (seconds).
PAUSE = 5.0

#: Calls that add data. Only one of them proves the recovery: the back end may be full.
_FILLING = ("put", "claim", "reserve")


class CircuitBreakerStore(RecordStore):
    """Calls the store that *open_back_end* opens and absorbs its failures.

    ``clock`` gives seconds and never goes back; a back end that failed is left alone for ``PAUSE``
    seconds. Each node of a cluster fails by itself. Only :meth:`reserve` raises ``StoreError``:
    without the back end a shared pace has no safe default, and the caller keeps one of its own.
    """

    def __init__(
        self,
        open_back_end: Callable[[], RecordStore],
        clock: Callable[[], float],
    ) -> None:
        self._open_back_end = open_back_end
        self._clock = clock
        self._store: RecordStore | None = None
        self._failing: dict[str | None, float] = {}
        """When each node of the back end that fails is tried again (seconds of the clock)."""
        self._lock = Lock()

    def open(self) -> None:
        """Open the back end; a wrong configuration raises, a failure warns."""
        try:
            self._store = self._open_back_end()
        except StoreError as error:
            self._note_failure(None, error)

    def get(self, origin: Origin, agent: str = "") -> RobotsRecord | None:
        return self._guard(None, origin, "get", origin, agent)

    def claim(
        self,
        origin: Origin,
        owner: str,
        now: float,
        seconds: float,
        known: float | None,
        agent: str = "",
    ) -> Claim:
        """Without a back end nothing is shared: the lease is granted."""
        arguments = (origin, owner, now, seconds, known, agent)
        return self._guard(Claim(True), origin, "claim", *arguments)

    def put(self, record: RobotsRecord, owner: str, known: float | None) -> None:
        self._guard(None, record.origin, "put", record, owner, known)

    def release(self, origin: Origin, owner: str) -> None:
        self._guard(None, origin, "release", origin, owner)

    def reserve(self, origin: Origin, asked: SlotRequest) -> Reservation:
        reply: Reservation = self._call(origin, "reserve", origin, asked)
        return reply

    def close(self) -> None:
        if self._store is not None:
            with suppress(StoreError):
                self._store.close()
            self._store = None

    def _guard(self, otherwise: _T, origin: Origin, name: str, *arguments: Any) -> _T:
        try:
            result: _T = self._call(origin, name, *arguments)
        except StoreError:
            return otherwise
        return result

    def _call(self, origin: Origin, name: str, *arguments: Any) -> Any:
        node = None if self._store is None else self._store.node_of(origin)
        with self._lock:
            retry_at = self._failing.get(node)  # a call may begin before another thread's fails
        if retry_at is not None and self._clock() < retry_at:
            raise StoreError("the store failed a moment ago")
        try:
            if self._store is None:
                self._store = self._open_back_end()
            result = getattr(self._store, name)(*arguments)
        except (StoreError, ConfigurationError) as error:  # a folder may vanish in mid-crawl
            self._note_failure(node, error)
            raise StoreError(str(error)) from error
        if retry_at is not None and name in _FILLING:
            self._note_recovery(node, retry_at)
        return result

    def _note_failure(self, node: str | None, error: Exception) -> None:
        with self._lock:
            is_new = node not in self._failing
            self._failing[node] = self._clock() + PAUSE
        if is_new:
            logger.warning(
                "The robots.txt store of ROBOTSPEC_CACHE fails (%s): the crawl continues with what "
                "is in memory and tries the store again every %g s",
                error,
                PAUSE,
            )

    def _note_recovery(self, node: str | None, retry_at: float) -> None:
        """Forget a failure, unless another thread knows of a later one."""
        with self._lock:
            has_ended = self._failing.get(node) == retry_at
            if has_ended:
                del self._failing[node]
        if has_ended:
            logger.info("The robots.txt store works again")
