"""A crawl whose downloader is a function: which robots.txt requests leave, and what comes of them.

Everything is real but the downloader, the archive and the clocks.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

import pytest
from scrapy import Request, signals, version_info
from scrapy.exceptions import StopDownload
from scrapy.http import Response
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.python.failure import Failure

from scrapy_robotspec import RobotSpecMiddleware
from scrapy_robotspec.access.exchange import Exchange
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import FetchResult
from scrapy_robotspec.lookup.loop_time import LoopTime
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.meta_keys import TRANSFER
from tests.support.timers import call_later, pass_time
from tests.unit.plugin.scheduling.crawlers import crawler_with_engine

if version_info < (2, 15):
    pytest.skip("Scrapy before 2.15 awaits no future without its reactor", allow_module_level=True)

_T = TypeVar("_T")

NOW = 1_000_000_000.0
A = Origin("http", "a.example", 80)
URL = "http://a.example/robots.txt"
PAGE = "http://a.example/page"
RULES = b"User-agent: *\nDisallow: /no\n"
#: Bytes that a handler receives at once.
CHUNK = 1000


class Archive:
    """The requests of a fetch that were archived."""

    def __init__(self) -> None:
        self.responses: list[str] = []
        self.failures: list[tuple[str, str]] = []

    def of_fetch(self, origin: Origin, now: float) -> Archive:
        return self

    def add_response(
        self, exchange: Exchange, request: Request, response: Response, time: float
    ) -> None:
        self.responses.append(exchange.url)

    def add_failure(self, url: str, error: str, time: float) -> None:
        self.failures.append((url, error))


class Downloading:
    """A crawl. ``site`` responds to its requests: None is silence, an exception a failure."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **settings: Any) -> None:
        self.now = NOW
        monkeypatch.setattr(time, "time", lambda: self.now)
        self.clock = Clock()
        self.crawler = crawler_with_engine(**settings)
        middleware = self.crawler.get_downloader_middleware(RobotSpecMiddleware)
        assert middleware is not None
        self.robots = middleware.robots
        self.runtime = self.robots
        self.runtime.loop_time = LoopTime(self.clock.seconds, call_later(self.clock))
        self.engine = cast("Any", self.crawler.engine)
        self.engine.download_async = self._download
        self.engine.downloader._start_slot_gc = lambda: None  # no loop runs for it
        self.routes = self.runtime.routes
        self.sent: list[Request] = []
        self.is_sending = True
        """Whether requests leave; False: another middleware keeps them."""
        self.cancelled: list[Request] = []
        """Requests whose sending was cancelled."""
        self.site: Callable[[Request], Response | None] = respond()

    @property
    def urls(self) -> list[str]:
        """URLs of the requests that were sent."""
        return [request.url for request in self.sent]

    @property
    def proxies(self) -> list[str | None]:
        """Their proxies."""
        return [request.meta.get("proxy") for request in self.sent]

    async def _download(self, request: Request) -> Response:
        self.sent.append(request)
        self._send(signals.request_reached_downloader, request=request)
        sending: Deferred[Any] = Deferred(lambda _: self.cancelled.append(request))
        sending.addErrback(lambda _: None)
        if self.is_sending and TRANSFER in request.meta:
            request.meta[TRANSFER].sending = sending
        response = self.site(request)
        if response is None:
            await asyncio.get_running_loop().create_future()
        assert response is not None
        sending.callback(None)
        response = self._received(response, request)
        self._send(signals.response_downloaded, response=response, request=request)
        return response

    def _received(self, response: Response, request: Request) -> Response:
        """*response* as far as its body was read, as handlers of Scrapy's read it."""
        for end in range(CHUNK, len(response.body) + CHUNK, CHUNK):
            data = response.body[end - CHUNK : end]
            results = self._send(signals.bytes_received, data=data, request=request)
            if any(isinstance(result, StopDownload) for result in results):
                return response.replace(body=response.body[:end], flags=["download_stopped"])
        return response

    def _send(self, signal: object, **arguments: Any) -> list[Any]:
        """What the handlers of *signal* return or raise."""
        sent = self.crawler.signals.send_catch_log(
            signal, spider=self.crawler.spider, dont_log=StopDownload, **arguments
        )
        results = [result for _, result in sent]
        found = [result.value if isinstance(result, Failure) else result for result in results]
        faults = [each for each in found if isinstance(each, Exception)]
        assert all(isinstance(each, StopDownload) for each in faults), faults
        return found

    async def fetch(
        self,
        meta: dict[str, Any] | None = None,
        *,
        origin: Origin = A,
        failed: int | None = None,
        silent: float = 0.0,
        **more: Any,
    ) -> FetchResult:
        """The result of a fetch for a page; *silent*: seconds that pass meanwhile."""
        self.robots.live.use(origin)
        page = Request(PAGE, meta=meta, **more)
        fetch = self.runtime.fetch(origin, page, failed)
        if silent:
            await turns()
            pass_time(self.clock, silent)
        result: FetchResult = await _compat.as_future(fetch)
        return result

    def fetched(self, meta: dict[str, Any] | None = None, **more: Any) -> FetchResult:
        """The result of a fetch in an event loop of its own."""
        return run(lambda: self.fetch(meta, **more))

    def stat(self, name: str) -> Any:
        assert self.crawler.stats is not None
        return self.crawler.stats.get_value(name)


def respond(
    status: int = 200, body: bytes = RULES, **headers: str
) -> Callable[[Request], Response]:
    """A site with one response, with *headers* (underscores for hyphens)."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda request: Response(request.url, status=status, body=body, headers=named)


def fail(error: Exception) -> Callable[[Request], Response]:
    """A site whose requests fail with *error*."""

    def site(request: Request) -> Response:
        raise error

    return site


def by_url(sites: dict[str, Callable[[Request], Response | None]]) -> Callable[[Request], Any]:
    """Sites by URL; others are silent."""

    def site(request: Request) -> Response | None:
        return sites[request.url](request) if request.url in sites else None

    return site


def by_proxy(
    sites: dict[str | None, Callable[[Request], Response | None]],
) -> Callable[[Request], Any]:
    """What is behind each proxy, and behind none."""
    return lambda request: sites[request.meta.get("proxy")](request)


def run(work: Callable[[], Awaitable[_T]]) -> _T:
    """The result of a coroutine function, in an event loop of its own."""

    async def working() -> _T:
        return await work()

    return asyncio.run(working())


async def turns(number: int = 10) -> None:
    """Let everything that can go on go on."""
    for _ in range(number):
        await asyncio.sleep(0)
