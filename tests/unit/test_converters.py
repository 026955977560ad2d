"""Converters: one way from raw values to typed ones, with one form of message."""

from __future__ import annotations

import math
from typing import Any

import pytest

from scrapy_robotspec import converters
from scrapy_robotspec.converters import Converter, convert
from scrapy_robotspec.errors import ConfigurationError


@pytest.mark.parametrize(
    ("converter", "raw", "value"),
    [
        (converters.boolean, "True", True),
        (converters.boolean, 0, False),
        (converters.integer(2), "2", 2),
        (converters.number("x", 0, 5), "5", 5.0),
        (converters.seconds(), "0", 0.0),
        (converters.seconds(allow_inf=True), "inf", math.inf),
        (converters.one_of("a", "b"), "b", "b"),
        (converters.optional(converters.integer(0)), "", None),
        (converters.names, '["a", "b"]', ("a", "b")),
        (converters.names, "a, b,", ("a", "b")),
    ],
)
def test_a_value_is_converted(converter: Converter[Any], raw: object, value: object) -> None:
    converted = convert("NAME", raw, converter)
    assert converted == value
    assert type(converted) is type(value)


@pytest.mark.parametrize(
    ("converter", "raw", "wanted"),
    [
        (converters.boolean, 2, "True or False"),
        (converters.integer(2), 1, "a whole number of at least 2"),
        (converters.integer(2), 2.5, "a whole number of at least 2"),
        (converters.integer(2), True, "a whole number of at least 2"),
        (converters.number("a number up to 5", 0, 5), 6, "a number up to 5"),
        (converters.number("a number above 0", 0, above=True), 0, "a number above 0"),
        (converters.seconds(), math.nan, "a number of seconds of at least 0"),
        (converters.seconds(), "inf", "a number of seconds of at least 0"),
        (converters.seconds(above=True), 0, "a number of seconds above 0"),
        (converters.one_of("a", "b"), "c", "'a' or 'b'"),
        (converters.names, b"a", "a list of names"),
    ],
)
def test_an_error_names_the_value_and_the_remedy(
    converter: Converter[Any], raw: object, wanted: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        convert("NAME", raw, converter)
    assert str(caught.value) == f"NAME = {raw!r} is wrong: give {wanted}"


def test_a_long_value_is_shortened_in_the_message() -> None:
    with pytest.raises(ConfigurationError) as caught:
        convert("NAME", "x" * 10_000, converters.boolean)
    assert len(str(caught.value)) < 300
