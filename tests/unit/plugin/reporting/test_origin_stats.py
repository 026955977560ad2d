"""Counts for each origin of a crawl, and what bounds them."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.access.usage_policy import UsageRefusal
from scrapy_robotspec.plugin.reporting import origin_stats, summary
from scrapy_robotspec.plugin.reporting.origin_stats import OriginStatsTable
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.protocol.usage import UsageStatement
from scrapy_robotspec.render.crawl_report import OriginStats, RefusalStats
from tests.unit.plugin.reporting.records import DOWN, FAILED, FOUND, HOP, RULES, SHOP

if TYPE_CHECKING:
    from scrapy_robotspec.access.origin import Origin


def by_rule(path: str = "/cart/1", origin: Origin = SHOP, robots: RobotsTxt = RULES) -> Decision:
    verdict = robots.explain(path, ())
    assert verdict.rule is not None
    return Decision(False, "rule", verdict, origin=origin)


def rows(table: OriginStatsTable) -> dict[str, OriginStats]:
    return {row.origin: row for row in table.values()}


def test_the_facts_of_a_response() -> None:
    table = OriginStatsTable()
    table.fetched(FOUND, 0.25, 1000.0)
    assert rows(table)[SHOP] == OriginStats(
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
    )


def test_failures_are_kept_after_an_answer() -> None:
    """What went wrong before the answer is part of the report."""
    table = OriginStatsTable()
    table.fetched(FAILED, 8.0, 1000.0)
    table.fetched(replace(FAILED, failure="timeout"), 7.0, 1010.0)
    row = rows(table)[DOWN]
    assert (row.answer, row.status, row.failure, row.answered) == (
        "unreachable",
        503,
        "timeout",
        None,
    )
    table.fetched(replace(FOUND, origin=DOWN, fetched_at=1020.0), 1.0, 1020.0)
    row = rows(table)[DOWN]
    assert (row.asked, row.failed, row.seconds) == (3, 2, 8.0)
    assert row.failures == {"refused": 1, "timeout": 1}
    assert (row.first_asked, row.answered) == (992.0, 1020.0)
    assert row.failure is None


def test_the_longest_wait_is_kept() -> None:
    table = OriginStatsTable()
    for began, ended in ((10.0, 12.0), (20.0, 50.0), (60.0, 61.0), (70.0, 65.0)):
        table.wait_began(SHOP, began)
        assert rows(table)[SHOP].pending_since == began
        table.wait_ended(SHOP, ended)
    row = rows(table)[SHOP]
    assert (row.first_asked, row.wait_began, row.wait_seconds) == (10.0, 20.0, 30.0)
    assert row.pending_since is None


def test_refused_requests_are_counted_by_reason_and_line() -> None:
    table = OriginStatsTable()
    for url in ("https://shop.example/cart/1", "https://user:secret@shop.example/cart/2"):
        table.refused(by_rule(), url)
    table.refused(by_rule("/list"), "https://shop.example/list")
    table.refused(Decision(False, "unreachable", origin=SHOP), "https://shop.example/x")
    row = rows(table)[SHOP]
    assert row.refused == 4
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
    ]


def test_a_refusal_for_a_usage_preference_names_the_statement() -> None:
    statement = UsageStatement("content-usage", "train-ai=n", line=4)
    decision = Decision(False, "usage", origin=SHOP, usage=UsageRefusal("train-ai", statement))
    table = OriginStatsTable()
    table.refused(decision, "https://shop.example/")
    (refusal,) = rows(table)[SHOP].refused_by
    assert (refusal.reason, refusal.line) == ("usage", 4)
    assert refusal.rule == "Content-Usage: train-ai=n"


def test_more_refused_requests_on_a_rule_need_no_more_memory() -> None:
    table = OriginStatsTable()
    for number in range(10_000):
        table.refused(by_rule(), f"https://shop.example/cart/{number}{'x' * 1000}")
    (refusal,) = rows(table)[SHOP].refused_by
    assert refusal.count == 10_000
    assert len(refusal.examples) == origin_stats.MAX_EXAMPLES
    assert max(map(len, refusal.examples)) == summary.MAX_TEXT


def test_beyond_a_number_of_rules_refusals_are_counted_together() -> None:
    """No count is lost: the last entry holds those of all further rules."""
    lines = "\n".join(f"Disallow: /{number:04}" for number in range(500))
    robots = RobotsTxt.parse(f"User-agent: *\n{lines}".encode())
    table = OriginStatsTable()
    for number in range(500):
        table.refused(by_rule(f"/{number:04}", robots=robots), f"https://shop.example/{number:04}")
    row = rows(table)[SHOP]
    assert len(row.refused_by) == origin_stats.MAX_RULES + 1
    assert (row.refused_by[-1].line, row.refused_by[-1].count) == (
        None,
        500 - origin_stats.MAX_RULES,
    )
    assert sum(each.count for each in row.refused_by) == row.refused == 500


def test_a_server_cannot_fill_the_table_with_statements_of_its_headers() -> None:
    """A header may differ with every page."""
    table = OriginStatsTable()
    for number in range(500):
        statement = UsageStatement("header", f"train-ai=n, x{number}={'y' * 500}")
        decision = Decision(False, "usage", origin=SHOP, usage=UsageRefusal("train-ai", statement))
        table.refused(decision, "https://shop.example/")
    refusals = rows(table)[SHOP].refused_by
    assert len(refusals) == origin_stats.MAX_RULES + 1
    assert all(each.rule is None or len(each.rule) <= summary.MAX_TEXT for each in refusals)


def test_kinds_of_failure_are_bounded() -> None:
    table = OriginStatsTable()
    for number in range(50):
        table.fetched(replace(FAILED, failure=f"failure {number}"), 0.1, 1000.0)
    failures = rows(table)[DOWN].failures
    assert failures["other"] == 50 - summary.TOP
    assert len(failures) == summary.TOP + 1


def test_overrides_and_usage_preferences_are_counted() -> None:
    table = OriginStatsTable()
    table.overridden(("ignore",), SHOP)
    table.overridden(("crawl_delay", "token"), SHOP)
    table.overridden(("token",), SHOP)
    table.usage({"train-ai": "disallow", "search": "allow"}, SHOP)
    table.usage({"train-ai": "disallow", "search": "unknown"}, SHOP)
    row = rows(table)[SHOP]
    assert row.overrides == {"ignore": 1, "crawl_delay": 1, "token": 2}
    assert row.usage == {"train-ai": {"disallow": 2}, "search": {"allow": 1, "unknown": 1}}


def test_a_copy_does_not_change_with_the_crawl() -> None:
    """The copy is written in another thread while the crawl goes on."""
    table = OriginStatsTable()

    def count_everything() -> None:
        table.wait_began(SHOP, 10.0)
        table.wait_ended(SHOP, 12.0)
        table.fetched(replace(FAILED, origin=SHOP), 1.0, 1000.0)
        table[SHOP].let_through += 1
        table.refused(by_rule(), "https://shop.example/cart/1")
        table.overridden(("token",), SHOP)
        table.usage({"train-ai": "disallow"}, SHOP)
        table[SHOP].waited += 2
        table[SHOP].given_up += 1

    count_everything()
    copy = table[SHOP].copy()
    before = repr(copy)
    count_everything()
    assert repr(copy) == before
    assert repr(table[SHOP]) != before


def test_an_origin_needs_little_memory() -> None:
    """The counters of 10,000 origins without refusals fit into 10 MB."""
    row = OriginStats(SHOP)
    parts = (row, row.usage, row.failures, row.refused_by, row.overrides)
    assert sum(map(sys.getsizeof, parts)) < 1000
