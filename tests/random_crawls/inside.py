"""Runs inside the crawl, as ``python -m``: spider, middlewares, scheduler and witness."""

from __future__ import annotations

import asyncio
import gc
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from scrapy import Request, Spider, crawler, signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider, IgnoreRequest
from scrapy.http import Response, TextResponse
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from scrapy.utils.project import get_project_settings
from twisted.internet.defer import CancelledError
from twisted.python.failure import Failure
from typing_extensions import Self

from scrapy_robotspec import Origin
from tests.crawl.middlewares import sleep
from tests.support.crawl import MODES
from tests.support.event_log import Notebook, read_job

#: Contains the name of the crawl, in every request.
CRAWL_HEADER = "X-Crawl"
_CANCELLED = (asyncio.CancelledError, CancelledError)
#: Seconds between two beats, and the delay of one that is noted.
_BEAT, _LATE = 0.05, 0.15
#: Seconds for which a spider stays open after its last request, if it does.
_LINGERS = 2.0


class RandomSpider(Spider):
    """Sends the pages of its ``job``, and notes how each ends."""

    job: dict[str, Any]

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.note = Notebook(read_job()["notes"]).note

    def requests(self, via: str) -> list[Request]:
        """The requests that are made in one way, the first time."""
        return [self.request(page) for page in self.job["pages"].pop(via, [])]

    def request(self, page: dict[str, Any]) -> Request:
        meta = {key: page[key] for key in ("id", "meddling", "proxy") if page[key] is not None}
        if page["tokens"]:
            meta["robotspec_user_agent_token"] = list(page["tokens"])
        if page["exempt"]:
            meta["dont_obey_robotstxt"] = True
        url, priority = page["url"], page["priority"]
        return Request(url, self.got, errback=self.failed, meta=meta, priority=priority)

    def given(self, request: Request) -> Request:
        self.note("given", id=request.meta["id"])
        return request

    async def start(self) -> AsyncIterator[Request]:
        for request in self.requests("start"):
            yield self.given(request)
        with suppress(*_CANCELLED):  # without a reactor, when the spider closes
            for request in self.requests("late"):
                await sleep(0.1)
                yield self.given(request)

    async def got(self, response: Response) -> AsyncIterator[Request]:
        self._end("response", response.meta["id"])
        for request in self.requests("link"):
            yield self.given(request)
        for request in self.requests("inline"):
            await self._inline(self.given(request))

    def failed(self, failure: Failure) -> None:
        self._end("error", failure.request.meta["id"], failure.value)  # type: ignore[attr-defined]

    async def _inline(self, request: Request) -> None:
        engine: Any = self.crawler.engine
        try:
            if hasattr(engine, "download_async"):  # from 2.14
                await engine.download_async(request)
            else:
                await maybe_deferred_to_future(engine.download(request))
        except Exception as error:
            self._end("error", request.meta["id"], error)
        else:
            self._end("response", request.meta["id"])

    def _end(self, kind: str, number: int, error: object = None) -> None:
        self.note(kind, id=number, spider=self.name, error=type(error).__name__, text=str(error))


class Meddling:
    """A middleware that does to a page, once, what its plan says for this place."""

    place = ""

    def __init__(self, name: str) -> None:
        self._name = name

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler.settings["CRAWL_NAME"])

    async def process_request(self, request: Request, spider: Spider | None = None) -> Any:
        request.headers[CRAWL_HEADER] = self._name
        return await self._meddle(self.place, request, None)

    async def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Any:
        return await self._meddle(f"back-{self.place}", request, response)

    async def _meddle(self, place: str, request: Request, response: Response | None) -> Any:
        acts = dict(request.meta.get("meddling", ()))
        act = acts.pop(place, None)
        if act is None:
            return response
        request.meta["meddling"] = acts
        if act == "drop":
            raise IgnoreRequest("not this one")
        if act == "answer":
            return TextResponse(request.url, body=b"made up", request=request)
        if act == "wait":
            await sleep(0.3)
            return response
        scheme, _, host, section, *rest = request.url.split("/")
        section = "b" if act == "replace" else section
        return request.replace(url="/".join([scheme, "", host, section, *rest]), dont_filter=True)


class Before(Meddling):
    """Nearer to the engine than ours."""

    place = "before"


class After(Meddling):
    """Nearer to the downloader than ours."""

    place = "after"


class ListScheduler(BaseScheduler):
    """A foreign scheduler: first in, first out, in memory, without a duplicates filter."""

    def __init__(self) -> None:
        self._queue: deque[Request] = deque()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls()

    def has_pending_requests(self) -> bool:
        return bool(self._queue)

    def enqueue_request(self, request: Request) -> bool:
        self._queue.append(request)
        return True

    def next_request(self) -> Request | None:
        return self._queue.popleft() if self._queue else None


class Witness:
    """An extension: notes when the event loop stood still, tables of origins, and the stats."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._note = Notebook(read_job()["notes"]).note
        self._lingers: bool = read_job()["lingers"]
        self._is_running = True
        crawler.signals.connect(self._open, signals.spider_opened)
        crawler.signals.connect(self._idle, signals.spider_idle)
        crawler.signals.connect(self._stop, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _open(self) -> None:
        deferred_from_coro(self._beat())

    async def _beat(self) -> None:
        with suppress(*_CANCELLED):  # the event loop ends
            await sleep(_BEAT)
            self._note("opened")
            while self._is_running:
                began = time.time()
                await sleep(_BEAT)
                if time.time() > began + _LATE:
                    self._note("stall", began=began, ended=time.time())

    def _idle(self) -> None:
        if self._lingers:
            self._lingers = False
            deferred_from_coro(self._close_later())
        if read_job()["lingers"]:
            raise DontCloseSpider

    async def _close_later(self) -> None:
        """Look what is kept when nothing has happened for a while."""
        with suppress(*_CANCELLED):
            await sleep(_LINGERS)
        gc.collect()
        tables = [each for each in gc.get_objects() if isinstance(each, dict)]
        kept = [each for each in tables if any(isinstance(key, Origin) for key in list(each)[:1])]
        values = {type(value).__name__ for table in kept for value in list(table.values())}
        self._note("tables", values=sorted(values))
        engine: Any = self._crawler.engine
        with suppress(RuntimeError):  # something else closes the spider
            if hasattr(engine, "close_spider_async"):  # from 2.14
                await engine.close_spider_async(reason="finished")
            else:
                await maybe_deferred_to_future(engine.close_spider(self._crawler.spider))

    def _stop(self) -> None:
        self._is_running = False
        assert self._crawler.stats is not None
        stats = self._crawler.stats.get_stats()
        self._note("closed", spider=getattr(self._crawler.spider, "name", None), stats=stats)


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
