"""A store whose failures cost the crawl one warning (circuit breaker).

Wraps another store. While the back end fails, reads find nothing and writes are dropped, so the
crawl continues with its memory. The back end is tried again every few seconds.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from scrapy_robotspec.errors import ConfigurationError, StoreError
from scrapy_robotspec.store.base import Claim, RecordStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.store.page_slots import Reservation, SlotRequest

logger = logging.getLogger(__name__)

_T = TypeVar("_T")

#: If one of these fails, all calls fail; any call that succeeds afterwards proves the recovery.
_READING = ("open", "get")
#: Other calls may fail because the back end is full. Only one that adds data proves the recovery.
_FILLING = ("put", "acquire", "claim", "reserve")


class CircuitBreakerStore(RecordStore):
    """Calls the store that *open_back_end* opens and absorbs its failures.

    ``clock`` gives seconds and never goes back; a back end that failed is left alone for ``pause``
    seconds. Only :meth:`reserve` raises ``StoreError``: without the back end a shared pace has no
    safe default, and the caller has to keep one of its own.
    """

    def __init__(
        self,
        open_back_end: Callable[[], RecordStore],
        clock: Callable[[], float],
        pause: float = 5.0,
    ) -> None:
        self._open_back_end = open_back_end
        self._clock = clock
        self.pause = pause
        self._store: RecordStore | None = None
        self._retry_at = 0.0
        self._failing: str | None = None  # name of the call that failed last
        self._lock = Lock()

    def open(self) -> None:
        """Open the back end; a wrong configuration raises, a failure warns."""
        try:
            self._store = self._open_back_end()
        except StoreError as error:
            self._note_failure("open", error)

    def get(self, origin: Origin) -> RobotsRecord | None:
        return self._guard("get", lambda store: store.get(origin), None)

    def put(self, record: RobotsRecord) -> None:
        self._guard("put", lambda store: store.put(record), None)

    def purge(self, before: float) -> int:
        return self._guard("purge", lambda store: store.purge(before), 0)

    def acquire(self, origin: Origin, owner: str, now: float, seconds: float) -> bool:
        """Without a back end nothing is shared: the lease is granted."""
        return self._guard(
            "acquire", lambda store: store.acquire(origin, owner, now, seconds), True
        )

    def release(self, origin: Origin, owner: str) -> None:
        self._guard("release", lambda store: store.release(origin, owner), None)

    def claim(
        self, origin: Origin, owner: str, now: float, seconds: float, known: float | None
    ) -> Claim:
        return self._guard(
            "claim", lambda store: store.claim(origin, owner, now, seconds, known), Claim(True)
        )

    def put_and_release(self, record: RobotsRecord, owner: str) -> None:
        self._guard("put", lambda store: store.put_and_release(record, owner), None)

    def reserve(self, origin: Origin, asked: SlotRequest) -> Reservation:
        return self._call("reserve", lambda store: store.reserve(origin, asked))

    def close(self) -> None:
        if self._store is not None:
            with suppress(StoreError):
                self._store.close()
            self._store = None

    def _guard(self, name: str, call: Callable[[RecordStore], _T], otherwise: _T) -> _T:
        try:
            return self._call(name, call)
        except StoreError:
            return otherwise

    def _call(self, name: str, call: Callable[[RecordStore], _T]) -> _T:
        trying = self._failing  # two threads: a call may have begun before another failed
        if trying and self._clock() < self._retry_at:
            raise StoreError("the store failed a moment ago")
        try:
            if self._store is None:
                self._store = self._open_back_end()
            result = call(self._store)
        except (StoreError, ConfigurationError) as error:  # a folder may vanish in mid-crawl
            self._note_failure(name, error)
            raise StoreError(str(error)) from error
        if trying and (trying in _READING or name in _FILLING) and self._replace(trying, None):
            logger.info("The robots.txt store works again")
        return result

    def _note_failure(self, name: str, error: Exception) -> None:
        self._retry_at = self._clock() + self.pause
        if self._replace(None, name):
            logger.warning(
                "The robots.txt store of ROBOTSPEC_CACHE fails (%s): the crawl continues with what "
                "is in memory and tries the store again every %g s",
                error,
                self.pause,
            )

    def _replace(self, before: str | None, name: str | None) -> bool:
        """Set the failing call to *name*; True in the one thread that changes it from *before*.

        Only that thread may clear it: another thread knows of a later failure.
        """
        with self._lock:
            expected = self._failing == before
            if expected or name is not None:
                self._failing = name
            return expected
