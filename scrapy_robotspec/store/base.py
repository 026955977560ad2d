"""The contract of a store: records, leases, page slots and live processes.

A store keeps and decides nothing; ``access`` interprets a record. All calls block.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.access.record import RobotsRecord

if TYPE_CHECKING:
    from scrapy_robotspec.access.origin import Origin

#: A lease or record written further ahead of the reader's clock than this is void (seconds).
SKEW = 60.0


class Fleet(NamedTuple):
    """The processes that share a store, as one of them sees it."""

    rank: int
    """Position of this process among the live ones, from 0."""
    size: int
    """Number of live processes, this one included."""
    clock: float
    """The store's own clock at the time of the call (seconds)."""


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
    def reserve(self, origin: Origin, now: float, delay: float) -> float:
        """Reserve the next page, at least *delay* seconds after the last one.

        Returns 0.0 if the caller may send a page now. Otherwise returns the time, later than
        *now*, at which to ask again. The store's own clock decides, in one atomic step; *now* only
        converts the result to the caller's clock. A *delay* of 0 or less always succeeds: it
        reports a page that was sent ``-delay`` seconds ago. A caller that dies costs one delay.
        """

    @abstractmethod
    def heartbeat(self, owner: str, now: float, seconds: float) -> Fleet:
        """Count *owner* as a live process for *seconds*; return the live processes."""

    @abstractmethod
    def close(self) -> None:
        """Release files and connections. Closing twice is harmless."""


def read(data: object, origin: Origin) -> RobotsRecord | None:
    """The record of *origin* in *data*; None if *data* is anything else."""
    return RobotsRecord.from_bytes(data, origin) if isinstance(data, bytes) else None


def wait_for_slot(last: float, now: float, delay: float) -> float:
    """Seconds until the page after *last* may go; 0.0 for now.

    A *last* later than *now* was written before the clock was put back: it counts as *now*.
    """
    return max(0.0, min(last, now) + delay - now)


def ask_again_at(now: float, wait: float) -> float:
    """The result of a reservation that has to wait *wait* seconds.

    Later than *now* also where *wait* is too short to be added to epoch seconds; 0.0 for no wait.
    """
    return max(now + wait, math.nextafter(now, math.inf)) if wait > 0 else 0.0


def sent_at(last: float | None, now: float, delay: float) -> float:
    """The time of the page that is reserved or reported at *now*."""
    reported = now + min(delay, 0.0)
    return reported if last is None or last > now else max(last, reported)
