"""The summary of a crawl: the table at the end of its log."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from scrapy_robotspec.access.account import RequestCounts
from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import Meaning
from scrapy_robotspec.access.overrides import Override
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.lookup import FetchDone, Pending
from scrapy_robotspec.plugin.reporting import crawl_account
from scrapy_robotspec.plugin.reporting.crawl_account import CrawlAccount
from scrapy_robotspec.plugin.reporting.origin_rows import MAX_ORIGINS
from scrapy_robotspec.plugin.reporting.summary import request_words, summary
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from tests.support.crawl_reports import counts
from tests.unit.plugin.reporting.records import DOWN, FAILED, FOUND, RULES, SHOP

HOSTS = [Origin("http", f"h{number}.example", 80) for number in range(100)]


def fetched(account: CrawlAccount, record: RobotsRecord, before: RobotsRecord | None) -> None:
    """A fetch turned *before* into *record*."""
    account.fetched(FetchDone(Pending(record.origin, 0.0), record, before, None, 0.0), 0, 0.0)


def lines(account: CrawlAccount) -> list[str]:
    return summary(account, ()).splitlines()


def refusal(origin: Origin = SHOP, robots: RobotsTxt = RULES) -> Decision:
    return Decision(False, "rule", robots.explain("/cart/", ()), origin=origin)


def test_table_tells_what_was_asked_let_through_and_refused() -> None:
    """The whole account of a small crawl, as it stands in the log (EXT-02)."""
    account = CrawlAccount()
    fetched(account, FOUND, None)
    fetched(account, FAILED, None)
    fetched(account, FAILED, FAILED)
    account.refused(refusal(), "http://x/")
    account.refused(Decision(False, "unreachable", origin=DOWN), "http://x/")
    account.requests_of(SHOP).by_outcome["rules"] += 2
    account.kept(SHOP).sent += 2
    assert lines(account) == [
        "origins            2 (1 unreachable, 1 with rules)",
        "requests           2 let through, 2 refused (1 by a rule, 1 unreachable)",
        "still unreachable  http://down.example:8080: refused",
        "refused most              1  https://shop.example line 2: Disallow: /cart/",
    ]


def test_the_table_names_origins_that_are_down_until_they_answer() -> None:
    """Up to five by name, the others by number."""
    account = CrawlAccount()
    for origin in HOSTS[:8]:
        fetched(account, replace(FAILED, origin=origin), None)
    table = summary(account, ())
    assert "still unreachable  http://h0.example: refused\n" in table
    assert 'and 3 more (ROBOTSPEC_REPORT = "robots.jsonl" lists all)' in table
    for origin in HOSTS[:8]:
        fetched(account, replace(FOUND, origin=origin), FAILED)
    assert lines(account)[0].split(maxsplit=1)[1] == "8 (8 with rules)"
    assert "unreachable" not in summary(account, ())


def test_origins_that_are_down_are_counted_beyond_those_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(crawl_account, "ORIGINS_COUNTED", 6)
    account = CrawlAccount()
    for origin in HOSTS[:8]:
        fetched(account, replace(FAILED, origin=origin), None)
    table = summary(account, [(origin, 1.0) for origin in HOSTS[:8]])
    assert "origins            8 (8 unreachable)" in table
    assert table.count("and 3 more") == 2


def test_the_log_counts_as_many_origins_as_a_report_has_rows() -> None:
    """Those with a delay that is not kept and those with an override, too."""
    account = CrawlAccount()
    for number in range(MAX_ORIGINS):
        origin = Origin("http", f"h{number}.example", 80)
        account.delay_not_kept(origin, 1.0)
        account.overridden(Override(replacement="ignore"), origin)
    assert len(account.delays_not_kept) == MAX_ORIGINS
    assert lines(account)[0] == "origins    100,000 (100,000 with an override)"


def test_a_crawl_that_asked_nothing_has_a_table_too() -> None:
    """No origin, no request: the table says so."""
    assert lines(CrawlAccount()) == [
        "origins   0",
        "requests  0 let through, 0 refused",
    ]


@pytest.mark.parametrize(
    ("requests", "line"),
    [
        (counts(rules=20, unavailable=2), "22 let through, 0 refused"),
        (
            counts(rules=22, refused_rule=13, dont_obey_robotstxt=10),
            "22 let through, 13 refused (13 by a rule), 10 not checked (dont_obey_robotstxt)",
        ),
        (
            counts(rules=2000, override=1, unreachable=3, no_robots_txt=4),
            (
                "2,004 let through (2,000 by rules, 1 by an override, 3 unreachable), 0 refused, "
                "4 without a robots.txt (such as data:, file:)"
            ),
        ),
        (
            RequestCounts(
                Counter(rules=9, refused_override=2, refused_usage=1), sent=7, after_sending=1
            ),
            (
                "9 let through, 3 refused (2 by an override, 1 by a usage preference, "
                "1 of them after sending), 3 not sent"
            ),
        ),
    ],
)
def test_the_line_of_requests_adds_up(requests: RequestCounts, line: str) -> None:
    """Each outcome that is not the usual one is named."""
    assert request_words(requests) == line


def test_overrides_and_usage_are_named_where_there_are_any() -> None:
    account = CrawlAccount()
    for override, number in (
        (Override(token=("ours",)), 2),
        (Override(replacement="ignore"), 3000),
    ):
        for _ in range(number):
            account.overridden(override, SHOP)
    for _ in range(4):
        account.count_usage({"train-ai": "disallow"}, SHOP)
    account.of_pages["robotspec/cache/hit"] += 9
    assert lines(account)[2:] == [
        "overrides  3,000 ignore, 2 token",
        "usage      4 train-ai/disallow",
    ]


def test_origins_with_an_override_are_counted_once() -> None:
    """Nothing is asked of them, and their requests are counted: an origin that is asked is not."""
    account = CrawlAccount()
    for origin in (*HOSTS[:3], *HOSTS[:3]):
        account.overridden(Override(replacement="disallow"), origin)
    account.overridden(Override(token=("ours",)), SHOP)
    assert lines(account)[0] == "origins    3 (3 with an override)"


def test_origins_without_an_answer_are_named() -> None:
    """After Ctrl-C the summary says what the crawl was waiting for."""
    silent = [(origin, 30.0 - number) for number, origin in enumerate(HOSTS[:7])]
    table = summary(CrawlAccount(), silent, len(silent))
    assert "origins        7 (7 without an answer so far)" in table
    assert "still pending      30 s  http://h0.example" in table
    assert "and 2 more" in table


@pytest.mark.parametrize(("number", "more"), [(4, 0), (5, 0), (6, 1)])
def test_what_all_have_a_line_for_is_not_counted_again(number: int, more: int) -> None:
    silent = [(origin, 30.0) for origin in HOSTS[:number]]
    table = summary(CrawlAccount(), silent, number)
    assert table.count("http://h") == number - more
    assert (f"and {more} more" in table) is (more > 0)


def test_doubtful_answers_stand_apart_from_a_404() -> None:
    """FET-20: all allow everything, but mean something else.

    The most frequent come first; of equal ones the order is fixed, whichever came first.
    """
    account = CrawlAccount()
    gone = replace(FOUND, status=404, meaning=Meaning.ALLOW)
    forbidden = replace(gone, status=403, doubt="HTTP status 403")
    page = replace(FOUND, doubt="HTML page")
    for origin, record in zip(HOSTS, (page, forbidden, forbidden, gone), strict=False):
        fetched(account, replace(record, origin=origin), None)
    assert lines(account)[0].split(maxsplit=1)[1] == (
        "4 (2 HTTP status 403 (all allowed), 1 no robots.txt: HTML page, "
        "1 without a file (all allowed))"
    )


def test_a_strangers_rule_cannot_steer_the_log() -> None:
    """A rule in the table is escaped (SAF-04)."""
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: /*\x1b[31m\xe2\x80\xae")
    verdict = robots.explain("/\x1b[31m\u202e", ())
    account = CrawlAccount()
    account.refused(Decision(False, "rule", verdict, origin=SHOP), "http://x/")
    assert "\\x1b[31m\\u202e" in summary(account, ())
    assert "\x1b" not in summary(account, ())


def test_rules_beyond_the_first_are_counted_with_the_way_to_them() -> None:
    account = CrawlAccount()
    for origin in HOSTS[:70]:
        account.refused(refusal(origin), "http://x/")
    table = lines(account)
    assert len(table) == 2 + 5 + 1
    assert table[-1].strip() == 'and 65 more (ROBOTSPEC_REPORT = "robots.jsonl" lists all)'


def test_rules_that_refuse_often_outlive_many_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """At most RULES_COUNTED rules are counted; the rule that refuses most stays."""
    monkeypatch.setattr(crawl_account, "RULES_COUNTED", 5)
    account = CrawlAccount()
    for _ in range(20):
        account.refused(refusal(), "http://x/")
    for origin in HOSTS:
        account.refused(refusal(origin), "http://x/")
    table = summary(account, ())
    assert "20  https://shop.example line 2: Disallow: /cart/" in table
    assert len(account.rules) <= 10
