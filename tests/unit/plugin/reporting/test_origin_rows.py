"""The account of a crawl by origin: its rows, and what bounds them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from scrapy_robotspec.access.account import RequestCounts
from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.overrides import Override
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.access.usage_policy import UsageRefusal
from scrapy_robotspec.lookup import FetchDone, Pending, Resolved
from scrapy_robotspec.lookup.rules_cache import RulesCache
from scrapy_robotspec.plugin.reporting import crawl_account, origin_rows
from scrapy_robotspec.plugin.reporting.crawl_account import OVERRIDDEN
from scrapy_robotspec.plugin.reporting.origin_rows import OriginRows
from scrapy_robotspec.plugin.settings.settings import Settings
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.protocol.usage import UsageStatement
from scrapy_robotspec.render.crawl_report import OriginStats, RefusalStats
from tests.unit.plugin.reporting.records import DOWN, FAILED, FOUND, HOP, RULES, SHOP

NOW = 1_700_000_000.9


def account() -> OriginRows:
    """The account of a crawl with a report."""
    return OriginRows(Settings(user_agent_token=("shop",), progress_after=5.0))


def by_rule(path: str = "/cart/1", robots: RobotsTxt = RULES) -> Decision:
    return Decision(False, "rule", robots.explain(path, ()), origin=SHOP)


def by_usage(statement: UsageStatement) -> Decision:
    refused = UsageRefusal("train-ai", statement)
    return Decision(False, "usage", RULES.explain("/cart/", ()), origin=SHOP, usage=refused)


def fetch(table: OriginRows, record: RobotsRecord, seconds: float, now: float) -> None:
    done = FetchDone(Pending(record.origin, now), record, None, None, now - seconds)
    table.fetched(done, 0, now)


def test_the_facts_of_a_response() -> None:
    table = account()
    fetch(table, FOUND, 0.25, 1000.0)
    assert table[SHOP] == OriginStats(
        SHOP,
        asked=1,
        seconds=0.25,
        answer="rules",
        status=200,
        hops=1,
        bytes=len(RULES.body),
        fetched=FOUND.fetched_at,
        truncated=True,
        redirects=(HOP,),
        first_asked=999.75,
        answered=1000.0,
        words="with rules",
    )


def test_failures_are_kept_after_an_answer() -> None:
    """What went wrong before the answer is part of the report."""
    table = account()
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
    table = account()
    for began, ended in ((10.0, 12.0), (20.0, 50.0), (60.0, 61.0), (70.0, 65.0), (80.0, 110.0)):
        table.wait_began(SHOP, began)
        assert table[SHOP].pending_since == began
        table.wait_ended(SHOP, began, ended)
    row = table[SHOP]
    assert (row.first_asked, row.wait_began, row.wait_seconds) == (10.0, 20.0, 30.0)
    assert row.words == "no answer so far"
    assert row.pending_since is None


def test_requests_that_wait_again_for_an_expired_copy_are_counted_once() -> None:
    """The report shows their number beside those of all requests."""
    table, policy = account(), Settings().access_policy()
    record = replace(FOUND, fetched_at=NOW, expires_at=NOW + 60)
    found = RulesCache().make(record, policy.plan(record, NOW), policy.edition, NOW)
    for waiting in (3, 20, 12):
        table.fetched(FetchDone(found, record, record, None, NOW), waiting, NOW)
    assert table[SHOP].waited == 20


def test_refused_requests_are_counted_by_reason_and_line() -> None:
    """A usage preference is named by its statement."""
    table = account()
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
    table = account()
    for number in range(500):
        statement = UsageStatement("header", f"train-ai=n, x{number}={'y' * 500}")
        header = by_usage(statement)
        decision = header if by == "header" else by_rule(f"/{number:04}", robots)
        table.refused(decision, f"https://shop.example/{number:04}/{'x' * 1000}")
    row = table[SHOP]
    *refusals, further = row.refused_by
    assert len(refusals) == origin_rows.MAX_RULES
    assert all(each.rule and len(each.rule) <= crawl_account.MAX_TEXT for each in refusals)
    assert (further.line, further.count) == (None, 500 - origin_rows.MAX_RULES)
    assert len(further.examples) == origin_rows.MAX_EXAMPLES
    assert max(map(len, further.examples)) == crawl_account.MAX_TEXT
    assert sum(each.count for each in row.refused_by) == 500


def test_kinds_of_failure_are_bounded() -> None:
    table = account()
    for number in range(50):
        fetch(table, replace(FAILED, failure=f"failure {number}"), 0.1, 1000.0)
    failures = table[DOWN].failures
    assert failures["other"] == 50 - origin_rows.MAX_FAILURES
    assert len(failures) == origin_rows.MAX_FAILURES + 1


def test_the_bounds_keep_the_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """Origins with a refusal, a failure or a long wait keep their names; all requests count."""
    monkeypatch.setattr(origin_rows, "MAX_ORIGINS", 10)
    table = account()
    hosts = [Origin("http", f"h{number}.example", 80) for number in range(100)]
    wanted = Counter[str]()
    for number, origin in enumerate(hosts):
        table.wait_began(origin, NOW)
        fetch(table, replace(FAILED if number == 20 else FOUND, origin=origin), 0.1, NOW)
        table.wait_ended(origin, NOW, NOW + (6 if number == 40 else 1))
        if number == 60:
            table.refused(by_rule()._replace(origin=origin), "http://x")
        else:
            table[origin].requests.by_outcome["rules"] += 1
            table[origin].overrides["token"] += 1
            table[origin].usage["search"]["allow"] += 1
        wanted["refused_rule" if number == 60 else "rules"] += 1
    assert hosts[0] not in table
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


def test_a_request_under_way_stays_in_the_row_that_made_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No row of a crawl with download delays counts more pages that left than requests."""
    monkeypatch.setattr(origin_rows, "MAX_ORIGINS", 1)
    table = account()
    for origin in (SHOP, DOWN, SHOP):
        table.requests_of(origin).by_outcome["rules"] += 1
    table.kept(SHOP).undo("rules")
    for _ in range(2):
        table.requests_of(SHOP).by_outcome["unavailable"] += 1
    for origin in (DOWN, SHOP, SHOP, SHOP):
        table.kept(origin).sent += 1
    shown = [(row.origin, row.requests.to_json()) for row in table.rows()]
    assert [(origin, counts["not_sent"]) for origin, counts in shown] == [(SHOP, 0), ("", 0)]
    assert all(number >= 0 for _, counts in shown for number in counts.values())
    table.kept(SHOP, True).undo("unavailable", sent=True)
    assert table[SHOP].requests.by_outcome["unavailable"] == 1


def test_a_page_is_counted_without_looking_at_other_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as every origin has its row; adding up a row takes as long as all else of a page."""
    monkeypatch.delattr(RequestCounts, "not_sent")
    table = account()
    table.requests_of(SHOP).by_outcome["rules"] += 1
    assert table.kept(SHOP) is table[SHOP].requests


def test_without_an_unremarkable_origin_the_rest_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pending ones are not forgotten; refusals of the rest are counted by reason."""
    monkeypatch.setattr(origin_rows, "MAX_ORIGINS", 2)
    table = account()
    hosts = [Origin("http", f"h{number}.example", 80) for number in range(9)]
    for origin in hosts:
        table.wait_began(origin, NOW)
        table.refused(by_rule()._replace(origin=origin), f"{origin}/cart/")
        table.wait_ended(origin, NOW, NOW + 1)
    rows = table.rows()
    assert [row.origin for row in rows] == [hosts[0], hosts[1], ""]
    (refusal,) = rows[-1].refused_by
    assert (refusal.count, refusal.rule) == (7, None)


def test_rules_and_examples_of_all_origins_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(origin_rows, "MAX_ALL_RULES", 5)
    monkeypatch.setattr(origin_rows, "MAX_ALL_EXAMPLES", 7)
    table = account()
    hosts = [Origin("http", f"h{number}.example", 80) for number in range(9)]
    for origin in hosts * 2:
        table.refused(by_rule()._replace(origin=origin), f"{origin}/cart/")
    refusals = [one for origin in hosts for one in table[origin].refused_by]
    assert sum(one.rule is not None for one in refusals) == 5
    assert sum(one.count for one in refusals) == 18
    assert sum(len(one.examples) for one in refusals) == 7
    assert table.is_cut


def resolved(record: RobotsRecord) -> Resolved:
    policy = Settings().access_policy()
    return RulesCache().make(record, policy.plan(record, NOW), policy.edition, NOW)


def test_without_a_limit_no_wait_is_worth_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """``ROBOTSPEC_PROGRESS_AFTER`` 0: long waits make room, too."""
    monkeypatch.setattr(origin_rows, "MAX_ORIGINS", 1)
    table = OriginRows(Settings(user_agent_token=("shop",), progress_after=0.0))
    table.wait_began(DOWN, NOW)
    table.wait_ended(DOWN, NOW, NOW + 500)
    table.requests_of(SHOP).by_outcome["rules"] += 1
    assert list(table) == [SHOP]


def test_requests_that_wait_for_origins_beyond_the_bound_are_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(origin_rows, "MAX_ORIGINS", 2)
    table = account()
    table.requests_of(SHOP).by_outcome["rules"] += 1
    waiting = {SHOP: 1, DOWN: 2, "http://a.example": 3, "http://b.example": 4}
    shown = [
        (row.origin, row.waiting) for row in table.rows({str(k): n for k, n in waiting.items()})
    ]
    assert shown == [(SHOP, 1), (str(DOWN), 2), ("", 7)]
    assert [row.origin for row in table.rows({})] == [SHOP], "a rest without requests has no row"


def test_urls_without_a_robots_txt_have_no_row_of_their_own() -> None:
    table = account()
    table.requests_of(None).by_outcome["no_robots_txt"] += 1
    assert list(table) == []
    assert [row.origin for row in table.rows()] == [""]


def test_a_rule_that_is_known_counts_on_beyond_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(origin_rows, "MAX_RULES", 1)
    table = account()
    for path in ("/cart/1", "/list", "/cart/2"):
        table.refused(by_rule(path), f"https://shop.example{path}")
    assert [(each.line, each.count) for each in table[SHOP].refused_by] == [(2, 2), (None, 1)]


@pytest.mark.parametrize("replaces", [True, False])
def test_an_override_that_replaces_the_file_is_the_origins_state(replaces: bool) -> None:
    table = account()
    table.overridden(Override(replacement="ignore" if replaces else None, crawl_delay=2.0), SHOP)
    assert (table[SHOP].words == OVERRIDDEN) is replaces


def test_a_doubt_is_that_of_the_latest_answer() -> None:
    """FET-20: a failure after it has none."""
    table, page = account(), replace(FOUND, doubt="HTML page")
    fetch(table, page, 0.1, NOW)
    assert table[SHOP].doubt == "no robots.txt: HTML page"
    failed = replace(page, failed_at=2500.0, unreachable_since=2500.0, failures=1)
    fetch(table, failed, 0.1, NOW)
    assert (table[SHOP].answer, table[SHOP].doubt) == ("unreachable", None)


def test_a_report_of_a_few_origins_has_their_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(origin_rows, "MAX_FILES", 1)
    table = account()
    for origin in (SHOP, DOWN):
        record = replace(FOUND, origin=origin, fetched_at=NOW, expires_at=NOW + 60)
        table.fetched(FetchDone(resolved(record), record, None, None, NOW), 0, NOW)
    assert [table[origin].file is not None for origin in (SHOP, DOWN)] == [True, False]


def test_a_failure_that_is_known_counts_on_beyond_the_bound() -> None:
    table = account()
    for number in (*range(50), 0):
        fetch(table, replace(FAILED, failure=f"failure {number}"), 0.1, 1000.0)
    assert table[DOWN].failures["failure 0"] == 2


@pytest.mark.parametrize(
    ("is_resolved", "waiting", "waited"), [(True, 2, 2), (True, 0, 0), (False, 2, 0)]
)
def test_a_wait_ends_where_requests_waited_and_the_origin_is_resolved(
    is_resolved: bool, waiting: int, waited: int
) -> None:
    table = account()
    record = replace(FOUND, fetched_at=NOW, expires_at=NOW + 60)
    found = resolved(record) if is_resolved else Pending(SHOP, NOW)
    table.fetched(FetchDone(found, record, None, None, NOW), waiting, NOW)
    assert table[SHOP].waited == waited
    assert (table[SHOP].wait_end is not None) is (waited > 0)
