"""SitemapsFromRobots: which sitemaps its crawl begins with."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from scrapy import Request, version_info
from scrapy.exceptions import IgnoreRequest

from scrapy_robotspec import ConfigurationError, RobotSpecMiddleware
from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.plugin.spiders import SitemapsFromRobots
from tests.unit.plugin.scheduling.crawlers import crawler_with, crawler_with_engine

if version_info < (2, 15):
    pytest.skip("Scrapy before 2.15 awaits no future without its reactor", allow_module_level=True)

SITEMAPS: dict[str, tuple[str, ...] | Exception] = {
    "http://a.example/": ("http://a.example/1.xml", "http://a.example/2.xml"),
    "http://none.example/": (),
    "http://closed.example/": IgnoreRequest("the spider was closed"),
    "bad": ValueError("Missing scheme in request url: bad"),
    "http://odd.example/": ("http://[odd/", "file:///map.xml", "http://odd.example/1.xml"),
}
WARNING = "No sitemap can be followed"


def begin(monkeypatch: pytest.MonkeyPatch, origins: Any, urls: tuple[str, ...] = ()) -> list[str]:
    """The URLs of the requests that the spider begins with."""

    async def sitemaps(self: RobotSpecMiddleware, url: str) -> tuple[str, ...]:
        found = SITEMAPS[url]
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(RobotSpecMiddleware, "sitemaps", sitemaps)
    crawler = crawler_with_engine()
    spider = SitemapsFromRobots.from_crawler(
        crawler, "example", sitemap_origins=origins, sitemap_urls=urls
    )

    async def start() -> list[str]:
        found: list[Request] = [request async for request in spider.start()]
        return [request.url for request in found]

    return asyncio.run(start())


@pytest.mark.parametrize(
    ("origins", "urls", "begun", "logged"),
    [
        (["http://a.example/"], (), ["http://a.example/1.xml", "http://a.example/2.xml"], []),
        (["http://none.example/"], (), [], [WARNING]),
        (["http://none.example/"], ("http://b.example/",), ["http://b.example/"], []),
        (["http://closed.example/"], (), [], []),
        (["bad"], (), [], ["sitemap_origins contains 'bad'", WARNING]),
        (["http://odd.example/"], (), ["http://odd.example/1.xml"], ["The sitemap 'http://[odd/'"]),
        ([], (), [], ["SitemapsFromRobots has no origins"]),
        (
            ["http://none.example/"] * 70 + ["http://a.example/"],
            (),
            ["http://a.example/1.xml", "http://a.example/2.xml"],
            [],
        ),
    ],
)
def test_the_crawl_begins_with_the_sitemaps_that_are_named(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    origins: list[str],
    urls: tuple[str, ...],
    begun: list[str],
    logged: list[str],
) -> None:
    caplog.set_level("WARNING")
    assert begin(monkeypatch, origins, urls) == begun
    lines = [record.getMessage() for record in caplog.records if record.name == "example"]
    assert len(lines) == len(logged)
    assert all(line.startswith(words) for line, words in zip(lines, logged, strict=True))


def test_origins_without_sitemaps_are_counted_by_their_answers(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Those that name sitemaps are not asked again."""
    asked: list[str] = []

    async def decision(self: RobotSpecMiddleware, url: str) -> Decision:
        asked.append(url)
        outcome = "unreachable" if "down" in url else "successful"
        origin = Origin("http", "a.example", 80)
        return Decision(
            False, "unreachable", None, outcome, 503, None, (), origin, "HTTP status 503"
        )

    monkeypatch.setattr(RobotSpecMiddleware, "decision", decision)
    monkeypatch.setitem(SITEMAPS, "http://down.example/", ())
    none, down = "http://none.example/", "http://down.example/"
    begin(monkeypatch, [none, down, none])
    assert asked == [none, down, none]
    assert (
        "robots.txt: names no sitemap 2, robots.txt unreachable: HTTP status 503 1. Give"
        in caplog.text
    )
    assert begin(monkeypatch, ["http://a.example/"]) != []
    assert len(asked) == 3
    begin(monkeypatch, ["bad"])
    assert "robots.txt: none. Give" in caplog.text


def test_pages_of_other_schemes_are_left_out() -> None:
    """A sitemap may name a local file."""
    page, other = "https://a.example/", "file:///etc/motd"
    good: list[dict[str, Any]] = [{"loc": page}, {"loc": page, "alternate": [page]}]
    bad: list[dict[str, Any]] = [{"loc": other}, {"loc": page, "alternate": [page, other]}]
    assert list(SitemapsFromRobots("example").sitemap_filter([*bad, *good])) == good


def test_one_url_in_the_place_of_a_list_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match="give a list of URLs"):
        begin(monkeypatch, "http://a.example/")


def test_the_add_on_is_needed() -> None:
    crawler = crawler_with({})
    spider = SitemapsFromRobots.from_crawler(crawler, "example", sitemap_origins=["http://a/"])
    crawler.spider = spider
    crawler.engine = crawler._create_engine()

    async def start() -> None:
        async for _ in spider.start():
            pass

    with pytest.raises(ConfigurationError, match=r"put scrapy_robotspec\.Addon into ADDONS"):
        asyncio.run(start())
