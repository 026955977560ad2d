"""Large files are kept in little memory, and answer as small ones do."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.protocol import groups, patterns, robots_file, wildcards
from scrapy_robotspec.protocol.packed import PackedPlaces, PackedSet, PackedSpans, PackedTexts
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from tests.support import reference
from tests.support.tokens import accepted
from tests.unit.protocol.strategies import EVERY, bodies, some_tokens, texts, urls


@given(some=st.sets(texts(stars=True)), text=texts(stars=False))
def test_packed_texts_are_found_as_in_a_list(some: set[str], text: str) -> None:
    kept = sorted(some)
    packed = PackedTexts(kept)
    assert list(packed) == [packed[at] for at in range(len(kept))] == kept
    assert packed.bisect_right(text) == bisect_right(kept, text)


def test_few_other_texts_seem_to_be_in_a_packed_set() -> None:
    numbers = [f"{number:04}" for number in range(1_000)]
    packed = PackedSet(numbers)
    assert all(number in packed for number in numbers)
    assert sum(f"a{number}" in packed for number in numbers) < 150


@given(st.dictionaries(st.text("ab-"), st.tuples(st.text("AB-"), st.lists(st.integers(0, 9)))))
def test_packed_places_are_those_that_are_packed(places: dict[str, tuple[str, list[int]]]) -> None:
    packed = PackedPlaces(places)
    assert {key: (name, list(numbers)) for key, (name, numbers) in packed.items()} == places
    assert "c" not in packed


@given(spans=st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), min_size=1))
def test_packed_spans_are_one_key(spans: list[tuple[int, int]]) -> None:
    packed = PackedSpans(spans)
    assert list(packed) == spans
    assert (packed[0], packed[-1]) == (spans[0], spans[-1])
    assert len({packed, PackedSpans(spans)}) == 1


@pytest.fixture(scope="module", autouse=True)
def everything_is_packed() -> Iterator[None]:
    with (
        patch.object(patterns, "PACK_FROM", 1),
        patch.multiple(wildcards, PACK_FROM=1, INDEX_FROM=1),
        patch.object(robots_file, "MANY", 1),
        patch.object(groups, "MANY", 1),
    ):
        yield


@pytest.mark.parametrize("name", EVERY)
@given(body=bodies, tokens=some_tokens, some=st.lists(urls, min_size=2, max_size=4))
def test_a_packed_file_decides_as_the_reference(
    name: str, body: bytes, tokens: list[str], some: list[str]
) -> None:
    """PRE-01, GRP-01: for each crawler, before and after compiling."""
    edition = EVERY[name]
    robots = RobotsTxt.parse(body, edition)
    for asked in ((), accepted(tokens, edition)):
        for url in some:
            expected = reference.rule_on(body, url, asked, edition)
            assert robots.allowed(url, asked) is expected.allowed


@pytest.mark.parametrize("name", EVERY)
@given(body=bodies, tokens=some_tokens)
def test_other_lines_of_a_packed_file_are_the_same(
    name: str, body: bytes, tokens: list[str]
) -> None:
    """EXT-01, EXT-03, USE-01."""
    edition = EVERY[name]
    asked = accepted(tokens, edition)
    with patch.object(robots_file, "MANY", 1_000), patch.object(groups, "MANY", 1_000):
        usual = RobotsTxt.parse(body, edition)
        expected = (usual.other(asked), usual.usage_rules(asked).statements)
    robots = RobotsTxt.parse(body, edition)
    assert (robots.other(asked), robots.usage_rules(asked).statements) == expected
