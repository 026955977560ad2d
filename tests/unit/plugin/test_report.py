"""The crawl's own account: what the table says, one JSON line per origin, bounded memory."""

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
from scrapy_robotspec.plugin.reporting.origin_stats import OriginStatsTable
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
    report.asked(SHOP, FOUND, None, 0.25)
    report.asked(DOWN, FAILED, None, 8.0)
    report.asked(DOWN, FAILED, FAILED, 7.0)
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
        "origins asked      2",
        "answers            1 with rules, 2 unreachable",
        "requests           2 let through, 2 refused (1 by a rule, 1 unreachable)",
        "waiting            2 until there was an answer, 1 in vain",
        "still unreachable  http://down.example:8080: refused",
        "slowest answers         8 s  http://down.example:8080",
        "                     0.25 s  https://shop.example",
        "refused most              1  https://shop.example line 2: Disallow: /cart/",
    ]


def test_the_table_names_origins_that_are_down_until_they_answer() -> None:
    """Whoever wonders why nothing of a host was crawled finds its name, or how many there are."""
    report = Report()
    for number in range(8):
        record = replace(FAILED, origin=Origin("http", f"h{number}.example", 80))
        report.asked(record.origin, record, None, 0.1)
    table = report.table()
    assert "still unreachable  http://h0.example: refused\n" in table
    assert "and 3 more" in table
    for number in range(8):
        back = replace(FOUND, origin=Origin("http", f"h{number}.example", 80))
        report.asked(back.origin, back, FAILED, 0.1)
    assert "unreachable  http" not in report.table()


def test_a_crawl_that_asked_nothing_has_a_table_too() -> None:
    """No origin, no request: the table says so."""
    assert Report().table().splitlines() == [
        "origins asked  0",
        "answers        none",
        "requests       0 let through, 0 refused",
    ]


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
    }
    assert down["answer"] == "unreachable"
    assert down["status"] == 503
    assert down["failure"] == "refused"
    assert (down["asked"], down["failed"], down["seconds"]) == (2, 2, 8.0)
    assert (down["refused"], down["given_up"]) == (1, 1)


def test_lines_by_origin_have_to_be_wanted_from_the_start(tmp_path: Path) -> None:
    """Without it nothing is kept for each origin, so nothing can be written."""
    with pytest.raises(ValueError, match="at the beginning"):
        Report().write(str(tmp_path / "report.jsonl"))


@pytest.mark.parametrize("room", [1, 2, 3, 50])
def test_rows_that_leave_memory_lose_nothing(room: int) -> None:
    """However little room there is: each origin once, in order of appearance, sums and facts."""
    ledger = OriginStatsTable(room)
    origins = [Origin("http", f"host{number % 7}.example", 80) for number in range(40)]
    for number, origin in enumerate(origins):
        row = ledger.row(origin)
        row.let_through += 1
        row.seconds = max(row.seconds, float(number))
        if number == 3:
            row.answer, row.status = "unreachable", 503
        if number == 10:  # the same origin again
            row.answer, row.status, row.bytes = "rules", 200, 5
    rows = {row["origin"]: row for row in ledger.rows()}
    assert list(rows) == [f"http://host{number}.example" for number in range(7)]
    assert [row["let_through"] for row in rows.values()] == [6, 6, 6, 6, 6, 5, 5]
    assert rows["http://host6.example"]["seconds"] == 34.0
    third = rows["http://host3.example"]
    assert (third["answer"], third["status"], third["bytes"]) == ("rules", 200, 5)
    assert third["failure"] is None
    assert rows["http://host0.example"]["answer"] is None


def test_a_broad_crawl_keeps_few_rows_in_memory() -> None:
    """The number of rows in memory is bounded, however many origins there are."""
    ledger = OriginStatsTable(room=10)
    for number in range(500):
        ledger.row(Origin("http", f"h{number}.example", 80)).refused += 1
        assert len(ledger._rows) <= 10
    assert sum(row["refused"] for row in ledger.rows()) == 500


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
