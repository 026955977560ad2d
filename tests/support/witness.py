"""An extension that notes what only the crawling process knows."""

from __future__ import annotations

import gc
import time
from contextlib import suppress
from typing import Any

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from typing_extensions import Self

from scrapy_robotspec import Origin
from tests.crawl.middlewares import CANCELLED, sleep
from tests.support.event_log import Notebook, read_job

#: Seconds between two beats, and the delay of one that is noted.
_BEAT, _LATE = 0.05, 0.15
#: Seconds for which a spider stays open after its last request, if it does: longer than a slot that
#: is not used, two slots of the longest delay (0.5) and the ``HORIZON`` behind them.
_LINGERS = 3.0


def tables_by_origin() -> list[dict[Any, Any]]:
    """All dicts that have origins as their keys."""
    gc.collect()
    tables = [dict(each) for each in gc.get_objects() if isinstance(each, dict)]
    return [table for table in tables if table and isinstance(next(iter(table)), Origin)]


class ActiveRequests(set[Request]):
    """The requests in a downloader and its middlewares.

    Scrapy has no signal for one that waits there: another process, too, may have scheduled it.
    """

    changed_at = 0.0
    """The last beginning or end of one (monotonic seconds)."""

    def add(self, request: Request) -> None:
        self.changed_at = time.monotonic()
        super().add(request)

    def remove(self, request: Request) -> None:
        self.changed_at = time.monotonic()
        super().remove(request)


class Witness:
    """Notes stalls of the event loop, tables of idle origins, and stats.

    The job's ``lingers``: spiders stay open for a while after their last request.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._note = Notebook(read_job()["notes"]).note
        self._lingers: bool = read_job()["lingers"]
        self._is_running = True
        self._requests = ActiveRequests()
        crawler.signals.connect(self._open, signals.spider_opened)
        crawler.signals.connect(self._idle, signals.spider_idle)
        crawler.signals.connect(self._stop, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _open(self) -> None:
        engine: Any = self._crawler.engine
        engine.downloader.active = self._requests
        deferred_from_coro(self._beat())

    async def _beat(self) -> None:
        with suppress(*CANCELLED):  # the event loop ends
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
        with suppress(*CANCELLED, RuntimeError):  # something else closes the spider
            requests = self._requests
            requests.changed_at = time.monotonic()
            while requests or time.monotonic() < requests.changed_at + _LINGERS:
                await sleep(_BEAT)
            values = {
                type(each).__name__ for table in tables_by_origin() for each in table.values()
            }
            self._note("tables", values=sorted(values))
            engine: Any = self._crawler.engine
            if hasattr(engine, "close_spider_async"):  # from 2.14
                await engine.close_spider_async(reason="finished")
            else:
                await maybe_deferred_to_future(engine.close_spider(self._crawler.spider))

    def _stop(self) -> None:
        self._is_running = False
        assert self._crawler.stats is not None
        stats = self._crawler.stats.get_stats()
        name = self._crawler.settings["CRAWL_NAME"]
        spider = getattr(self._crawler.spider, "name", None)
        self._note("closed", spider=spider, crawl=name, stats=stats)
