"""Leases: who may fetch an origin now, and until when.

The arithmetic of a lease and its keeping within one process belong here; stores that processes
share do the same within their back end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy_robotspec.access.origin import Origin

#: A lease taken further ahead of the asker's clock comes from a clock that was put back (seconds).
SKEW = 60.0


@dataclass(frozen=True, slots=True)
class _Lease:
    owner: str
    taken: float
    until: float

    def holds(self, now: float) -> bool:
        return self.taken - SKEW <= now < self.until


class Leases:
    """Leases within one process."""

    def __init__(self) -> None:
        self._leases: dict[Origin, _Lease] = {}

    def acquire(self, origin: Origin, owner: str, now: float, seconds: float) -> bool:
        lease = self._leases.get(origin)
        if lease is not None and lease.owner != owner and lease.holds(now):
            return False
        self._leases[origin] = _Lease(owner, now, now + seconds)
        return True

    def release(self, origin: Origin, owner: str) -> None:
        lease = self._leases.get(origin)
        if lease is not None and lease.owner == owner:
            del self._leases[origin]

    def purge(self, before: float) -> None:
        """Drop the leases that ended before *before*."""
        for origin in [o for o, lease in self._leases.items() if lease.until < before]:
            del self._leases[origin]
