"""Canonical patterns of extreme rules (PAT-02, PAT-03)."""

from __future__ import annotations

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.patterns import canonical_pattern
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


def test_stars_in_sequence_are_one() -> None:
    """PAT-02: no step is taken for each star of a long line."""
    edition = EDITIONS["google-2019"]
    stars = "*" * 1_000
    assert canonical_pattern(f"/{stars}a{stars}", edition) == ("/*a", 1_002)
    assert canonical_pattern(f"/{stars}$", edition) == ("/", 1_002)
