"""The cost of a verdict does not grow with the contents of a file (SAF-02, SAF-03, PAT-11).

Steps and bytes are counted here, never time, so that no slow machine makes a test fail.
"""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterable
from dataclasses import replace
from typing import SupportsIndex
from unittest.mock import patch

import pytest

from benchmarks.hostile import RECIPES, Recipe
from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol import agent_index, groups, lines, robotstxt
from scrapy_robotspec.protocol.agents import key_of
from scrapy_robotspec.protocol.fast import compiled, wildcards
from scrapy_robotspec.protocol.fast.needles import Needles
from scrapy_robotspec.protocol.fast.ruleset import RuleSet
from scrapy_robotspec.protocol.fast.wildcards import Wildcards
from scrapy_robotspec.protocol.patterns import END, canonical_pattern, matches
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
    with patch.object(wildcards, "matches", wraps=matches) as tried:
        assert patterns.best(path, NO_RULE) == NO_RULE
        assert not tried.called
        assert patterns.best(path + "X", NO_RULE) == 0


class CountedPath(str):
    """A path that counts the characters that searching it may cost, and comparisons."""

    __slots__ = ()
    steps = 0

    def __add__(self, other: str) -> CountedPath:
        return CountedPath(str.__add__(self, other))

    def __getitem__(self, key: SupportsIndex | slice) -> CountedPath:
        return CountedPath(str.__getitem__(self, key))

    def __lt__(self, other: str) -> bool:
        CountedPath.steps += 1
        return str.__lt__(self, other)

    def find(self, literal: str, begin: int = 0) -> int:  # type: ignore[override]
        place = str.find(self, literal, begin)
        left, size = len(self) - begin, len(literal)
        searched = left if place < 0 else place + size - begin
        # As CPython does: it searches in linear time only where that is worth the preparation.
        is_linear = size < 6 or left >= 30_000 or (size < 100 and left >= 2_500)
        CountedPath.steps += searched * (1 if is_linear else size)
        return place


def searched_for(patterns: Iterable[str], path: str) -> int:
    """The characters that are searched to find that none of the patterns matches."""
    CountedPath.steps = 0
    keys = {pattern: number for number, pattern in enumerate(patterns)}
    Wildcards(keys).best(CountedPath(path + END), NO_RULE)
    return CountedPath.steps


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_a_path_is_hardly_searched_more_than_the_file_is_long(recipe: Recipe) -> None:
    """PAT-11, SAF-02: thousands of patterns with literals that are nearly in a path of 2,000."""
    body = recipe.body(60_000)
    lines = body.decode().splitlines()[1:-1]
    found = [canonical_pattern(line[6:], EDITIONS["google-2019"]) for line in lines]
    patterns = [pattern[0] for pattern in found if pattern is not None]
    assert len(patterns) > 100 or recipe.literals > 100 or recipe.length > 90
    assert searched_for(patterns, "/" + recipe.path(2_000)) < 2 * len(body)


@pytest.mark.parametrize("number", [15, 100])
@pytest.mark.parametrize("length", [90, 700])
def test_a_long_literal_is_searched_in_linear_time(number: int, length: int) -> None:
    """PAT-11: a short path in which few or many patterns nearly have a place."""
    path = "/b" + "a" * 1_900
    literals = ("a" * (length - at) + "b" + "a" * at for at in range(number))
    steps = searched_for((f"/*a*{literal}" for literal in literals), path)
    assert 0 < steps < 40_000 * number


@pytest.mark.parametrize("number", [1, 63, 64])
def test_a_needle_is_short(number: int) -> None:
    """PAT-11: a path is searched for the beginning of a long literal first."""
    patterns = Wildcards({f"/*{'a' * 8_000}{at}": at for at in range(number)})
    assert {len(needle) for needle in patterns.needles} <= {32}


def test_a_prefix_with_an_end_matches_a_path_of_any_length() -> None:
    """PAT-03: a path with more parts than are learned."""
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: /" + b"a" * 140_000 + b"$")
    for more in ("", "a"):
        url = f"{HOST}/{'a' * 140_000}{more}"
        assert len(robots.matches(url, "a")) == (not more)
        assert robots.allowed(url, "a") == bool(more)


def test_stars_in_sequence_are_one() -> None:
    """PAT-02: no step is taken for each star of a long line."""
    edition = EDITIONS["google-2019"]
    stars = "*" * 1_000
    assert canonical_pattern(f"/{stars}a{stars}", edition) == ("/*a", 1_002)
    assert canonical_pattern(f"/{stars}$", edition) == ("/", 1_002)


#: Lines without a field.
FIELDLESS = [b"\n", b"\r", b"\r\n", b" \n", b"\t\r", b"#\n", b"# a: b\r\n", b"\n\n#\n \n"]


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("filler", FIELDLESS, ids=repr)
def test_nothing_is_made_for_lines_without_a_field(filler: bytes, edition: str) -> None:
    """SAF-02: half a million of them cost little more than finding their ends."""
    body = b"User-agent: a\n%bDisallow: /\n%b" % (filler * 500, filler * 500)
    robots = RobotsTxt.parse(body, edition)
    with patch.object(lines, "Statement", wraps=lines.Statement) as made:
        robots.allowed(HOST + "/a", "a")
        most = 2 * 3
        assert made.call_count <= most
        questions = (robots.other, robots.crawl_delay, robots.usage_rules)
        for ask in (*questions, lambda tokens: robots.groups):
            made.reset_mock()
            ask("a")
            assert made.call_count <= most


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"], ids=repr)
def test_the_linter_reads_empty_lines_in_a_row_once(end: bytes, edition: str) -> None:
    """SAF-02: and numbers the lines below them right."""
    robots = RobotsTxt.parse(end * 500 + b"User-agent: a%bDisalow: /%b" % (end, end), edition)
    with patch.object(lines, "Line", wraps=lines.Line) as made:
        assert {finding.line for finding in robots.lint()} >= {502}
    assert made.call_count == 3


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
