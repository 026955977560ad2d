"""The summary of a crawl: the table at the end of its log."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from scrapy_robotspec.access.account import RequestCounts
from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import Meaning
from scrapy_robotspec.plugin.reporting import summary as summary_module
from scrapy_robotspec.plugin.reporting.summary import Summary, request_words
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from tests.support.crawl_reports import counts
from tests.unit.plugin.reporting.records import DOWN, FAILED, FOUND, RULES, SHOP

HOSTS = [Origin("http", f"h{number}.example", 80) for number in range(100)]


def refusal(origin: Origin = SHOP, robots: RobotsTxt = RULES) -> Decision:
    return Decision(False, "rule", robots.explain("/cart/", ()), origin=origin)


def test_table_tells_what_was_asked_let_through_and_refused() -> None:
    """The whole account of a small crawl, as it stands in the log (EXT-02)."""
    summary = Summary()
    summary.fetched(FOUND, None)
    summary.fetched(FAILED, None)
    summary.fetched(FAILED, FAILED)
    summary.refused(refusal())
    summary.refused(Decision(False, "unreachable", origin=DOWN))
    requests = counts(rules=2, refused_rule=1, refused_unreachable=1)
    assert summary.table(requests, (), {}).splitlines() == [
        "origins            2 (1 with rules, 1 unreachable)",
        "requests           2 let through, 2 refused (1 by a rule, 1 unreachable)",
        "still unreachable  http://down.example:8080: refused",
        "refused most              1  https://shop.example line 2: Disallow: /cart/",
    ]


def test_the_table_names_origins_that_are_down_until_they_answer() -> None:
    """Up to five by name, the others by number."""
    summary = Summary()
    for origin in HOSTS[:8]:
        summary.fetched(replace(FAILED, origin=origin), None)
    table = summary.table(RequestCounts(), (), {})
    assert "still unreachable  http://h0.example: refused\n" in table
    assert "and 3 more" in table
    for origin in HOSTS[:8]:
        summary.fetched(replace(FOUND, origin=origin), FAILED)
    assert (
        summary.table(RequestCounts(), (), {}).splitlines()[0].split(maxsplit=1)[1]
        == "8 (8 with rules)"
    )
    assert "unreachable" not in summary.table(RequestCounts(), (), {})


def test_a_crawl_that_asked_nothing_has_a_table_too() -> None:
    """No origin, no request: the table says so."""
    assert Summary().table(RequestCounts(), (), {}).splitlines() == [
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
                "4 without a robots.txt (data:, file:)"
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
    stats = {
        "robotspec/override/token": 2,
        "robotspec/override/ignore": 3000,
        "robotspec/usage/train-ai/disallow": 4,
        "robotspec/waiting": 0,
    }
    lines = Summary().table(RequestCounts(), (), stats).splitlines()
    assert lines[2:] == ["overrides  3,000 ignore, 2 token", "usage      4 train-ai/disallow"]


def test_origins_without_an_answer_are_named() -> None:
    """After Ctrl-C the summary says what the crawl was waiting for."""
    silent = [(origin, 30.0 - number) for number, origin in enumerate(HOSTS[:7])]
    table = Summary().table(RequestCounts(), silent, {})
    assert "origins        7 (7 without an answer so far)" in table
    assert "still pending      30 s  http://h0.example" in table
    assert "and 2 more" in table


def test_doubtful_answers_stand_apart_from_a_404() -> None:
    """FET-20: all allow everything, but mean something else. The most frequent come first."""
    summary = Summary()
    gone = replace(FOUND, status=404, meaning=Meaning.ALLOW)
    forbidden = replace(gone, status=403, doubt="HTTP status 403")
    page = replace(FOUND, doubt="HTML page")
    for origin, record in zip(HOSTS, (gone, forbidden, forbidden, page), strict=False):
        summary.fetched(replace(record, origin=origin), None)
    assert summary.table(RequestCounts(), (), {}).splitlines()[0].split(maxsplit=1)[1] == (
        "4 (2 HTTP status 403, 1 without a file (all allowed), 1 no robots.txt: HTML page)"
    )


def test_a_strangers_rule_cannot_steer_the_log() -> None:
    """A rule in the table is escaped (SAF-04)."""
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: /*\x1b[31m\xe2\x80\xae")
    verdict = robots.explain("/\x1b[31m\u202e", ())
    summary = Summary()
    summary.refused(Decision(False, "rule", verdict, origin=SHOP))
    assert "\\x1b[31m\\u202e" in summary.table(RequestCounts(), (), {})
    assert "\x1b" not in summary.table(RequestCounts(), (), {})


def test_rules_that_refuse_often_outlive_many_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """At most RULES_COUNTED rules are counted; the rule that refuses most stays."""
    monkeypatch.setattr(summary_module, "RULES_COUNTED", 5)
    summary = Summary()
    for _ in range(20):
        summary.refused(refusal())
    for origin in HOSTS:
        summary.refused(refusal(origin))
    assert "20  https://shop.example line 2: Disallow: /cart/" in summary.table(
        RequestCounts(), (), {}
    )
    assert len(summary._rules) <= 10
