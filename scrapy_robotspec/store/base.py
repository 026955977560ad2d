"""The contract of a store: records, leases and page slots.

A store keeps and decides nothing; ``access`` interprets a record. All calls block.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.access.record import RobotsRecord

if TYPE_CHECKING:
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.store.page_slots import Reservation, SlotRequest

#: A lease or record written further ahead of the reader's clock than this is void (seconds).
SKEW = 60.0


class Claim(NamedTuple):
    """The reply to a process that wants to fetch an origin."""

    granted: bool
    """Whether the caller holds the lease now."""
    record: RobotsRecord | None = None
    """The stored record, if it is another one than the caller knows."""


class RecordStore(ABC):
    """Keeps one record for each origin.

    Every failure of a back end raises ``StoreError``.

    Times are epoch seconds of the caller's clock, unless a method says otherwise.
    """

    @abstractmethod
    def get(self, origin: Origin) -> RobotsRecord | None:
        """Return the record of *origin*; None if none is readable."""

    @abstractmethod
    def put(self, record: RobotsRecord) -> None:
        """Store *record* in place of the one of its origin."""

    @abstractmethod
    def purge(self, before: float) -> int:
        """Delete records whose last attempt was before *before*; return their number."""

    @abstractmethod
    def acquire(self, origin: Origin, owner: str, now: float, seconds: float) -> bool:
        """Take the lease for *owner* atomically until ``now + seconds``.

        False while another owner holds it. An owner that asks again prolongs its lease.
        """

    @abstractmethod
    def release(self, origin: Origin, owner: str) -> None:
        """Release the lease on *origin* if *owner* holds it."""

    def claim(
        self, origin: Origin, owner: str, now: float, seconds: float, known: float | None
    ) -> Claim:
        """Return the record of *origin*, or take the lease without news.

        *known* is the ``updated_at`` of the record that the caller knows, None for no record.
        """
        if (record := self._news(origin, known)) is not None:
            return Claim(False, record)
        if not self.acquire(origin, owner, now, seconds):
            return Claim(False)
        # Another process may have stored it just before it released the lease.
        if (record := self._news(origin, known)) is not None:
            self.release(origin, owner)
            return Claim(False, record)
        return Claim(True)

    def put_and_release(self, record: RobotsRecord, owner: str) -> None:
        """Store *record*, then release the lease if *owner* holds it."""
        self.put(record)  # in this order: the next holder of the lease must find it
        self.release(record.origin, owner)

    def _news(self, origin: Origin, known: float | None) -> RobotsRecord | None:
        record = self.get(origin)
        return None if record is None or record.updated_at == known else record

    @abstractmethod
    def reserve(self, origin: Origin, asked: SlotRequest) -> Reservation:
        """Reserve a slot of *origin*, or a place in line, in one atomic step.

        The store's own clock decides; see ``page_slots.py``.
        """

    @abstractmethod
    def close(self) -> None:
        """Release files and connections. Closing twice is harmless."""


def read(data: object, origin: Origin) -> RobotsRecord | None:
    """The record of *origin* in *data*; None if *data* is anything else."""
    return RobotsRecord.from_bytes(data, origin) if isinstance(data, bytes) else None
