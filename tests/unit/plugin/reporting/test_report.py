"""The counts of a report with what bounds them, and its file: its name, how it is replaced."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from scrapy import Spider
from scrapy.crawler import Crawler

from scrapy_robotspec.access.account import RequestCounts
from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.access.usage_policy import UsageRefusal
from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.lookup import FetchDone, Pending
from scrapy_robotspec.plugin.reporting import report as report_module
from scrapy_robotspec.plugin.reporting import summary
from scrapy_robotspec.plugin.reporting.report import OriginStatsTable, Report
from scrapy_robotspec.plugin.settings.composite import expand
from scrapy_robotspec.plugin.settings.settings import Settings
from scrapy_robotspec.plugin.settings.tokens import TokenSelector
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.protocol.usage import UsageStatement
from scrapy_robotspec.render.crawl_report import OriginStats, RefusalStats
from tests.unit.plugin.reporting.records import DOWN, FAILED, FOUND, HOP, RULES, SHOP

NOW = 1_700_000_000.9


# --- counts


def by_rule(path: str = "/cart/1", robots: RobotsTxt = RULES) -> Decision:
    return Decision(False, "rule", robots.explain(path, ()), origin=SHOP)


def by_usage(statement: UsageStatement) -> Decision:
    refused = UsageRefusal("train-ai", statement)
    return Decision(False, "usage", RULES.explain("/cart/", ()), origin=SHOP, usage=refused)


def fetch(table: OriginStatsTable, record: RobotsRecord, seconds: float, now: float) -> None:
    done = FetchDone(Pending(record.origin, now), record, None, None, now - seconds)
    table.fetched(done, 0, now)


def test_the_facts_of_a_response() -> None:
    table = OriginStatsTable(5.0)
    fetch(table, FOUND, 0.25, 1000.0)
    assert table[SHOP] == OriginStats(
        SHOP,
        asked=1,
        seconds=0.25,
        answer="rules",
        status=200,
        hops=1,
        bytes=len(RULES.body),
        truncated=True,
        redirects=(HOP,),
        first_asked=999.75,
        answered=1000.0,
        words="with rules",
    )


def test_failures_are_kept_after_an_answer() -> None:
    """What went wrong before the answer is part of the report."""
    table = OriginStatsTable(5.0)
    fetch(table, FAILED, 8.0, 1000.0)
    fetch(table, replace(FAILED, failure="timeout"), 7.0, 1010.0)
    row = replace(table[DOWN])
    assert (row.answer, row.status, row.failure) == ("unreachable", 503, "timeout")
    assert row.answered is None
    fetch(table, replace(FOUND, origin=DOWN, fetched_at=1020.0), 1.0, 1020.0)
    row = table[DOWN]
    assert (row.asked, row.failed, row.seconds) == (3, 2, 8.0)
    assert row.failures == {"refused": 1, "timeout": 1}
    assert (row.first_asked, row.answered) == (992.0, 1020.0)
    assert row.failure is None


def test_the_longest_wait_is_kept() -> None:
    table = OriginStatsTable(5.0)
    for began, ended in ((10.0, 12.0), (20.0, 50.0), (60.0, 61.0), (70.0, 65.0)):
        table.wait_began(SHOP, began)
        assert table[SHOP].pending_since == began
        table.wait_ended(SHOP, ended)
    row = table[SHOP]
    assert (row.first_asked, row.wait_began, row.wait_seconds) == (10.0, 20.0, 30.0)
    assert row.pending_since is None


def test_refused_requests_are_counted_by_reason_and_line() -> None:
    """A usage preference is named by its statement."""
    table = OriginStatsTable(5.0)
    for url in ("https://shop.example/cart/1", "https://user:secret@shop.example/cart/2"):
        table.refused(by_rule(), url)
    table.refused(by_rule("/list"), "https://shop.example/list")
    table.refused(Decision(False, "unreachable", origin=SHOP), "https://shop.example/x")
    statement = UsageStatement("content-usage", "train-ai=n", line=4)
    table.refused(by_usage(statement), "https://shop.example/")
    row = table[SHOP]
    assert sum(each.count for each in row.refused_by) == 5
    assert row.refused_by == [
        RefusalStats(
            "rule",
            2,
            "Disallow: /cart/",
            "/cart/",
            2,
            ["https://shop.example/cart/1", "https://shop.example/cart/2"],
        ),
        RefusalStats("rule", 3, "Disallow: /list", "/list", 1, ["https://shop.example/list"]),
        RefusalStats("unreachable", count=1, examples=["https://shop.example/x"]),
        RefusalStats(
            "usage", 4, "Content-Usage: train-ai=n", count=1, examples=["https://shop.example/"]
        ),
    ]


@pytest.mark.parametrize("by", ["rule", "header"])
def test_beyond_a_number_of_rules_refusals_are_counted_together(by: str) -> None:
    """No count is lost. A header may differ with every page of a server."""
    lines = "\n".join(f"Disallow: /{number:04}" for number in range(500))
    robots = RobotsTxt.parse(f"User-agent: *\n{lines}".encode())
    table = OriginStatsTable(5.0)
    for number in range(500):
        statement = UsageStatement("header", f"train-ai=n, x{number}={'y' * 500}")
        header = by_usage(statement)
        decision = header if by == "header" else by_rule(f"/{number:04}", robots)
        table.refused(decision, f"https://shop.example/{number:04}/{'x' * 1000}")
    row = table[SHOP]
    *refusals, further = row.refused_by
    assert len(refusals) == report_module.MAX_RULES
    assert all(each.rule and len(each.rule) <= summary.MAX_TEXT for each in refusals)
    assert (further.line, further.count) == (None, 500 - report_module.MAX_RULES)
    assert len(further.examples) == report_module.MAX_EXAMPLES
    assert max(map(len, further.examples)) == summary.MAX_TEXT
    assert sum(each.count for each in row.refused_by) == 500


def test_kinds_of_failure_are_bounded() -> None:
    table = OriginStatsTable(5.0)
    for number in range(50):
        fetch(table, replace(FAILED, failure=f"failure {number}"), 0.1, 1000.0)
    failures = table[DOWN].failures
    assert failures["other"] == 50 - summary.TOP
    assert len(failures) == summary.TOP + 1


def test_the_bounds_keep_the_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """Origins with a refusal, a failure or a long wait keep their names; all requests count."""
    monkeypatch.setattr(report_module, "MAX_ORIGINS", 10)
    table = OriginStatsTable(5.0)
    hosts = [Origin("http", f"h{number}.example", 80) for number in range(100)]
    wanted = Counter[str]()
    for number, origin in enumerate(hosts):
        table.wait_began(origin, NOW)
        fetch(table, replace(FAILED if number == 20 else FOUND, origin=origin), 0.1, NOW)
        table.wait_ended(origin, NOW + (6 if number == 40 else 1))
        if number == 60:
            table[origin].requests.by_outcome["refused_rule"] += 1
            table.refused(by_rule()._replace(origin=origin), "http://x")
        else:
            table[origin].requests.by_outcome["rules"] += 1
            table[origin].overrides["token"] += 1
            table[origin].usage["search"]["allow"] += 1
        wanted["refused_rule" if number == 60 else "rules"] += 1
    assert not table.kept(hosts[0]).origin
    assert table.is_cut
    rows = table.rows()
    assert len(rows) == 11
    assert {hosts[20], hosts[40], hosts[60]} <= {row.origin for row in rows}
    total = RequestCounts()
    for row in rows:
        total.include(row.requests)
    assert +total.by_outcome == wanted
    assert sum(row.asked for row in rows) == 100
    assert sum(row.usage["search"]["allow"] for row in rows) == 99
    assert sum(row.overrides["token"] for row in rows) == 99
    assert (rows[-1].answer, rows[-1].pending_since) == (None, None)


def test_without_an_unremarkable_origin_the_rest_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pending ones are not forgotten; refusals of the rest are counted by reason."""
    monkeypatch.setattr(report_module, "MAX_ORIGINS", 2)
    table = OriginStatsTable(5.0)
    hosts = [Origin("http", f"h{number}.example", 80) for number in range(9)]
    for origin in hosts:
        table.wait_began(origin, NOW)
        table[origin].requests.by_outcome["refused_rule"] += 1
        table.refused(by_rule()._replace(origin=origin), f"{origin}/cart/")
        table.wait_ended(origin, NOW + 1)
    rows = table.rows()
    assert [row.origin for row in rows] == [hosts[0], hosts[1], ""]
    (refusal,) = rows[-1].refused_by
    assert (refusal.count, refusal.rule) == (7, None)


def test_rules_and_examples_of_all_origins_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_module, "MAX_ALL_RULES", 5)
    monkeypatch.setattr(report_module, "MAX_ALL_EXAMPLES", 7)
    table = OriginStatsTable(5.0)
    hosts = [Origin("http", f"h{number}.example", 80) for number in range(9)]
    for origin in hosts * 2:
        table.refused(by_rule()._replace(origin=origin), f"{origin}/cart/")
    refusals = [one for origin in hosts for one in table[origin].refused_by]
    assert sum(one.rule is not None for one in refusals) == 5
    assert sum(one.count for one in refusals) == 18
    assert sum(len(one.examples) for one in refusals) == 7
    assert table.is_cut


# --- the file


def create(setting: str) -> Report:
    crawler = Crawler(Spider)
    crawler.spider = Spider("shop")
    settings = Settings(report=setting, user_agent_token=("shop",))
    report = Report(crawler, settings, TokenSelector(crawler, settings))
    report.create()
    return report


@pytest.mark.parametrize(
    ("setting", "path"),
    [
        ("report.jsonl", "report.jsonl"),
        ("{name}-{time}.jsonl", "shop-2023-11-14T22-13-20+00-00.jsonl"),
        ("%(name)s-%(time)s.jsonl", "shop-2023-11-14T22-13-20+00-00.jsonl"),
        ("100%/{name}/{name}.jsonl", "100%/shop/shop.jsonl"),
    ],
)
def test_name_and_time_are_put_into_the_path(setting: str, path: str) -> None:
    assert expand(setting, "shop", NOW) == path


def test_the_report_of_another_crawl_is_left_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A number is added to the name; the log says so."""
    caplog.set_level(logging.INFO, "scrapy_robotspec")
    (tmp_path / "report.v1.jsonl").write_text("another\n")
    for number in (2, 3, 4):
        create(str(tmp_path / "report.v1.jsonl"))
        path = tmp_path / f"report.v1-{number}.jsonl"
        assert path.exists()
        assert str(path) in caplog.messages[-1]
    assert (tmp_path / "report.v1.jsonl").read_text() == "another\n"


def test_crawls_that_start_at_once_get_different_files(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        for _ in range(40):
            threads.submit(create, str(tmp_path / "report.jsonl"))
    assert len(list(tmp_path.iterdir())) == 40


def test_a_relative_path_stays_where_the_crawl_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A spider may change the working directory."""
    monkeypatch.chdir(tmp_path)
    report = create("report.jsonl")
    monkeypatch.chdir("/")
    report.origins.wait_began(SHOP, NOW)
    report._update()
    assert SHOP in (tmp_path / "report.jsonl").read_text()


@pytest.mark.parametrize("name", ["n" * 300 + ".jsonl", f"{__file__}/report.jsonl"])
def test_a_file_that_cannot_be_made_stops_the_crawl(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"^ROBOTSPEC_REPORT = .* can write \("):
        create(str(tmp_path / name))


def test_its_folder_is_made_and_its_address_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A terminal opens the address."""
    caplog.set_level("INFO")
    path = tmp_path / "new folder" / "report.jsonl"
    create(str(path))
    assert path.exists()
    (line,) = [each for each in caplog.messages if each.startswith("ROBOTSPEC_REPORT")]
    assert path.as_uri() in line


def test_contents_that_fail_midway_leave_the_old_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """As when the disk is full; the first of several failures is logged."""
    path = tmp_path / "report.jsonl"
    report = create(str(path))
    path.write_text("old")

    def contents() -> Iterator[str]:
        yield "new" * 100_000
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(report, "_contents", contents)
        report._update()
        report._update()
    assert path.read_text() == "old"
    (line,) = [line for line in caplog.messages if "cannot be written" in line]
    assert "No space left" in line
    report._update()
    assert path.read_text() == ""


def test_the_report_follows_no_link(tmp_path: Path) -> None:
    """SAF-05: another user of the folder must not choose which file is overwritten."""
    path, precious = tmp_path / "report.jsonl", tmp_path / "precious"
    report = create(str(path))
    precious.write_text("precious\n")
    path.unlink()
    path.symlink_to(precious)
    report._update()
    assert precious.read_text() == "precious\n"
    assert path.read_text() == ""
    assert not path.is_symlink()
