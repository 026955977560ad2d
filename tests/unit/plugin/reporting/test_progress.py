"""Progress: what the log says about origins that have not answered, and the gauges."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from typing import Any

import pytest
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.statscollectors import StatsCollector
from twisted.internet.task import Clock

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.lookup.live_origins import LiveOrigins
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.reporting.crawl_account import CrawlAccount
from scrapy_robotspec.plugin.reporting.progress import MAX_LINES, Progress
from scrapy_robotspec.render.text import REST
from tests.unit.plugin.reporting.records import FOUND

A, B = Origin("http", "a.example", 80), Origin("https", "b.example", 443)
MANY = [Origin("http", f"h{n}.example", 80) for n in range(200)]
FAILED = "is unreachable (why)"


class Log:
    """A Progress over a clock that tests advance, with its log lines."""

    def __init__(
        self, caplog: pytest.LogCaptureFixture, patch: pytest.MonkeyPatch, **options: Any
    ) -> None:
        caplog.set_level(logging.INFO, "scrapy_robotspec")
        self._caplog = caplog
        self.clock = Clock()
        self.clock.advance(1_000_000)
        patch.setattr(time, "time", self.clock.seconds)
        patch.setattr(_compat, "call_later", self._call_later)
        self.stats = StatsCollector(Crawler(Spider))
        self.account = CrawlAccount()
        self.progress = Progress(
            self.stats,
            self.account,
            LiveOrigins(),
            after=options.get("after", 5.0),
            interval=options.get("interval", 60.0),
        )

    def _call_later(self, seconds: float, *call: Any) -> Any:
        assert seconds > 0, "the clock would make such calls for ever"
        return self.clock.callLater(seconds, *call)

    def wait(self, origin: Origin) -> None:
        """A request begins to wait."""
        self.progress.wait_began(origin)

    def lines(self) -> list[str]:
        """The lines since the last call."""
        found = [record.getMessage() for record in self._caplog.records]
        self._caplog.clear()
        return found


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> Log:
    return Log(caplog, monkeypatch)


def test_a_silent_robots_txt_is_named_once(log: Log) -> None:
    log.progress.live.use(A).queued = 12
    log.wait(A)
    log.clock.advance(4.9)
    assert log.lines() == []
    log.clock.advance(0.2)
    assert log.lines() == [
        "robots.txt of http://a.example has not answered for 5 s: 12 requests wait"
    ]
    log.clock.advance(30)
    assert log.lines() == []
    for _ in range(2):
        log.progress.on_answered(A, "has answered")
    assert log.lines() == ["robots.txt of http://a.example has answered"]


def test_an_answer_in_time_is_not_logged(log: Log) -> None:
    """Nor is the end of a wait without one."""
    log.wait(A)
    log.wait(B)
    log.clock.advance(1)
    log.progress.on_answered(A, "has answered")
    log.progress.end_wait(B)
    assert log.progress.pending() == []
    log.clock.advance(300)
    assert log.lines() == []


def test_the_summary_line_comes_at_intervals_while_anything_waits(log: Log) -> None:
    log.wait(A)
    log.clock.advance(10)
    log.wait(B)
    log.progress.waiting_changed(39)
    log.lines()
    log.clock.advance(50)
    summary = "robots.txt: 2 origins pending, 41 requests waiting, longest 60 s (a.example)"
    assert summary in log.lines()
    log.progress.on_answered(A, "has answered")
    log.lines()
    log.progress.waiting_changed(-40)
    log.clock.advance(60)
    assert log.lines() == [
        "robots.txt: 1 origin pending, 1 request waiting, longest 110 s (b.example)"
    ]
    log.progress.on_answered(B, "has answered")
    log.lines()
    log.clock.advance(600)
    assert log.lines() == []
    assert not log.clock.getDelayedCalls()


def test_many_origins_with_one_failure_share_a_line(log: Log) -> None:
    """Another failure has lines of its own."""
    for origin in MANY:
        log.wait(origin)
        log.progress.on_failed(origin, f"DNS: no {origin.host}", FAILED)
        log.progress.on_failed(origin, f"DNS: no {origin.host}", FAILED)
        log.progress.on_given_up(origin, f"DNS: no {origin.host}", "given up")
    assert len(log.lines()) == 2 * MAX_LINES
    log.wait(A)
    log.progress.on_failed(A, "HTTP status 503", FAILED)
    assert log.lines() == ["robots.txt of http://a.example is unreachable (why)"]
    log.progress.close()
    assert log.lines() == [
        "robots.txt of 180 more origins: they are unreachable (DNS), attempts go on" + REST,
        "robots.txt of 180 more origins: they are given up (DNS)" + REST,
    ]


def test_many_silent_origins_do_not_flood_the_log(log: Log) -> None:
    for origin in MANY:
        log.wait(origin)
    log.clock.advance(6)
    assert len(log.lines()) == MAX_LINES
    log.clock.advance(60)
    further, _ = log.lines()
    assert further == f"robots.txt of 180 more origins: they have not answered yet{REST}"
    log.clock.advance(60)
    assert len(log.lines()) == 1


def test_gauges_go_up_and_down(log: Log) -> None:
    log.wait(A)
    log.wait(A)
    log.wait(B)
    log.progress.waiting_changed(4)
    log.progress.waiting_changed(-3)
    log.progress.on_given_up(B, "x", "given up")
    values = log.stats.get_stats()
    assert values["robotspec/pending"] == 1
    assert values["robotspec/waiting"] == 4
    assert values["robotspec/waiting_max"] == 7
    log.progress.close()
    assert (values["robotspec/pending"], values["robotspec/waiting"]) == (0, 0)
    assert not log.clock.getDelayedCalls()


@pytest.mark.parametrize(("option", "lines"), [("interval", 1), ("after", 16)])
def test_without_an_interval_there_are_no_such_lines(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, option: str, lines: int
) -> None:
    log = Log(caplog, monkeypatch, **{option: 0.0})
    log.wait(A)
    log.clock.pump([60.0] * 16)
    assert len(log.lines()) == lines


def test_a_failure_that_nothing_waits_for_is_not_logged(log: Log) -> None:
    """A spider's question, or a refresh of a copy that is in use."""
    log.progress.on_failed(A, "refused", FAILED)
    assert log.lines() == []


@pytest.mark.parametrize(
    ("waits", "is_first", "lines"),
    [(True, False, 1), (False, True, 1), (True, True, 1), (False, False, 0)],
)
def test_giving_up_is_logged_for_a_wait_and_a_first_failure(
    log: Log, waits: bool, is_first: bool, lines: int
) -> None:
    """Not for probes of an origin that was given up before."""
    if waits:
        log.wait(A)
    log.progress.on_given_up(A, "refused", "given up", is_first=is_first)
    assert log.lines() == ["robots.txt of http://a.example given up"] * lines


def test_many_doubtful_responses_share_a_line(log: Log) -> None:
    """FET-20."""
    for origin in MANY:
        log.progress.on_doubtful("no robots.txt: HTML page", replace(FOUND, origin=origin))
    assert len(log.lines()) == MAX_LINES
    log.progress.close()
    assert log.lines() == [
        f"robots.txt of 180 more origins: they have no robots.txt: HTML page{REST}"
    ]


@pytest.mark.parametrize(
    ("body", "level"),
    [(b"<pre>User-agent: *\nDisallow: /x</pre>", "WARNING"), (b"<p>not found</p>", "INFO")],
)
def test_a_view_whose_rules_are_lost_is_a_warning(
    log: Log, caplog: pytest.LogCaptureFixture, body: bytes, level: str
) -> None:
    log.progress.on_doubtful("no robots.txt: HTML page", replace(FOUND, body=body))
    assert [record.levelname for record in caplog.records] == [level]
    assert [("browser's view" in line) for line in log.lines()] == [level == "WARNING"]
