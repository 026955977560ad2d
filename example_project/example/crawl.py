"""One small crawl in a process of its own: settings and URLs in, what was crawled and when out.

``python -m example.crawl JSON`` with ``settings``, ``domains``, and two lists of URLs: ``first``,
and ``then`` for when the first have come to their ends. Prints a line of JSON, URL → end.
It needs no project, so the same crawl runs with this plugin and without it.
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

import scrapy
from scrapy.crawler import CrawlerProcess

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.http import Response
    from twisted.python.failure import Failure


class CrawlSpider(scrapy.Spider):
    """Requests the first URLs at once, then the others, and notes what came back."""

    name = "crawl"
    first: list[str]
    then: list[str]
    ends: dict[str, Any]

    async def start(self) -> AsyncIterator[Any]:
        """Scrapy's entry."""
        self.begin = time.monotonic()
        for url in self.first:
            yield self.page(url)

    def page(self, url: str) -> scrapy.Request:
        """A request that is noted, however it ends."""
        return scrapy.Request(url, self.parse, errback=self.failed)

    def parse(self, response: Response) -> list[scrapy.Request]:
        """A page was crawled."""
        return self.note(response.url, {"crawled": True})

    def failed(self, failure: Failure) -> list[scrapy.Request]:
        """A page was refused."""
        reason = f"{failure.type.__name__}: {failure.value}"
        return self.note(failure.request.url, {"crawled": False, "reason": reason})

    def note(self, url: str, end: dict[str, Any]) -> list[scrapy.Request]:
        """Note an end; after the last of the first pages, the others are due."""
        self.ends[url] = {**end, "seconds": time.monotonic() - self.begin}
        if set(self.first) <= set(self.ends):
            then, self.then = self.then, []
            return [self.page(url) for url in then]
        return []


def main() -> None:
    """Crawl, then print each URL's end."""
    task = json.loads(sys.argv[1])
    ends: dict[str, Any] = {}
    process = CrawlerProcess({"LOG_LEVEL": "CRITICAL", **task["settings"]})
    arguments = {name: task[name] for name in ("first", "then")}
    process.crawl(CrawlSpider, allowed_domains=task["domains"], ends=ends, **arguments)
    process.start()
    print(json.dumps(ends))


if __name__ == "__main__":
    main()
