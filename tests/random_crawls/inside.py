"""Runs inside the crawl, as ``python -m``: the spider, and its processes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from scrapy import Request, Spider, crawler
from scrapy.http import Response
from scrapy.utils.project import get_project_settings
from twisted.python.failure import Failure

from tests.crawl.middlewares import CANCELLED, download, sleep
from tests.support.crawl import MODES
from tests.support.event_log import Notebook, read_job


class RandomSpider(Spider):
    """Sends the pages of its ``job``, and notes how each ends."""

    job: dict[str, Any]

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.note = Notebook(read_job()["notes"]).note

    def pages(self, via: str) -> list[dict[str, Any]]:
        """The pages that are requested in one way, the first time."""
        pages: list[dict[str, Any]] = self.job["pages"].pop(via, [])
        return pages

    def request(self, page: dict[str, Any]) -> Request:
        self.note("given", id=page["id"])
        meta = {key: page[key] for key in ("id", "meddling", "proxy") if page[key] is not None}
        if page["tokens"]:
            meta["robotspec_user_agent_token"] = list(page["tokens"])
        if page["exempt"]:
            meta["dont_obey_robotstxt"] = True
        url, priority = page["url"], page["priority"]
        return Request(url, self.got, errback=self.failed, meta=meta, priority=priority)

    async def start(self) -> AsyncIterator[Request]:
        for page in self.pages("start"):
            yield self.request(page)
        with suppress(*CANCELLED):  # without a reactor, when the spider closes
            for page in self.pages("late"):
                await sleep(0.1)
                yield self.request(page)

    async def got(self, response: Response) -> AsyncIterator[Request]:
        self._end(response.meta["id"])
        for page in self.pages("link"):
            yield self.request(page)
        for page in self.pages("inline"):
            await self._inline(page)

    async def _inline(self, page: dict[str, Any]) -> None:
        error = None
        try:
            await download(self.crawler.engine, self.request(page))
        except Exception as raised:
            error = raised
        self._end(page["id"], error)

    def failed(self, failure: Failure) -> None:
        self._end(failure.request.meta["id"], failure.value)  # type: ignore[attr-defined]

    def _end(self, number: int, error: object = None) -> None:
        self.note("end", id=number, spider=self.name, error=type(error).__name__, text=str(error))


def _main() -> None:
    """Run the spiders of the job as ``scrapy crawl`` does."""
    settings = get_project_settings()
    kind = crawler.CrawlerProcess
    has_reactor = settings.getbool("TWISTED_REACTOR_ENABLED", True)
    if not has_reactor or settings["TWISTED_REACTOR"] == MODES["asyncio"]["TWISTED_REACTOR"]:
        kind = getattr(crawler, "AsyncCrawlerProcess", kind)
    process = kind(settings)
    for name, job in read_job()["spiders"].items():
        members = {"name": name, "custom_settings": job["settings"], "job": job}
        process.crawl(type("Spider", (RandomSpider,), members))
    process.start()


if __name__ == "__main__":
    _main()
