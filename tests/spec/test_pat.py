"""PAT: URLs that are not written out in full, and literal stars and dollar signs."""

from __future__ import annotations

import pytest

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

in_every_edition = pytest.mark.parametrize("edition", EDITIONS)

#: Ways to leave out parts of a URL, and the path that is compared.
SHORT = [
    ("/a/b", "/a/b"),
    ("/a/b?c", "/a/b?c"),
    ("/a/b#c", "/a/b"),
    ("//example.com/a/b", "/a/b"),
    ("example.com/a/b", "/a/b"),
    ("example.com?a/b", "/?a/b"),
    ("?a/b", "/?a/b"),
    ("/a?u=http://example.com/b", "/a?u=http://example.com/b"),
    ("example.com/a?u=http://b/c", "/a?u=http://b/c"),
    ("", "/"),
    ("example.com", "/"),
]


@in_every_edition
@pytest.mark.parametrize(("url", "path"), SHORT)
def test_short_urls_are_compared_from_their_path(edition: str, url: str, path: str) -> None:
    """PAT-08, PAT-01: a rule for exactly that path names the URL; longer ones do not."""
    body = f"User-agent: *\nDisallow: {path}\nDisallow: {path}x\nAllow: /a/x\n".encode()
    verdict = RobotsTxt.parse(body, edition).explain(url, "FooBot")
    assert verdict.rule is not None
    assert verdict.rule.line == 2


@in_every_edition
@pytest.mark.parametrize("url", ["http://example.com/a%20b", "HTTP://example.com/a%20b"])
def test_bytes_are_as_good_as_text(edition: str, url: str) -> None:
    """PAT-04: a URL may be bytes."""
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: /a%20b\n", edition)
    assert not robots.allowed(url, "FooBot")
    assert not robots.allowed(url.encode(), "FooBot")


@pytest.mark.parametrize("others", [0, 100], ids=["one rule", "many rules"])
@in_every_edition
@pytest.mark.parametrize(
    ("pattern", "path"),
    [("/*4", "/a$b"), ("/*2", "/a$b"), ("/*24b", "/a$b"), ("/*A", "/a*"), ("/*2A$", "/a*")],
)
def test_no_rule_matches_a_part_of_a_literal_star_or_dollar_sign(
    edition: str, pattern: str, path: str, others: int
) -> None:
    """PAT-02, PAT-06: that they equal ``%2A`` and ``%24`` puts no digit or letter into the URL."""
    rules = "".join(f"Disallow: /other/{number}*x\n" for number in range(others))
    body = f"User-agent: *\nDisallow: {pattern}\n{rules}".encode()
    robots = RobotsTxt.parse(body, edition)
    url = f"http://example.com{path}"
    assert robots.allowed(url, "FooBot")
    robots.allowed("/another", "FooBot")  # compiles the rules
    assert robots.allowed(url, "FooBot")
    assert robots.usage(url, "FooBot").applies
    assert not robots.matches(url, "FooBot")
