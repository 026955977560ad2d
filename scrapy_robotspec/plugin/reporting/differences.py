"""Differences between Scrapy's decisions and ours, counted and logged."""

from __future__ import annotations

import logging
from collections import Counter
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.statscollectors import StatsCollector

logger = logging.getLogger("scrapy_robotspec")

#: Max logged differences of each kind.
_EXAMPLES = 10


class Difference(Enum):
    """The result of a comparison, with its stat."""

    SAME = "robotspec/dry_run/same"
    REFUSE = "robotspec/dry_run/we_would_refuse"
    ALLOW = "robotspec/dry_run/we_would_allow"
    WAIT = "robotspec/dry_run/we_would_wait"
    NOT_COMPARED = "robotspec/dry_run/not_compared"

    @property
    def words(self) -> str:
        """For people."""
        return self.value.rpartition("/")[2].replace("_", " ")


class DifferenceCounts:
    """Counts comparisons in *stats*, and logs the first differences of each kind."""

    def __init__(self, stats: StatsCollector) -> None:
        self._stats = stats
        self._counts: Counter[Difference] = Counter()

    def compared(self, request: Request, *, allowed: bool, ours: bool, detail: str) -> None:
        """Count *request* by both decisions: Scrapy's, *allowed*, and *ours*."""
        if ours is allowed:
            self.add(Difference.SAME, request, detail)
        else:
            self.add(Difference.ALLOW if ours else Difference.REFUSE, request, detail)

    def add(self, difference: Difference, request: Request, detail: str) -> None:
        """Count one comparison."""
        self._counts[difference] += 1
        self._stats.inc_value(difference.value)
        if difference is not Difference.SAME and self._counts[difference] <= _EXAMPLES:
            logger.info("Dry run: %s: %s (%s)", difference.words, request, detail)

    def take_back(self, difference: Difference) -> None:
        """Undo one count: the page's response has changed the result."""
        self._counts[difference] -= 1
        self._stats.inc_value(difference.value, -1)

    def log_summary(self) -> None:
        """Log all counts in one line."""
        counts = [f"{self._counts[each]:,} {each.words}" for each in Difference]
        logger.info("Dry run of RobotSpecMiddleware, in requests: %s", ", ".join(counts))
