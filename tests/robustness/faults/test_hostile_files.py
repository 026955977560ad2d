"""Files meant to slow down repeated verdicts (SAF-01, SAF-02).

What grew faster than the file would take minutes here, and hours with a longer file.
"""

from __future__ import annotations

import tracemalloc

import pytest

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

SIZE = 75_000
UTF16 = "User-agent: *\nDisallow: /no\n".encode("utf-16")


def _filled(head: bytes, unit: bytes) -> bytes:
    return head + unit * ((SIZE - len(head)) // len(unit))


def _numbered(head: bytes, line: bytes, lines: int) -> bytes:
    return head + b"".join(line % n for n in range(lines))


SHAPES = {
    "rules": _filled(b"user-agent:*\n", b"allow:/\n"),
    "groups": _filled(b"", b"user-agent:*\nallow:/\n"),
    "other lines": _filled(b"user-agent:*\n", b"a:b\n"),
    "crawl delays": _filled(b"user-agent:*\n", b"crawl-delay:1\n"),
    "sitemaps": _filled(b"", b"sitemap:http://a/\n"),
    "agents of one group": _numbered(b"", b"user-agent:a%x\n", 4_500) + b"disallow:/\n",
    "groups of many agents": _numbered(b"", b"user-agent:a%x\nallow:/\n", 3_000),
    "nested prefixes": b"user-agent:*\n"
    + b"".join(b"allow:/%s\n" % (b"a" * n) for n in range(540)),
    "nested wildcards": b"user-agent:*\n"
    + b"".join(b"allow:/*%s\n" % (b"a" * n) for n in range(540)),
    "distinct wildcards": _numbered(b"user-agent:*\n", b"allow:/*%x*\n", 6_000),
    "one line of stars": _filled(b"user-agent:*\nallow:/", b"*a"),
    "one line of dollars": _filled(b"user-agent:*\nallow:/", b"$"),
    "percent soup": _filled(b"user-agent:*\nallow:/", b"%4%25%zz%"),
    "escapes": _filled(b"user-agent:*\nallow:/", b"%c3%a9"),
    "NULs": _filled(b"user-agent:*\ndisallow:/\n", b"\0"),
    "invalid UTF-8": _filled(b"user-agent:*\nallow:/", b"\xc3\xff\xed\xa0\x80"),
    "UTF-16": UTF16 * (SIZE // len(UTF16)),
    "user-agent fields on one line": _filled(b"", b"user-agent:"),
    "colons": _filled(b"", b":"),
    "carriage returns": _filled(b"user-agent:*\r", b"\r"),
    "comments": _filled(b"", b"#\n"),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("edition", ["google-2019", "google"])
def test_every_question_is_answered_in_time(shape: str, edition: str) -> None:
    """Also those of the linter and of tools, which read the file again."""
    robots = RobotsTxt.parse(SHAPES[shape], edition)
    url = "http://example.com/" + "a" * 900 + "%c3%a9"
    verdict = robots.explain(url, "examplebot")
    assert verdict.allowed is robots.allowed(url, "examplebot")
    assert verdict.rule in (None, *robots.matches(url, "examplebot")[:1])
    assert len({robots.crawl_delay("examplebot") for _ in range(3)}) == 1
    lines = robots.body.count(b"\n") + robots.body.count(b"\r") + 1
    assert sum(len(group.rules) for group in robots.groups) <= lines
    assert len(robots.other("examplebot")) <= lines
    assert len(robots.sitemaps) <= lines
    assert all(0 <= finding.line <= lines for finding in robots.lint())


@pytest.mark.parametrize("shape", ["rules", "distinct wildcards", "nested wildcards"])
def test_compiled_rules_take_a_bounded_multiple_of_the_file(shape: str) -> None:
    """The lookup counts on it: it bounds the bytes of the files whose rules it keeps."""
    body = SHAPES[shape][:40_000]
    tracemalloc.start()
    try:
        robots = RobotsTxt.parse(body)
        for path in "12":  # the second compiles the rules
            robots.allowed(f"http://example.com/{path}", "examplebot")
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 30 * len(body)


@pytest.mark.parametrize("edition", EDITIONS)
def test_many_crawlers_ask_one_file(edition: str) -> None:
    """Memory for tokens is bounded for any number of them."""
    body = SHAPES["distinct wildcards"][:5000] + b"\nuser-agent: examplebot\ndisallow: /\n"
    robots = RobotsTxt.parse(body, edition)
    for n in range(40):
        token = f"bot-{'a' * n}"
        robots.allowed("http://example.com/1", token)
        robots.crawl_delay(token)
    blocks = {known.rules for known in robots.file.index._by_tokens.values()}
    assert len(blocks) <= 2  # all of them follow the same groups
