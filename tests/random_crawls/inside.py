"""Runs inside the crawl, as ``python -m``: the spider, and its processes."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from signal import Signals
from threading import Timer
from typing import Any

from scrapy import Request, Spider, crawler, signals
from scrapy.downloadermiddlewares.retry import get_retry_request
from scrapy.http import Response
from scrapy.utils.project import get_project_settings
from twisted.python.failure import Failure

from scrapy_robotspec.plugin import _compat
from tests.crawl.middlewares import CANCELLED, download, sleep
from tests.support.crawl import MODES
from tests.support.event_log import Notebook, read_job


class RandomSpider(Spider):
    """Sends the pages of its ``job``, and notes how each ends."""

    job: dict[str, Any]
    note: Callable[..., None]

    def requests(self, via: str) -> Iterator[Request]:
        """The requests for pages that are requested in one way, the first time."""
        for page in self.job["pages"].pop(via, ()):
            self.note("given", id=page["meta"]["id"])
            values = {name: page[name] for name in ("url", "priority", "meta")}
            yield Request(**values, callback=self.got, errback=self.failed)

    async def start(self) -> AsyncIterator[Request]:
        if self.job["stop"]:
            stop = Timer(self.job["at"], os.kill, (os.getpid(), Signals[self.job["stop"]]))
            stop.daemon = True
            stop.start()
        engine: Any = self.crawler.engine
        if pause := self.job["pause"]:
            _compat.call_later(pause[0], engine.pause)
            _compat.call_later(pause[1], engine.unpause)
        self.crawler.signals.connect(self.idle, signals.spider_idle)
        for request in self.requests("start"):
            yield request
        with suppress(*CANCELLED):  # without a reactor, when the spider closes
            for request in self.requests("late"):
                yield request
                await sleep(0.1)

    def idle(self) -> None:
        """Send more, as spiders do that read from a queue."""
        engine: Any = self.crawler.engine
        for request in self.requests("idle"):
            engine.crawl(request)

    async def got(self, response: Response) -> AsyncIterator[Request]:
        request = response.request
        assert request is not None
        again = None
        if request.meta.pop("again", None):
            again = get_retry_request(request, spider=self, reason="as the page says")
        if again is not None:
            yield again
        else:
            self._end(response.meta["id"])
        for request in self.requests("link"):
            yield request
        for request in self.requests("inline"):
            error = None
            try:
                await download(self.crawler.engine, request)
            except Exception as raised:
                error = raised
            self._end(request.meta["id"], error)

    def failed(self, failure: Failure) -> None:
        self._end(failure.request.meta["id"], failure.value)  # type: ignore[attr-defined]

    def _end(self, number: int, error: object = None) -> None:
        self.note("end", id=number, spider=self.name, error=type(error).__name__, text=str(error))


def _main() -> None:
    """Run the spiders of the job as ``scrapy crawl`` does."""
    settings = get_project_settings()
    kind = crawler.CrawlerProcess
    if settings["TWISTED_REACTOR"] != MODES["select"]["TWISTED_REACTOR"]:
        kind = getattr(crawler, "AsyncCrawlerProcess", kind)  # from 2.14
    process = kind(settings)
    note = Notebook(read_job()["notes"]).note
    for name, job in read_job()["spiders"].items():
        members = {"name": name, "custom_settings": job["settings"]}
        process.crawl(type("Spider", (RandomSpider,), members), job=job, note=note)
    process.start()


if __name__ == "__main__":
    _main()
