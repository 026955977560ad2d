"""Spiders that single tests need besides the plain one."""

from __future__ import annotations

import asyncio
import gc
import itertools
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred, DeferredList
from twisted.python.failure import Failure
from typing_extensions import Self

from scrapy_robotspec import ForbiddenUsage, Origin, RobotSpecMiddleware, SitemapsFromRobots
from scrapy_robotspec.plugin.browser.guard import BrowserGuard
from tests.crawl.middlewares import download, sleep
from tests.support.spiders import Plain


class Onsite(Plain):
    """Only 127.0.0.2 is its own."""

    name = "onsite"
    allowed_domains = ("127.0.0.2",)


class WithLogin(Plain):
    """Sends a password to everybody, as HttpAuthMiddleware does where no domain is named."""

    name = "with_login"
    http_user = "user"
    http_pass = "secret"
    http_auth_domain = None


class FollowsWithMeta(Plain):
    """Sends the job's links, each with the meta of the request that has ended before."""

    name = "follows_with_meta"

    def got(self, response: Response) -> None:
        super().got(response)
        self._follow(response.meta)

    def failed(self, failure: Failure) -> None:
        super().failed(failure)
        self._follow(failure.request.meta)  # type: ignore[attr-defined]

    def _follow(self, meta: dict[str, Any]) -> None:
        engine = self.crawler.engine
        assert engine is not None
        if self.job["links"]:
            engine.crawl(self.request({"url": self.job["links"].pop(0), "meta": dict(meta)}))


class SendsAgainExempt(Plain):
    """Sends each request a second time, a while later, and past robots.txt."""

    name = "sends_again_exempt"

    async def got(self, response: Response) -> Any:
        super().got(response)
        request = response.request
        assert request is not None
        if "dont_obey_robotstxt" not in request.meta:
            await asyncio.sleep(1.5)
            request.meta["dont_obey_robotstxt"] = True
            request.dont_filter = True
            yield request


class Renamed(Plain):
    """Has a callback that others have not."""

    name = "renamed"
    custom_settings = {  # noqa: RUF012
        "SCHEDULER_QUEUE_KEY": "plain:requests",
        "SCHEDULER_DUPEFILTER_KEY": "plain:dupefilter",
    }

    def request(self, entry: str | dict[str, Any]) -> Request:
        request = super().request(entry)
        return request.replace(callback=self.got_renamed) if "/new" in request.url else request

    def got_renamed(self, response: Response) -> Any:
        return self.got(response)


class OneByOne(Plain):
    """The next request goes when the one before has ended."""

    name = "one_by_one"

    async def start(self) -> AsyncIterator[Request]:
        self.entries = iter(self.job["requests"])
        yield self.request(next(self.entries))

    def _next(self) -> None:
        """Not by what a callback returns: Scrapy 2.13 loses what an errback returns."""
        engine = self.crawler.engine
        assert engine is not None
        for entry in itertools.islice(self.entries, 1):
            engine.crawl(self.request(entry))

    def got(self, response: Response) -> Any:
        super().got(response)
        self._next()

    def failed(self, failure: Failure) -> Any:
        super().failed(failure)
        self._next()


class AllQueued(Plain):
    """After the job's ``known`` pages, no request leaves the scheduler before all are there."""

    name = "all_queued"
    answered = 0

    async def start(self) -> AsyncIterator[Request]:
        engine = self.crawler.engine
        assert engine is not None
        for url in self.job["known"]:
            yield self.request(url)
        while self.answered < len(self.job["known"]):
            await asyncio.sleep(0.05)
        engine.pause()
        async for request in super().start():
            yield request
        engine.unpause()

    def got(self, response: Response) -> Any:
        super().got(response)
        self.answered += 1


class CountingTables(Plain):
    """Notes the sizes of all tables that have origins as their keys when the spider is idle."""

    name = "counting_tables"

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider._count, signals.spider_idle)
        return spider

    def _count(self) -> None:
        gc.collect()
        tables = [each for each in gc.get_objects() if isinstance(each, dict | set)]
        sizes = [len(each) for each in tables if each and isinstance(next(iter(each)), Origin)]
        self.note("tables", sizes=sorted(sizes, reverse=True))


class Watching(Plain):
    """Notes each time that the engine looks for a request, and each ``scheduler_empty``."""

    name = "watching"

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider._watch, signals.spider_opened)
        crawler.signals.connect(spider._empty, signals.scheduler_empty)
        return spider

    def _watch(self) -> None:
        engine = self.crawler.engine
        assert engine is not None
        needs_backout = engine.needs_backout

        def looks() -> bool:
            self.note("looked")
            return needs_backout()

        engine.needs_backout = looks  # type: ignore[method-assign]

    def _empty(self) -> None:
        self.note("empty")


class Lazy(Plain):
    """Waits for an empty scheduler before each start request, as Scrapy's documentation shows."""

    name = "lazy"

    async def start(self) -> AsyncIterator[Request]:
        async for request in super().start():
            await self._empty_scheduler()
            self.note("given one")
            yield request

    async def _empty_scheduler(self) -> None:
        """``signals.wait_for(scheduler_empty)``, which Scrapy 2.13 does not have."""
        empty: Deferred[None] = Deferred()

        def handle() -> None:
            self.crawler.signals.disconnect(handle, signals.scheduler_empty)
            empty.callback(None)

        self.crawler.signals.connect(handle, signals.scheduler_empty)
        await maybe_deferred_to_future(empty)


class Trickling(Plain):
    """A request every 5 ms, also while the crawl closes; it asks about the job's ``asked`` URLs."""

    name = "trickling"

    async def start(self) -> AsyncIterator[Request]:
        middleware = self.crawler.get_downloader_middleware(RobotSpecMiddleware)
        async for request in super().start():
            for url in self.job.get("asked", []):
                assert middleware is not None
                deferred_from_coro(self._ask(middleware, url))
            yield request
            await sleep(0.005)

    async def _ask(self, middleware: RobotSpecMiddleware, url: str) -> None:
        try:
            await middleware.decision(url)
        except IgnoreRequest as error:
            self.note("question", text=str(error))


class InTwo(Plain):
    """Sends the job's ``then`` requests once its file ``go`` is there."""

    name = "in_two"

    async def start(self) -> AsyncIterator[Request]:
        async for request in super().start():
            yield request
        while not Path(self.job["go"]).exists():
            await asyncio.sleep(0.05)
        for entry in self.job["then"]:
            yield self.request(entry)


class WithADamagedJobdir(Plain):
    """Turns the folder of its disk queues into a file, before the first request."""

    name = "with_a_damaged_jobdir"

    async def start(self) -> AsyncIterator[Request]:
        folder = Path(self.settings["JOBDIR"], "requests.queue")
        folder.rmdir()
        folder.write_text("no folder any more")
        async for request in super().start():
            yield request
        self.crawler.signals.connect(folder.unlink, signals.engine_stopped)


class Inline(Plain):
    """Downloads the job's ``inline`` requests in a callback, past the scheduler."""

    name = "inline"

    async def got(self, response: Response) -> None:
        super().got(response)
        downloads = [deferred_from_coro(self._inline(url)) for url in self.job["inline"]]
        await maybe_deferred_to_future(DeferredList(downloads))

    async def _inline(self, url: str) -> None:
        try:
            response = await download(self.crawler.engine, Request(url))
        except Exception as error:
            self.note("error", url=url, type=type(error).__name__, text=str(error))
        else:
            self.note("response", url=url, status=response.status)


class Mixed(Inline):
    """Sends the job's ``inline`` requests and those of a media pipeline from its first page."""

    name = "mixed"

    async def got(self, response: Response) -> Any:
        Plain.got(self, response)
        inline, self.job["inline"] = self.job["inline"], []
        files, self.job["files"] = self.job["files"], []
        for url in inline:
            deferred_from_coro(self._inline(url))
        return [{"file_urls": files}] if files else []


class InABrowser(Plain):
    """Asks as a browser's request does whether it may load each URL of the job."""

    name = "in_a_browser"

    async def start(self) -> AsyncIterator[Request]:
        guard = BrowserGuard(self.crawler)
        for url in self.job["requests"]:
            allowed = await guard.allows(url, None, navigates=False)
            self.note("browser", url=url, allowed=allowed)
        return
        yield


class Asking(Plain):
    """Asks beforehand what it may do."""

    name = "asking"

    async def start(self) -> AsyncIterator[Request]:
        middleware = self.crawler.get_downloader_middleware(RobotSpecMiddleware)
        assert middleware is not None
        for url in self.job["requests"]:
            decision, usage = await middleware.decision(url), await middleware.usage(url)
            self.note(
                "asked",
                url=url,
                allowed=decision.allowed,
                reason=decision.reason,
                sitemaps=await middleware.sitemaps(url),
                crawl_delay=await middleware.crawl_delay(url),
                applies=usage.applies,
                preferences=dict(usage.preferences),
            )
        for _ in ():
            yield _


class FromSitemaps(SitemapsFromRobots, Plain):
    """Begins with the sitemaps of the job's origins."""

    name = "from_sitemaps"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.sitemap_origins = self.job["requests"]

    def parse(self, response: Response) -> Any:
        return self.got(response)


class NotingUsage(Plain):
    """Notes the usage preferences of each page, and what refusals say of them."""

    name = "noting_usage"

    def got(self, response: Response) -> Any:
        summary = response.meta.get("robotspec", {})
        usage = summary.get("usage")
        self.note(
            "usage",
            url=response.url,
            preferences=usage and dict(usage.preferences),
            sources=usage and [[each.source, each.line] for each in usage.statements],
            licenses=summary.get("licenses"),
        )
        super().got(response)

    def failed(self, failure: Failure) -> Any:
        error = failure.value
        if isinstance(error, ForbiddenUsage):
            refused = error.decision.usage
            assert refused is not None
            self.note(
                "refusal",
                url=failure.request.url,  # type: ignore[attr-defined]
                label=refused.label,
                line=refused.line,
                source=refused.statement and refused.statement.source,
            )
        super().failed(failure)
