"""PAT: URLs that are not written out in full, and literal stars and dollar signs."""

from __future__ import annotations

import string

import pytest
from scrapy import Request

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


#: Beginnings of paths: the character is in the path, or in the query.
COMPONENTS = {"path": "/a", "query": "/a?x="}
CHARACTERS = [each for each in string.printable[:-6] if each not in "#*"]  # syntax of rules


@pytest.mark.parametrize("others", [0, 100], ids=["one rule", "many rules"])
@pytest.mark.parametrize("beginning", COMPONENTS.values(), ids=COMPONENTS)
@pytest.mark.parametrize("edition", [each for each in EDITIONS if each != "google"])
def test_rules_match_what_scrapy_sends(edition: str, beginning: str, others: int) -> None:
    """PAT-12: a link and the URL that leaves are one, for every printable character.

    A character and its escape match alike exactly where Scrapy sends the escape.
    """
    has_wildcards = EDITIONS[edition].wildcards
    starts, end = ((beginning, "/*", "*"), "$") if has_wildcards else ((beginning,), "")
    filler = "".join(f"Disallow: /other/{number}*x\n" for number in range(others))
    alike = string.ascii_letters + string.digits + "-._~$"  # PAT-05, PAT-06
    for start in starts:
        for raw in CHARACTERS:
            link = f"http://example.com{beginning}{raw}z"
            sent, escape = Request(link).url, f"%{ord(raw):02X}"
            is_one = raw in alike or escape in sent
            for rule, expected in ((raw, raw in sent or is_one), (escape, is_one)):
                body = f"User-agent: *\nDisallow: {start}{rule}z{end}\n{filler}".encode()
                robots = RobotsTxt.parse(body, edition)
                asked = (link, sent, "/another", link, sent)
                answers = [robots.allowed(url, "FooBot") for url in asked]
                assert answers == [not expected, not expected, True] + [not expected] * 2, rule
                assert bool(robots.matches(link, "FooBot")) is expected


#: Rules without a literal question mark, and URLs whose apostrophes are in path, query or both.
APOSTROPHES = [
    ("/*'", "/b?x='2", True),
    ("/*?*'", "/b?x='2", True),
    ("/*?*'", "/b?x=%272", True),
    ("/b?x='", "/b?x=%27", True),
    ("/b?x=%27", "/b?x='", True),
    ("/*%27", "/b?x='2", True),
    ("/*'", "/b'2", True),
    ("/*'", "/b%272", False),
    ("/*%27", "/b'2", False),
    ("/b'", "/b%27", False),
    ("/*'*'", "/a'b?c='", True),
    ("/*'*%27", "/a'b?c='", True),
    ("/*'*%27", "/a%27b?c='", False),
    ("/*%27*'$", "/a%27b?c=%27", True),
    ("/*'*'*'", "/a'b'c?'", True),
    ("/*'*'*'", "/a'b%27c?'", False),
    ("/*27", "/b?x='", False),
]


@pytest.mark.parametrize("edition", ["google-2019", "rfc9309"])
@pytest.mark.parametrize(("pattern", "path", "expected"), APOSTROPHES)
def test_an_apostrophe_equals_its_escape_in_queries_only(
    pattern: str, path: str, expected: bool, edition: str
) -> None:
    """PAT-12: a star may reach the query, so the place in the rule does not matter."""
    robots = RobotsTxt.parse(f"User-agent: *\nDisallow: {pattern}\n".encode(), edition)
    for url in ("http://example.com" + path, "/another", "http://example.com" + path):
        assert robots.allowed(url, "FooBot") is not (expected and url != "/another")
    stated = f"User-agent: *\nContent-Usage: {pattern} search=n\nContent-Usage: search=y".encode()
    usage = RobotsTxt.parse(stated, edition).usage("http://example.com" + path, "FooBot")
    assert usage.preferences == {"search": "disallow" if expected else "allow"}
