"""Packed files: the values that replace a file answer as the file does."""

from __future__ import annotations

import marshal
from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.packed import UnpackedRobotsTxt, pack
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from tests.support import reference
from tests.support.tokens import accepted
from tests.unit.protocol.property.strategies import interviews

if TYPE_CHECKING:
    from collections.abc import Sequence

URL = "https://a.example/shop/1"


def packed_again(robots: RobotsTxt, url: str, tokens: Sequence[str]) -> UnpackedRobotsTxt:
    """The file after one question, as a process reads it from its packed values."""
    robots.explain(url, tokens)
    values = marshal.loads(marshal.dumps(pack(robots, f"{url}~")))
    return UnpackedRobotsTxt(values, robots.edition, lambda: robots.body)


def unloadable(robots: RobotsTxt, url: str, tokens: Sequence[str]) -> UnpackedRobotsTxt:
    """The same, of a file whose body must not be needed."""

    def load() -> bytes:
        raise AssertionError("the body was read")

    unpacked = packed_again(robots, url, tokens)
    unpacked._load = load
    return unpacked


@pytest.mark.parametrize("name", EDITIONS)
@given(interview=interviews)
def test_same_verdicts_from_packed_values_as_from_the_file(
    name: str, interview: tuple[bytes, list[tuple[str, tuple[str, ...]]]]
) -> None:
    """GRP-01, PRE-01: also for other URLs and crawlers than the one that asked before."""
    body, questions = interview
    url, tokens = questions[0]
    unpacked = packed_again(RobotsTxt.parse(body, name), url, accepted(tokens, name))
    for url, tokens in [*questions, *reversed(questions)]:
        names = accepted(tokens, name)
        verdict = unpacked.explain(url, names)
        found = reference.Ruling(verdict.allowed, verdict.rule.line if verdict.rule else 0)
        assert found == reference.rule_on(body, url, names, EDITIONS[name])
        assert unpacked.allowed(url, names) is verdict.allowed


@pytest.mark.parametrize("number", [0, 1, 3, 63, 64, 200])
def test_wildcards_match_from_packed_values(number: int) -> None:
    """Few patterns are tried one by one, many are indexed."""
    rules = "".join(f"Disallow: /*/no{n}$\nAllow: /*x{n}x*y\n" for n in range(number))
    robots = RobotsTxt.parse(f"User-agent: *\n{rules}".encode())
    unpacked = packed_again(robots, URL, "x")
    for path in ("/a/no0", "/a/no0/", "/a/no62", "/ax2xyy", "/a/b/no199", "/nothing"):
        url = f"https://a.example{path}"
        assert unpacked.explain(url, "x") == robots.explain(url, "x")
    urls = [f"https://a.example/{n}/no{n}" for n in range(201)]
    again = packed_again(robots, URL, "x")
    assert again.explain_all(urls, "x") == robots.explain_all(urls, "x")


@pytest.mark.parametrize(
    "rules",
    [
        *("Disallow: /private\n", "Allow: /\n", "Disallow: /\n", "Disallow: *\n", ""),
        *("Disallow: /*\nAllow: /$\n", "Disallow: /sh/\nAllow: /private\n"),
    ],
)
def test_usual_pages_need_no_file(rules: str) -> None:
    """Neither where no rule matches, nor where one rule decides about nearly all pages."""
    robots = RobotsTxt.parse(f"User-agent: *\n{rules}".encode())
    unpacked = unloadable(robots, "https://a.example/", "x")
    assert unpacked.explain(URL, "x") == robots.explain(URL, "x")


def test_a_rule_that_decided_before_needs_no_file() -> None:
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: /shop/ # all of it\n")
    verdict = unloadable(robots, URL, "x").explain("https://a.example/shop/2", "x")
    assert verdict == robots.explain("https://a.example/shop/2", "x")
    assert verdict.rule is not None
    assert verdict.rule.text == "Disallow: /shop/ # all of it"


def test_everything_else_is_read_from_the_file() -> None:
    body = b"User-agent: *\nDisallow: /a\nCrawl-delay: 3\nSitemap: https://a.example/s.xml\n"
    unpacked = packed_again(RobotsTxt.parse(body), URL, "x")
    assert unpacked.crawl_delay("x") == 3.0
    assert unpacked.sitemaps == ("https://a.example/s.xml",)
    assert [rule.pattern for rule in unpacked.groups[0].rules] == ["/a"]
    assert unpacked.body == body


def test_a_list_of_rules_reads_the_file_a_few_times_only() -> None:
    """However many rules: each time decodes a record."""
    robots = RobotsTxt.parse(b"User-agent: *\n" + b"Disallow: /a\n" * 1000)
    unpacked = packed_again(robots, URL, "x")
    reads: list[bytes] = []

    def load() -> bytes:
        reads.append(robots.body)
        return robots.body

    unpacked._load = load
    assert len(unpacked.groups[0].rules) == 1000
    assert unpacked.explain("https://a.example/a", "x").rule is not None
    assert len(reads) < 10


def test_a_truncated_file_stays_truncated() -> None:
    robots = RobotsTxt.parse(b"#" * 1_000_000)
    assert packed_again(robots, URL, "x").truncated


def test_combined_groups_are_packed_together() -> None:
    """GRP-02: their rules compete as those of one group."""
    robots = RobotsTxt.parse(
        b"User-agent: a\nDisallow: /shop\n\nUser-agent: b\nAllow: /shop/1\n", "google-2010"
    )
    tokens = ("b", "a")
    unpacked = packed_again(robots, URL, tokens)
    for url in (URL, "https://a.example/shop/2", "https://a.example/"):
        assert unpacked.explain(url, tokens) == robots.explain(url, tokens)


def test_a_file_that_nobody_has_asked_is_not_packed() -> None:
    """Its crawler is not known. One made from values has them already."""
    assert pack(RobotsTxt.parse(b""), URL) is None
    assert pack(packed_again(RobotsTxt.parse(b""), URL, "x"), URL) is None
