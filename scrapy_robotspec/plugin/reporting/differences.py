"""Differences between Scrapy's decisions and ours, counted and logged."""

from __future__ import annotations

import logging
from collections import Counter
from enum import Enum
from typing import TYPE_CHECKING

from scrapy_robotspec.plugin.exceptions import refusal
from scrapy_robotspec.plugin.reporting.counts import Counts
from scrapy_robotspec.plugin.reporting.stats import shown_request

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.statscollectors import StatsCollector

    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.override import Override

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
        self.rows = Counts()
        """Counts our decisions for the report, if there is one."""
        self._stats = stats
        self._counts: Counter[Difference] = Counter()

    def compared(
        self, request: Request, ours: Decision, override: Override | None, *, allowed: bool
    ) -> None:
        """Count *request* by both decisions: Scrapy's, *allowed*, and *ours*."""
        replaced = override is not None and ours.reason == "override"
        detail = "by ROBOTSPEC_OVERRIDES" if replaced else _detail(ours)
        if ours.allowed is allowed:
            self.add(Difference.SAME, request, detail)
        else:
            self.add(Difference.ALLOW if ours.allowed else Difference.REFUSE, request, detail)
        if ours.origin is None:
            return
        if override is not None:
            self.rows.overridden(override.kinds, ours.origin)
        if ours.allowed:
            self.rows.let_through(ours.origin)
        else:
            self.rows.refused(ours, request.url)

    def refused_by_header(self, request: Request, ours: Decision) -> None:
        """*ours* refuses the page of *request*, by its header.

        The request was counted as the same before.
        """
        self._counts[Difference.SAME] -= 1
        self._stats.inc_value(Difference.SAME.value, -1)
        self.add(Difference.REFUSE, request, _detail(ours))
        if ours.origin is not None:
            self.rows.revoked(ours.origin)
            self.rows.refused(ours, request.url)

    def would_wait(self, request: Request, origin: Origin, failure: str) -> None:
        """Ours would let *request* wait until *origin* answers."""
        self.add(Difference.WAIT, request, failure)
        self.rows.waited(origin, 1)

    def add(self, difference: Difference, request: Request, detail: str) -> None:
        """Count one comparison."""
        self._counts[difference] += 1
        self._stats.inc_value(difference.value)
        if difference is not Difference.SAME and self._counts[difference] <= _EXAMPLES:
            shown = shown_request(request)
            logger.info("Dry run: %s: %s (%s)", difference.words, shown, detail)

    def by_words(self) -> dict[str, int]:
        """All counts, by words for people."""
        return {each.words: self._counts[each] for each in Difference}

    def log_summary(self) -> None:
        """Log all counts in one line."""
        counts = [f"{count:,} {words}" for words, count in self.by_words().items()]
        logger.info("Dry run of RobotSpecMiddleware, in requests: %s", ", ".join(counts))


def _detail(decision: Decision) -> str:
    """The reason in a few words."""
    if decision.usage is not None:
        return decision.usage.detail
    return decision.reason if decision.allowed else str(refusal(decision))
