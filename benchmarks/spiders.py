"""The spider of the crawl benchmarks: many requests, and the processor time they took."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from scrapy import Request

from tests.harness.spiders import Noting

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response


class Steady(Noting):
    """Asks every origin for one page; when all robots.txt are known, measures what pages cost."""

    name = "steady"

    async def start(self) -> AsyncIterator[Request]:
        self.origins: list[str] = self.job["requests"]
        self.left = len(self.origins)
        for origin in self.origins:
            yield Request(f"{origin}/first", self.warmed, dont_filter=True)

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
