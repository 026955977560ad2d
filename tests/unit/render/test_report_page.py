"""The report of a crawl as a page: what it says, what it leaves out, and its size."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_robotspec.render import report_tables
from scrapy_robotspec.render.crawl_report import CrawlReport, OriginStats, RefusalStats
from scrapy_robotspec.render.report_page import report_page
from tests.support.crawl_reports import HOSTILE_TEXT, START, report_of, with_rules
from tests.support.html_page import Page, check

MEGABYTE = 1_000_000


def words(page: Page) -> str:
    """The text of the page with single blanks."""
    return " ".join(page.text.split())


def page_of(*origins: OriginStats, finished: str | None = "finished") -> str:
    return words(check(report_page(CrawlReport("shop", START, START + 90, finished, origins))))


def test_the_page_of_a_dry_run_says_that_nothing_was_refused() -> None:
    differences = {"same": 1200, "we would refuse": 3}
    report = CrawlReport("shop", START, START + 90, None, [], differences)
    text = words(check(report_page(report)))
    assert "Dry run: Scrapy's own middleware decided." in text
    assert "1,200 same, 3 we would refuse" in text
    text = words(check(report_page(replace(report, differences={}))))
    assert "Requests compared: none." in text
    assert "Dry run" not in page_of()


@pytest.mark.parametrize("number", [0, 1, 3, 8, 300])
@pytest.mark.parametrize("text", ["", HOSTILE_TEXT], ids=["plain", "hostile"])
def test_the_page_is_whole_and_self_contained(number: int, text: str) -> None:
    """Markup in rules, URLs, failures and names stays text; nothing steers a terminal (SAF-04)."""
    source = report_page(report_of(number, text))
    page = check(source)
    assert "<img" not in source
    assert "<script" not in source
    assert all(character.isprintable() for character in page.text.replace("\n", ""))
    if text and number:
        assert '/"><img src=x onerror=alert(2)>' in page.text
        assert r"\u202e\x1b[31m\x00\udc80" in page.text


@pytest.mark.parametrize("text", ["", HOSTILE_TEXT * 3], ids=["plain", "hostile"])
def test_a_page_of_ten_thousand_origins_is_small(text: str) -> None:
    """It opens at once, and says what it leaves out."""
    source = report_page(report_of(10_000, text))
    assert len(source.encode()) < 5 * MEGABYTE
    shown = words(check(source))
    assert "With a file: 5,000 origins" in shown
    assert "and 4,800 more origins" in shown


def test_the_page_says_whether_the_crawl_had_ended() -> None:
    ended = page_of()
    assert "The crawl ended at 2027-01-15 08:01:30 UTC after 90 s (finished)." in ended
    running = page_of(finished=None)
    assert "The crawl had not ended at 2027-01-15 08:01:30 UTC, 90 s after its start." in running


def test_a_crawl_without_requests() -> None:
    shown = page_of()
    assert "0 of 0 requests let through" in shown
    assert "No robots.txt was needed." in shown
    assert "No request was refused." in shown
    for absent in (
        "Longest waits",
        "Crawl delays",
        "Failures",
        "Redirects",
        "Truncated files",
        "Overrides",
    ):
        assert absent not in shown


def test_origins_are_grouped_by_what_their_robots_txt_gave() -> None:
    """Statuses and failures are counted beside each group."""
    origins = [
        OriginStats("http://a.example", answer="rules", status=200),
        OriginStats("http://b.example", answer="allow", status=404),
        OriginStats("http://c.example", answer="allow", status=404),
        OriginStats("http://d.example", answer="allow", status=302, failure="too many redirects"),
        OriginStats("http://e.example", answer="disallow", status=403),
        OriginStats("http://f.example", answer="unreachable", status=503, failure="timeout"),
        OriginStats("http://g.example", pending_since=START),
        OriginStats("http://h.example", overrides={"ignore": 1}),
    ]
    shown = page_of(*origins)
    places = [
        shown.index(text)
        for text in (
            "With a file: 1 origin, its rules decide (HTTP status 200: 1)",
            "Without a file: 3 origins, everything is allowed (HTTP status 404: 2, too many",
            "Refused by ROBOTSPEC_STATUS_POLICY: 1 origin, nothing is allowed (HTTP status 403: 1)",
            "Unreachable: 1 origin, the latest attempt failed (timeout: 1)",
            "Without an answer: 1 origin",
            "Not requested: 1 origin, ROBOTSPEC_OVERRIDES decides",
        )
    ]
    assert places == sorted(places)


def test_refused_requests_are_grouped_by_rule_over_sites() -> None:
    """Most first, with an example a site; refusals without a rule are grouped by reason."""
    few = RefusalStats("rule", 2, "Disallow: /a", "/a", 3, ["http://a.example/a/1"])
    many = RefusalStats("rule", 9, "Disallow: /b", "/b", 4000, ["http://a.example/b/1"])
    same = RefusalStats("rule", 4, "Disallow: /b # no", "/b", 20, ["http://b.example/b/2"])
    rest = RefusalStats("rule", count=5, examples=["http://a.example/c"])
    down = RefusalStats("unreachable", count=6, examples=["http://b.example/x"])
    use = RefusalStats("usage", 4, "Content-Usage: train-ai=n", None, 1, [])
    shown = page_of(
        OriginStats("http://a.example", refused=4009, refused_by=[few, many, rest, use]),
        OriginStats("http://b.example", refused=26, refused_by=[down, same]),
        OriginStats("http://c.example", refused=6, refused_by=[down]),
    )
    assert "Disallow: /b24,020http://a.example/b/1, http://b.example/b/2" in shown
    assert shown.index("Disallow: /b") < shown.index("Disallow: /a")
    assert "Content-Usage: train-ai=n (for usage preferences)" in shown
    assert "because robots.txt was unreachable212" in shown
    assert "by further rules15" in shown


def test_the_bars_contain_every_request_and_every_origin() -> None:
    origins = [
        OriginStats("http://a.example", let_through=3, answer="rules"),
        OriginStats(
            "http://b.example",
            refused=1,
            answer="unreachable",
            refused_by=[RefusalStats("unreachable", count=1)],
        ),
    ]
    shown = page_of(*origins)
    assert "3 of 4 requests let through" in shown
    assert "3 let through 1 refused because robots.txt was unreachable" in shown
    assert "1 with a file 1 unreachable" in shown


def test_waits_are_shown_where_one_is_long() -> None:
    """The longest first, whether they have ended or not."""
    short = replace(with_rules(1), wait_began=START, wait_seconds=0.4)
    assert "Longest waits" not in page_of(short)
    origins = [
        short,
        replace(with_rules(2), given_up=2, wait_began=START, wait_seconds=5.0),
        OriginStats("http://silent.example", pending_since=START + 10),
        OriginStats("http://down.example", answer="unreachable", wait_began=START, wait_seconds=70),
    ]
    shown = page_of(*origins)
    places = [
        shown.index(text)
        for text in (
            "http://silent.example80 spending",
            "http://down.example70 sgiven up",
            "https://shop-2.example5 sanswered",
            "https://shop-1.example0.4 sanswered",
        )
    ]
    assert places == sorted(places)


def test_crawl_delays_are_named_kept_or_not() -> None:
    shown = page_of(
        OriginStats("http://a.example", crawl_delay=1.5),
        OriginStats("http://b.example", delay_not_kept=2.0),
    )
    assert "http://a.examplekeeps 1.5 s" in shown
    assert "http://b.exampleasks 2 s, not kept" in shown


def test_failures_delays_and_usage() -> None:
    shown = words(check(report_page(report_of(8))))
    assert "HTTP status 5034https://shop-0.example, https://shop-1.example" in shown
    assert "https://shop-2.example and 1 more" in shown
    assert "keeps 1.5 s" in shown
    assert "train-ai0124" in shown


def test_failures_are_grouped_by_kind() -> None:
    """Messages of a network name the host, so every origin has its own."""
    origins = [
        OriginStats(f"http://{n}.example", failure=text, failures={text: 2}, answer="unreachable")
        for n in range(50)
        for text in [f"DNS lookup failed: no results for {n}.example"]
    ]
    shown = page_of(*origins)
    assert "Unreachable: 50 origins, the latest attempt failed (DNS lookup failed: 50)" in shown
    assert "DNS lookup failed (no results for 0.example)100http://0.example" in shown
    assert "no results for 1.example" not in shown


@settings(max_examples=50)
@given(st.text(max_size=40), st.floats(0, 1e9), st.integers(0, 10**12))
def test_no_text_and_no_number_breaks_the_page(text: str, seconds: float, number: int) -> None:
    origin = OriginStats(
        "http://a.example",
        let_through=number,
        refused=number,
        failure=text,
        failures={text: number},
        answer="unreachable",
        wait_began=START,
        wait_seconds=seconds,
        refused_by=[RefusalStats(text, 1, text, text, number, [text])],
        overrides={text: number},
    )
    check(report_page(CrawlReport(text, START, START + seconds, text or None, [origin])))


def test_every_reason_of_a_refusal_has_words() -> None:
    """The reasons of Decision that refuse."""
    assert {"rule", "unreachable", "policy", "override", "usage"} <= set(report_tables.REASONS)
