"""MemoryStore: bounded, with a temporary file for the rest.

Records are kept compressed, so that 100,000 origins take at most 4 KB each on average. For one
thread.
"""

from __future__ import annotations

import logging
import random
import time
from typing import TYPE_CHECKING

from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.store.base import read

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.store.page_slots import Line, Reservation, SlotRequest
    from scrapy_robotspec.store.spill import Spill

logger = logging.getLogger(__name__)

#: Usual number of records in memory, and in the temporary file.
MAX_RECORDS, MAX_SPILLED = 100_000, 1_000_000
#: Size of an origin besides its record: its name and its place in the table (bytes).
_OVERHEAD = 512
#: Size that an origin may have on average, and total size that is always granted (bytes).
_AVERAGE = 4096
_GRANTED = 2**26
#: Share of the records that are evicted at once. Choosing them takes one pass over the table.
_EVICTED = 1 / 256
#: Lines of page slots are swept when their number reaches this, and then whenever it has doubled.
_SWEEP_AT = 10_000


class MemoryStore:
    """Keeps *max_records* records or 64 MB, whichever is more.

    When it is full, records chosen at random are evicted into a temporary file that holds
    *max_spilled* records; 0: they are deleted. Random eviction keeps most records of a crawl that
    visits its origins in turn, where the least recently used one is always the next one needed.
    With *warn* the first eviction of a fresh record is logged. *monotonic* gives the seconds by
    which page slots count.
    """

    def __init__(
        self,
        max_records: int = MAX_RECORDS,
        max_spilled: int = 0,
        *,
        warn: bool = True,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.max_records = max_records
        self._max_spilled = max_spilled
        self._max_size = max(max_records * _AVERAGE, _GRANTED)
        self._size = 0
        # A plain dict of str and bytes: the garbage collector does not track its contents.
        self._records: dict[str, bytes] = {}
        self._spill: Spill | None = None
        self._warned = not warn
        self._random = random.Random(0)
        self._monotonic = monotonic
        self._lines: dict[Origin, Line] = {}
        self._sweep_at = _SWEEP_AT

    # --- records

    def get(self, origin: Origin) -> RobotsRecord | None:
        """Return the record of *origin*."""
        data = self._records.get(origin)
        if data is None and self._spill is not None:
            data = self._spill.get(origin)
        return read(data, origin)

    def put(self, record: RobotsRecord) -> None:
        """Keep *record* in place of the one of its origin."""
        origin, data = str.__str__(record.origin), record.to_bytes()
        self._delete(origin)
        if self._spill is not None:
            self._spill.delete(origin)
        self._records[origin] = data
        self._size += len(data) + _OVERHEAD
        self._make_room(origin, record.updated_at)

    def close(self) -> None:
        """Delete the temporary file. Records in memory stay readable."""
        if self._spill is not None:
            self._spill.close()
            self._spill, self._max_spilled = None, 0

    def _delete(self, origin: str) -> bytes | None:
        data = self._records.pop(origin, None)
        if data is not None:
            self._size -= len(data) + _OVERHEAD
        return data

    # --- eviction

    def _make_room(self, newest: str, now: float) -> None:
        while len(self._records) > self.max_records or (
            self._size > self._max_size and len(self._records) > 1
        ):
            self._evict(newest, now)

    def _evict(self, newest: str, now: float) -> None:
        """Evict some records, but not that of *newest*, which was put at *now*."""
        chosen = self._random.sample(list(self._records), 1 + int(len(self._records) * _EVICTED))
        evicted = [
            (origin, data)
            for origin in chosen
            if origin != newest and (data := self._delete(origin)) is not None
        ]
        if self._max_spilled and evicted:
            self._open_spill().put(evicted)
        if not self._warned and _any_fresh(evicted, now):
            self._warned = True
            self._warn()

    def _open_spill(self) -> Spill:
        if self._spill is None:
            from scrapy_robotspec.store.spill import Spill

            self._spill = Spill(self._max_spilled)
        return self._spill

    def _warn(self) -> None:
        where = "moved to a temporary file" if self._max_spilled else "forgotten and fetched again"
        logger.warning(
            "The robots.txt store memory:// is full (limit: %d origins, %d MB): records that are "
            "still fresh are %s. Raise the limit with ROBOTSPEC_CACHE = 'memory://?max=N', or use "
            "sqlite:///",
            self.max_records,
            self._max_size >> 20,
            where,
        )

    # --- pace

    def reserve(self, origin: Origin, asked: SlotRequest) -> Reservation:
        """Reserve a slot of *origin*, or a place in line; see ``page_slots.py``."""
        from scrapy_robotspec.store.page_slots import reserve  # few crawls keep a crawl delay

        now = self._monotonic()
        if len(self._lines) >= self._sweep_at:
            self._sweep_lines(now)
        self._lines[origin], reply = reserve(self._lines.get(origin), now, asked)
        return reply

    def _sweep_lines(self, now: float) -> None:
        from scrapy_robotspec.store.page_slots import has_expired

        self._lines = {
            origin: line for origin, line in self._lines.items() if not has_expired(line, now)
        }
        self._sweep_at = max(_SWEEP_AT, 2 * len(self._lines))


def _any_fresh(evicted: list[tuple[str, bytes]], now: float) -> bool:
    records = (RobotsRecord.from_bytes(data) for _, data in evicted)
    return any(record is not None and (record.expires_at or 0.0) > now for record in records)
