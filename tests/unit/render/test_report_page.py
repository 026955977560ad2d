"""The report of a crawl as a page: what it says, what it leaves out, and its size."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_robotspec.render import report_page
from scrapy_robotspec.render.crawl_report import OriginStats, RefusalStats
from tests.support.crawl_reports import HOSTILE_TEXT, START, counts, origins_of, page_of, with_rules
from tests.support.html_page import Page, check


def words(page: Page) -> str:
    """The text of the page with single blanks."""
    return " ".join(page.text.split())


def shown(*origins: OriginStats, finished: str | None = "finished") -> str:
    return words(check(page_of(origins, finished=finished)))


def test_the_page_of_a_dry_run_says_that_nothing_was_refused() -> None:
    text = words(check(page_of([], differences={"same": 1200, "we would refuse": 3})))
    assert "Dry run: Scrapy's own middleware decided." in text
    assert "1,200 same, 3 we would refuse." in text
    assert "Dry run" not in shown()


@pytest.mark.parametrize("number", [0, 1, 3, 8, 10_000])
@pytest.mark.parametrize("text", ["", HOSTILE_TEXT * 3], ids=["plain", "hostile"])
def test_the_page_is_whole_self_contained_and_small(number: int, text: str) -> None:
    """Markup in rules, URLs, failures and names stays text; nothing steers a terminal (SAF-04)."""
    source = page_of(origins_of(number, text), spider=f"shop{text}")
    page = check(source)
    assert len(source) < 5_000_000
    assert ("and 7,450 more" in page.text) is (number == 10_000)
    assert "<img" not in source
    assert "<script" not in source
    assert all(character.isprintable() for character in page.text.replace("\n", ""))
    if text:
        assert '/"><img src=x onerror=alert(2)>' in page.text
        assert r"\u202e\x1b[31m\x00\udc80" in page.text


def test_the_page_says_whether_the_crawl_had_ended() -> None:
    assert "The crawl ended at 2027-01-15 08:01:30 UTC after 90 s (finished)." in shown()
    running = shown(finished=None)
    assert "The crawl had not ended at 2027-01-15 08:01:30 UTC, 90 s after its start." in running


def test_a_crawl_without_requests() -> None:
    page = shown()
    assert "0 of 0 requests let through" in page
    for absent in ("Refused requests", "Waits for a robots.txt", "robots.txt files"):
        assert absent not in page


def test_origins_are_grouped_by_what_their_robots_txt_gave() -> None:
    """Doubtful answers are named (FET-20); of a failure the kind, without its host."""
    lost = "DNS lookup failed: no results for"
    origins = [
        OriginStats("http://a.example", answer="rules", status=200),
        OriginStats("http://b.example", answer="allow", status=404),
        OriginStats("http://c.example", answer="allow", status=302, failure="too many redirects"),
        OriginStats("http://d.example", answer="disallow", status=403, doubt="no robots.txt: x"),
        OriginStats("http://e.example", answer="rules", status=200, doubt="no robots.txt: JSON"),
        OriginStats("http://f.example", answer="unreachable", failure=f"{lost} f.example"),
        OriginStats("http://g.example", answer="unreachable", failure=f"{lost} g.example"),
        OriginStats("http://h.example", pending_since=START, overrides=Counter(token=1)),
        OriginStats("http://i.example", overrides=Counter(ignore=1)),
    ]
    page = shown(*origins)
    for text in (
        "unreachable (DNS lookup failed)2http://f.example, http://g.example",
        "a file, whose rules decide (HTTP status 200)1http://a.example",
        "no file, all allowed (HTTP status 404)1http://b.example",
        "no file, all allowed (too many redirects)1http://c.example",
        "refused by ROBOTSPEC_STATUS_POLICY (HTTP status 403)1http://d.example",
        "no robots.txt: JSON, all allowed1http://e.example",
        "no answer so far1http://h.example",
        "not requested, ROBOTSPEC_OVERRIDES decides1http://i.example",
    ):
        assert text in page


def test_refused_requests_are_grouped_by_rule_over_sites() -> None:
    """Most first, with an example a site; refusals without a rule are grouped by reason."""
    few = RefusalStats("rule", 2, "Disallow: /a", "/a", 3, ["http://a.example/a/1"])
    many = RefusalStats("rule", 9, "Disallow: /b", "/b", 4000, ["http://a.example/b/1"])
    same = RefusalStats("rule", 4, "Disallow: /b # no", "/b", 20, ["http://b.example/b/2"])
    rest = RefusalStats("rule", count=5, examples=["http://a.example/c"])
    down = RefusalStats("unreachable", count=6, examples=["http://b.example/x"])
    use = RefusalStats("usage", 4, "Content-Usage: train-ai=n", None, 1, [])
    page = shown(
        OriginStats(
            "http://a.example", counts(refused_rule=4009), refused_by=[few, many, rest, use]
        ),
        OriginStats("http://b.example", counts(refused_rule=26), refused_by=[down, same]),
        OriginStats("http://c.example", counts(rules=9, refused_unreachable=6), refused_by=[down]),
    )
    assert "9 of 4,050 requests let through" in page
    assert "Disallow: /b24,020http://a.example/b/1, http://b.example/b/2" in page
    assert page.index("Disallow: /b") < page.index("Disallow: /a")
    assert "Content-Usage: train-ai=n (for usage preferences)" in page
    assert "because robots.txt was unreachable212" in page
    assert "by further rules15" in page


def test_long_and_open_waits_are_shown() -> None:
    """Pending ones first, then the longest."""
    short = replace(with_rules(1), wait_began=START, wait_seconds=0.4)
    assert "Waits for" not in shown(short)
    page = shown(
        short,
        replace(with_rules(2), given_up=2, wait_began=START, wait_seconds=5.0),
        OriginStats("http://silent.example", first_asked=START, pending_since=START + 30),
        OriginStats("http://left.example", first_asked=START, wait_seconds=0.2),
        OriginStats("http://down.example", answer="unreachable", wait_began=START, wait_seconds=70),
    )
    places = [
        page.index(text)
        for text in (
            "http://silent.example60 spending",
            "http://down.example70 sgiven up",
            "https://shop-2.example5 sanswered",
            "http://left.example0.2 sno answer",
        )
    ]
    assert places == sorted(places)
    assert "0.4 s" not in page


@settings(max_examples=50)
@given(st.text(max_size=40), st.floats(0, 1e9), st.integers(0, 10**12))
def test_no_text_and_no_number_breaks_the_page(text: str, seconds: float, number: int) -> None:
    origin = OriginStats(
        "http://a.example",
        counts(rules=number, refused_rule=number),
        failure=text,
        answer="unreachable",
        wait_began=START,
        wait_seconds=seconds,
        refused_by=[RefusalStats(text, 1, text, text, number, [text])],
    )
    check(page_of([origin], spider=text, finished=text or None))


def test_every_reason_of_a_refusal_has_words() -> None:
    """The reasons of Decision that refuse."""
    assert {"rule", "unreachable", "policy", "override", "usage"} == set(report_page.REASONS)
