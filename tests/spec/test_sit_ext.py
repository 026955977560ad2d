"""SIT, EXT: sitemaps, crawl-delay, other lines, and what an explanation holds."""

from __future__ import annotations

import pytest

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from tests.spec.table import DELIVERIES

MODERN = sorted(set(EDITIONS) - {"classic"})
in_every_edition = pytest.mark.parametrize("edition", EDITIONS)
in_modern_editions = pytest.mark.parametrize("edition", MODERN)
in_every_delivery = pytest.mark.parametrize("delivery", DELIVERIES)

BODY = b"""\
Sitemap: http://example.com/sitemap.xml
User-agent: FooBot
Crawl-delay: 2
Sitemap: https://other.example/index.xml
Disallow: /a
Crawl-delay: 7.5
Content-Usage: ai=n
sitemap: http://example.com/third.xml.gz?a=b

User-agent: *
Crawl-delay: 30
Disallow: /b
"""


@in_modern_editions
@in_every_delivery
def test_sitemaps_stand_anywhere_and_belong_to_no_group(edition: str, delivery: str) -> None:
    """SIT-01: any number, inside groups and out, on any host, in the order of the file."""
    assert RobotsTxt.parse(DELIVERIES[delivery](BODY), edition).sitemaps == (
        "http://example.com/sitemap.xml",
        "https://other.example/index.xml",
        "http://example.com/third.xml.gz?a=b",
    )


@in_modern_editions
def test_field_alone_makes_a_sitemap(edition: str) -> None:
    """SIT-01, FMT-08: in any case, whatever the URL is called."""
    assert RobotsTxt.parse(b"SITEMAP:http://a/x", edition).sitemaps == ("http://a/x",)


@pytest.mark.parametrize(
    "value",
    ["/sitemap.xml", "sitemap.xml", "//example.com/s.xml", "http://", "http:///s", "http://[::1/s",
     "", "http://example.com:port/s", "http://a b/s", "mailto:a@example.com"],
)  # fmt: skip
@in_modern_editions
def test_broken_sitemaps_are_not_offered(edition: str, value: str) -> None:
    """SIT-03: a relative or broken URL is no sitemap, and spoils no other."""
    body = f"Sitemap: {value}\nSitemap: http://example.com/s.xml\n".encode()
    assert RobotsTxt.parse(body, edition).sitemaps == ("http://example.com/s.xml",)


def test_oldest_convention_knows_no_sitemaps() -> None:
    """SIT-01, FMT-15: nor a crawl-delay, nor any other field."""
    robots = RobotsTxt.parse(BODY, "classic")
    assert robots.sitemaps == ()
    assert robots.crawl_delay("FooBot") is None
    assert robots.other("FooBot") == ()


@in_modern_editions
@in_every_delivery
def test_greatest_crawl_delay_of_the_group_followed(edition: str, delivery: str) -> None:
    """EXT-01: of several the greatest, and only of the group followed."""
    robots = RobotsTxt.parse(DELIVERIES[delivery](BODY), edition)
    assert robots.crawl_delay("FooBot") == 7.5
    assert robots.crawl_delay("BarBot") == 30.0
    assert RobotsTxt.parse(b"User-agent: a\nAllow: /\n", edition).crawl_delay("a") is None


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("0", 0.0), ("5", 5.0), ("0.25", 0.25), ("010", 10.0), ("", None), ("-1", None), ("nan", None),
     ("inf", None), ("1e3", None), ("5s", None), ("1,5", None), ("٣", None), ("0x10", None),
     ("1_000", None), ("soon", None)],
)  # fmt: skip
@in_modern_editions
def test_crawl_delay_is_a_decimal_number(edition: str, value: str, seconds: float | None) -> None:
    """EXT-01: of seconds, not below zero; what is none is ignored."""
    body = f"User-agent: *\nCrawl-delay: {value}\n".encode()
    assert RobotsTxt.parse(body, edition).crawl_delay("FooBot") == seconds


@in_modern_editions
def test_a_crawl_delay_outside_any_group_applies_to_no_crawler(edition: str) -> None:
    """EXT-01, GRP-05: it belongs to the group it stands in."""
    robots = RobotsTxt.parse(b"Crawl-delay: 5\nUser-agent: *\nDisallow: /a\n", edition)
    assert robots.crawl_delay("FooBot") is None


@in_modern_editions
def test_other_lines_of_the_group_are_offered_as_they_stand(edition: str) -> None:
    """EXT-03: field in lower case, value and line number; only of the group followed."""
    found = RobotsTxt.parse(BODY, edition).other("FooBot")
    assert [(line.field, line.value, line.line) for line in found] == [
        ("crawl-delay", "2", 3),
        ("crawl-delay", "7.5", 6),
        ("content-usage", "ai=n", 7),
    ]


@in_modern_editions
@in_every_delivery
def test_crawl_delay_holds_for_the_agents_above_it(edition: str, delivery: str) -> None:
    """EXT-01: not for those that a later user-agent line adds to the group."""
    body = b"User-agent: bingbot\nCrawl-delay: 60\n\nUser-agent: *\nDisallow: /x\nCrawl-delay: 1\n"
    robots = RobotsTxt.parse(DELIVERIES[delivery](body), edition)
    assert robots.crawl_delay("bingbot") == 60.0
    assert robots.crawl_delay("FooBot") == 1.0
    assert [line.value for line in robots.other("bingbot")] == ["60", "1"]
    assert [line.value for line in robots.other("*")] == ["1"]


@in_modern_editions
def test_other_lines_hold_for_the_agents_above_them(edition: str) -> None:
    """EXT-03, EXT-01: in a group with three agents, and where a crawler has two groups."""
    body = b"User-agent: a\nX: 1\nUser-agent: b\nX: 2\nUser-agent: a\nUser-agent: c\nAllow: /\n"
    robots = RobotsTxt.parse(body + b"X: 3\nUser-agent: c\nX: 4\nUser-agent: d\nX: 5", edition)
    held = {name: [line.value for line in robots.other(name)] for name in "abcd"}
    assert held == {"a": ["1", "2", "3"], "b": ["2", "3"], "c": ["3", "4", "5"], "d": ["5"]}


@in_modern_editions
def test_other_lines_of_combined_groups_are_combined(edition: str) -> None:
    """EXT-03, GRP-08: from every group followed, in the order of the file."""
    body = b"User-agent: a\nX: 1\nAllow: /\nUser-agent: b\nX: 2\nAllow: /\nUser-agent: A\nX: 3\n"
    found = RobotsTxt.parse(body, edition).other("a")
    assert [(line.value, line.line) for line in found] == [("1", 2), ("3", 8)]


@in_every_edition
def test_explanation_holds_all_there_is_to_say(edition: str) -> None:
    """EXT-02: verdict, reason, rule with line and text, group and edition."""
    verdict = RobotsTxt.parse(BODY, edition).explain("http://example.com/a/b", "FooBot")
    assert (verdict.allowed, verdict.reason) == (False, "rule")
    assert verdict.rule is not None
    assert (verdict.rule.kind, verdict.rule.pattern) == ("disallow", "/a")
    assert (verdict.rule.line, verdict.rule.text) == (5, "Disallow: /a")
    assert (verdict.group, verdict.edition) == (("FooBot",), edition)


@in_every_edition
def test_rule_is_explained_in_the_words_of_the_file(edition: str) -> None:
    """EXT-02: its text is the whole line, comment and all, and its pattern the path as written."""
    body = b"User-agent: *\r\n\tDISALLOW : /%7euser/\xc3\xa9\xff # why\r\n"
    rule = RobotsTxt.parse(body, edition).explain("http://a/%7Euser/%C3%A9%FF", "b").rule
    assert rule is not None
    assert rule.text == "\tDISALLOW : /%7euser/é\\xff # why"
    assert rule.pattern == "/%7euser/é\\xff"


@in_every_edition
def test_every_rule_that_matches_is_told(edition: str) -> None:
    """EXT-02, PRE-01: the deciding rule first, then those it beats."""
    body = b"User-agent: *\nDisallow: /\nAllow: /a\nDisallow: /b\nDisallow: /a/b\nAllow: /a/b\n"
    matching = RobotsTxt.parse(body, edition).matches("http://example.com/a/b", "FooBot")
    assert [rule.line for rule in matching] == [6, 5, 3, 2]


@in_every_edition
@pytest.mark.parametrize(
    ("start", "line"),
    [("", 2), ("\n", 3), ("\r", 3), ("\r\n", 3), ("\n\r", 4), ("\r\r\n\n", 5), ("\r\n\r\n#\r", 5)],
)
def test_lines_are_counted_as_an_editor_does(edition: str, start: str, line: int) -> None:
    """EXT-02, FMT-02: from 1, each kind of line end once, from the first byte on."""
    body = f"{start}User-agent: *\r\nDisallow: /a\rCrawl-delay: 1\n".encode()
    robots = RobotsTxt.parse(body, edition)
    rule = robots.explain("http://example.com/a", "FooBot").rule
    assert rule is not None
    assert (rule.line, rule.text) == (line, "Disallow: /a")
    assert robots.groups[0].first_line == line - 1
    assert [other.line for other in robots.other("FooBot")] == (
        [] if edition == "classic" else [line + 1]
    )
