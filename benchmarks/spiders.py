"""The spider of the crawl benchmarks: many requests, and the processor time they took."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from scrapy import Request, signals

from tests.support.spiders import Noting

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self


#: Requests to each origin before the clock starts, its robots.txt included where that is asked for:
#: what is done once for an origin is done then, and both sides have sent as many. The more requests
#: a process has had, the longer its garbage collector takes, whatever they were for.
WARM_UP = 4


class Steady(Noting):
    """Asks every origin for some pages first, then measures what pages cost."""

    name = "steady"

    async def start(self) -> AsyncIterator[Request]:
        self.origins: list[str] = self.job["requests"]
        pages = WARM_UP - self.settings.getbool("ROBOTSTXT_OBEY")
        self.left = pages * len(self.origins)
        for n in range(pages):
            for origin in self.origins:
                yield Request(f"{origin}/first{n}", self.warmed)

    def warmed(self, response: Response) -> Iterator[Request]:
        self.left -= 1
        if self.left:
            return
        pages: int = self.job["pages"]
        self.left = pages
        self.begun = time.process_time()
        for n in range(pages):
            yield Request(f"{self.origins[n % len(self.origins)]}/p{n}", self.got)

    def got(self, response: Response) -> Any:
        self.left -= 1
        if not self.left:
            took = time.process_time() - self.begun
            self.note("measured", microseconds=1e6 * took / self.job["pages"])


class FirstVisits(Noting):
    """Requests one page of each origin, and measures until everything is written."""

    name = "first_visits"

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.stopped, signals.engine_stopped)
        return spider

    async def start(self) -> AsyncIterator[Request]:
        origins: list[str] = self.job["requests"]
        self.left = WARM_UP
        for origin in origins[:WARM_UP]:
            yield Request(f"{origin}/first", self.warmed)

    def warmed(self, response: Response) -> Iterator[Request]:
        self.left -= 1
        if self.left:
            return
        self.begun = time.process_time()
        for origin in self.job["requests"][WARM_UP:]:
            yield Request(f"{origin}/page")

    def parse(self, response: Response) -> None:
        """Count nothing: the crawl ends with its last page."""

    def stopped(self) -> None:
        took = time.process_time() - self.begun
        visits = len(self.job["requests"]) - WARM_UP
        self.note("measured", microseconds=1e6 * took / visits)
