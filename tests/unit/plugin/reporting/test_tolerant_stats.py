"""Stats of a collector that works, and of one that fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.test import get_crawler

from scrapy_robotspec.plugin.reporting.tolerant_stats import TolerantStats

if TYPE_CHECKING:
    import pytest


class Failing(MemoryStatsCollector):
    """A collector whose database is down."""

    def inc_value(self, *args: Any, **kwargs: Any) -> None:
        raise ConnectionError("no database")

    set_value = max_value = inc_value


def count(stats: TolerantStats) -> None:
    stats.inc_value("a")
    stats.inc_value("a", 2)
    stats.set_value("b", 5)
    stats.max_value("c", 7)
    stats.max_value("c", 6)


def test_counts_reach_the_collector(caplog: pytest.LogCaptureFixture) -> None:
    collector = MemoryStatsCollector(get_crawler())
    count(TolerantStats(collector))
    assert collector.get_stats() == {"a": 3, "b": 5, "c": 7}
    assert caplog.records == []


def test_a_collector_that_fails_costs_one_line(caplog: pytest.LogCaptureFixture) -> None:
    count(TolerantStats(Failing(get_crawler())))
    (record,) = caplog.records
    assert record.getMessage() == (
        "Failing of STATS_CLASS fails (ConnectionError: no database): counts of robots.txt are "
        "incomplete"
    )
