"""The contract of a store: records, leases and page slots.

A store keeps and decides nothing; ``access`` interprets a record. All calls block.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.store.page_slots import Reservation, SlotRequest

#: Max records of an origin that depend on the User-Agent.
MAX_AGENTS = 8
#: A lease that ends later is of no fetch (seconds).
LONGEST_LEASE = 3600.0
#: Records are deleted this long after their last attempt or their expiry (seconds): while an origin
#: is unreachable the last good copy may count for weeks.
KEPT = 60 * 86_400.0


class Claim(NamedTuple):
    """The reply to a process that wants to fetch an origin."""

    granted: bool
    """Whether the caller holds the lease now."""
    record: RobotsRecord | None = None
    """The stored record, if it is newer than the caller's."""


class RecordStore(ABC):
    """Keeps records of origins, and leases on the right to fetch them.

    An origin has one record, and one for each product name where its response depends on the
    User-Agent (CAC-04), at most ``MAX_AGENTS``. A process with the name *agent* reads the later one
    of both. Damaged records are absent. Every failure of a back end raises ``StoreError``. Times
    are epoch seconds of the caller's clock, unless a method says otherwise.
    """

    @abstractmethod
    def get(self, origin: Origin, agent: str = "") -> RobotsRecord | None:
        """Return the record of *origin* for *agent*; None if none is readable."""

    @abstractmethod
    def claim(
        self,
        origin: Origin,
        owner: str,
        now: float,
        seconds: float,
        known: float | None,
        agent: str = "",
    ) -> Claim:
        """Return the record, or take the lease, in one atomic step.

        *known* is the ``updated_at`` of the record that the caller knows, None for no record. The
        lease is *owner*'s until ``now + seconds``; an owner that asks again prolongs it.
        """

    @abstractmethod
    def put(self, record: RobotsRecord, owner: str, known: float | None) -> None:
        """Store *record* and release the lease of *owner*, in one atomic step.

        A record that another process has stored meanwhile stays: without the lease only the
        record with the ``updated_at`` *known* is replaced.
        """

    @abstractmethod
    def release(self, origin: Origin, owner: str) -> None:
        """Release the lease on *origin* if *owner* holds it."""

    @abstractmethod
    def reserve(self, origin: Origin, asked: SlotRequest) -> Reservation:
        """Reserve a slot of *origin*, or a place in line, atomically.

        The store's own clock decides; see ``page_slots.py``.
        """

    def node_of(self, origin: Origin) -> str | None:
        """The node of *origin*, where a back end has several."""
        return None

    @abstractmethod
    def close(self) -> None:
        """Release files and connections. Closing twice is harmless."""
