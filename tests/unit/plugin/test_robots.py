"""CrawlRobots: answers at once or later, questions of a spider, and the end of waits."""

from __future__ import annotations

import asyncio
import atexit
from dataclasses import replace
from typing import Any, cast

import pytest
from scrapy import Request, signals
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from twisted.internet.defer import Deferred

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.lookup import Lookup, Pending
from scrapy_robotspec.lookup.page_answers import PageAnswers
from scrapy_robotspec.plugin import _compat
from tests.unit.plugin.obeying import NOW, RULES, URL, A, Obeying, run, turns

NO, YES = f"{URL}/no", f"{URL}/yes"


@pytest.fixture
def crawl(monkeypatch: pytest.MonkeyPatch) -> Obeying:
    return Obeying(monkeypatch)


def test_an_unknown_origin_is_pending_and_fetched_once(crawl: Obeying) -> None:
    async def work() -> None:
        for _ in range(2):
            answer = crawl.robots.decide_now(A, Request(YES), NOW)
            assert isinstance(answer, Pending)
        assert [origin for origin, _ in crawl.fetches] == [A]
        crawl.end_fetches()
        await turns()
        for url, allowed in ((YES, True), (NO, False)):
            answer = crawl.robots.decide_now(A, Request(url), NOW)
            assert not isinstance(answer, Pending)
            assert answer.decision.allowed is allowed

    run(work)


def test_rules_that_are_valid_are_not_looked_up_again(
    crawl: Obeying, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl.know()
    first = crawl.robots.decide_now(A, Request(YES), NOW)
    monkeypatch.delattr(Lookup, "look_up")
    assert crawl.robots.decide_now(A, Request(YES), NOW) == first


def test_a_later_answer_is_that_of_the_rules_then_in_force(crawl: Obeying) -> None:
    """And the origin is pending meanwhile, with its request counted as one that waits."""

    async def work() -> None:
        waits = [asyncio.ensure_future(crawl.robots.decide_later(A, Request(YES))) for _ in "ab"]
        await turns()
        assert crawl.robots.live[A].waits == 2
        assert crawl.stat("robotspec/waiting") == 2
        assert crawl.stat("robotspec/pending") == 1
        assert crawl.engine.wakes == 2
        crawl.end_fetches(b"User-agent: *\nDisallow: /yes")
        answers = await asyncio.gather(*waits)
        assert [answer.decision.allowed for answer in answers] == [False, False]
        assert crawl.stat("robotspec/waiting") == crawl.stat("robotspec/pending") == 0
        assert A not in crawl.robots.live

    run(work)


def test_pauses_are_looked_for_while_anything_waits(
    crawl: Obeying, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks: list[Any] = []

    def call_later(seconds: float, *call: Any) -> object:
        ticks.append(call)
        return call

    monkeypatch.setattr(_compat, "call_later", call_later)

    def tick() -> None:
        (call, *arguments) = ticks.pop()
        call(*arguments)

    async def work() -> None:
        assert ticks == []
        waits = [Deferred[None](), Deferred[None]()]
        until = [asyncio.ensure_future(crawl.robots.until(each, "it came")) for each in waits]
        await turns()
        for each in waits:
            tick()
            assert len(ticks) == 1
            each.callback(None)
            await turns()
        tick()
        assert ticks == []
        await asyncio.gather(*until)

    run(work)


@pytest.mark.parametrize("closing", [False, True])
def test_a_wait_that_the_end_cancels_is_an_ignored_request(crawl: Obeying, closing: bool) -> None:
    """The summary still names the origin where the spider closes."""

    async def work() -> None:
        wait = asyncio.ensure_future(crawl.robots.decide_later(A, Request(YES)))
        await turns()
        crawl.engine.is_closing = closing
        crawl.robots.stop()
        with pytest.raises(IgnoreRequest, match=f"before the robots.txt of {URL} was known"):
            await wait
        assert bool(crawl.robots.progress.pending()) is closing
        with pytest.raises(IgnoreRequest, match=f"before the robots.txt of {URL} was known"):
            await crawl.robots.decide_later(A, Request(YES))

    run(work)


def test_the_log_ends_the_wait_of_an_origin_with_its_last_request(
    crawl: Obeying, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[Origin] = []
    monkeypatch.setattr(crawl.robots.progress, "end_wait", ended.append)

    async def work() -> None:
        first, last = (
            asyncio.ensure_future(crawl.robots.decide_later(A, Request(YES))) for _ in "ab"
        )
        await turns()
        first.cancel()
        await turns()
        assert ended == []
        crawl.end_fetches()
        await last
        assert set(ended) == {A}

    run(work)


def test_a_wait_that_begins_after_the_end_ends_at_once(crawl: Obeying) -> None:
    from twisted.internet.defer import Deferred

    async def work() -> None:
        crawl.robots.stop()
        with pytest.raises(IgnoreRequest, match="before a delay had passed"):
            await crawl.robots.until(Deferred(), "a delay had passed")

    run(work)


@pytest.mark.parametrize(
    ("url", "meta", "allowed", "reason"),
    [
        (YES, {}, True, "no_rule"),
        (NO, {}, False, "rule"),
        (NO, {"dont_obey_robotstxt": True}, True, "no_rule"),
        ("data:,page", {}, True, "no_rule"),
    ],
)
def test_a_question_of_a_spider(
    crawl: Obeying, url: str, meta: dict[str, Any], allowed: bool, reason: str
) -> None:
    crawl.know()
    decision = run(lambda: crawl.robots.decide(Request(url, meta=meta)))
    assert (decision.allowed, decision.reason) == (allowed, reason)


@pytest.mark.parametrize(
    ("override", "body"),
    [
        (None, RULES),
        ("ignore", None),
        ("disallow", None),
        ("User-agent: *\nDisallow: /own", b"User-agent: *\nDisallow: /own"),
    ],
)
def test_the_rules_of_a_request_are_the_users_own_or_those_of_its_site(
    monkeypatch: pytest.MonkeyPatch, override: str | None, body: bytes | None
) -> None:
    given = {} if override is None else {"a.example": override}
    crawl = Obeying(monkeypatch, ROBOTSPEC_OVERRIDES=given)

    async def work() -> None:
        assert await crawl.robots.rules(Request("data:,page")) is None
        asked = asyncio.ensure_future(crawl.robots.rules(Request(YES)))
        await turns()
        assert bool(crawl.fetches) is (override is None)
        crawl.end_fetches()
        for found in (await asked, await crawl.robots.rules(Request(YES))):
            assert (None if found is None else found.body) == body

    run(work)


@pytest.mark.parametrize(
    ("override", "allowed"), [("ignore", True), ("disallow", False), ({"token": "x"}, False)]
)
def test_an_override_decides_before_the_rules(
    monkeypatch: pytest.MonkeyPatch, override: Any, allowed: bool
) -> None:
    crawl = Obeying(monkeypatch, ROBOTSPEC_OVERRIDES={"a.example": override})
    crawl.know()
    answer = crawl.robots.decide_now(A, Request(NO), NOW)
    assert not isinstance(answer, Pending)
    assert answer.decision.allowed is allowed


@pytest.mark.parametrize(
    ("settings", "said"), [({}, "not kept"), ({"ROBOTSPEC_CRAWL_DELAY": True}, "kept")]
)
def test_the_line_at_start_says_what_is_in_force(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    settings: dict[str, Any],
    said: str,
) -> None:
    crawl = Obeying(monkeypatch, **settings)
    caplog.set_level("INFO")
    crawl.robots.open()
    (line,) = [each for each in caplog.messages if each.startswith("robots.txt: token")]
    assert line.startswith("robots.txt: token examplebot")
    assert f"crawl delays {said}" in line
    assert ("not kept" in line) is (said == "not kept")


# --- start and end


class Kept:
    """Evidence or a report, with the calls that it gets."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def open(self) -> None:
        self.calls.append("open")

    def end(self, reason: str) -> None:
        self.calls.append(reason)

    def close(self, requests: object = "no account") -> None:
        self.calls.append("close" if requests == "no account" else requests)


@pytest.mark.parametrize("dry", [False, True])
@pytest.mark.parametrize("kept", [False, True])
def test_evidence_and_report_are_opened_and_closed_once(
    monkeypatch: pytest.MonkeyPatch, kept: bool, dry: bool
) -> None:
    """The evidence of a dry run gets no account of requests."""
    crawl, evidence, report = Obeying(monkeypatch), Kept(), Kept()
    robots = crawl.robots
    robots.settings = replace(robots.settings, dry_run=dry)
    if kept:
        robots.observer, robots._report = cast("Any", evidence), cast("Any", report)
    at_exit: list[object] = []
    monkeypatch.setattr(atexit, "register", at_exit.append)
    monkeypatch.setattr(_compat, "was_started", lambda engine: True)

    async def work() -> None:
        robots.open()
        await robots.end("finished")
        await robots.close()

    run(work)
    account = None if dry else robots.progress.account.requests()
    assert evidence.calls == (["open", account] if kept else [])
    assert report.calls == (["open", "finished", "close"] if kept else [])
    assert bool(at_exit) is kept, "Ctrl-C may skip the close"


@pytest.mark.parametrize(
    ("edition", "status", "meta", "notes"),
    [
        ("google", 200, {}, True),
        ("google", 500, {}, False),
        ("google", 499, {}, True),
        ("google", 200, {"dont_obey_robotstxt": True}, False),
        ("google-2019", 200, {}, False),
    ],
)
def test_pages_that_answer_are_noted_where_an_edition_asks(
    monkeypatch: pytest.MonkeyPatch, edition: str, status: int, meta: dict[str, Any], notes: bool
) -> None:
    """FET-12: not those that the user exempts, whose robots.txt nobody asked for."""
    crawl, noted = Obeying(monkeypatch, ROBOTSPEC_EDITION=edition), list[object]()
    note = lambda answers, origin: noted.append(origin)  # noqa: E731
    monkeypatch.setattr(PageAnswers, "page_answered", note)
    crawl.robots.open()
    crawl.crawler.signals.send_catch_log(
        signals.response_received,
        response=Response(YES, status=status),
        request=Request(YES, meta=meta),
        spider=crawl.crawler.spider,
    )
    assert noted == ([A] if notes else [])
