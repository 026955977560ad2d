"""The dry run: Scrapy's decision stands, and ours is compared with it."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from scrapy import Request
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import DontCloseSpider, IgnoreRequest
from scrapy.http import Response
from twisted.internet.defer import Deferred

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import FetchResult
from scrapy_robotspec.lookup import lookup as lookup_module
from scrapy_robotspec.plugin import _compat, _compat_rare
from scrapy_robotspec.plugin.dry_run import DryRunMiddleware
from scrapy_robotspec.plugin.fetching.crawl_runtime import CrawlRuntime
from scrapy_robotspec.plugin.meta_keys import TRANSFER
from tests.unit.plugin.obeying import NOW, RULES, URL, A, Engine, Numbered, run, turns
from tests.unit.plugin.scheduling.crawlers import crawler_with_engine

if TYPE_CHECKING:
    from scrapy_robotspec.plugin.reporting.origin_rows import OriginRows

NO, YES = f"{URL}/no", f"{URL}/yes"
DOWN = FetchResult(error="refused")


class DryRun:
    """A dry run whose fetches a test ends."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **settings: Any) -> None:
        monkeypatch.setattr(time, "time", lambda: NOW)
        monkeypatch.setattr(CrawlRuntime, "fetch", self._fetch)
        self.crawler = crawler_with_engine(ROBOTSPEC_DRY_RUN=True, **settings)
        middleware = self.crawler.get_downloader_middleware(DryRunMiddleware)
        assert middleware is not None
        self.middleware: DryRunMiddleware = middleware
        self.engine = Engine()
        middleware.robots.engine = cast("Any", self.engine)
        self.fetch: Deferred[FetchResult] = Deferred()
        self.errors: list[object] = []
        """Failures of comparisons, which no crawl would see."""

    def _fetch(self, origin: Origin, request: Request, failed: int | None) -> Deferred[FetchResult]:
        self.fetch = Deferred()
        return self.fetch

    async def compare(self, page: str | Request, *, allowed: bool, **meta: Any) -> None:
        """Scrapy has decided about *page*; return when ours can go on no further."""
        request = Request(page, meta=meta) if isinstance(page, str) else page
        compared = Deferred.fromCoroutine(self.middleware._compare(request, allowed=allowed))
        compared.addErrback(self.errors.append)
        await turns()

    @property
    def counts(self) -> dict[str, int]:
        assert self.errors == []
        return {kind: number for kind, number in self.middleware._counts.items() if number}


@pytest.fixture
def dry(monkeypatch: pytest.MonkeyPatch) -> DryRun:
    return DryRun(monkeypatch)


@pytest.mark.parametrize(
    ("url", "allowed", "kind"),
    [
        (YES, True, "same"),
        (NO, False, "same"),
        (NO, True, "we would refuse"),
        (YES, False, "we would allow"),
    ],
)
def test_both_decisions_are_compared(
    dry: DryRun, caplog: pytest.LogCaptureFixture, url: str, allowed: bool, kind: str
) -> None:
    """With what our decision would have done; differences are logged with their reason."""
    caplog.set_level("INFO")

    async def work() -> None:
        await dry.compare(url, allowed=allowed)
        assert dry.counts == {}
        with pytest.raises(DontCloseSpider):
            dry.middleware._spider_idle()
        dry.fetch.callback(FetchResult(status=200, body=RULES))
        await turns()
        dry.middleware._spider_idle()
        await dry.compare(url, allowed=allowed)

    run(work)
    assert dry.counts == {kind: 2}
    requests = dry.middleware._account.requests()
    assert requests.by_outcome == ({"rules": 2} if url == YES else {"refused_rule": 2})
    assert requests.sent == (2 if url == YES else 0)
    lines = [line for line in caplog.messages if line.startswith("Dry run: ")]
    assert len(lines) == (0 if kind == "same" else 2)
    assert all(f"{kind}: <GET {url}>" in line for line in lines)
    assert dry.engine.wakes == 1, "the engine may be idle when a comparison ends"
    assert dry.middleware._account.answers == {"with rules": 1}


def test_a_request_made_of_other_values_than_a_url_is_compared(dry: DryRun) -> None:
    async def work() -> None:
        await dry.compare(Numbered(1), allowed=True)
        dry.fetch.callback(FetchResult(status=200, body=RULES))
        await turns()

    run(work)
    assert dry.counts == {"same": 1}


@pytest.mark.parametrize("is_first", [True, False])
def test_a_site_that_is_down_would_let_its_requests_wait(dry: DryRun, is_first: bool) -> None:
    """The comparison ends with the failure, and further ones at once."""

    async def work() -> None:
        await dry.compare(YES, allowed=True)
        dry.fetch.callback(DOWN)
        await turns()
        if not is_first:
            await dry.compare(NO, allowed=True)

    run(work)
    assert dry.counts == {"we would wait": 1 if is_first else 2}
    assert dry.middleware._account.down == {A: "refused"}


def test_a_copy_that_has_expired_is_awaited_as_a_new_file(
    dry: DryRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        await dry.compare(YES, allowed=True)
        dry.fetch.callback(FetchResult(status=200, body=RULES))
        await turns()
        monkeypatch.setattr(time, "time", lambda: NOW + 100_000.0)
        await dry.compare(NO, allowed=False)
        assert dry.counts == {"same": 1}
        dry.fetch.callback(FetchResult(status=200, body=RULES))
        await turns()

    run(work)
    assert dry.counts == {"same": 2}


def test_waits_and_fetches_stand_in_the_report(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A fetch that is preempted is none, also where there is a record."""
    dry = DryRun(monkeypatch, ROBOTSPEC_REPORT=str(tmp_path / "report.jsonl"))

    async def work() -> None:
        await dry.compare(YES, allowed=True)
        dry.fetch.callback(FetchResult(status=200, body=RULES))
        await turns()
        monkeypatch.setattr(time, "time", lambda: NOW + 100_000.0)
        await dry.compare(YES, allowed=True)
        dry.fetch.cancel()
        await turns()
        dry.fetch.callback(DOWN)
        await turns()

    run(work)
    assert dry.counts == {"same": 1, "we would wait": 1}
    row = cast("OriginRows", dry.middleware._account)[A]
    assert (row.waited, row.asked) == (1, 2)


def test_few_differences_of_a_kind_are_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    dry = DryRun(monkeypatch, ROBOTSPEC_OVERRIDES={"a.example": "disallow"})

    async def work() -> None:
        for number in range(15):
            await dry.compare(f"{YES}/{number}", allowed=True)

    run(work)
    assert dry.counts == {"we would refuse": 15}
    assert len([line for line in caplog.messages if line.startswith("Dry run: ")]) == 10


def test_a_comparison_that_the_end_of_the_crawl_stops_is_counted(dry: DryRun) -> None:
    async def work() -> None:
        await dry.compare(YES, allowed=True)
        dry.engine.is_closing = True
        dry.middleware.robots.stop()
        await turns()

    run(work)
    assert dry.counts == {"not compared": 1}


def test_a_fetch_that_is_preempted_is_awaited_again(dry: DryRun) -> None:
    async def work() -> None:
        await dry.compare(YES, allowed=True)
        dry.fetch.cancel()
        await turns()
        assert dry.counts == dry.middleware._account.answers == {}
        dry.fetch.callback(FetchResult(status=200, body=RULES))
        await turns()

    run(work)
    assert dry.counts == {"same": 1}


def test_a_lookup_that_always_fails_keeps_no_crawl_open(
    dry: DryRun, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(CrawlRuntime, "download_delay", None)
    monkeypatch.setattr(lookup_module, "RETRY_PAUSE", 0.0)
    monkeypatch.setattr(lookup_module, "MIN_PAUSE", 0.0)

    async def work() -> None:
        await dry.compare(YES, allowed=True)
        for _ in range(300):
            await asyncio.sleep(0 if dry.counts else 0.01)

    run(work)
    assert dry.counts == {"we would wait": 1}
    assert "Error while looking up the robots.txt of http://a.example" in caplog.text
    assert "AssertionError" not in caplog.text, "an attempt without a record is none"
    dry.middleware._spider_idle()


def test_an_error_of_the_users_function_does_not_end_the_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dry = DryRun(monkeypatch, ROBOTSPEC_USER_AGENT_TOKEN=lambda request, crawler: 1 / 0)
    run(lambda: dry.compare(YES, allowed=True))
    assert dry.counts == {"not compared": 1}


@pytest.mark.parametrize(("url", "meta"), [(NO, {"dont_obey_robotstxt": True}), ("data:,a", {})])
def test_requests_without_a_robots_txt_are_not_compared(
    dry: DryRun, url: str, meta: dict[str, Any]
) -> None:
    run(lambda: dry.compare(url, allowed=True, **meta))
    assert dry.counts == {}


def test_an_override_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    dry = DryRun(monkeypatch, ROBOTSPEC_OVERRIDES={"a.example": "disallow"})
    run(lambda: dry.compare(YES, allowed=True))
    assert dry.counts == {"we would refuse": 1}
    pages = dry.middleware._account.of_pages
    assert [name for name in pages if "override" in name] == ["robotspec/override/disallow"]


def test_a_host_whose_rules_are_ignored_needs_no_record(monkeypatch: pytest.MonkeyPatch) -> None:
    dry = DryRun(monkeypatch, ROBOTSPEC_OVERRIDES={"a.example": "ignore"})
    run(lambda: dry.compare(NO, allowed=True))
    assert dry.counts == {"same": 1}
    assert dry.middleware._account.requests().sent == 1


def test_scrapys_decision_stands(dry: DryRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever ours would be."""

    async def decide(middleware: object, request: Request) -> None:
        if "refused" in request.url:
            raise IgnoreRequest("Forbidden by robots.txt")

    monkeypatch.setattr(_compat_rare, "decide_as_scrapy", decide)

    async def work() -> None:
        for url in (NO, f"{URL}/refused"):
            request = Request(url)
            if url == NO:
                await dry.middleware.process_request(request)
            else:
                with pytest.raises(IgnoreRequest, match="Forbidden"):
                    await dry.middleware.process_request(request)
        dry.fetch.callback(FetchResult(status=200, body=RULES))
        await turns()

    run(work)
    assert dry.counts == {"we would refuse": 1, "we would allow": 1}


def test_pages_of_others_are_counted(dry: DryRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that did not pass here, and are no robots.txt."""
    compared: list[Request] = []
    monkeypatch.setattr(dry.middleware.robots.tokens, "compare", compared.append)
    passed, other, another = Request(YES), Request(YES), Request(YES)
    dry.middleware._decided.add(passed)
    for request in (passed, other, another, Request(f"{URL}/robots.txt", meta={TRANSFER: None})):
        dry.middleware.process_response(request, Response(request.url))
    assert compared == [passed]
    assert dry.middleware._never_decided == 2


class OwnMiddleware(RobotsTxtMiddleware):
    """One of a project's, beside Scrapy's own."""


@pytest.mark.parametrize("others", [{}, {OwnMiddleware: 90}])
def test_another_robots_txt_middleware_is_named(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    others: dict[type[RobotsTxtMiddleware], int],
) -> None:
    dry = DryRun(monkeypatch, DOWNLOADER_MIDDLEWARES=others)
    monkeypatch.setattr(_compat, "watch_sending", lambda *_: True)
    dry.middleware._watch_sending()
    named = [line for line in caplog.messages if "beside Scrapy's own" in line]
    assert [OwnMiddleware.__qualname__ in line for line in named] == [True] * len(others)


@pytest.mark.parametrize("has_started", [True, False])
def test_a_crawl_that_did_not_start_is_closed_at_once(
    dry: DryRun, monkeypatch: pytest.MonkeyPatch, has_started: bool
) -> None:
    """Else the engine's end closes it."""
    closed: list[bool] = []

    async def close() -> None:
        closed.append(True)

    monkeypatch.setattr(_compat, "was_started", lambda engine: has_started)
    monkeypatch.setattr(dry.middleware.robots, "close", close)
    run(lambda: dry.middleware._spider_closed("finished"))
    assert closed == [True] * (not has_started)


def test_a_response_ends_the_tokens_of_its_request(dry: DryRun) -> None:
    request = Request(YES, meta={"_robotspec_tokens": ("a",)})
    response = Response(YES)
    assert dry.middleware.process_response(request, response) is response
    assert request.meta == {}
