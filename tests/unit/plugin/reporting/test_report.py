"""The summary of a crawl: the table in the log, and JSON lines by origin."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import Hop, Meaning
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.plugin.reporting import report as report_module
from scrapy_robotspec.plugin.reporting.report import Report
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

if TYPE_CHECKING:
    from pathlib import Path

SHOP = Origin("https", "shop.example", 443)
DOWN = Origin("http", "down.example", 8080)
RULES = RobotsTxt.parse(b"User-agent: *\nDisallow: /cart/\n")

FOUND = RobotsRecord(
    SHOP,
    meaning=Meaning.RULES,
    status=200,
    body=RULES.body,
    hops=(Hop("https://shop.example/robots.txt", 301),),
    fetched_at=1000.0,
    expires_at=2000.0,
)
FAILED = RobotsRecord(
    DOWN,
    unreachable_since=1000.0,
    failed_at=1000.0,
    failures=1,
    failure="refused",
    failure_status=503,
)


def refusal(origin: Origin = SHOP, robots: RobotsTxt = RULES) -> Decision:
    return Decision(False, "rule", robots.explain("/cart/", ()), origin=origin)


def small_crawl(report: Report) -> Report:
    """A shop with one refused page, and an origin that is down."""
    report.fetched(SHOP, FOUND, None, 0.25)
    report.fetched(DOWN, FAILED, None, 8.0)
    report.fetched(DOWN, FAILED, FAILED, 7.0)
    report.waited(SHOP, 2)
    report.let_through(SHOP)
    report.let_through(SHOP)
    report.refused(refusal())
    report.given_up(DOWN, 1)
    report.refused(Decision(False, "unreachable", origin=DOWN))
    return report


def test_table_tells_what_was_asked_let_through_and_refused() -> None:
    """The whole account of a small crawl, as it stands in the log (EXT-02)."""
    assert small_crawl(Report()).table().splitlines() == [
        "origins            2 (1 with rules, 1 unreachable)",
        "attempts           3 ended, 2 of them without a usable answer",
        "requests           2 let through, 2 refused (1 by a rule, 1 unreachable)",
        "waited             2 released, 1 given up",
        "still unreachable  http://down.example:8080: refused",
        "slowest answers         8 s  http://down.example:8080",
        "                     0.25 s  https://shop.example",
        "refused most              1  https://shop.example line 2: Disallow: /cart/",
    ]


def test_the_table_names_origins_that_are_down_until_they_answer() -> None:
    """Up to five by name, the others by number."""
    report = Report()
    for number in range(8):
        record = replace(FAILED, origin=Origin("http", f"h{number}.example", 80))
        report.fetched(record.origin, record, None, 0.1)
    table = report.table()
    assert "still unreachable  http://h0.example: refused\n" in table
    assert "and 3 more" in table
    for number in range(8):
        back = replace(FOUND, origin=Origin("http", f"h{number}.example", 80))
        report.fetched(back.origin, back, FAILED, 0.1)
    assert "unreachable  http" not in report.table()


def test_a_crawl_that_asked_nothing_has_a_table_too() -> None:
    """No origin, no request: the table says so."""
    assert Report().table().splitlines() == [
        "origins   0",
        "attempts  0 ended, 0 of them without a usable answer",
        "requests  0 let through, 0 refused",
    ]


def test_origins_without_an_answer_are_named() -> None:
    """After Ctrl-C the summary says what the crawl was waiting for."""
    silent = [(Origin("http", f"h{number}.example", 80), 30.0 - number) for number in range(7)]
    table = Report().table(silent)
    assert "origins        7 (7 without an answer so far)" in table
    assert "still pending      30 s  http://h0.example" in table
    assert "and 2 more" in table


def test_an_origin_is_counted_once_however_often_it_is_tried() -> None:
    """Origins are counted as origins, attempts as attempts."""
    report = Report()
    before = None
    for _ in range(5):
        report.fetched(DOWN, FAILED, before, 0.1)
        before = FAILED
    report.fetched(DOWN, replace(FOUND, origin=DOWN), FAILED, 0.1)
    table = report.table()
    assert "origins          1 (1 with rules)" in table
    assert "6 ended, 5 of them without a usable answer" in table


def test_overrides_are_named_in_the_table() -> None:
    report = Report()
    for kinds in (("ignore",), ("ignore",), ("crawl_delay", "token")):
        report.overridden(kinds)
    assert "overridden  2 by ignore, 1 by crawl_delay, 1 by token" in report.table()


def test_a_strangers_rule_cannot_steer_the_log() -> None:
    """A rule in the table is escaped (SAF-04)."""
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: /*\x1b[31m\xe2\x80\xae")
    verdict = robots.explain("/\x1b[31m\u202e", ())
    report = Report()
    report.refused(Decision(False, "rule", verdict, origin=SHOP))
    assert "\\x1b[31m\\u202e" in report.table()
    assert "\x1b" not in report.table()


def written(report: Report, path: Path) -> list[dict[str, Any]]:
    report.write(str(path))
    return [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()]


def test_one_json_line_per_origin(tmp_path: Path) -> None:
    """What happened with each origin, and the facts of its latest answer."""
    shop, down = written(small_crawl(Report(by_origin=True)), tmp_path / "report.jsonl")
    assert shop == {
        "origin": "https://shop.example",
        "let_through": 2,
        "refused": 1,
        "waited": 2,
        "given_up": 0,
        "asked": 1,
        "failed": 0,
        "seconds": 0.25,
        "answer": "rules",
        "status": 200,
        "failure": None,
        "hops": 1,
        "bytes": len(RULES.body),
        "usage": {},
    }
    assert down["answer"] == "unreachable"
    assert down["status"] == 503
    assert down["failure"] == "refused"
    assert (down["asked"], down["failed"], down["seconds"]) == (2, 2, 8.0)
    assert (down["refused"], down["given_up"]) == (1, 1)


def test_usage_preferences_are_counted_by_origin_and_in_all(tmp_path: Path) -> None:
    """USE-05: each declared label by its preference."""
    report = Report(by_origin=True)
    report.usage({"train-ai": "disallow", "search": "allow"}, SHOP)
    report.usage({"train-ai": "disallow", "search": "unknown"}, SHOP)
    report.usage({"train-ai": "allow", "search": "unknown"}, DOWN)
    assert "usage train-ai  1 allowed, 2 disallowed" in report.table()
    assert "usage search    1 allowed, 2 unknown" in report.table()
    shop, down = written(report, tmp_path / "report.jsonl")
    assert shop["usage"] == {"train-ai": {"disallow": 2}, "search": {"allow": 1, "unknown": 1}}
    assert down["usage"] == {"train-ai": {"allow": 1}, "search": {"unknown": 1}}


def test_lines_by_origin_have_to_be_wanted_from_the_start(tmp_path: Path) -> None:
    """Without it nothing is kept for each origin, so nothing can be written."""
    with pytest.raises(ValueError, match="at the start"):
        Report().write(str(tmp_path / "report.jsonl"))


def test_rules_that_refuse_often_outlive_many_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only so many rules are counted; the one that refuses most is not forgotten."""
    monkeypatch.setattr(report_module, "RULES_COUNTED", 5)
    report = Report()
    for _ in range(20):
        report.refused(refusal())
    for number in range(100):
        report.refused(refusal(Origin("http", f"h{number}.example", 80)))
    assert "20  https://shop.example line 2: Disallow: /cart/" in report.table()
    assert len(report._rules) <= 10
