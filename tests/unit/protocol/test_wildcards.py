"""Patterns with wildcards: the best that matches, by counted steps (PAT-02, PAT-11).

Steps are counted here, never time, so that no slow machine makes a test fail.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import SupportsIndex
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.hostile import RECIPES, Recipe
from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol import (
    patterns,
    wildcards,
)
from scrapy_robotspec.protocol.patterns import END, matches
from scrapy_robotspec.protocol.precedence import NO_RULE
from scrapy_robotspec.protocol.unusual_patterns import canonical_pattern
from scrapy_robotspec.protocol.wildcards import LONG, Wildcards
from tests.unit.protocol.strategies import (
    paths,
    texts,
)


@given(some=st.sets(texts(stars=True), min_size=1), path=paths, bound=st.integers(0, 40))
def test_wildcards_find_the_best_that_matches(some: set[str], path: str, bound: int) -> None:
    """PAT-02, PAT-11: one by one and by their needles, in long paths too, and below a bound."""
    edition = EDITIONS["google"]  # literals stay as they are
    measured = [pattern for text in sorted(some) if (pattern := canonical_pattern(text, edition))]
    keys = {text: key for key, (text, _) in reversed(list(enumerate(measured)))}  # the least stays
    ended = path + END
    found = (key for text, key in keys.items() if placed(text, ended))
    expected = min((bound, *found))
    for text in keys:
        assert matches(text, ended) == placed(text, ended)
    ways = product((0, 64), (0, 1, 16), (0, 128), (1, 2, 64), (1, 4))
    for index, sort, long, needle, start in ways:
        with (
            patch.multiple(wildcards, _NEEDLE=needle, _START=start),
            patch.multiple(wildcards, INDEX_FROM=index, SORT_FROM=sort, LONG=long),
        ):
            wild = Wildcards(keys)
            assert next(wild.matching(ended, bound), bound) == expected
            for length, kept in product((1, 2, 64), (2, 3, 64)):
                with (
                    patch.multiple(wildcards, _LENGTH=length, _KEPT=kept),
                    patch.object(patterns, "MAX_PRODUCT", 0),
                ):
                    assert next(wild.matching(ended, bound), bound) == expected


def placed(pattern: str, path: str) -> bool:
    """Whether a pattern matches, by every place of its literals."""
    first, *literals = pattern.split("*")
    ends = {len(first)} if path.startswith(first) else set()
    for literal in literals:
        ends = (
            {
                place + len(literal)
                for place in range(len(path))
                if path.startswith(literal, place) and any(end <= place for end in ends)
            }
            if literal
            else ends
        )
    return bool(ends)


def test_a_literal_that_is_missing_is_searched_once() -> None:
    """PAT-11: 200 patterns whose needle is in the path, and whose last literal is not."""
    patterns = Wildcards({f"/*a{n}*X": n for n in range(200)})
    path = "/" + "".join(f"a{n}" for n in range(200))
    with patch.object(wildcards, "matches", wraps=matches) as tried:
        assert next(patterns.matching(path, NO_RULE), NO_RULE) == NO_RULE
        assert not tried.called
        assert next(patterns.matching(path + "X", NO_RULE), NO_RULE) == 0


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

    def __contains__(self, literal: str) -> bool:  # type: ignore[override]
        return self.find(literal) >= 0

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
    next(Wildcards(keys).matching(CountedPath(path + END), NO_RULE), NO_RULE)
    return CountedPath.steps


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
@pytest.mark.parametrize(("length", "most"), [(LONG - 3, LONG), (2_000, 2)])
def test_a_path_is_hardly_searched_more_than_the_file_is_long(
    recipe: Recipe, length: int, most: int
) -> None:
    """PAT-11, SAF-02: thousands of patterns with literals that are nearly in a path.

    Each character of the file is compared with each of a short path at most.
    """
    body = recipe.body(60_000, length)
    lines = body.decode().splitlines()[1:-1]
    found = [canonical_pattern(line[6:], EDITIONS["google-2019"]) for line in lines]
    patterns = [pattern[0] for pattern in found if pattern is not None]
    assert len(patterns) > 100 or recipe.literals > 100 or recipe.length > 90
    needles = "".join(Wildcards(dict.fromkeys(patterns, 0)).needles)  # of few patterns
    searched = searched_for(patterns, "/" + recipe.path(length))
    assert searched < most * len(body) + len(needles) * length


@pytest.mark.parametrize("number", [15, 100])
@pytest.mark.parametrize("length", [90, 700])
def test_a_long_literal_is_searched_in_linear_time(number: int, length: int) -> None:
    """PAT-11: a short path in which few or many patterns nearly have a place."""
    path = "/b" + "a" * 1_900
    literals = ("a" * (length - at) + "b" + "a" * at for at in range(number))
    steps = searched_for((f"/*a*{literal}" for literal in literals), path)
    assert 0 < steps < 40_000 * number
