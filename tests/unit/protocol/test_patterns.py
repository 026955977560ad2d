"""Patterns of extreme rules (PAT-02, PAT-03)."""

from __future__ import annotations

from typing import SupportsIndex

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_robotspec.protocol.patterns import matches
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from tests.unit.protocol.strategies import (
    HOST,
)


def test_a_prefix_with_an_end_matches_a_path_of_any_length() -> None:
    """PAT-03: a path with more parts than are learned."""
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: /" + b"a" * 140_000 + b"$")
    for more in ("", "a"):
        url = f"{HOST}/{'a' * 140_000}{more}"
        assert len(robots.matches(url, "a")) == (not more)
        assert robots.allowed(url, "a") == bool(more)


class Split(str):
    """A text that counts the parts that are made of it."""

    __slots__ = ()
    parts = 0

    def split(self, separator: str | None = None, most: SupportsIndex = -1) -> list[str]:
        found = super().split(separator, most)
        Split.parts += len(found)
        return found


@pytest.mark.parametrize("literal", ["a", "ab", "#"])
def test_a_short_path_makes_few_parts_of_a_long_pattern(literal: str) -> None:
    """SAF-02: a line of 100,000 stars costs what the path is long, at each question."""
    Split.parts = 0
    assert not matches(Split("/" + f"*{literal}" * 100_000), "/aab#")
    assert 0 < Split.parts <= 6


@given(stars=st.integers(0, 9), path=st.text("a*", max_size=9))
@example(stars=2, path="/a*a")
def test_a_pattern_matches_only_paths_with_room_for_it(stars: int, path: str) -> None:
    """PAT-02: also where a path contains a star, as in google's edition."""
    assert matches("/" + "*a" * stars, f"/{path}#") == (path.count("a") >= stars)
