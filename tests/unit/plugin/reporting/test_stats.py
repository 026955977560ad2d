"""What the end of a fetch and a refusal do to stats, log and account."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.statscollectors import StatsCollector

from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import Meaning
from scrapy_robotspec.access.overrides import Override
from scrapy_robotspec.access.policy import AccessPolicy
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.editions import get_edition
from scrapy_robotspec.lookup import FetchDone, Pending
from scrapy_robotspec.lookup.live_origins import LiveOrigins
from scrapy_robotspec.lookup.rules_cache import RulesCache
from scrapy_robotspec.plugin.exceptions import refusal
from scrapy_robotspec.plugin.middleware import RobotSpecMiddleware
from scrapy_robotspec.plugin.reporting import stats
from scrapy_robotspec.plugin.reporting.origin_rows import OriginRows
from scrapy_robotspec.plugin.reporting.progress import Progress
from scrapy_robotspec.plugin.reporting.stats import (
    CrawlStats,
    log_never_decided,
    open_account,
    shown_request,
)
from scrapy_robotspec.plugin.settings.settings import Settings
from scrapy_robotspec.signals import request_refused
from tests.unit.plugin.reporting.records import DOWN, FAILED, FOUND, RULES, SHOP


class Crawl:
    """The stats of a crawl without requests, with its log lines."""

    def __init__(self, caplog: pytest.LogCaptureFixture, **settings: Any) -> None:
        caplog.set_level(logging.DEBUG, "scrapy_robotspec")
        self._caplog = caplog
        crawler = Crawler(Spider, {"USER_AGENT": "shop", "LOGSTATS_INTERVAL": 0})
        self.crawler = crawler
        crawler.spider = Spider("shop")
        self._settings = Settings(user_agent_token=("shop",), progress_after=0, **settings)
        self.collected = StatsCollector(crawler)
        account = open_account(self._settings)
        progress = Progress(self.collected, account, LiveOrigins(), after=0, interval=0)
        runtime = SimpleNamespace(crawler=crawler, settings=self._settings, stats=self.collected)
        self.stats = CrawlStats(cast("Any", runtime), progress)

    def fetched(
        self, record: RobotsRecord, before: RobotsRecord | None = None, now: float = 1000.0
    ) -> None:
        """A fetch turned *before* into *record*."""
        policy = AccessPolicy(
            edition=get_edition("google-2019"), unreachable=self._settings.unreachable
        )
        plan = policy.plan(record, now)
        found: Any = Pending(record.origin, plan.until)
        if plan.action.value not in ("wait",):
            found = RulesCache().make(record, plan, policy.edition, now)
        self.stats.on_fetch_done(FetchDone(found, record, before, None, 0.1))

    def lines(self) -> list[str]:
        """The lines since the last call."""
        found = [record.getMessage() for record in self._caplog.records]
        self._caplog.clear()
        return found


def wait(crawl: Crawl, origin: Origin, requests: int) -> None:
    live = crawl.stats.progress.live.use(origin)
    live.waits = requests
    crawl.stats.progress.wait_began(origin)


def test_a_wait_that_was_logged_has_its_end_logged(caplog: pytest.LogCaptureFixture) -> None:
    """The line names the attempts and the failure before."""
    crawl = Crawl(caplog)
    wait(crawl, DOWN, 2)
    failed = replace(FAILED, next_attempt=1001.0, unanswered=1)
    crawl.fetched(failed)
    (line,) = crawl.lines()
    assert line.startswith("robots.txt of http://down.example:8080 is unreachable (refused): 2 ")
    crawl.fetched(replace(FOUND, origin=DOWN), failed)
    assert crawl.lines() == [
        (
            "robots.txt of http://down.example:8080 has answered after 2 attempts (refused): "
            "with rules, 2 requests released"
        )
    ]
    values = crawl.collected.get_stats()
    assert values["robotspec/released"] == values["robotspec/waited"] == 2
    assert values["robotspec/cache/miss"] == values["robotspec/retry_count"] == 1


def test_an_end_that_nothing_waited_for_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    """A fetch may fail before its request could wait. A probe after it writes no line."""
    crawl = Crawl(caplog)
    failed = replace(FAILED, unanswered=3, next_attempt=1060.0)
    crawl.fetched(failed)
    (line,) = crawl.lines()
    assert line.startswith("robots.txt of http://down.example:8080 given up after 1 attempt (")
    crawl.fetched(replace(failed, failures=4), failed)
    assert crawl.lines() == []


def test_requests_that_are_released_without_rules_are_said_to_have_no_restrictions(
    caplog: pytest.LogCaptureFixture,
) -> None:
    crawl = Crawl(caplog, unreachable="allow")
    wait(crawl, DOWN, 2)
    crawl.stats.progress.on_failed(DOWN, "refused", "is unreachable")
    crawl.fetched(replace(FAILED, next_attempt=1001.0, failures=3, unanswered=3))
    assert crawl.lines()[1] == (
        "robots.txt of http://down.example:8080 given up after 3 attempts (refused): "
        "no restrictions, 2 requests released"
    )


@pytest.mark.parametrize(
    ("changed", "until"),
    [
        ({"unanswered": 1}, "after 2 more attempts"),
        ({"unanswered": 2, "failures": 2}, "after 1 more attempt"),
        ({"temporary": 1, "failures": 3, "failure_status": 429}, "after 2 more attempts"),
        ({"failures": 3}, "in 240 s"),
    ],
)
def test_a_failure_says_when_requests_are_given_up(
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    changed: dict[str, Any],
    until: str,
) -> None:
    """The attempts count without an HTTP answer or with a temporary status, else the time."""
    monkeypatch.setattr(time, "time", lambda: 1060.0)
    crawl = Crawl(caplog)
    wait(crawl, DOWN, 2)
    failed = replace(FAILED, failed_at=1060.0, next_attempt=1061.0)
    crawl.fetched(replace(failed, **changed), now=1060.0)
    (line,) = crawl.lines()
    assert line.endswith(f", given up {until}")


def test_a_doubt_is_counted_once_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    """FET-20: a failed refresh does not count the same doubt again."""
    crawl = Crawl(caplog)
    page = replace(FOUND, doubt="HTML page")
    crawl.fetched(page)
    again = replace(page, fetched_at=1500.0)
    crawl.fetched(again, page, 1500.0)
    crawl.fetched(replace(again, failed_at=1600.0, failures=1), again, 1600.0)
    assert crawl.collected.get_stats()["robotspec/no robots.txt: HTML page"] == 2
    (line,) = crawl.lines()
    assert line.startswith("no robots.txt: HTML page at https://shop.example/robots.txt")


def test_a_browsers_view_of_a_robots_txt_is_named(caplog: pytest.LogCaptureFixture) -> None:
    """A service or a handler has rendered it."""
    crawl = Crawl(caplog)
    body = b"<html><body><pre>User-agent: *\nDisallow: /x</pre></body></html>"
    crawl.fetched(replace(FOUND, doubt="HTML page", body=body))
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    (line,) = crawl.lines()
    assert line.startswith(
        "no robots.txt: HTML page at https://shop.example/robots.txt (a browser's view of a text "
        "file, whose rules are not obeyed: request robots.txt without the browser): it is asked "
    )


def test_pages_without_rules_are_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    """Also where the outage began before the crawl did."""
    crawl = Crawl(caplog, unreachable="allow")
    failed = replace(FAILED, failures=7, next_attempt=1001.0)
    for _ in range(3):
        crawl.fetched(failed, failed)
    (line,) = crawl.lines()
    assert "ROBOTSPEC_UNREACHABLE is 'allow': its pages are crawled without rules" in line


def test_a_refusal_is_counted_and_logged_without_user_info(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """LOC-10."""
    crawl = Crawl(caplog)
    request = Request("https://user:secret@shop.example/cart/")
    decision = Decision(False, "rule", RULES.explain("/cart/", ()), origin=SHOP)
    crawl.stats.refused(request, request, refusal(decision))
    (line,) = crawl.lines()
    assert line == (
        "Forbidden by robots.txt: <GET https://shop.example/cart/> (line 2: 'Disallow: /cart/')"
    )
    assert crawl.collected.get_stats()["robotstxt/forbidden"] == 1
    assert crawl.stats.account.requests().by_outcome["refused_rule"] == 1
    assert "secret" not in shown_request(request)


def test_overrides_and_usage_preferences_are_counted(
    caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    """In the stats and for each origin of the report."""
    crawl = Crawl(caplog, report=str(tmp_path / "report.jsonl"))
    for override in (
        Override(replacement="ignore"),
        Override(crawl_delay=2.0, token=("ours",)),
        Override(token=("ours",)),
    ):
        crawl.stats.account.overridden(override, SHOP)
    crawl.stats.account.count_usage({"train-ai": "disallow", "search": "allow"}, SHOP)
    crawl.stats.account.count_usage({"train-ai": "disallow", "search": "unknown"}, SHOP)
    assert isinstance(crawl.stats.account, OriginRows)
    row = crawl.stats.account[SHOP]
    assert row.overrides == {"ignore": 1, "crawl_delay": 1, "token": 2}
    assert row.usage == {"train-ai": {"disallow": 2}, "search": {"allow": 1, "unknown": 1}}
    assert crawl.stats.account.of_pages["robotspec/override/token"] == 2
    assert crawl.stats.account.of_pages["robotspec/usage/train-ai/disallow"] == 2


def test_crawl_delays_that_are_not_kept_are_summed_up(caplog: pytest.LogCaptureFixture) -> None:
    """EXT-01: the number of origins and the longest delay, at the end."""
    crawl = Crawl(caplog)
    for origin, delay in ((SHOP, 2.0), (DOWN, 30.0), (SHOP, 3.0)):
        crawl.stats.account.delay_not_kept(origin, delay)
    crawl.stats.close(lambda origin: None)
    assert crawl.lines()[-1] == (
        "crawl delay not kept: 2 origins ask for one, at most 30 s (ROBOTSPEC_CRAWL_DELAY)"
    )


def test_an_expired_copy_that_is_awaited_is_counted_once(caplog: pytest.LogCaptureFixture) -> None:
    """The summary of a crawl that is stopped meanwhile counts its origin by the last answer."""
    crawl = Crawl(caplog)
    crawl.fetched(FOUND)
    for origin in (SHOP, DOWN, Origin("http", "other.example", 80)):
        crawl.stats.progress.wait_began(origin)
    crawl.stats.close({SHOP: FOUND}.get)
    assert "origins        3 (2 without an answer so far, 1 with rules)" in crawl.lines()[-1]


def test_rows_are_for_reports() -> None:
    settings = Settings(user_agent_token=("shop",))
    assert not isinstance(open_account(settings), OriginRows)
    assert isinstance(open_account(replace(settings, report="report.jsonl")), OriginRows)


def test_a_refusal_is_sent_to_the_receivers_of_its_signal(
    caplog: pytest.LogCaptureFixture,
) -> None:
    crawl, received = Crawl(caplog), []

    def receive(request: Request, decision: Decision) -> None:
        received.append((request, decision))

    crawl.crawler.signals.connect(receive, request_refused)
    page, asked = Request("https://shop.example/a"), Request("https://shop.example/cart/")
    decision = Decision(False, "rule", RULES.explain("/cart/", ()), origin=SHOP)
    crawl.stats.refused(page, asked, refusal(decision))
    assert received == [(page, decision)]


@pytest.mark.parametrize(
    "record",
    [None, replace(FAILED, unreachable_since=None, temporary=1, failure_status=429)],
    ids=["no record", "temporary status that stands (FET-19)"],
)
def test_an_origin_without_an_outage_that_waits_has_no_line(
    caplog: pytest.LogCaptureFixture, record: RobotsRecord | None
) -> None:
    crawl = Crawl(caplog)
    wait(crawl, DOWN, 2)
    crawl.stats.on_fetch_done(FetchDone(Pending(DOWN, 1.0), record, None, None, 0.1))
    assert crawl.lines() == []


@pytest.mark.parametrize(
    ("waiting", "text"),
    [
        (0, "): requests are refused until it answers"),
        (1, "): 1 request refused; further ones are refused until it answers"),
    ],
)
def test_an_origin_that_is_given_up_says_how_many_requests_are_refused(
    caplog: pytest.LogCaptureFixture, waiting: int, text: str
) -> None:
    """None where a spider's question met the failure."""
    crawl = Crawl(caplog)
    if waiting:
        wait(crawl, DOWN, waiting)
    crawl.fetched(replace(FAILED, unanswered=3, failures=3, next_attempt=1060.0))
    assert crawl.lines()[-1].endswith(text)
    assert crawl.collected.get_value("robotspec/waited", 0) == waiting


@pytest.mark.parametrize(("failures", "lines"), [(0, 1), (2, 0)])
def test_a_first_failure_after_an_answer_is_logged(
    caplog: pytest.LogCaptureFixture, failures: int, lines: int
) -> None:
    """Also if nothing waited for it; a probe of an origin that was given up is not."""
    crawl = Crawl(caplog)
    crawl.fetched(
        replace(FAILED, unanswered=3, failures=3, next_attempt=1060.0),
        replace(FOUND, origin=DOWN, failures=failures),
    )
    assert len([line for line in crawl.lines() if "given up" in line]) == lines


def test_another_doubt_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """FET-20."""
    crawl = Crawl(caplog)
    page = replace(FOUND, doubt="HTML page")
    crawl.fetched(page)
    crawl.fetched(replace(page, doubt="JSON", fetched_at=1500.0), page, 1500.0)
    crawl.fetched(replace(page, fetched_at=1600.0), FOUND, 1600.0)
    assert len(crawl.lines()) == 3


@pytest.mark.parametrize(("planned", "expected"), [(1007.0, 1007.0), (None, 1000.0)])
def test_the_outlook_of_a_wait_names_the_next_attempt(
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    planned: float | None,
    expected: float,
) -> None:
    """At once where none is planned."""
    monkeypatch.setattr(time, "time", lambda: 1000.0)
    crawl = Crawl(caplog, report=str(tmp_path / "report.jsonl"))
    wait(crawl, DOWN, 2)
    record = replace(FAILED, next_attempt=planned)
    crawl.stats.on_fetch_done(FetchDone(Pending(DOWN, 1.0), record, None, None, 0.1))
    assert isinstance(crawl.stats.account, OriginRows)
    outlook = crawl.stats.account[DOWN].outlook
    assert outlook is not None
    assert outlook.next_attempt == expected


def test_warnings_of_pages_without_rules_are_bounded(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stats, "ORIGINS_COUNTED", 1)
    crawl = Crawl(caplog, unreachable="allow")
    for origin in (DOWN, SHOP):
        crawl.fetched(replace(FAILED, origin=origin, failures=7, next_attempt=1001.0))
    assert len([line for line in crawl.lines() if "without rules" in line]) == 1


def test_pages_of_an_origin_that_has_no_file_are_not_warned_of(
    caplog: pytest.LogCaptureFixture,
) -> None:
    crawl = Crawl(caplog, unreachable="allow")
    crawl.fetched(replace(FOUND, meaning=Meaning.ALLOW, status=404, body=b"", hops=()))
    assert crawl.lines() == []


@pytest.mark.parametrize("number", [0, 2])
def test_exempt_requests_are_a_stat_if_there_are_any(
    caplog: pytest.LogCaptureFixture, number: int
) -> None:
    """APP-01."""
    crawl = Crawl(caplog)
    crawl.stats.account.requests_of(None).by_outcome["dont_obey_robotstxt"] += number
    crawl.stats.close(lambda origin: None)
    assert crawl.collected.get_value("robotspec/unchecked") == (number or None)


class Answers:
    """A middleware that answers requests."""

    def process_request(self, request: Request) -> None: ...


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, []),
        (1, ["1 response came from a middleware before this one and was not checked ("]),
        (2, ["2 responses came from a middleware before this one and were not checked ("]),
    ],
)
@pytest.mark.parametrize("is_named", [True, False])
def test_middlewares_that_answered_before_ours_are_named(
    caplog: pytest.LogCaptureFixture,
    number: int,
    expected: list[str],
    is_named: bool,
) -> None:
    middlewares = {RobotSpecMiddleware: 100} | ({Answers: 50} if is_named else {})
    settings = {"DOWNLOADER_MIDDLEWARES": middlewares, "DOWNLOADER_MIDDLEWARES_BASE": {}}
    log_never_decided(number, Crawler(Spider, settings), RobotSpecMiddleware)
    names = f"{__name__}.Answers at 50)" if is_named else "its name is unknown)"
    assert caplog.messages == [f"{line}{names}" for line in expected]
