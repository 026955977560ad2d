"""SIT, EXT: sitemaps, crawl-delay, other lines, and what an explanation holds."""

from __future__ import annotations

import pytest

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.groups import read_sitemaps
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

MODERN = sorted(set(EDITIONS) - {"classic"})
in_every_edition = pytest.mark.parametrize("edition", EDITIONS)
in_modern_editions = pytest.mark.parametrize("edition", MODERN)

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


def test_oldest_convention_knows_no_sitemaps() -> None:
    """SIT-01, FMT-15: nor a crawl-delay, nor any other field."""
    robots = RobotsTxt.parse(BODY, "classic")
    assert robots.sitemaps == ()
    assert robots.crawl_delay("FooBot") is None
    assert robots.other("FooBot") == ()


@pytest.mark.parametrize("origin", ["http://a.example:8080", "https://[::1]", "ftp://a.example"])
def test_sitemap_that_begins_with_a_slash_belongs_to_a_known_origin(origin: str) -> None:
    """SIT-03: any other relative or broken URL is not offered; without an origin none is."""
    lines = (
        "/s.xml",
        "//b.example/s.xml",
        "s.xml",
        "../s.xml",
        "?s",
        "//",
        "///s",
        "//[::1/s",
        "/a b",
    )
    body = "".join(f"Sitemap: {line}\n" for line in lines).encode()
    scheme = origin.partition("/")[0]
    expected = (f"{origin}/s.xml", f"{scheme}//b.example/s.xml")
    edition = EDITIONS["google-2019"]
    assert read_sitemaps(body, edition, origin) == expected
    assert read_sitemaps(body, edition) == RobotsTxt.parse(body).sitemaps == ()


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


@in_modern_editions
def test_a_crawl_delay_of_hundreds_of_digits_is_finite(edition: str) -> None:
    """EXT-01: it stays the greatest, and JSON has no word for infinity."""
    body = f"User-agent: *\nCrawl-delay: 5\nCrawl-delay: {'9' * 400}\n".encode()
    delay = RobotsTxt.parse(body, edition).crawl_delay("FooBot")
    assert delay is not None
    assert 1e300 < delay < float("inf")


@pytest.mark.parametrize("origin", ["", "https://a.example"])
@pytest.mark.parametrize(
    "host",
    ["<domain_name>", "{host}", "*.a.example", "..", ".a", "a..b", "$site", "a b", "%s", "[x]"],
)
def test_url_at_a_host_that_cannot_exist_is_not_offered(host: str, origin: str) -> None:
    """SIT-03, USE-06: of sitemaps and licenses, as text, with user info, and with a port."""
    for authority in (host, f"u:p@{host}", f"{host}:8080"):
        urls = [f"https://{authority}{end}" for end in ("/s.xml", "", "?a")]
        body = "".join(f"Sitemap: {url}\nLicense: {url}\n" for url in urls).encode()
        assert read_sitemaps(body, EDITIONS["google-2019"], origin) == ()
        assert RobotsTxt.parse(body).licenses == ()
    assert read_sitemaps(f"Sitemap: //{host}/s".encode(), EDITIONS["rfc9309"], origin) == ()


@pytest.mark.parametrize(
    "url",
    [
        *("https://a_b.example/s", "https://a.example./s", "https://localhost:8080/s"),
        *(
            "https://[::1]/s",
            "https://xn--a.example/s",
            "https://h\u093f.example/s",
            "http://a/s,t",
        ),
        *("https://1.2.3.4/s", "https://-a-.example/s", "https://u@a.example/s?u=http://b/"),
    ],
)
def test_url_at_a_host_that_may_exist_is_offered(url: str) -> None:
    """SIT-03: DNS has more names than RFC 1123, and IDNA has letters of all scripts."""
    robots = RobotsTxt.parse(f"Sitemap: {url}\nLicense: {url}\n".encode())
    assert robots.sitemaps == robots.licenses == (url,)
