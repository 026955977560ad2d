"""One file with its groups and crawlers."""

from __future__ import annotations

import pytest

from scrapy_robotspec import RobotsTxt
from scrapy_robotspec.render.parsed_file import ParsedFile
from scrapy_robotspec.render.text import count

BODY = b"""User-agent: *
Disallow: /all

User-agent: Foo/1.0
Disallow: /a
Allow: /a/b

User-agent: foo
Disallow: /*b
Sitemap: http://shop.example/s.xml
"""
FILE = ParsedFile(RobotsTxt.parse(BODY))
NAMED = ParsedFile(RobotsTxt.parse(b"User-agent: foo\nDisallow: /a\n"))


@pytest.mark.parametrize(
    ("file", "tokens", "words"),
    [
        (FILE, ("foo",), "Foo (combined from lines 4 and 8): the most specific name that matches"),
        (NAMED, ("foo",), "foo (from line 1): the most specific name that matches"),
        (FILE, ("bar",), "* (from line 1): no group names the crawler"),
        (FILE, (), "* (from line 1): the group for all others"),
        (NAMED, ("bar",), "none: no group names it, so everything is allowed"),
        (NAMED, (), "none: no group is for every crawler, so everything is allowed"),
    ],
)
def test_the_group_that_applies_is_named_with_the_reason(
    file: ParsedFile, tokens: tuple[str, ...], words: str
) -> None:
    """UAG-01, UAG-05."""
    assert file.group_for(tokens).words == words


def test_a_name_is_kept_as_written() -> None:
    """UAG-03."""
    assert FILE.tokens() == ["Foo"]
    assert FILE.written["Foo"] == "Foo/1.0"
    assert NAMED.written["foo"] == "foo"


def test_the_size_is_said_in_numbers() -> None:
    numbers = f"{len(BODY)} bytes, 3 groups, 4 rules, 1 sitemap"
    assert FILE.summary() == f"{numbers}, edition google-2019"
    cut = ParsedFile(RobotsTxt.parse(BODY, limit=40))
    assert ", cut at the parsing limit, edition" in cut.summary()


def test_crawlers_with_the_same_rules_have_the_same_keys() -> None:
    """The spelling of a path makes no difference, nor does its line."""
    same = ParsedFile(RobotsTxt.parse(b"User-agent: a\nAllow: /%7Eb\nUser-agent: b\nAllow: /~b\n"))
    one, other = (same.effective_rules((name,)) for name in "ab")
    assert one.keys() == other.keys() != set()
    assert same.effective_rules(("c",)) == {}


@pytest.mark.parametrize(
    ("name", "sitemaps"),
    [
        ("robots.txt", ()),
        ("http://shop.example:8080", ("http://shop.example:8080/s.xml",)),
        ("https://shop.example/robots.txt", ("https://shop.example/s.xml",)),
    ],
)
def test_sitemap_of_the_site_is_one_where_the_site_is_known(
    name: str, sitemaps: tuple[str, ...]
) -> None:
    """SIT-03."""
    file = ParsedFile(RobotsTxt.parse(b"Sitemap: /s.xml\nSitemap: s2.xml"), name)
    assert file.sitemaps == sitemaps
    assert count(len(sitemaps), "sitemap") in file.summary()
