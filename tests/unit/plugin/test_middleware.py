"""RobotSpecMiddleware: passes on, refuses, waits and sends back."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy import Request
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Response
from scrapy.settings import Settings

from scrapy_robotspec import ConfigurationError, RobotSpecMiddleware
from scrapy_robotspec.plugin import _compat, middleware
from scrapy_robotspec.plugin.enforcement import RulesExpired
from scrapy_robotspec.plugin.exceptions import ForbiddenByRobots
from scrapy_robotspec.plugin.middleware import other_middlewares
from scrapy_robotspec.plugin.settings import checks
from tests.unit.plugin.obeying import RULES, URL, A, Obeying, run, turns
from tests.unit.plugin.scheduling.crawlers import crawler_with

NO, YES = f"{URL}/no", f"{URL}/yes"


@pytest.fixture
def crawl(monkeypatch: pytest.MonkeyPatch) -> Obeying:
    return Obeying(monkeypatch)


# --- start


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        ({}, NotConfigured, "^$"),
        ({"ROBOTSTXT_OBEY": True, "ROBOTSPEC_DRY_RUN": True}, ConfigurationError, "add-on only"),
        ({"ROBOTSTXT_OBEY": True, "ROBOTSPEC_MAX_SIZE": 0}, ConfigurationError, "MAX_SIZE"),
        (
            {"ROBOTSTXT_OBEY": True, "ADDONS": {"scrapy_robotspec.RobotSpecMiddleware": 1}},
            ConfigurationError,
            "is not an add-on",
        ),
    ],
)
def test_wrong_settings_stop_the_start(
    settings: dict[str, Any], error: type[Exception], words: str
) -> None:
    crawler = crawler_with({key: value for key, value in settings.items() if key != "ADDONS"})
    if "ADDONS" in settings:
        crawler.settings.frozen = False
        crawler.settings.set("ADDONS", settings["ADDONS"])
    with pytest.raises(error, match=words):
        RobotSpecMiddleware.from_crawler(crawler)


class Derived(RobotsTxtMiddleware):
    """A user's own, made of Scrapy's."""


@pytest.mark.parametrize(
    ("chosen", "found"),
    [
        ({}, [RobotsTxtMiddleware]),
        ({Derived: 50}, [Derived, RobotsTxtMiddleware]),
        ({"scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None}, []),
    ],
)
def test_other_middlewares_that_decide(chosen: dict[Any, Any], found: list[type]) -> None:
    settings = crawler_with({"DOWNLOADER_MIDDLEWARES": chosen}).settings
    assert other_middlewares(settings) == found


@pytest.mark.parametrize("missing", [[], ["_slot.closing"]])
def test_a_scrapy_without_a_part_is_warned_of_once(
    crawl: Obeying,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    missing: list[str],
) -> None:
    monkeypatch.setattr(_compat, "parts_missing_in", lambda engine: missing)
    crawl.middleware._look_up_scrapy()
    assert len(caplog.messages) == len(missing)
    assert all(f"without {part}, {_compat.PARTS[part]}" in caplog.text for part in missing)


# --- requests


@pytest.mark.parametrize(
    ("url", "meta", "is_sent"),
    [
        (YES, {}, True),
        (NO, {}, False),
        (NO, {"dont_obey_robotstxt": True}, True),
        ("data:,page", {}, True),
    ],
)
def test_a_request_is_passed_on_or_refused(
    crawl: Obeying, url: str, meta: dict[str, Any], is_sent: bool
) -> None:
    """And the gate hears that it has arrived."""
    crawl.know()
    request = Request(url, meta=meta)
    crawl.middleware.gate.leave(A, request)

    async def work() -> None:
        if is_sent:
            assert await crawl.middleware.process_request(request) is None
        else:
            with pytest.raises(ForbiddenByRobots):
                await crawl.middleware.process_request(request)

    run(work)
    assert crawl.middleware.gate.popped == {}
    assert A not in crawl.robots.live
    assert ("robotspec" in request.meta) is (url == YES)


def test_a_request_of_an_unknown_origin_waits(crawl: Obeying) -> None:
    async def work() -> None:
        sent, refused = (
            asyncio.ensure_future(crawl.middleware.process_request(Request(url)))
            for url in (YES, NO)
        )
        await turns()
        assert not sent.done()
        crawl.end_fetches()
        assert await sent is None
        with pytest.raises(ForbiddenByRobots):
            await refused

    run(work)


@pytest.mark.parametrize("closing", [False, True])
def test_a_request_that_waits_goes_back_where_the_spider_closes(
    crawl: Obeying, closing: bool
) -> None:
    async def work() -> None:
        request = Request(YES)
        wait = asyncio.ensure_future(crawl.middleware.process_request(request))
        await turns()
        crawl.engine.is_closing = closing
        crawl.robots.stop()
        if closing:
            assert await wait is request
        else:
            with pytest.raises(IgnoreRequest):
                await wait
        assert request.dont_filter is closing

    run(work)


@pytest.mark.parametrize(
    ("settings", "waits"),
    [
        ({}, False),
        ({"ROBOTSPEC_CRAWL_DELAY": True}, True),
        ({"ROBOTSPEC_DEFAULT_CRAWL_DELAY": 0}, False),
        ({"ROBOTSPEC_OVERRIDES": {"b.example": {"crawl_delay": 5}}}, False),
        ({"ROBOTSPEC_OVERRIDES": {"a.example": {"crawl_delay": 5}}}, True),
    ],
)
def test_a_request_with_a_delay_in_force_waits(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], waits: bool
) -> None:
    """EXT-01: the robots.txt, which was fetched just now, counts as a page."""
    crawl = Obeying(monkeypatch, **settings)
    crawl.know(RULES + b"Crawl-delay: 5\n")

    async def work() -> None:
        wait = asyncio.ensure_future(crawl.middleware.process_request(Request(YES)))
        await turns()
        assert wait.done() is not waits
        wait.cancel()
        with pytest.raises(ForbiddenByRobots):
            await crawl.middleware.process_request(Request(NO))
        crawl.middleware._waits.close()

    run(work)


@pytest.mark.parametrize("spaces", [False, True])
def test_a_request_with_nothing_to_wait_for_is_not_held_back(
    monkeypatch: pytest.MonkeyPatch, spaces: bool
) -> None:
    crawl = Obeying(monkeypatch, ROBOTSPEC_CRAWL_DELAY=spaces)
    crawl.know()
    monkeypatch.setattr(crawl.middleware._waits, "hold_back", None)
    assert run(lambda: crawl.middleware.process_request(Request(YES))) is None


# --- exceptions and responses


def test_exceptions_of_others_pass(crawl: Obeying) -> None:
    """A request whose rules have expired goes back, and its tokens stay with it."""
    request = Request(YES, meta={"_robotspec_tokens": ("examplebot",)})
    process = crawl.middleware.process_exception
    assert process(request, RulesExpired("expired")) is request
    assert request.dont_filter
    assert "_robotspec_tokens" in request.meta
    errors = crawl.robots.progress.account.of_pages
    assert process(request, OSError("broken")) is None
    assert "_robotspec_tokens" not in request.meta
    assert errors["robotspec/error/product_token"] == 0
    assert process(request, ConfigurationError("of a function")) is None
    assert errors["robotspec/error/product_token"] == 1


class Other:
    """A middleware of somebody else."""


def test_a_request_whose_rules_have_expired_goes_back_before_plugins_see_it(
    crawl: Obeying, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They would take it for one that has failed."""
    first: list[Any] = []
    monkeypatch.setattr(_compat, "call_first", lambda engine, name, see: first.append(see))
    crawl.middleware._watch_sending()
    request = Request(YES)
    assert first[0](request, OSError("broken")) is None
    assert not request.dont_filter
    assert first[0](request, RulesExpired("expired")) is request
    assert request.dont_filter


@pytest.mark.parametrize(
    ("others", "sees_sending", "seen"),
    [
        ({}, True, 0),
        ({"scrapy.downloadermiddlewares.retry.RetryMiddleware": None}, True, 0),
        ({Other: 700}, True, 1),
        ({}, False, 1),
    ],
)
def test_responses_are_seen_first_where_they_tell_more_than_sending(
    monkeypatch: pytest.MonkeyPatch,
    others: dict[Any, int | None],
    sees_sending: bool,
    seen: int,
) -> None:
    """Another middleware may answer, or this Scrapy lacks a part. Other crawls pay no call."""
    names: list[str] = []
    monkeypatch.setattr(_compat, "watch_sending", lambda *_: sees_sending)
    monkeypatch.setattr(_compat, "call_first", lambda engine, name, see: names.append(name))
    Obeying(monkeypatch, DOWNLOADER_MIDDLEWARES=others).middleware._watch_sending()
    assert names == ["process_exception", *["process_response"] * seen]


@pytest.mark.parametrize("observer", [None, SimpleNamespace(on_sent="noted")])
def test_what_was_sent_is_noted_where_there_is_evidence(
    crawl: Obeying, monkeypatch: pytest.MonkeyPatch, observer: SimpleNamespace | None
) -> None:
    noted: list[Any] = []

    def watch(*given: Any) -> bool:
        noted.append(given)
        return True

    monkeypatch.setattr(_compat, "call_first", lambda *_: None)
    monkeypatch.setattr(_compat, "watch_sending", watch)
    crawl.robots.observer = cast("Any", observer)
    crawl.middleware._watch_sending()
    ((_, check, note, _),) = noted
    assert (check, note) == (crawl.enforcer.check_sending, observer and "noted")


def test_a_response_is_checked(crawl: Obeying) -> None:
    crawl.know()

    async def work() -> None:
        request = Request(YES)
        await crawl.middleware.process_request(request)
        response = Response(YES)
        assert await crawl.middleware.process_response(request, response) is response
        with pytest.raises(ForbiddenByRobots):
            await crawl.middleware.process_response(request, Response(NO))

    run(work)


# --- questions of a spider


def test_questions_of_a_spider(monkeypatch: pytest.MonkeyPatch) -> None:
    body = (
        b"Sitemap: /map.xml\nUser-agent: *\nCrawl-delay: 3\nContent-Usage: train-ai=n\n"
        b"Disallow: /no\n"
    )
    crawl = Obeying(
        monkeypatch,
        ROBOTSPEC_OVERRIDES={
            "a.example": {"token": "otherbot"},
            "b.example": {"crawl_delay": 7},
            "c.example": "disallow",
        },
    )
    crawl.know(body)
    ask = crawl.middleware

    async def work() -> None:
        assert (await ask.decision(YES)).allowed
        assert not (await ask.decision(NO)).allowed
        assert await ask.sitemaps(YES) == (f"{URL}/map.xml",)
        assert await ask.sitemaps("data:,page") == ()
        assert await ask.crawl_delay(YES) == 3.0
        assert await ask.crawl_delay("http://b.example/") == 7.0
        assert await ask.crawl_delay("data:,page") is None
        assert (await ask.usage(YES)).preferences == {"train-ai": "disallow"}
        assert not (await ask.usage("http://c.example/")).applies
        assert (await ask.usage("data:,page")).applies
        assert crawl.fetches == []

    run(work)


@pytest.mark.parametrize(
    ("others", "queue", "handlers", "looked"),
    [
        ([], None, {}, False),
        ([Derived], None, {}, True),
        ([], Derived, {}, True),
        ([], None, {"http": "handler"}, True),
    ],
)
def test_missing_parts_are_looked_for_where_there_may_be_some(
    monkeypatch: pytest.MonkeyPatch,
    others: list[type],
    queue: type | None,
    handlers: dict[str, str],
    looked: bool,
) -> None:
    """The module that knows them is not imported by a usual crawl."""
    crawl = Obeying(monkeypatch)
    found: list[tuple[list[type], bool]] = []

    def missing_parts(settings: object, others: list[type], *, knows_queue: bool) -> list[str]:
        found.append((others, knows_queue))
        return []

    monkeypatch.setattr(checks, "missing_parts", missing_parts)
    monkeypatch.setattr(middleware, "other_middlewares", lambda settings: others)
    monkeypatch.setattr(middleware, "waiting_queue", lambda settings: queue)
    settings = Settings({"DOWNLOAD_HANDLERS": handlers})
    monkeypatch.setattr(crawl.crawler, "settings", settings)
    crawl.middleware._warn_of_missing_parts()
    assert found == ([(others, queue is None)] if looked else [])


@pytest.mark.parametrize("started", [False, True])
def test_what_is_open_is_closed_by_the_engine_or_without_one(
    crawl: Obeying, monkeypatch: pytest.MonkeyPatch, started: bool
) -> None:
    """An engine that was never started sends no ``engine_stopped``."""
    closed: list[bool] = []

    async def close() -> None:
        closed.append(True)

    monkeypatch.setattr(_compat, "was_started", lambda engine: started)
    monkeypatch.setattr(crawl.robots, "close", close)
    run(lambda: crawl.middleware._spider_closed("finished"))
    assert closed == ([] if started else [True])
