"""Sorted texts, and the longest literals of patterns, lead to few candidates."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.protocol.patterns import parents_of
from scrapy_robotspec.protocol.wildcards import Needles, Wildcards, needle_of
from tests.unit.protocol.counting import CountedText
from tests.unit.protocol.strategies import (
    texts,
)


@given(some=st.sets(texts(stars=False)))
def test_parent_of_a_prefix_is_the_longest_other_it_starts_with(some: set[str]) -> None:
    """SAF-03: as a comparison of all pairs finds it."""
    prefixes = sorted(some)
    expected = [
        max(
            (at for at, other in enumerate(prefixes[:here]) if prefix.startswith(other)),
            key=lambda at: len(prefixes[at]),
            default=-1,
        )
        for here, prefix in enumerate(prefixes)
    ]
    found = parents_of(prefixes)
    assert (list(found) if found is not None else [-1] * len(prefixes)) == expected


@given(some=st.sets(texts(stars=True), min_size=1))
def test_needle_is_the_longest_literal(some: set[str]) -> None:
    """PAT-11: the one that the fewest other paths contain."""
    for text in some:
        assert len(needle_of(text)) == max(map(len, text[1:].split("*")))
        assert needle_of(text) in text[1:].split("*")
    long = "/a*" + "b" * 40
    assert needle_of(long) == "b" * 32


def test_few_of_many_wildcards_are_tried() -> None:
    """PAT-11: the words of a path lead to the few patterns that hold one of them."""
    needles = sorted(f"foo_{n}=" for n in range(5_000))
    index = Needles(needles)
    assert not index.found_in("/shop/item.html?foo=1&bar=2")
    (number,) = index.found_in("/shop/item.html?foo_1234=1&bar=2")
    assert needles[number] == "foo_1234="


def test_a_needle_is_compared_with_few_places_of_a_path() -> None:
    """PAT-11: needles that are nearly there cost one binary search for each place of the path."""
    path = "/" + "a" * 2_000
    needles = ["a" * 24 + chr(98 + n % 20) + "a" * (n // 20) for n in range(200)]
    index = Needles(sorted(map(CountedText, needles)))
    CountedText.steps = 0
    assert not index.found_in(path)
    assert 0 < CountedText.steps <= 2_000 * 8


@pytest.mark.parametrize("number", [1, 63, 64])
def test_a_needle_is_short(number: int) -> None:
    """PAT-11: a path is searched for the beginning of a long literal first."""
    patterns = Wildcards({f"/*{'a' * 8_000}{at}": at for at in range(number)})
    assert {len(needle) for needle in patterns.needles} <= {32}
