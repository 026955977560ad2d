"""scrapy-poet: page objects, and what they download themselves."""

from __future__ import annotations

from typing import Any

from tests.plugins.sites import QUICK, RULES, Sites, need
from tests.support.crawl import crawl
from tests.support.server import Server

need("scrapy_poet", "scrapy-poet")

SETTINGS = {
    **QUICK,
    "ADDONS": {"scrapy_robotspec.Addon": 500, "scrapy_poet.Addon": 300},
    "SPIDER_MODULES": ["tests.plugins.spiders"],
}


def test_pages_of_page_objects_obey_robots_txt(server: Server) -> None:
    sites = Sites(server)
    sites.check(crawl(sites.urls, SETTINGS, spider="with_page_objects"))


def test_downloads_of_a_page_object_obey_robots_txt(server: Server) -> None:
    """The robots.txt of another origin is fetched for them."""
    site = server.site("127.0.0.2", RULES)
    other = server.site("127.0.0.3", RULES)
    inner = [site.url("/no"), other.url("/no"), other.url("/yes")]
    more: dict[str, Any] = {"inner": inner}
    result = crawl([site.url("/yes")], SETTINGS, spider="with_page_objects", more=more)
    statuses = [[*map(list, event["inner"].items())] for event in result.of("inner")]
    assert statuses == [[[inner[0], "HttpError"], [inner[1], "HttpError"], [inner[2], "200"]]]
    assert (site.pages_asked, other.pages_asked) == (["/yes"], ["/yes"])
    assert len(other.robots_asked) == 1
