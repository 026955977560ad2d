"""Settings of Scrapy's that change how requests are sent or where responses come from."""

from __future__ import annotations

from pathlib import Path

from tests.plugins.sites import QUICK, Sites
from tests.support.crawl import crawl
from tests.support.server import Server


def test_concurrent_requests_per_ip_needs_another_queue(server: Server) -> None:
    sites = Sites(server)
    settings = {
        **QUICK,
        "CONCURRENT_REQUESTS_PER_IP": 2,
        "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue",
    }
    sites.check(crawl(sites.urls, settings))


def test_autothrottle(server: Server) -> None:
    sites = Sites(server)
    settings = {**QUICK, "AUTOTHROTTLE_ENABLED": True, "AUTOTHROTTLE_START_DELAY": 0.01}
    sites.check(crawl(sites.urls, settings))


def test_http_cache_holds_pages_and_no_robots_txt(server: Server, tmp_path: Path) -> None:
    sites = Sites(server)
    settings = {**QUICK, "HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path)}
    sites.check(crawl(sites.urls, settings))
    again = crawl(sites.urls, settings)
    sites.check(again)  # no page was asked for a second time
    assert again.stats["httpcache/hit"] == len(again.responses) == 40
    assert len(sites.by_name["rules"].robots_asked) == 2
