"""A store that may fail without the crawl noticing more than one warning.

Wraps the opening and the calls of another store. While the back end is out of order it answers
like an empty store that keeps nothing, so the crawl goes on with its memory; every few seconds
the back end is tried again. It decides nothing about robots.txt.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, ClassVar, TypeVar

from scrapy_robotspec.errors import ConfigurationError, StoreError
from scrapy_robotspec.store.base import RecordStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord

logger = logging.getLogger(__name__)

_T = TypeVar("_T")

#: Where one of these fails, everything does, and whatever works proves that it is over. Any other
#: failure may be that of a full back end, which still reads: only one that fills it proves more.
_READING = ("open", "get", "len")
_FILLING = ("put", "acquire")


class GuardedStore(RecordStore):
    """Calls the store that *opening* opens, and shields the caller from its failures.

    ``clock`` gives seconds that never go back; ``pause`` is how long a failed back end is left
    alone.
    """

    slow: ClassVar[bool] = True

    def __init__(
        self, opening: Callable[[], RecordStore], clock: Callable[[], float], pause: float = 5.0
    ) -> None:
        self._opening = opening
        self._clock = clock
        self._pause = pause
        self._store: RecordStore | None = None
        self._retry_at = 0.0
        self._failing: str | None = None  # what failed last
        self._lock = Lock()

    def open(self) -> None:
        """Open the back end now. A wrong configuration raises, a failure only warns."""
        try:
            self._store = self._opening()
        except StoreError as error:
            self._note_failure("open", error)

    def get(self, origin: Origin) -> RobotsRecord | None:
        return self._guard("get", lambda store: store.get(origin), None)

    def put(self, record: RobotsRecord) -> None:
        self._guard("put", lambda store: store.put(record), None)

    def delete(self, origin: Origin) -> None:
        self._guard("delete", lambda store: store.delete(origin), None)

    def purge(self, before: float) -> int:
        return self._guard("purge", lambda store: store.purge(before), 0)

    def acquire(self, origin: Origin, owner: str, now: float, seconds: float) -> bool:
        """Without a back end nobody shares anything with us: the lease is ours."""
        return self._guard(
            "acquire", lambda store: store.acquire(origin, owner, now, seconds), True
        )

    def release(self, origin: Origin, owner: str) -> None:
        self._guard("release", lambda store: store.release(origin, owner), None)

    def close(self) -> None:
        if self._store is not None:
            with suppress(StoreError):
                self._store.close()
            self._store = None

    def __len__(self) -> int:
        return self._guard("len", len, 0)

    def _guard(self, name: str, call: Callable[[RecordStore], _T], otherwise: _T) -> _T:
        trying = self._failing  # two threads: a call may have begun before another failed
        if trying and self._clock() < self._retry_at:
            return otherwise
        try:
            if self._store is None:
                self._store = self._opening()
            answer = call(self._store)
        except (StoreError, ConfigurationError) as error:  # a folder may vanish in mid-crawl
            self._note_failure(name, error)
            return otherwise
        if trying and (trying in _READING or name in _FILLING) and self._now_failing(None, trying):
            logger.info("The robots.txt store works again")
        return answer

    def _note_failure(self, name: str, error: Exception) -> None:
        self._retry_at = self._clock() + self._pause
        if self._now_failing(name, None):
            logger.warning(
                "The robots.txt store of ROBOTSPEC_CACHE fails (%s): the crawl goes on with what "
                "is in memory and tries the store again every %g s",
                error,
                self._pause,
            )

    def _now_failing(self, name: str | None, before: str | None) -> bool:
        """Note what fails now; whether *before* was noted until now. One thread gets a yes.

        That nothing fails any more is noted by that thread only: others know of a later failure.
        """
        with self._lock:
            expected = self._failing == before
            if expected or name is not None:
                self._failing = name
            return expected
