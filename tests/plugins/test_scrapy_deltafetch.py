"""scrapy-deltafetch: pages with items of an earlier crawl are left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scrapy import version_info

from tests.plugins.sites import QUICK, RULES, need
from tests.support.crawl import crawl
from tests.support.server import Server

need("scrapy_deltafetch", "scrapy-deltafetch")


def settings_in(folder: Path) -> dict[str, Any]:
    return {
        **QUICK,
        "SPIDER_MODULES": ["tests.plugins.spiders"],
        "SPIDER_MIDDLEWARES": {"scrapy_deltafetch.DeltaFetch": 100},
        "DELTAFETCH_ENABLED": True,
        "DELTAFETCH_DIR": str(folder),
    }


@pytest.mark.skipif(version_info < (2, 16), reason="the crawl starts")
def test_the_crawl_does_not_start(server: Server, tmp_path: Path) -> None:
    """When this fails, the page has to say which Scrapy the plugin works with."""
    more = {"start": server.site().url("/index")}
    result = crawl([], settings_in(tmp_path), spider="with_items", more=more)
    assert result.lines("DeltaFetch doesn't support asynchronous spider output")
    assert not result.ends


@pytest.mark.skipif(
    version_info >= (2, 16), reason="scrapy-deltafetch 2.1.0 does not work with Scrapy 2.16"
)
def test_only_pages_with_items_are_left_out(server: Server, tmp_path: Path) -> None:
    """Refused pages have none, so each crawl decides about them again."""
    site = server.site("127.0.0.2", RULES)
    urls = [site.url(path) for path in ("/yes1", "/yes2", "/no1", "/no2")]
    more = {"start": site.url("/index")}
    for crawled in (["/index", "/yes1", "/yes2"], ["/index"]):
        site.log.clear()
        result = crawl(urls, settings_in(tmp_path), spider="with_items", more=more)
        assert sorted(site.pages_asked) == crawled
        assert len(site.robots_asked) == 1
        assert sorted(result.errors) == sorted(urls[2:])
    assert result.stats["deltafetch/skipped"] == 2
