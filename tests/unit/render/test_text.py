"""Numbers, lists and durations in words."""

from __future__ import annotations

import pytest

from scrapy_robotspec.render.text import count, duration, listed


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


def test_numbers_and_nouns_agree() -> None:
    assert [count(1, "rule"), count(2000, "rule")] == ["1 rule", "2,000 rules"]
    assert count(0, "piece of advice", "pieces of advice") == "0 pieces of advice"


@pytest.mark.parametrize(
    ("words", "text"),
    [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")],
)
def test_a_list_in_words(words: list[str], text: str) -> None:
    assert listed(words) == text
