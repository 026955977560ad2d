"""TolerantStats: Scrapy's stats, whose failures cost one log line.

A collector that writes to a database may fail. Then counts are missing, and nothing else.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.statscollectors import StatsCollector

logger = logging.getLogger("scrapy_robotspec")


class TolerantStats:
    """Counts in *stats*; see Scrapy's ``StatsCollector``."""

    def __init__(self, stats: StatsCollector) -> None:
        self._stats = stats
        self._has_failed = False

    def inc_value(self, key: str, count: int = 1) -> None:
        self._try(self._stats.inc_value, key, count)

    def set_value(self, key: str, value: Any) -> None:
        self._try(self._stats.set_value, key, value)

    def max_value(self, key: str, value: Any) -> None:
        self._try(self._stats.max_value, key, value)

    def _try(self, call: Callable[..., None], key: str, value: Any) -> None:
        try:
            call(key, value)
        except Exception as error:
            if not self._has_failed:
                self._has_failed = True
                logger.error(
                    "%s of STATS_CLASS fails (%s: %s): counts of robots.txt are incomplete",
                    type(self._stats).__name__,
                    type(error).__name__,
                    error,
                )
