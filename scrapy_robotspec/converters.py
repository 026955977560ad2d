"""Converters: from a raw value to a typed one.

A converter does not know the name of its value. It raises ``ValueError`` with the words that follow
"give" in the message of :func:`convert`. Raw values may be text from the command line; lists and
dicts are then JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from scrapy_robotspec.errors import ConfigurationError

_T = TypeVar("_T")

Converter = Callable[[Any], _T]

_TRUE, _FALSE = ("1", "true"), ("0", "false")
#: Max length of a value in a message (characters).
_MAX_SHOWN = 200


def convert(name: str, raw: Any, converter: Converter[_T]) -> _T:
    """*raw* as *converter* returns it.

    Raises :class:`ConfigurationError` that names the value *name*, *raw* and the remedy.
    """
    try:
        return converter(raw)
    except ValueError as wanted:
        raise wrong(name, raw, str(wanted)) from None


def wrong(name: str, raw: Any, wanted: str) -> ConfigurationError:
    """The error for a wrong value *raw* of *name*."""
    text = repr(raw)
    text = text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"
    return ConfigurationError(f"{name} = {text} is wrong: give {wanted}")


def boolean(raw: Any, wanted: str = "True or False") -> bool:
    """Convert to a bool what Scrapy takes for one."""
    text = str(raw).lower()
    if text not in _TRUE + _FALSE:
        raise ValueError(wanted)
    return text in _TRUE


def integer(minimum: int) -> Converter[int]:
    """Convert to a whole number of at least *minimum*."""
    wanted = f"a whole number of at least {minimum}"
    # The text of a float or a bool is none.
    return number(wanted, minimum, read=lambda raw: int(str(raw)))  # type: ignore[return-value]


def number(
    wanted: str,
    minimum: float,
    maximum: float = float("inf"),
    read: Callable[[Any], float] = float,
) -> Converter[float]:
    """Convert to a number from *minimum* to *maximum*, as *read* reads it."""

    def to_number(raw: Any) -> float:
        try:
            value = read(raw)
            if isinstance(raw, bool) or not minimum <= value <= maximum:  # also for nan
                raise ValueError
        except (TypeError, ValueError, OverflowError):
            raise ValueError(wanted) from None
        return value

    return to_number


def seconds(minimum: float = 0.0) -> Converter[float]:
    """Convert to seconds, finite and at least *minimum*."""
    return number(f"a number of seconds of at least {minimum:g}", minimum, sys.float_info.max)


def one_of(*words: _T) -> Converter[_T]:
    """Convert to the one of *words* that is equal."""

    def read(raw: Any) -> _T:
        for word in words:
            if raw == word:
                return word
        raise ValueError(" or ".join(map(repr, words)))

    return read


def text(raw: Any) -> str:
    """Convert a text that is not empty."""
    if not isinstance(raw, str) or not raw.strip():
        raise ValueError("a text")
    return raw


def names(raw: Any) -> tuple[str, ...]:
    """Convert a list of strings, also as JSON or comma-separated."""
    wanted = "a list of names"
    if isinstance(raw, str):
        raw = from_json(raw, wanted) if raw.lstrip().startswith("[") else raw.split(",")
    is_list = isinstance(raw, list | tuple | set | frozenset)
    if not is_list or not all(isinstance(value, str) for value in raw):
        raise ValueError(wanted)
    return tuple(value.strip() for value in raw if value.strip())


def mapping(raw: Any, wanted: str, spell: Callable[[Any], str] = str) -> dict[str, Any]:
    """Convert a dict, or JSON text, with keys as *spell* returns them."""
    if isinstance(raw, str):
        raw = from_json(raw, wanted) if raw.strip() else {}
    if not isinstance(raw, Mapping):
        raise ValueError(wanted)
    found: dict[str, Any] = {}
    for key in raw:
        other = found.setdefault(spell(key), key)
        if other is not key:  # one value would be lost
            raise ValueError(f"{other!r} or {key!r}: both mean the same")
    return {spelled: raw[key] for spelled, key in found.items()}


def from_json(raw: str, wanted: str) -> Any:
    """The value that a JSON text holds; *wanted* describes it."""
    try:
        return json.loads(raw)
    except ValueError:
        raise ValueError(f"{wanted}; as text it must be JSON") from None
