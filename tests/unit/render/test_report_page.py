"""The report of a crawl as a page: what it says, what it leaves out, and its size."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scrapy_robotspec.render
from scrapy_robotspec.access.account import Outlook, RequestCounts, WaitEnd
from scrapy_robotspec.access.reasons import OUTCOMES
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.render.crawl_report import OriginStats, RefusalStats
from tests.support.crawl_reports import (
    HOSTILE_TEXT,
    START,
    counts,
    one_site,
    origins_of,
    page_of,
    with_rules,
)
from tests.support.html_page import Page, check

STYLE = (Path(scrapy_robotspec.render.__file__).parent / "templates/report.css").read_text()


def words(page: Page) -> str:
    """The text of the page with single blanks."""
    return " ".join(page.text.split())


def shown(*origins: OriginStats, finished: str | None = "finished") -> str:
    return words(check(page_of(origins, finished=finished)))


def test_the_page_of_a_dry_run_says_that_nothing_was_refused() -> None:
    differences = {"same": 1200, "we would refuse": 3}
    text = words(check(page_of(origins_of(8), differences=differences)))
    assert "Dry run: Scrapy's own middleware decided." in text
    assert "1,200 same, 3 we would refuse." in text
    assert "207 of 334 requests would go out, 127 would be refused" in text
    assert "Dry run" not in shown()


def test_the_page_of_a_dry_run_counts_what_would_wait() -> None:
    """Such requests were neither let through nor refused; nothing has waited."""
    down = OriginStats("http://a.example", waited=2, answer="unreachable", words="unreachable")
    text = words(check(page_of([down], differences={"we would wait": 2})))
    assert "Sites that did not answer 2 requests, 1 site" in text


@pytest.mark.parametrize("number", [0, 1, 3, 8, 10_000])
@pytest.mark.parametrize("text", ["", HOSTILE_TEXT * 3], ids=["plain", "hostile"])
def test_the_page_is_whole_self_contained_and_small(number: int, text: str) -> None:
    """Markup in rules, URLs, failures and names stays text; nothing steers a terminal (SAF-04)."""
    source = page_of(origins_of(number, text), spider=f"shop{text}")
    page = check(source)
    assert len(source) < 500_000
    assert "<img" not in source
    assert "<script" not in source
    assert all(character.isprintable() for character in page.text.replace("\n", ""))
    if text:
        assert '/"><img src=x onerror=alert(2)>' in page.text
        assert r"\u202e\x1b[31m\x00\udc80" in page.text


def test_many_rows_and_links_are_counted() -> None:
    """20 rows of a table, 10 URLs or sites of a row, each with the way to the rest."""
    one = [RefusalStats("rule", n, f"Disallow: /{n}", f"/{n}", 70, ["x"] * 10) for n in range(30)]
    text = shown(OriginStats("http://a.example", counts(refused_rule=2100), refused_by=one))
    assert 'and 10 more rows: ROBOTSPEC_REPORT = "robots.jsonl" lists all' in text
    assert "and 69 more the first 10 of 70" in text.replace("morethe", "more the")
    assert '60 more: LOG_LEVEL = "DEBUG" names each in the log' in text
    sites = [OriginStats(f"http://{n}.example", answer="unreachable") for n in range(70)]
    text = shown(*sites)
    assert "and 69 more" in text
    assert '60 more: ROBOTSPEC_REPORT = "robots.jsonl" lists all' in text
    text = shown(*sites[:10])
    assert "and 9 more" in text
    assert "all 10" in text
    assert "lists all" not in text


def test_the_page_says_whether_the_crawl_had_ended() -> None:
    assert "ended at 2027-01-15 08:01:30 UTC after 90 s (finished)" in shown()
    assert "running for 90 s" in shown(finished=None)


def test_a_crawl_without_requests() -> None:
    page = shown()
    assert "No requests" in page
    assert "0 % all requests" in page.replace("all", " all").replace("  ", " ")
    assert "What refused" not in page
    assert "What to do next" not in page


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_every_outcome_has_a_part_of_the_bar_and_words(outcome: str) -> None:
    """Numbers stand in words beside the bar; every part has a style of its own."""
    origin = OriginStats("http://a.example", counts(**{outcome: 3000}))
    source = page_of([origin])
    text = words(check(source))
    assert f"3,000100 %{OUTCOMES[outcome].sentence}" in text.replace("3,000 100", "3,000100")
    assert f'<i class="{outcome}" style="flex-grow: 3000">' in source
    assert f".{outcome}" in STYLE or outcome == "refused_override"


@pytest.mark.parametrize(("refused", "share"), [(1, "< 1"), (5, "< 1"), (6, "1")])
def test_no_share_is_rounded_to_all_or_nothing(refused: int, share: str) -> None:
    sent = 1000 - refused
    text = shown(OriginStats("http://a.example", counts(rules=sent, refused_rule=refused)))
    assert f"{refused}{share} %refused" in text
    assert f"{sent}{'99' if share == '1' else '> 99'} %let through" in text


def test_the_sum_is_that_of_the_bar_and_what_did_not_leave_is_said() -> None:
    """What a cache answered did not go out; what was refused late had left."""
    requests = RequestCounts(Counter(rules=20, refused_rule=5, no_robots_txt=1), 18, 3)
    text = shown(OriginStats("http://a.example", requests))
    refused = "5 refused (3 of them after sending)"
    assert f"19 of 26 requests went out, {refused}, 5 not sent" in text
    assert "3 refused requests had left before" in text
    assert "5 requests did not leave" in text
    cut = words(check(page_of([OriginStats("", counts(rules=2))], is_cut=True)))
    assert "the sums contain all requests" in cut
    assert "2 of 2 requests went out" in cut


def test_what_to_do_next_is_said_where_there_is_something() -> None:
    text = shown(
        OriginStats(
            "http://a.example", counts(rules=1, dont_obey_robotstxt=10), delay_not_kept=30.0
        ),
        OriginStats("http://b.example", counts(rules=1), delay_not_kept=2.0, words="with rules"),
        OriginStats("http://c.example", counts(unavailable=4), answer="allow", doubt="JSON"),
        OriginStats("http://d.example", counts(refused_unreachable=4), answer="unreachable"),
    )
    for step in (
        "10 requests went out unchecked: remove dont_obey_robotstxt from their meta",
        "2 sites ask for a pause between pages: set ROBOTSPEC_CRAWL_DELAY = True to keep it.",
        "1 site sent something other than a robots.txt file",
        "1 site did not answer: crawl again later.",
        "Crawl delaynot kept: 2 sites ask for one, at most 30 s",
    ):
        assert step in text
    assert "What to do next" not in shown(OriginStats("http://a.example", counts(rules=1)))


def test_no_advice_about_a_site_that_the_status_policy_disallows() -> None:
    """The user has decided about its answer."""
    requests = counts(refused_policy=2)
    done = OriginStats("http://a.example", requests, answer="disallow", doubt="HTTP status 403")
    assert "What to do next" not in shown(done)


def test_the_settings_in_force_are_named() -> None:
    """As which crawler, which edition, which store, which overrides."""
    origin = OriginStats("http://a.example", counts(override=3), overrides=Counter(ignore=3))
    page = page_of([origin], overridden="a.example, b.example", keeps_delays=True)
    text = words(check(page))
    for fact in (
        "Crawlerexamplebot (ROBOTSPEC_USER_AGENT_TOKEN)",
        "Editiongoogle-2019",
        "Storememory://",
        "Crawl delaykept",
        "Overridesa.example, b.example: 3 requests: ignore",
        "Siteshttp://a.example: 1 not requested",
    ):
        assert fact in text


def test_sites_that_did_not_answer_are_grouped_by_how_it_ended() -> None:
    """Of a failure the kind counts, without its host; pending ones say so."""
    lost = [
        OriginStats(
            f"http://{name}.example",
            counts(refused_unreachable=number),
            answer="unreachable",
            wait_seconds=10.0 * number,
            wait_end=WaitEnd("given_up", 3, f"DNS lookup failed: no results for {name}.example"),
        )
        for name, number in (("a", 2), ("b", 5))
    ]
    silent = OriginStats("http://c.example", first_asked=START, pending_since=START + 30)
    text = shown(*lost, silent)
    assert "7 requests, 3 sites" in text
    assert "7250 sgiven up after 3 attempts (DNS lookup failed)" in text
    assert text.index("http://b.example 50 s, 5 requests") < text.index("http://a.example 20 s")
    assert "0160 sno answer so farhttp://c.example 60 s" in text


def test_what_waits_is_shown_with_its_cause_and_what_follows() -> None:
    """Of a crawl under way: nothing is to be done yet."""
    failed = Outlook("HTTP status 503", START + 94, None, START + 330)
    reset = Outlook("DNS lookup failed: no results for d.example", START + 91, 2, START + 330)
    waits = [
        OriginStats("http://a.example", counts(rules=3), waiting=2, crawl_delay=4.0),
        OriginStats("http://b.example", waiting=7, pending_since=START + 80, outlook=failed),
        OriginStats("http://c.example", waiting=1, pending_since=START + 89),
        OriginStats("http://d.example", waiting=5, pending_since=START + 87, outlook=reset),
        OriginStats("http://e.example", waiting=4),
    ]
    text = shown(*waits, finished=None)
    assert "3 of 22 requests went out, 0 refused, 19 waiting" in text
    assert "1986 %waiting now" in text
    assert "Nothing yet for 19 requests that wait: the crawl goes on." in text
    assert "Waiting now 19 requests, 5 sites" in text
    for row in (
        "crawl delay of 4 shttp://a.example 2 requests",
        "HTTP status 503http://b.example 10 s, 7 requests, next attempt in 4.0 s, given up in 240",
        "no answer so farhttp://c.example 1 s, 1 request",
        "DNS lookup failedhttp://d.example 3 s, 5 requests, next attempt in 1.0 s, given up after",
        "not asked yet: other sites come firsthttp://e.example 4 requests",
    ):
        assert row in text
    assert "did not answer" not in text
    down = OriginStats("http://f.example", counts(refused_unreachable=4), answer="unreachable")
    text = shown(*waits, down, finished=None)
    assert "1 site did not answer: nothing yet, the crawl asks again." in text
    assert "crawl again later" not in text


@given(
    st.lists(
        st.tuples(
            st.dictionaries(st.sampled_from(sorted(OUTCOMES)), st.integers(0, 9)),
            st.integers(0, 9),
            st.integers(0, 9),
        ),
        max_size=4,
    )
)
@settings(max_examples=60)
def test_the_heading_adds_up_at_every_moment(
    parts: list[tuple[dict[str, int], int, int]],
) -> None:
    """Went out + refused + waiting + not sent is the number of all requests."""
    origins = []
    for number, (outcomes, waiting, unsent) in enumerate(parts):
        requests = counts(**outcomes)
        requests.sent -= min(unsent, requests.sent)
        origins.append(OriginStats(f"http://h{number}.example", requests, waiting=waiting))
    source = page_of(origins, finished=None)
    heading = re.search("<h1>(.*)</h1>", source)
    table = re.search(r'<tfoot><tr><td class="count">(\d+)</td>', source)
    assert heading
    assert table
    if heading[1] == "No requests":
        assert table[1] == "0"
        return
    out, every, *others = map(int, re.findall(r"\d+", heading[1]))
    assert out + sum(others) == every == int(table[1])
    rows = re.findall(r'<tr><td class="count">(\d+)</td>', source.partition("<tfoot>")[0])
    assert sum(map(int, rows)) == every


def test_a_file_has_its_size_and_the_time_of_its_fetch() -> None:
    """Of at most three sites with the file; of more in the open row."""
    facts = "fetched at 2027-01-15 08:00:01 UTC, 62 bytes"
    small = replace(one_site(), fetched=START + 1, bytes=62)
    assert facts in shown(small).partition("The file")[2]
    urls = [f"http://s1.example/{n}" for n in range(3)]
    refusals = [RefusalStats("rule", 2, "Disallow: /", "/", 3, urls)]
    many = [
        OriginStats(f"http://s{n}.example", fetched=START + 1, bytes=62, refused_by=refusals)
        for n in range(5)
    ]
    text = shown(*many)
    assert "The file" not in text
    assert text.count(f"http://s1.example/robots.txt {facts}") == 1


def test_waits_are_shown_where_one_failed_or_was_long() -> None:
    """A temporary status that stood is an answer in doubt, and no late file."""
    answered = WaitEnd("answered", 1, None)
    quick = replace(with_rules(1), wait_seconds=0.4, failed=0, wait_end=answered)
    assert "Sites that answered late" not in shown(quick)
    slow = replace(quick, wait_seconds=5.0)
    assert "5 shas answered: with rules" in shown(slow)
    failed = replace(quick, failed=1, wait_end=WaitEnd("answered", 2, "HTTP status 503"))
    assert "0.4 shas answered after 2 attempts (HTTP status 503): with rules" in shown(failed)
    busy = replace(
        quick,
        failed=2,
        doubt="HTTP status 429",
        wait_end=WaitEnd("given_up", 3, "HTTP status 429"),
    )
    text = shown(busy)
    assert "Sites that answered late" not in text
    assert "given up after 3 attempts (HTTP status 429)" in text


def test_refused_requests_are_grouped_by_rule_over_sites() -> None:
    """Most first, with examples of the sites in turn; without a rule they are grouped by reason."""
    few = RefusalStats("rule", 2, "Disallow: /a", "/a", 3, ["http://a.example/a/1"])
    many = RefusalStats("rule", 9, "Disallow: /b", "/b", 4000, ["http://a.example/b/1", "x"])
    same = RefusalStats("rule", 4, "Disallow: /b # no", "/b", 20, ["http://b.example/b/2"])
    rest = RefusalStats("rule", count=5, examples=["http://a.example/c"])
    down = RefusalStats("unreachable", count=6, examples=["http://b.example/x"])
    use = RefusalStats("usage", 4, "Content-Usage: train-ai=n", None, 1, [])
    ours = RefusalStats("override", count=7)
    page = shown(
        OriginStats(
            "http://a.example", counts(refused_rule=4009), refused_by=[few, many, rest, use]
        ),
        OriginStats("http://b.example", counts(refused_rule=26), refused_by=[down, same, ours]),
    )
    assert "4,036 requests, 2 sites" in page
    assert "4,0202Disallow: /b" in page
    shown_urls = [
        "line",
        "9",
        "http://a.example/b/1",
        "line",
        "4",
        "http://b.example/b/2",
        "line",
        "9",
        "x",
    ]
    places = [page.rindex(each) for each in shown_urls if "/" in each]
    assert places == sorted(places)
    assert page.index("Disallow: /b") < page.index("Disallow: /a")
    assert "Content-Usage: train-ai=n" in page
    assert "71by an override" in page
    assert "51further rules" in page
    assert "unreachable" not in page


def test_the_file_of_a_small_crawl_is_shown_with_the_lines_that_refused() -> None:
    """As explain shows a file; a line that has changed since is not marked."""
    source = page_of([one_site()])
    text = words(check(source))
    assert "Group* (from line 1): no group names the crawler" in text
    assert "2Disallow: /private/refused 11 requests" in text
    assert "3Crawl-delay: 2not kept" in text
    assert "4Disallow: /*?*sort=refused 2 requests" in text
    assert "applies to examplebot" in text
    changed = replace(one_site(), file=RobotsTxt.parse(b"User-agent: *\nDisallow: /other\n"))
    assert "refused 11" not in words(check(page_of([changed])))
    several = [replace(one_site(), origin=f"http://{name}.example") for name in "abc"]
    text = words(check(page_of(several)))
    assert "The file of http://c.example" in text
    assert "The file" not in words(check(page_of([*several, one_site()])))


@settings(max_examples=50)
@given(st.text(max_size=40), st.floats(0, 1e9), st.integers(1, 10**12))
def test_no_text_and_no_number_breaks_the_page(text: str, seconds: float, number: int) -> None:
    origin = OriginStats(
        "http://a.example",
        counts(rules=number, refused_rule=number),
        failure=text,
        answer="unreachable",
        wait_began=START,
        wait_seconds=seconds,
        wait_end=WaitEnd("given_up", number, text),
        refused_by=[RefusalStats("rule", 1, text, text, number, [text])],
        words=text,
        file=RobotsTxt.parse(text.encode("utf-8", "replace")),
    )
    check(page_of([origin], spider=text, finished=text or None))
