"""Raw values become typed ones, or an error that names the remedy."""

from __future__ import annotations

from typing import Any

import pytest

from scrapy_robotspec import ConfigurationError, converters


@pytest.mark.parametrize(
    ("converter", "raw", "value"),
    [
        (converters.boolean, "True", True),
        (converters.boolean, 0, False),
        (converters.integer(0), "0", 0),
        (converters.number("a share", 0, 1), "0.5", 0.5),
        (converters.seconds(), 0, 0.0),
        (converters.one_of("a", None), None, None),
        (converters.text, " a ", " a "),
        (converters.names, '["a, b", " "]', ("a, b",)),
        (converters.names, "a, b", ("a", "b")),
        (lambda raw: converters.mapping(raw, "a dict"), '{"a": 1}', {"a": 1}),
        (lambda raw: converters.mapping(raw, "a dict"), " ", {}),
    ],
)
def test_values_of_python_and_of_the_command_line_are_read(
    converter: converters.Converter[Any], raw: Any, value: Any
) -> None:
    assert converters.convert("X", raw, converter) == value


@pytest.mark.parametrize(
    ("converter", "raw", "wanted"),
    [
        (converters.boolean, "yes", "True or False"),
        (converters.integer(1), 0, "a whole number of at least 1"),
        (converters.integer(1), True, "a whole number of at least 1"),
        (converters.integer(1), 1.0, "a whole number of at least 1"),
        (converters.integer(1), float("inf"), "a whole number of at least 1"),
        (converters.number("a share", 0, 1), 1.1, "a share"),
        (converters.number("a share", 0, 1), "nan", "a share"),
        (converters.number("a share", 0, 1), True, "a share"),
        (converters.seconds(), float("inf"), "a number of seconds of at least 0"),
        (converters.one_of("a", None), "b", "'a' or None"),
        (converters.text, " ", "a text"),
        (converters.names, ["a", 1], "a list of names"),
        (converters.names, "[a", "a list of names; as text it must be JSON"),
        (lambda raw: converters.mapping(raw, "a dict"), "[]", "a dict"),
    ],
)
def test_any_other_value_is_an_error_with_the_remedy(
    converter: converters.Converter[Any], raw: Any, wanted: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        converters.convert("X", raw, converter)
    assert str(caught.value) == f"X = {raw!r} is wrong: give {wanted}"


def test_a_long_value_is_cut_in_the_message() -> None:
    assert len(str(converters.wrong("X", "a" * 10_000, "a name"))) < 300
