"""The store within the process: bounded, least recently used out.

Records rest in their compressed form, so that 100,000 origins take no more than 4 KB each on
average. For one thread.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, ClassVar

from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.store.base import RecordStore
from scrapy_robotspec.store.leases import Leases

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy_robotspec.access.origin import Origin

#: What an origin costs besides its octets: the origin itself and its places in the table.
_OVERHEAD = 512
#: Octets an origin may take on average, and octets that are always granted.
_AVERAGE = 4096
_GRANTED = 2**26
#: Where there is no room, so great a part of the records goes at once: the more were taken from the
#: front of a dict, the longer it takes to find the next.
_LEAVING = 1 / 256


class MemoryStore(RecordStore):
    """Keeps the records used last, at most *max_records* and 4 KB each on average (or 64 MB)."""

    slow: ClassVar[bool] = False

    def __init__(self, max_records: int = 100_000) -> None:
        self.max_records = max_records
        self._max_octets = max(max_records * _AVERAGE, _GRANTED)
        self._octets = 0
        # By the texts of the origins, the one used last at the end. A plain dict of texts and
        # octets is one thing to the garbage collector, however many it holds.
        self._records: dict[str, bytes] = {}
        self._leases = Leases()

    def get(self, origin: Origin) -> RobotsRecord | None:
        data = self._records.pop(origin, None)
        if data is None:
            return None
        self._records[str.__str__(origin)] = data
        record = RobotsRecord.from_bytes(data)
        # The asker's origin is at hand: a second one for each record would only fill the memory.
        return record if record is None else replace(record, origin=origin)

    def put(self, record: RobotsRecord) -> None:
        self.delete(record.origin)
        data = record.to_bytes()
        self._records[str.__str__(record.origin)] = data
        self._octets += len(data) + _OVERHEAD
        while len(self._records) > self.max_records or (
            self._octets > self._max_octets and len(self._records) > 1
        ):
            oldest = islice(self._records, 1 + int(len(self._records) * _LEAVING))
            self._forget(list(oldest))

    def delete(self, origin: Origin) -> None:
        self._forget([origin])

    def _forget(self, origins: Iterable[str]) -> None:
        for origin in origins:
            data = self._records.pop(origin, None)
            if data is not None:
                self._octets -= len(data) + _OVERHEAD

    def purge(self, before: float) -> int:
        old = [
            origin
            for origin, data in self._records.items()
            if (record := RobotsRecord.from_bytes(data)) is None or record.updated_at < before
        ]
        self._forget(old)
        self._leases.purge(before)
        return len(old)

    def acquire(self, origin: Origin, owner: str, now: float, seconds: float) -> bool:
        return self._leases.acquire(origin, owner, now, seconds)

    def release(self, origin: Origin, owner: str) -> None:
        self._leases.release(origin, owner)

    def close(self) -> None:
        """Keep everything: it is gone with the process anyway."""

    def __len__(self) -> int:
        return len(self._records)
