"""Numbers, lists and durations in words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.render.text import columns, duration, first_of, safe


def test_a_duration_has_the_largest_unit_of_which_it_has_two() -> None:
    seconds = (0, 0.254, 9.5, 10.4, 119, 120, 210, 7199, 7200, 86_400, 172_800)
    assert ", ".join(map(duration, seconds)) == (
        "0 s, 0.25 s, 9.5 s, 10 s, 119 s, 2 min, 3.5 min, 120 min, 2 h, 24 h, 2 d"
    )


def test_the_first_words_are_named_and_the_others_counted() -> None:
    assert first_of(["a", "b"], 2) == "a, b"
    assert first_of(["a", "b", "c"], 2) == "a, b and 1 more"


@given(st.text())
def test_safe_text_prints_as_itself(text: str) -> None:
    """Whatever comes in, what goes out is printable, and printable text is left alone (SAF-04)."""
    assert safe(text).isprintable()
    if text.isprintable():
        assert safe(text, None) == text


def test_columns_are_as_wide_as_their_longest_cell() -> None:
    assert columns([("a", "b"), ("long", "c")]) == ["a     b", "long  c"]
