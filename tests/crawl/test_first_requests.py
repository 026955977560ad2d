"""The first requests of an origin, many at once, before its robots.txt is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.crawl import crawl
from tests.support.responses import after, reply

if TYPE_CHECKING:
    from tests.support.server import Server

#: All requests of a test are in the downloader at once.
AT_ONCE = {"CONCURRENT_REQUESTS": 64, "CONCURRENT_REQUESTS_PER_DOMAIN": 64}


def test_of_twenty_at_once_under_disallow_all_none_is_crawled(server: Server) -> None:
    """RUL-05: Scrapy's own middleware lets most of them through from 2.14 on."""
    site = server.site("127.0.0.2", after(0.3, reply("User-agent: *\nDisallow: /")))
    urls = [site.url(f"/{n}") for n in range(20)]
    result = crawl(urls, AT_ONCE)
    assert site.pages_asked == []
    assert len(site.robots_asked) == 1
    assert result.ended_once(urls)
    assert {error["type"] for error in result.errors.values()} == {"ForbiddenByRobots"}


def test_one_fetch_serves_all_requests_that_wait(server: Server) -> None:
    """CAC-05: one fetch an origin, and each of its requests gets the rules."""
    robots = after(0.2, reply("User-agent: *\nDisallow: /no"))
    sites = [server.site(f"127.0.0.{n}", robots) for n in range(2, 8)]
    urls = [site.url(f"/{kind}{n}") for site in sites for kind in ("yes", "no") for n in range(9)]
    result = crawl(urls, AT_ONCE)
    assert [len(site.robots_asked) for site in sites] == [1] * len(sites)
    assert result.ended_once(urls)
    for site in sites:
        assert sorted(site.pages_asked) == [f"/yes{n}" for n in range(9)]


def test_requests_with_the_stock_queue_of_requests_are_not_lost_either(server: Server) -> None:
    """With a foreign queue class all of them wait in the middleware."""
    site = server.site("127.0.0.2", after(0.3, reply("User-agent: *\nDisallow: /no")))
    urls = [site.url(f"/{kind}{n}") for kind in ("yes", "no") for n in range(20)]
    foreign = {"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue"}
    result = crawl(urls, {**AT_ONCE, **foreign})
    assert result.ended_once(urls)
    assert len(site.robots_asked) == 1
    assert sorted(site.pages_asked) == sorted(f"/yes{n}" for n in range(20))
