"""The order of requests is Scrapy's own, whether their robots.txt is known or not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.crawl import crawl
from tests.support.responses import after, reply
from tests.support.server import Server, Site

RULES = "User-agent: *\nDisallow: /no\n"
#: As Scrapy's documentation has it for crawls in breadth-first order.
BREADTH_FIRST = {
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
}
#: A slot sends a page when the one before has come: else the order of connections decides.
ONE_BY_ONE = {"CONCURRENT_REQUESTS": 1, "CONCURRENT_REQUESTS_PER_DOMAIN": 1}


def entry(url: str, priority: int = 0, slot: str | None = None) -> dict[str, Any]:
    meta = {} if slot is None else {"download_slot": slot}
    return {"url": url, "priority": priority, "meta": meta}


def crawl_in_order(
    entries: list[dict[str, Any]], sites: list[Site], settings: dict[str, Any]
) -> list[str]:
    """The paths of all pages in the order of their requests; the sites' rules are known before."""
    result = crawl(
        entries,
        {**ONE_BY_ONE, **settings},
        spider="all_queued",
        more={"known": known(sites)},
    )
    assert result.ended_once([*(each["url"] for each in entries), *known(sites)])
    pages = [asked for site in sites for asked in site.log]
    paths = [asked.path for asked in sorted(pages, key=lambda asked: asked.at)]
    return [path for path in paths if path not in ("/robots.txt", "/known")]


def known(sites: list[Site]) -> list[str]:
    return [site.url("/known") for site in sites]


@pytest.mark.parametrize("settings", [{}, BREADTH_FIRST], ids=["default", "breadth-first"])
def test_best_priority_of_all_sites_in_a_download_slot_comes_first(
    server: Server, settings: dict[str, Any]
) -> None:
    """As with a proxy: ten sites in one slot, ten pages of priority 100 among 110."""
    sites = [server.site(f"127.0.0.{n}", RULES) for n in range(2, 12)]
    entries = [
        entry(site.url(f"/{n}"), 100 * (n == 7), "proxy") for n in range(11) for site in sites
    ]
    assert crawl_in_order(entries, sites, settings)[:10] == ["/7"] * 10


def test_best_priority_of_two_ports_of_a_host_comes_first(server: Server) -> None:
    with Server() as second:
        sites = [each.site("127.0.0.2", RULES) for each in (server, second)]
        entries = [entry(site.url(f"/{n}"), 100 * (n > 7)) for n in range(10) for site in sites]
        assert set(crawl_in_order(entries, sites, {})[:4]) == {"/8", "/9"}


@pytest.mark.parametrize("slot", [None, "proxy"])
def test_pages_go_in_the_order_of_their_links_with_queues_first_in_first_out(
    server: Server, slot: str | None
) -> None:
    """The first link to a new site, usually its home page, is its first page."""
    robots = after(0.1, reply(RULES))
    sites: list[Site] = [server.site(f"127.0.0.{n}", robots) for n in range(2, 8)]
    entries = [entry(site.url(f"/{n}"), slot=slot) for n in range(5) for site in sites]
    result = crawl(
        entries, {**ONE_BY_ONE, **BREADTH_FIRST}, spider="all_queued", more={"known": []}
    )
    assert result.ended_once([each["url"] for each in entries])
    for site in sites:
        assert site.pages_asked == [f"/{n}" for n in range(5)]
