"""MemoryStore: bounded, with a temporary file for the rest.

Records are kept compressed, so that 100,000 origins take at most 4 KB each on average. For one
thread.
"""

from __future__ import annotations

import math
import random
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

from scrapy_robotspec.access.record import RobotsRecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.store.base import Reservation, SlotQueue, SlotRequest
    from scrapy_robotspec.store.spill import Spill

_V = TypeVar("_V")

#: Usual number of records in memory, and in the temporary file.
MAX_RECORDS, MAX_SPILLED = 100_000, 1_000_000
#: Size of an origin besides its record or its rules: its name and its place in a table (bytes).
OVERHEAD = 1024
#: Size that an origin may have on average, and total size that is always granted (bytes).
_AVERAGE = 4096
GRANTED = 2**26
#: Share of the entries that are evicted at once. Choosing them takes one pass over the table.
_EVICTED = 1 / 256


class SizedTable(Generic[_V]):
    """Keeps entries of *max_size* bytes and *max_number* in all; *size_of* measures one.

    Evicts at random: with LRU, a crawl that cycles through more origins than fit evicts each one
    just before it needs it.
    """

    def __init__(
        self, size_of: Callable[[_V], int], max_size: int, max_number: float = math.inf
    ) -> None:
        self.max_size, self.max_number = max_size, max_number
        # A plain dict: the garbage collector does not track one of str and bytes.
        self.entries: dict[str, _V] = {}
        self._size_of = size_of
        self._size = 0
        self._random = random.Random(0)

    def put(self, key: str, value: _V) -> list[tuple[str, _V]]:
        """Replace the value of *key*; return the entries that this evicts."""
        self.pop(key)
        size, evicted = self._size_of(value), list[tuple[str, _V]]()
        while self.entries and (
            self._size + size > self.max_size or len(self.entries) >= self.max_number
        ):
            number = 1 + int(len(self.entries) * _EVICTED)
            for each in self._random.sample(list(self.entries), number):
                evicted.append((each, self.entries[each]))
                self.pop(each)
        self.entries[key] = value
        self._size += size
        return evicted

    def pop(self, key: str) -> _V | None:
        """Remove the entry of *key*, if there is one."""
        value = self.entries.pop(key, None)
        if value is not None:
            self._size -= self._size_of(value)
        return value


class MemoryStore:
    """Keeps *max_records* records or 64 MB, whichever is more.

    Records that are evicted move to a temporary file that holds *max_spilled* records. *monotonic*
    gives the seconds by which page slots count.
    """

    def __init__(
        self,
        max_records: int = MAX_RECORDS,
        max_spilled: int = MAX_SPILLED,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._max_spilled = max_spilled
        max_size = max(max_records * _AVERAGE, GRANTED)
        self._table: SizedTable[bytes] = SizedTable(_size_of, max_size, max_records)
        self._spill: Spill | None = None
        self._monotonic = monotonic
        self._queues: OrderedDict[Origin, SlotQueue] = OrderedDict()

    # --- records

    def get(self, origin: Origin) -> RobotsRecord | None:
        """Return the record of *origin*."""
        data = self._table.entries.get(origin)
        if data is None and self._spill is not None:
            data = self._spill.get(str.__str__(origin))
        return None if data is None else RobotsRecord.from_bytes(data, origin)

    def put(self, record: RobotsRecord) -> None:
        """Keep *record* in place of the one of its origin."""
        evicted = self._table.put(str.__str__(record.origin), record.to_bytes())
        if evicted:
            if self._spill is None:
                from scrapy_robotspec.store.spill import Spill

                self._spill = Spill(self._max_spilled)
            self._spill.put(evicted)

    def close(self) -> None:
        """Delete the temporary file. Records in memory stay readable."""
        if self._spill is not None:
            self._spill.close()

    # --- what ``TieredStore`` does with a shared store: nothing is shared here

    def share(self, record: RobotsRecord, known: RobotsRecord | None) -> None: ...

    def release(self, origin: Origin) -> None: ...

    # --- pace

    def reserve(self, origin: Origin, asked: SlotRequest) -> Reservation:
        """Reserve a slot of *origin*, or a position in its queue."""
        from scrapy_robotspec.store import base  # few crawls keep a crawl delay

        now = self._monotonic()
        self._queues[origin], reply = base.reserve(self._queues.get(origin), now, asked)
        checked, queue = self._queues.popitem(last=False)  # one at each call, in turn
        if not base.has_expired(queue, now):
            self._queues[checked] = queue
        return reply


def _size_of(data: bytes) -> int:
    return len(data) + OVERHEAD
