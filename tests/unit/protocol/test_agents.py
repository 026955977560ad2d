"""Which names a product token matches, and what looking them up costs (UAG-04, SAF-02)."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.editions import EDITIONS, AgentMatch, Edition
from scrapy_robotspec.protocol import agents
from scrapy_robotspec.protocol.agents import beginnings_of, followed_keys, keys_of
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.render.parsed_file import ParsedFile

HYPHENS = EDITIONS["google-2019"]
COMPARED = [each for each in EDITIONS.values() if each.agent_match is not AgentMatch.CONTAINED]
names = st.text("a-b", min_size=1, max_size=8)


@pytest.mark.parametrize("names_for_hyphens", [0, 100, 10**9])
@given(present=st.frozensets(names, max_size=6), token=names)
def test_the_longest_name_before_a_hyphen_is_followed(
    names_for_hyphens: int, present: frozenset[str], token: str
) -> None:
    """UAG-04: by the names that a token has, and by those that a file has."""
    matching = [name for name in present if token == name or token.startswith(name + "-")]
    expected = (max(matching, key=len),) if matching else ()
    with patch.object(agents, "_NAMES_FOR_HYPHENS", names_for_hyphens):
        assert followed_keys(present, (token,), HYPHENS) == expected


@pytest.mark.parametrize("edition", COMPARED, ids=lambda edition: edition.name)
@given(key=names)
def test_all_keys_of_a_token_begin_alike(edition: Edition, key: str) -> None:
    """UAG-04: names that begin otherwise may be left out of an index."""
    keys = list(keys_of(key, edition))
    assert keys[0] == key
    beginnings = beginnings_of((key,), edition)
    assert all(each.encode().startswith(beginnings or b"") for each in keys)
    assert len(keys) == 1 or edition.agent_match is AgentMatch.HYPHEN_PREFIX


@given(key=names, begin=st.integers(0, 8), length=st.integers(2, 8))
def test_what_a_token_contains_begins_as_one_of_its_pairs(
    key: str, begin: int, length: int
) -> None:
    """UAG-10: names of two letters and more that begin otherwise may be left out of an index."""
    beginnings = beginnings_of((key,), EDITIONS["classic"])
    contained = key[begin : begin + length]
    assert len(contained) < 2 or contained.encode().startswith(beginnings)


@pytest.mark.parametrize("token", ["é", "ab" * 200_000])
def test_no_line_is_compared_with_many_pairs(token: str) -> None:
    """SAF-02, UAG-10: a crawler's name may come from a file."""
    assert beginnings_of((token,), EDITIONS["classic"]) == ()


#: A file that names a crawler of hyphens, and one that names others.
LONG_NAME = b"User-agent: " + b"-" * 400_000 + b"\nContent-Usage: search=n\nDisallow: /\n"
OTHERS = b"".join(b"User-agent: %s\n" % (b"ab" * n) for n in range(1, 500)) + b"Disallow: /\n"


@pytest.mark.parametrize("edition", EDITIONS)
def test_names_of_a_file_are_looked_up_as_they_stand(edition: str) -> None:
    """SAF-02: no prefix is made of a name that the file itself or another one contains."""
    made = 0

    def counted(key: str, edition: Edition) -> Iterator[str]:
        nonlocal made
        for each in keys_of(key, edition):
            made += 1
            yield each

    with patch.object(agents, "keys_of", counted):
        tracemalloc.start()
        try:
            robots = RobotsTxt.parse(LONG_NAME, edition)
            robots.lint()
            (name,) = ParsedFile(robots).tokens()
            for body in (LONG_NAME, OTHERS):
                asked = RobotsTxt.parse(body, edition)
                assert asked.allowed("/a", name) is (body == OTHERS)
                assert asked.usage("/a", name).applies is (body == OTHERS)
                assert ParsedFile(asked).size_for((name,)) < 1_000
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert made < 100
    assert peak < 10 * len(LONG_NAME + OTHERS)
