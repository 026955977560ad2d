"""One fetch by one route after another: which are tried, and how many."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import FetchResult
from scrapy_robotspec.lookup.live_origins import LiveOrigins
from scrapy_robotspec.plugin.fetching import crawl_runtime
from scrapy_robotspec.plugin.fetching.routes import Routes

if TYPE_CHECKING:
    from collections.abc import Iterator

ORIGIN = Origin("http", "example.com", 80)
DEAD = FetchResult(error="connection refused", local=True)
OWN_503 = FetchResult(status=503, local=True)


@contextmanager
def watched(**options: bool) -> Iterator[None]:
    yield


class Network:
    """In the place of the attempts: each route has one result."""

    def __init__(self, results: list[FetchResult]) -> None:
        live = LiveOrigins()
        live.use(ORIGIN)
        self.routes = Routes(["proxy"], live)
        self.asked: list[str | None] = []
        self.results = results
        for number in range(1, len(results)):
            self.routes.see(ORIGIN, self.request(number))

    def request(self, number: int) -> Request:
        return Request("http://example.com/", meta={"proxy": f"http://proxy{number}"})

    def attempt(self, fetcher: Any, origin: Origin, request: Request, route: Any, _: bool) -> Any:
        proxy = dict(route.meta)["proxy"]

        async def run() -> FetchResult:
            self.asked.append(proxy)
            self.routes.failed(origin, route)
            return self.results[int(proxy.removeprefix("http://proxy"))]

        return SimpleNamespace(run=run, proxy=proxy)

    def fetch(self, monkeypatch: pytest.MonkeyPatch, attempt: Any = None) -> FetchResult:
        """The result of a fetch that begins with the first route."""
        monkeypatch.setattr(crawl_runtime, "Attempt", attempt or self.attempt)
        fetcher: Any = SimpleNamespace(
            routes=self.routes, downloads=SimpleNamespace(watched=watched)
        )
        fetch = crawl_runtime.CrawlRuntime._fetch_by_routes
        return asyncio.run(fetch(fetcher, ORIGIN, self.request(0), None))


def test_another_route_is_tried_where_one_fails_on_our_side(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = Network([DEAD, FetchResult(status=200)])
    assert network.fetch(monkeypatch).status == 200
    assert network.asked == ["http://proxy0", "http://proxy1"]


@pytest.mark.parametrize(("chosen", "attempts"), [("aabc", 2), ("abbc", 3), ("abcd", 4)])
def test_a_route_is_tried_again_while_a_middleware_chooses_new_proxies(
    monkeypatch: pytest.MonkeyPatch, chosen: str, attempts: int
) -> None:
    network = Network([DEAD])
    sent = iter(chosen)

    def attempt(fetcher: Any, origin: Origin, request: Request, route: Any, _: bool) -> Any:
        made = network.attempt(fetcher, origin, request, route, _)
        return SimpleNamespace(run=made.run, proxy=f"http://{next(sent)}")

    assert network.fetch(monkeypatch, attempt) is DEAD
    assert len(network.asked) == attempts


def test_nothing_is_repeated_after_a_server_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be the site's, which may want a pause."""
    network = Network([OWN_503, FetchResult(status=200)])
    assert network.fetch(monkeypatch) is OWN_503
    assert network.asked == ["http://proxy0"]


def test_four_routes_are_tried_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network([DEAD] * 6)
    assert network.fetch(monkeypatch) is DEAD
    assert len(set(network.asked)) == len(network.asked) == 4


def test_a_failure_of_the_site_itself_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    reset = FetchResult(error="connection reset")
    network = Network([reset, FetchResult(status=200)])
    assert network.fetch(monkeypatch) is reset
    assert len(network.asked) == 1
