"""The store within the process: bounded, least recently used out.

Records rest in their compressed form, so that 100,000 origins take no more than 4 KB each on
average. For one thread.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.store.base import RecordStore
from scrapy_robotspec.store.leases import Leases

if TYPE_CHECKING:
    from scrapy_robotspec.access.origin import Origin

#: What an origin costs besides its octets: the origin itself and its places in the table.
_OVERHEAD = 512
#: Octets an origin may take on average, and octets that are always granted.
_AVERAGE = 4096
_GRANTED = 2**26


class MemoryStore(RecordStore):
    """Keeps the *max_records* records used last, within 4 KB each on average (at least 64 MB)."""

    slow: ClassVar[bool] = False

    def __init__(self, max_records: int = 100_000) -> None:
        self.max_records = max_records
        self._max_octets = max(max_records * _AVERAGE, _GRANTED)
        self._octets = 0
        self._records: OrderedDict[Origin, bytes] = OrderedDict()
        self._leases = Leases()

    def get(self, origin: Origin) -> RobotsRecord | None:
        data = self._records.get(origin)
        if data is None:
            return None
        self._records.move_to_end(origin)
        record = RobotsRecord.from_bytes(data)
        # The asker's origin is at hand: a second one for each record would only fill the memory.
        return record if record is None else replace(record, origin=origin)

    def put(self, record: RobotsRecord) -> None:
        self.delete(record.origin)
        data = record.to_bytes()
        self._records[record.origin] = data
        self._octets += len(data) + _OVERHEAD
        while len(self._records) > self.max_records or (
            self._octets > self._max_octets and len(self._records) > 1
        ):
            self.delete(next(iter(self._records)))

    def delete(self, origin: Origin) -> None:
        data = self._records.pop(origin, None)
        if data is not None:
            self._octets -= len(data) + _OVERHEAD

    def purge(self, before: float) -> int:
        old = [
            origin
            for origin, data in self._records.items()
            if (record := RobotsRecord.from_bytes(data)) is None or record.updated_at < before
        ]
        for origin in old:
            self.delete(origin)
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
