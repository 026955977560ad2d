"""The spider of the soak test: keeps a number of requests going until its time is over.

What it meets is the servers' business (``soak.py``).
"""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Any

from scrapy import Request

from tests.support.spiders import Noting

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

#: One request of this number is for a page that is disallowed everywhere.
_DISALLOWED = 8


class Soak(Noting):
    """Each request that ends, however it does, brings another one."""

    name = "soak"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.until = time.monotonic() + self.job["seconds"]
        self.chance = random.Random(self.job["seed"])
        self.sent = self.ended = 0

    async def start(self) -> AsyncIterator[Request]:
        for _ in range(self.job["at_once"]):
            yield self._next()

    def _next(self) -> Request:
        self.sent += 1
        path = "/no" if self.chance.randrange(_DISALLOWED) == 0 else f"/{self.chance.random()}"
        url = self.chance.choice(self.job["origins"]) + path
        return Request(url, self._over, errback=self._over, dont_filter=True)

    def _over(self, _: Any) -> None:
        self.ended += 1
        if time.monotonic() < self.until:
            # Not by returning it: Scrapy 2.13 drops what an errback returns.
            assert self.crawler.engine is not None
            self.crawler.engine.crawl(self._next())

    def closed(self, reason: str) -> None:
        self.note("soaked", sent=self.sent, ended=self.ended)
