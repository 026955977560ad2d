"""A crawl without a network: our middleware over records that tests put into its store.

Everything is real but the fetches, which tests end, and the clock.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, cast

import pytest
from scrapy import Request, version_info
from scrapy.crawler import Crawler
from twisted.internet.defer import Deferred

from scrapy_robotspec import RobotSpecMiddleware
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import FetchResult
from scrapy_robotspec.plugin.fetching.crawl_runtime import CrawlRuntime
from tests.unit.plugin.scheduling.crawlers import crawler_with_engine

if version_info < (2, 15):
    pytest.skip("Scrapy before 2.15 awaits no future without its reactor", allow_module_level=True)

_T = TypeVar("_T")

NOW = 1_000_000_000.0
URL = "http://a.example"
A = Origin("http", "a.example", 80)
RULES = b"User-agent: *\nDisallow: /no\n"


class Engine:
    """What the plugin asks the engine."""

    def __init__(self) -> None:
        self.is_closing = False
        self.wakes = 0
        self.active: set[Request] = set()
        """Requests in the downloader."""

    def wake(self) -> None:
        self.wakes += 1

    def is_active(self, request: Request) -> bool:
        return request in self.active

    is_paused = False


class Obeying:
    """A crawl of ``a.example``."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **settings: Any) -> None:
        self.now = NOW
        monkeypatch.setattr(time, "time", lambda: self.now)
        self.fetches: list[tuple[Origin, Deferred[FetchResult]]] = []
        """Those under way."""
        monkeypatch.setattr(CrawlRuntime, "fetch", self._fetch)
        self.crawler: Crawler = crawler_with_engine(**settings)
        middleware = self.crawler.get_downloader_middleware(RobotSpecMiddleware)
        assert middleware is not None
        self.middleware: RobotSpecMiddleware = middleware
        self.robots = middleware.robots
        self.enforcer = middleware
        self.engine = Engine()
        self.robots.engine = cast("Any", self.engine)

    def _fetch(self, origin: Origin, request: Request, failed: int | None) -> Deferred[FetchResult]:
        fetch: Deferred[FetchResult] = Deferred()
        self.fetches.append((origin, fetch))
        return fetch

    def know(self, body: bytes = RULES, status: int = 200, origin: Origin = A) -> None:
        """The robots.txt of *origin* was fetched just now."""
        result = FetchResult(status=status, body=body)
        policy = self.robots.settings.access_policy()
        store = self.robots.lookup.store
        store.put(policy.apply(store.get(origin), origin, result, self.now, 0.5))
        self.robots.lookup.rules.pop(origin)

    def end_fetches(self, body: bytes = RULES, status: int = 200) -> None:
        """All fetches under way get this response."""
        ended, self.fetches[:] = list(self.fetches), []
        for _, fetch in ended:
            fetch.callback(FetchResult(status=status, body=body))

    def stat(self, name: str) -> Any:
        assert self.crawler.stats is not None
        return self.crawler.stats.get_value(name)

    def counts(self) -> dict[str, int]:
        """Requests by outcome."""
        return {
            name: number
            for name, number in self.robots.progress.account.requests().by_outcome.items()
            if number
        }


class Numbered(Request):
    """A user's request, which is made of a number."""

    attributes = (*Request.attributes, "number")

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(f"{URL}/{number}", headers={"A": "b"}, meta={"c": "d"}, priority=number)


def run(work: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
    """The result of a coroutine function, in an event loop of its own, within a minute."""
    return asyncio.run(asyncio.wait_for(work(), 60))


async def turns(number: int = 5) -> None:
    """Let everything that can go on go on."""
    for _ in range(number):
        await asyncio.sleep(0)
