"""Idea 8: a spider can begin with the sitemaps that a robots.txt names, and follow no link."""

from collections.abc import AsyncIterator
from typing import Any

from scrapy.http import Response

from example.base import ExampleSpider
from scrapy_robotspec import SitemapsFromRobots


class SitemapsSpider(SitemapsFromRobots, ExampleSpider):
    """Crawls what the sitemap lists; the rules hold for the sitemap and for each page of it."""

    name = "robots_08_sitemaps"
    cases = ("listed",)

    async def start(self) -> AsyncIterator[Any]:
        """``sitemap_origins`` is a list of the class mostly; here it is known only now."""
        self.sitemap_origins = list(self.front_pages())
        async for request in super().start():
            yield request

    async def parse(self, response: Response) -> None:
        """The page alone."""
        await self.crawled(response)
