"""Answers to what spiders ask the middleware beside decisions; few ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import Request

from scrapy_robotspec.protocol.groups import read_sitemaps
from scrapy_robotspec.protocol.usage import Usage

if TYPE_CHECKING:
    from scrapy_robotspec.plugin.robots import CrawlRobots


async def sitemaps(robots: CrawlRobots, url: str) -> tuple[str, ...]:
    """The sitemaps that the robots.txt for *url* names (SIT-01, SIT-03)."""
    request = Request(url)
    found = await robots.rules(request)
    if found is None:
        return ()
    return read_sitemaps(found.body, found.edition, str(robots.policy.origin(request)))


async def crawl_delay(robots: CrawlRobots, url: str) -> float | None:
    """The crawl-delay for *url* in seconds (EXT-01); None: none is stated."""
    request = Request(url)
    origin = robots.policy.origin(request)
    override = None if origin is None else robots.policy.override(origin)
    if override is not None and override.crawl_delay is not None:
        return override.crawl_delay
    found = await robots.rules(request)
    return None if found is None else found.crawl_delay(robots.tokens.select(request))


async def usage(robots: CrawlRobots, url: str) -> Usage:
    """The usage preferences that robots.txt states for *url* (USE-01); empty for none."""
    request = Request(url)
    found = await robots.rules(request)
    if found is not None:
        return found.usage(request.url, robots.tokens.select(request))
    return Usage(applies=(await robots.decide(request)).allowed)
