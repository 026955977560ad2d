"""Downloader middlewares, extensions and handlers of a user."""

from __future__ import annotations

import asyncio
import json
import math
import os
import threading
import time
from collections import Counter, deque
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request, Spider, signals, version_info
from scrapy.core.scheduler import BaseScheduler, Scheduler
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest, StopDownload
from scrapy.http import Response, TextResponse
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import CancelledError, Deferred, succeed
from typing_extensions import Self

from scrapy_robotspec.plugin import _compat, _compat_rare
from tests.support.event_log import Notebook, read_job

#: Contains the name of the crawl, in every request.
CRAWL_HEADER = "x-crawl"
#: Raised in what awaits as a crawl ends.
CANCELLED = (asyncio.CancelledError, CancelledError)


class AnswersAtOnce:
    """Download handler for many origins without a server."""

    lazy = False

    def download_request(self, request: Request, spider: Spider | None = None) -> Any:
        body = b"User-agent: *\nDisallow: /no\n" if request.url.endswith("robots.txt") else b""
        response = TextResponse(request.url, body=body, request=request)
        return succeed(response) if spider is not None else self._at_once(response)

    async def _at_once(self, response: Response) -> Response:  # from Scrapy 2.14
        return response

    def close(self) -> Any:
        return succeed(None)


if version_info >= (2, 19):
    from scrapy.core.downloader.handlers._aiohttp import AiohttpDownloadHandler

    class OneConnection(AiohttpDownloadHandler):
        """Opens one connection to each host, whatever the settings say."""

        def __init__(self, crawler: Crawler) -> None:
            super().__init__(crawler)
            connector: Any = self._session.connector
            connector._limit_per_host = 1


class LikeSplash:
    """Sends the request of each page to a renderer instead, as scrapy-splash does."""

    def __init__(self, renderer: str) -> None:
        self._renderer = renderer

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> LikeSplash:
        return cls(crawler.settings["RENDERER"])

    def process_request(self, request: Request, spider: Spider | None = None) -> Request | None:
        if "splash" in request.meta or request.url.endswith("/robots.txt"):
            return None
        arguments = {"url": request.url}
        processed = {"splash": {"args": arguments}, "_splash_processed": True}
        return request.replace(
            url=self._renderer,
            method="POST",
            body=json.dumps(arguments),
            meta={**request.meta, **processed, "dont_obey_robotstxt": True},
            dont_filter=True,
        )

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        if "splash" not in request.meta:
            return response
        return response.replace(url=json.loads(response.body)["url"])


class LikePuppeteer(LikeSplash):
    """As scrapy-puppeteer-client: the new request contains that of the page."""

    def process_request(self, request: Request, spider: Spider | None = None) -> Request | None:
        if "puppeteer_request" in request.meta or request.url.endswith("/robots.txt"):
            return None
        if request.url == "://":
            return request.replace(url=self._renderer)
        return Request(
            self._renderer,
            method="POST",
            body=json.dumps({"url": request.url}),
            meta={"puppeteer_request": request, "dont_obey_robotstxt": True, "proxy": None},
            dont_filter=True,
            callback=request.callback,
            errback=request.errback,
        )

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        if "puppeteer_request" not in request.meta:
            return response
        return response.replace(url=json.loads(response.body)["url"])


class ObeysNothing:
    """Lets no request be checked."""

    def process_request(self, request: Request, spider: Spider | None = None) -> None:
        request.meta["dont_obey_robotstxt"] = True


class ObeysHalf(RobotsTxtMiddleware):
    """A project's own robots.txt middleware, which lets some pages pass."""

    async def process_request(self, request: Request, spider: Spider | None = None) -> None:
        if not request.url.endswith("/no/files/x"):
            await _compat_rare.decide_as_scrapy(self, request)


class Meddles:
    """Drops, answers or sends back requests that were let through, by their path."""

    def process_request(
        self, request: Request, spider: Spider | None = None
    ) -> Request | Response | None:
        if "/drop/" in request.url:
            raise IgnoreRequest("dropped")
        if "/answer/" in request.url:
            return TextResponse(request.url, body=b"an answer", request=request)
        if "/later/" in request.url and not request.dont_filter:
            request.dont_filter = True
            return request
        return None


async def sleep(seconds: float) -> None:
    """Let *seconds* pass."""
    pause: Deferred[None] = Deferred()
    _compat.call_later(seconds, pause.callback, None)
    await _compat.as_future(pause)


async def download(engine: Any, request: Request) -> Response:
    """The response for *request*, past the scheduler."""
    response: Response
    if hasattr(engine, "download_async"):  # from 2.14
        response = await engine.download_async(request)
    else:
        response = await maybe_deferred_to_future(engine.download(request))
    return response


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


class MeddlesBefore:
    """Nearer to the engine than ours: does to a page, once, what its meta ``meddling`` says."""

    place = "before"

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


class MeddlesAfter(MeddlesBefore):
    """The same, nearer to the downloader."""

    place = "after"


class DropsRobotsTxt:
    """Wants no robots.txt to be asked for."""

    def process_request(self, request: Request, spider: Spider | None = None) -> None:
        if request.url.endswith("/robots.txt"):
            raise IgnoreRequest("no robots.txt here")


class UsesWhatScrapyLacks:
    """Was written for another Scrapy."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        engine: Any = self._crawler.engine
        engine.scheduler_of_that_scrapy.ack(request)
        return response


class ChangesUserAgent:
    """Gives each request the header of a browser."""

    def process_request(self, request: Request, spider: Spider | None = None) -> None:
        request.headers["User-Agent"] = "Mozilla/5.0 (X11)"


class DropsAnswers:
    """Wants no response of a robots.txt."""

    async def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        await sleep(0.01)
        if request.url.endswith("/robots.txt"):
            raise IgnoreRequest("no robots.txt here")
        return response


class CancelsRobotsTxt:
    """Awaits something of its own that is cancelled, such as a page of a browser that closes."""

    async def process_request(self, request: Request, spider: Spider | None = None) -> None:
        if request.url.endswith("/robots.txt"):
            waiting = _compat.deferred(sleep(20.0))
            waiting.cancel()
            await _compat.as_future(waiting)


class KeepsRobotsTxt:
    """Keeps a robots.txt until each page has ended, also if the wait is cancelled."""

    def __init__(self) -> None:
        self._notes = Path(read_job()["notes"])
        self._pages = len(read_job()["requests"])
        self._until = time.monotonic() + 20.0

    async def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        while response.status == 299 and self._ended() < self._pages:
            with suppress(CancelledError):
                await sleep(0.05)
        return response

    def _ended(self) -> float:
        notes = self._notes.read_text()
        ended = notes.count('"kind": "response"') + notes.count('"kind": "error"')
        return ended if time.monotonic() < self._until else math.inf


class DropsPages:
    """Stands before ours and drops some pages."""

    def process_request(self, request: Request, spider: Spider | None = None) -> None:
        if "/dropped" in request.url:
            raise IgnoreRequest("not this one")


class EndsPages:
    """Ends requests on their way, before ours and behind it, as their URLs say."""

    def __init__(self, path: str) -> None:
        self._path = path

    def process_request(
        self, request: Request, spider: Spider | None = None
    ) -> Request | Response | None:
        url = request.url
        if f"/{self._path}" not in url:
            return None
        if "dropped" in url:
            raise IgnoreRequest("not this one")
        if "broken" in url:
            raise ValueError("a mistake")
        if "answered" in url:
            return Response(url, request=request)
        if "moved" in url:
            to = {"Location": url.replace(f"/{self._path}", "/from")}
            return Response(url, 302, to, request=request)
        if "repeated" in url and not request.meta.get("repeated"):
            return request.replace(dont_filter=True, meta={**request.meta, "repeated": True})
        if "replaced" in url:
            return request.replace(url=url.replace(f"/{self._path}", f"/from-{self._path}"))
        return None


class EndsPagesBefore(EndsPages):
    """Stands before ours."""

    def __init__(self) -> None:
        super().__init__("before")


class EndsPagesBehind(EndsPages):
    """Stands behind ours."""

    def __init__(self) -> None:
        super().__init__("behind")


class RepeatsErrors:
    """Repeats a request three times after any exception, as some proxy middlewares do."""

    def __init__(self, crawler: Crawler) -> None:
        self._stats: Any = crawler.stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_exception(
        self, request: Request, exception: Exception, spider: Spider | None = None
    ) -> Request | None:
        times = request.meta.get("times", 0)
        if times == 3:
            return None
        self._stats.inc_value("repeated")
        repeated = request.copy()
        repeated.meta["times"] = times + 1
        repeated.dont_filter = True
        return repeated


class AddsWhatNoQueueTakes:
    """Gives some requests an object that cannot be pickled."""

    def process_request(self, request: Request, spider: Spider | None = None) -> None:
        if "/unencodable" in request.url:
            request.meta["thread"] = threading.Lock()


class SetsUserAgent:
    """Gives requests without a User-Agent another one, as scrapy-user-agents does."""

    def process_request(self, request: Request, spider: Spider | None = None) -> None:
        request.headers.setdefault("User-Agent", "otherbot/1.0")


class RotatesProxies:
    """Each robots.txt goes through the proxies of ``PROXIES`` in turn, pages by the last."""

    def __init__(self) -> None:
        self._proxies = os.environ["PROXIES"].split()
        self._number: Counter[str] = Counter()

    def process_request(self, request: Request, spider: Spider | None = None) -> None:
        number = -1
        if request.url.endswith("/robots.txt"):
            number = self._number[request.url] % len(self._proxies)
            self._number[request.url] += 1
        request.meta["proxy"] = self._proxies[number]


class FollowsRedirects:
    """Gives the response the URL of its ``X-Final`` header, as a handler that followed it."""

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        final = response.headers.get("X-Final")
        return response if final is None else response.replace(url=final.decode())


class CountsTurns:
    """An extension: turns of the event loop from ``spider_closed`` to ``engine_stopped``."""

    def __init__(self, crawler: Crawler) -> None:
        self._turns = 0
        self._later: Any = None
        crawler.signals.connect(self._turn, signals.spider_closed)
        crawler.signals.connect(self._stopped, signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> CountsTurns:
        return cls(crawler)

    def _turn(self) -> None:
        self._turns += 1
        self._later = _compat.call_later(0, self._turn)

    def _stopped(self) -> None:
        self._later.cancel()
        Notebook(read_job()["notes"]).note("turns", number=self._turns)


class Pauses:
    """An extension: the crawl pauses for a time from the first robots.txt request on.

    The job's ``pause`` says how long (seconds).
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._is_done = False
        crawler.signals.connect(self._pause, signals.request_reached_downloader)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Pauses:
        return cls(crawler)

    def _pause(self, request: Request) -> None:
        assert self._crawler.engine is not None
        if not self._is_done and request.url.endswith("/robots.txt"):
            self._is_done = True
            self._crawler.engine.pause()
            _compat.call_later(read_job().get("pause", 1.5), self._go_on)

    def _go_on(self) -> None:
        assert self._crawler.engine is not None
        Notebook(read_job()["notes"]).note("goes on")
        self._crawler.engine.unpause()


class SlowDisk:
    """An extension: a file that another thread writes takes a second to reach its place."""

    def __init__(self) -> None:
        replace = os.replace

        def replace_later(source: str, target: str) -> None:
            if threading.current_thread() is not threading.main_thread():
                time.sleep(1)
            replace(source, target)

        os.replace = replace_later  # type: ignore[assignment]


class StopsDownloads:
    """An extension that stops each download at the signal ``STOPS_AT``, as Scrapy's docs show."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        stops = cls()
        signal = getattr(signals, crawler.settings["STOPS_AT"])
        crawler.signals.connect(stops.stop, signal)
        return stops

    def stop(self) -> None:
        raise StopDownload(fail=False)


class LooksLikeScrapyRedis(Scheduler):
    """Has a queue with other methods than it seems."""

    queue: Any = SimpleNamespace(
        server=None, key="", push=None, _encode_request=None, _decode_request=None
    )


class GetsATokenFirst:
    """Downloads the page ``/token`` of a site before the first other request to it."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._hosts: set[str] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    async def process_request(self, request: Request, spider: Spider | None = None) -> None:
        host = urlsplit(request.url).netloc
        if host not in self._hosts:
            self._hosts.add(host)
            meta = {"dont_obey_robotstxt": self._crawler.settings.getbool("TOKEN_UNCHECKED")}
            token = Request(f"http://{host}/token", meta=meta, callback=NO_CALLBACK)
            await _compat.download(self._crawler.engine, token)


class SlotNames:
    """Notes the download slots before the crawl ends."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        crawler.signals.connect(self._note, signals.spider_idle)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> SlotNames:
        return cls(crawler)

    def _note(self) -> None:
        assert self._crawler.engine is not None
        assert self._crawler.stats is not None
        names = sorted(self._crawler.engine.downloader.slots)
        self._crawler.stats.set_value("test/slots", names)
