"""The contract of a store: records of origins, and leases on the right to fetch.

Stores rest records and decide nothing; what a record means is read in ``access``. All calls block.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from scrapy_robotspec.access.record import RobotsRecord

if TYPE_CHECKING:
    from scrapy_robotspec.access.origin import Origin


class RecordStore(ABC):
    """Keeps one record an origin. Whatever fails in a back end is raised as ``StoreError``.

    Times are epoch seconds and always come from the caller.
    """

    slow: ClassVar[bool]
    """Whether calls may take so long that they belong into a thread."""

    @abstractmethod
    def get(self, origin: Origin) -> RobotsRecord | None:
        """The record of *origin*; None where there is none that can be read."""

    @abstractmethod
    def put(self, record: RobotsRecord) -> None:
        """Keep *record* in place of what is held about its origin."""

    @abstractmethod
    def delete(self, origin: Origin) -> None:
        """Forget *origin*, if it is known."""

    @abstractmethod
    def purge(self, before: float) -> int:
        """Forget what no attempt has changed since *before*; return the number of records."""

    @abstractmethod
    def acquire(self, origin: Origin, owner: str, now: float, seconds: float) -> bool:
        """Take the lease on *origin* for *owner* until ``now + seconds``, in one atomic step.

        False while somebody else's lease lasts. An owner who asks again prolongs the lease.
        """

    @abstractmethod
    def release(self, origin: Origin, owner: str) -> None:
        """Give the lease on *origin* back, if it is *owner*'s."""

    @abstractmethod
    def close(self) -> None:
        """Let go of files and connections; closing twice does no harm."""

    @abstractmethod
    def __len__(self) -> int:
        """How many records there are."""


def read(data: object, origin: Origin) -> RobotsRecord | None:
    """The record of *origin* in what a back end holds; None if it is anything else."""
    record = RobotsRecord.from_bytes(data) if isinstance(data, bytes) else None
    return record if record is not None and record.origin == origin else None
