"""Numbers, lists and durations in words."""

from __future__ import annotations

import pytest

from scrapy_robotspec.render.text import duration


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.254, "0.25 s"),
        (9.5, "9.5 s"),
        (10.4, "10 s"),
        (119, "119 s"),
        (120, "2 min"),
        (210, "3.5 min"),
        (7199, "120 min"),
        (7200, "2 h"),
        (86_400, "24 h"),
        (172_800, "2 d"),
    ],
)
def test_a_duration_has_the_largest_unit_of_which_it_has_two(seconds: float, text: str) -> None:
    assert duration(seconds) == text
