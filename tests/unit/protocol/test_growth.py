"""The cost of a verdict does not grow with the contents of a file (SAF-02, SAF-03, PAT-11).

Steps and bytes are counted here, never time, so that no slow machine makes a test fail.
"""

from __future__ import annotations

import random
import tracemalloc
from dataclasses import replace
from unittest.mock import patch

import pytest

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol import agent_index, groups, robotstxt
from scrapy_robotspec.protocol.agents import key_of
from scrapy_robotspec.protocol.fast import compiled, wildcards
from scrapy_robotspec.protocol.fast.needles import Needles
from scrapy_robotspec.protocol.fast.ruleset import RuleSet
from scrapy_robotspec.protocol.fast.wildcards import Wildcards, matches_with_end, with_end
from scrapy_robotspec.protocol.precedence import NO_RULE
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

HOST = "http://example.com"


class CountedText(str):
    """A text that counts comparisons."""

    __slots__ = ()
    steps = 0

    def __gt__(self, other: str) -> bool:
        CountedText.steps += 1
        return str.__gt__(self, other)


def test_a_path_is_compared_with_few_of_many_prefixes() -> None:
    """SAF-03: of 20,000 prefixes a binary search sees no more than its depth."""
    values = [b"/dir%d/page%d" % (n % 97, n) for n in range(20_000)]
    rules = RuleSet([(False, value, n) for n, value in enumerate(values)], EDITIONS["rfc9309"])
    rules._prefixes = tuple(map(CountedText, rules._prefixes))
    for path in ("/dir5/page5/x", "/dir96/page", "/", "/zzz"):
        CountedText.steps = 0
        rules.find(HOST + path)
        assert 0 < CountedText.steps <= 20


def test_few_of_many_wildcards_are_tried() -> None:
    """PAT-11: the words of a path lead to the few patterns that hold one of them."""
    index = Needles([f"/*foo_{n}=*bar" for n in range(5_000)])
    assert not index.patterns_in("/shop/item.html?foo=1&bar=2")
    assert index.patterns_in("/shop/item.html?foo_1234=1&bar=2") == [1234]


def test_a_needle_is_compared_with_few_places_of_a_path() -> None:
    """PAT-11: needles that are nearly there cost one binary search for each place of the path."""
    path = "/" + "a" * 2_000
    needles = ["a" * 24 + chr(98 + n % 20) + "a" * (n // 20) for n in range(200)]
    index = Needles([f"/*{needle}" for needle in needles])
    index._sorted = tuple(map(CountedText, index._sorted))
    CountedText.steps = 0
    assert not index.patterns_in(path)
    assert 0 < CountedText.steps <= 2_000 * 8


def test_a_literal_that_is_missing_is_searched_once() -> None:
    """PAT-11: 200 patterns whose needle is in the path, and whose last literal is not."""
    patterns = Wildcards({f"/*a{n}*X": n for n in range(200)})
    path = "/" + "".join(f"a{n}" for n in range(200))
    with patch.object(wildcards, "matches_with_end", wraps=matches_with_end) as tried:
        assert patterns.best(path, NO_RULE) == NO_RULE
        assert not tried.called
        assert patterns.best(path + "X", NO_RULE) == 0


def test_a_prefix_with_an_end_matches_a_path_of_any_length() -> None:
    """PAT-03: a path with more parts than are learned."""
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: /" + b"a" * 140_000 + b"$")
    for more in ("", "a"):
        url = f"{HOST}/{'a' * 140_000}{more}"
        assert len(robots.matches(url, "a")) == (not more)
        assert robots.allowed(url, "a") == bool(more)


def test_stars_in_sequence_are_one() -> None:
    """PAT-02: no step is taken for each star of a long line."""
    assert with_end("/" + "*" * 1_000 + "a" + "*" * 1_000) == "/*a"
    assert with_end("/" + "*" * 1_000 + "$") == "/"


@pytest.mark.parametrize("before", [b"", b"x ", b"user-agent: *\n#"])
def test_a_line_of_user_agent_fields_is_read_once(before: bytes) -> None:
    """SAF-02: what stands behind a field is read to the line's end only where it begins a line."""
    body = before + b"user-agent:" * 1_000
    with patch.object(agent_index, "_AGENT", wraps=agent_index._AGENT) as reads:
        assert RobotsTxt.parse(body).allowed(HOST + "/", "a")
    assert reads.call_count <= 1


@pytest.mark.parametrize("edition", EDITIONS)
def test_agents_and_other_lines_are_not_multiplied(edition: str) -> None:
    """EXT-01, SAF-02: 2,000 agents in turn with 2,000 delays; each name is read a few times."""
    body = b"".join(
        b"User-agent: a%s\nCrawl-delay: %d\n" % (b"-" * (n % 9), n) for n in range(2_000)
    )
    robots = RobotsTxt.parse(body + b"Allow: /\n", replace(EDITIONS[edition], other_fields=True))
    with patch.object(groups, "key_of", wraps=key_of) as reads:
        assert robots.crawl_delay("a") == 1_999
        assert len(robots.other("a")) == 2_000
    assert reads.call_count <= 4 * 2_000 * 2


def file_of(rules: int) -> bytes:
    numbers = random.Random(1)
    lines = (b"Disallow: /shop/%x/item\n" % numbers.getrandbits(40) for _ in range(rules))
    return b"User-agent: *\n" + b"".join(lines)


@pytest.mark.parametrize(("questions", "most"), [(1, 1.1), (20, 4.5)])
def test_what_is_kept_is_little_more_than_the_file(questions: int, most: float) -> None:
    """CAC-04: the bytes; after more questions compiled rules too."""
    body = file_of(2_000)

    def ask_again() -> RobotsTxt:
        robots = RobotsTxt.parse(bytes(bytearray(body)))
        for n in range(questions):
            robots.allowed(f"{HOST}/shop/{n}", "a")
        return robots

    ask_again()  # the process caches searches; they do not belong to the file
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        robots = ask_again()
        kept = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert kept < len(robots.body) * most


def test_few_groups_and_verdicts_are_kept() -> None:
    """However many tokens and URLs a file is asked about, what it keeps is bounded."""
    robots = RobotsTxt.parse(file_of(400))
    with patch.multiple(compiled, KEPT=8):
        for n in range(50):
            robots.allowed(f"{HOST}/{n % 20}", "token" + "-" * n)
    assert len(robots._compiled._selections) <= 8
    assert len({known.block for known in robots._compiled._selections.values()}) == 1
    for rule in robots.groups[0].rules:
        assert robots.explain(HOST + rule.pattern, "token-").rule == rule
    assert robots._selection is not None
    assert len(robots._selection.verdicts) <= robotstxt._KEPT_VERDICTS
