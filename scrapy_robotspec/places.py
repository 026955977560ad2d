"""Places for robots.txt fetches: how many may be under way at once, and who may begin.

Counting only. Whose turn it is, the lanes decide (``plugin/lanes.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy_robotspec.access.origin import Origin


class FetchPlaces:
    """At most *limit* fetches at once, if *ceiling* is no greater.

    Silent servers must not keep everybody else from being asked. So while *limit* fetches are
    under way, another may begin if none of the last *limit* began within ``LEND_AFTER`` seconds:
    those that take longer lend their places to others, up to *ceiling* in all.
    """

    LEND_AFTER = 0.1

    def __init__(self, limit: int, ceiling: int) -> None:
        self._limit = limit
        self._ceiling = ceiling
        self._since: dict[Origin, float] = {}

    def __len__(self) -> int:
        return len(self._since)

    def free(self, now: float) -> bool:
        """Whether one more fetch may begin at *now* (epoch seconds)."""
        taken = len(self._since)
        if taken < self._limit:
            return True
        if taken >= self._ceiling:
            return False
        # Fetches stand in the order in which they began; a clock put back lends at once.
        began = list(self._since.values())[-self._limit]
        return not began <= now < began + self.LEND_AFTER

    def take(self, origin: Origin, now: float) -> None:
        """A fetch of *origin* begins."""
        self._since[origin] = now

    def give(self, origin: Origin) -> None:
        """The fetch of *origin* has ended, or needs no place any more."""
        self._since.pop(origin, None)
