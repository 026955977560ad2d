"""A script that runs crawls in its own event loop: ``runner_script.py CACHE URL…``.

Two crawls at once, then a third. It prints how requests ended.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.http import Response
from twisted.python.failure import Failure

ENDS: Counter[str] = Counter()


class Counting(Spider):
    """Counts how its requests end."""

    name = "counting"

    async def start(self) -> AsyncIterator[Request]:
        for url in sys.argv[2:]:
            yield Request(url, errback=self.failed)

    def parse(self, response: Response, **kwargs: Any) -> None:
        ENDS["response"] += 1

    def failed(self, failure: Failure) -> None:
        ENDS[type(failure.value).__name__] += 1


async def main() -> None:
    """Run the crawls."""
    settings = {
        "ADDONS": {"scrapy_robotspec.Addon": 500},
        "ROBOTSTXT_OBEY": True,
        "ROBOTSPEC_CACHE": sys.argv[1],
        "ROBOTSPEC_CRAWL_DELAY": True,
        "USER_AGENT": "examplebot/1.0",
        "TWISTED_REACTOR_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
    }
    runner = AsyncCrawlerRunner(settings)
    await asyncio.gather(runner.crawl(Counting), runner.crawl(Counting))
    await runner.crawl(Counting)


if __name__ == "__main__":
    asyncio.run(main())
    sys.stdout.write(json.dumps(ENDS))
