"""The report on an access log: its words and its order."""

from __future__ import annotations

import pytest

from scrapy_robotspec.cli.visitors import broken_rules, delay_words, fetch_words
from scrapy_robotspec.evidence.access_logs import Request
from scrapy_robotspec.evidence.visitors import ANY_SITE, Visitor, VisitorAudit
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

ROBOTS = RobotsTxt.parse(b"User-agent: *\nDisallow: /cart/\nDisallow: /list\n")


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ({}, "never"),
        ({"before": 7}, "never"),
        ({"robots_txt": 1, "oldest_copy": 0.0}, "1"),
        ({"robots_txt": 2, "oldest_copy": 7200.0}, "2, used up to 2 h"),
        (
            {"robots_txt": 1, "oldest_copy": 3.0, "before": 1},
            "1, used up to 3 s, 1 request before",
        ),
    ],
)
def test_words_about_robots_txt(counts: dict[str, float], words: str) -> None:
    visitor = Visitor("a", (), (), None)
    for name, value in counts.items():
        setattr(visitor, name, value)
    assert fetch_words(visitor) == words


@pytest.mark.parametrize(
    ("delay", "too_early", "shortest", "words"),
    [
        (None, 0, 1.0, ""),
        (10.0, 0, None, "10 s: kept"),
        (10.0, 0, 10.0, "10 s: kept, shortest 10 s"),
        (10.0, 2, 1.0, "10 s: 2 too early, shortest 1 s"),
    ],
)
def test_words_about_a_crawl_delay(
    delay: float | None, too_early: int, shortest: float | None, words: str
) -> None:
    visitor = Visitor("a", (), (), delay, too_early=too_early, shortest=shortest)
    assert delay_words(visitor) == words


def audit_of(*requests: tuple[str, str]) -> VisitorAudit:
    audit = VisitorAudit(ROBOTS)
    for agent, path in requests:
        audit.add(Request(0.0, 1.0, True, path, agent), f"{ANY_SITE}{path}")
    return audit


def test_rules_that_were_broken_most_come_first() -> None:
    audit = audit_of(("a/1", "/list"), ("b/1", "/list"), ("b/1", "/cart/1"), ("b/1", "/cart/2"))
    assert broken_rules(audit.ranked()) == [
        (2, "b", 2, "Disallow: /cart/", "/cart/1"),
        (1, "b", 3, "Disallow: /list", "/list"),
        (1, "a", 3, "Disallow: /list", "/list"),
    ]
