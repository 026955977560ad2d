"""Idea 7: a spider can ask first, for a verdict, the sitemaps and the crawl delay."""

from collections.abc import AsyncIterator
from typing import Any

from scrapy.http import Response

from example.base import ExampleSpider
from example.responses import PLAIN_PAGES


class AskSpider(ExampleSpider):
    """Asks about each page before it makes a request of it, and about what else the file says."""

    name = "robots_07_ask"
    cases = ("plain",)

    async def start(self) -> AsyncIterator[Any]:
        """Requests only for what is allowed."""
        for front in self.front_pages():
            self.logger.info("sitemaps: %s", await self.robots.sitemaps(front))
            self.logger.info("crawl delay: %s", await self.robots.crawl_delay(front))
            for path in PLAIN_PAGES if not self.url else ["/"]:
                url = front.rstrip("/") + path
                decision = await self.robots.decision(url)
                if decision.allowed:
                    yield self.page(url)
                else:
                    self.refuse(url, decision)

    async def parse(self, response: Response) -> None:
        """The page alone: no link is followed, as no decision was made about it."""
        await self.crawled(response)
