"""Canonical patterns of unusual values (PAT-02, PAT-03, PAT-07, PAT-12, PRE-05)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.editions import EDITIONS, Edition
from scrapy_robotspec.protocol.precedence import ALLOWS, DISALLOWS, LENGTH, keyed_patterns
from scrapy_robotspec.protocol.unusual_patterns import (
    MAX_APOSTROPHES,
    MAX_PATTERNS,
    canonical_pattern,
    directory_of_index_page,
    patterns_of,
)


def test_stars_in_sequence_are_one() -> None:
    """PAT-02: no step is taken for each star of a long line."""
    edition = EDITIONS["google-2019"]
    stars = "*" * 1_000
    assert canonical_pattern(f"/{stars}a{stars}", edition) == ("/*a", 1_002)
    assert canonical_pattern(f"/{stars}$", edition) == ("/", 1_002)


@pytest.mark.parametrize(
    ("pattern", "directory"),
    [("/a/index.html", "/a/$"), ("/index.htm", "/$"), ("/a/xindex.htm", ""), ("index.htm", "")],
)
def test_an_index_page_opens_its_directory(pattern: str, directory: str) -> None:
    """PRE-05."""
    assert directory_of_index_page(pattern) == directory


@given(
    st.text("/ab*?=&", max_size=8).map("/".__add__),
    st.booleans(),
    st.sampled_from(list(EDITIONS.values())),
)
def test_a_usual_value_has_the_pattern_that_an_unusual_one_would_have(
    text: str, allow: bool, edition: Edition
) -> None:
    """PAT-03: a star at the end does not count, in most editions."""
    ((key, pattern),) = keyed_patterns([(allow, text.encode(), 0)], edition)
    ((other, length),) = patterns_of(text, edition, allow=allow)
    assert (pattern, key) == (other, (ALLOWS if allow else DISALLOWS) - length * LENGTH)


@given(st.text("/a*'%4$", max_size=40).map("/*".__add__), st.booleans())
def test_a_value_has_a_bounded_number_of_patterns(text: str, allow: bool) -> None:
    """SAF-02: however many apostrophes and cut escapes it has."""
    for edition in EDITIONS.values():
        found = keyed_patterns([(allow, text.encode(), 0)], edition)
        assert len(found) <= 2 * max(MAX_PATTERNS, MAX_APOSTROPHES + 1)
