"""Spidermon: monitors see the stats about robots.txt."""

from __future__ import annotations

from tests.plugins.sites import QUICK, Sites, need
from tests.support.crawl import crawl
from tests.support.server import Server

need("spidermon", "spidermon")

#: Holds of the crawl below; the last one does not.
EXPRESSIONS = [
    "stats['robotstxt/forbidden'] == 30",
    "stats['robotspec/waiting'] == 0",
    "stats['robotspec/pending'] == 0",
    "stats['robotspec/unreachable'] > 0",
    "stats['robotstxt/forbidden'] == 0",
]


def test_monitors_read_the_stats_at_the_end(server: Server) -> None:
    sites = Sites(server)
    tests = [{"name": f"test {n}", "expression": text} for n, text in enumerate(EXPRESSIONS)]
    settings = {
        **QUICK,
        "EXTENSIONS": {
            "tests.support.event_log.Notes": 0,
            "spidermon.contrib.scrapy.extensions.Spidermon": 500,
        },
        "SPIDERMON_ENABLED": True,
        "SPIDERMON_SPIDER_CLOSE_EXPRESSION_MONITORS": [{"name": "robots.txt", "tests": tests}],
    }
    result = crawl(sites.urls, settings)
    assert len(result.lines("[Spidermon]", "... OK")) == 4
    assert len(result.lines("[Spidermon]", "... FAIL")) == 1
    assert sites.pages_asked("rules") == [f"/yes{n}" for n in range(5)]
