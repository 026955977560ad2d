"""Values of an edition's fields, as a setting or JSON gives them."""

from __future__ import annotations

from dataclasses import fields
from enum import Enum
from typing import TYPE_CHECKING, Any

from scrapy_robotspec import converters
from scrapy_robotspec.errors import ConfigurationError

if TYPE_CHECKING:
    from scrapy_robotspec.converters import Converter
    from scrapy_robotspec.editions import Edition, Spellings


def value_of(name: str, raw: Any, preset: Edition) -> Any:
    """*raw* as a value of the field *name*, whose type *preset* shows.

    An enumeration may be given by its value, bytes as ASCII text. Raises ``ConfigurationError`` for
    an unknown field or a wrong value.
    """
    names = sorted(field.name for field in fields(preset))
    if name not in names:
        raise ConfigurationError(f"unknown edition field {name!r}: use one of {', '.join(names)}")
    return converters.convert(f"edition field {name!r}", raw, _converter(getattr(preset, name)))


def _converter(default: Any) -> Converter[Any]:
    """The converter to the type of *default*."""
    if isinstance(default, Enum):
        return lambda raw: _member(type(default), raw)
    by_type: dict[type, Converter[Any]] = {
        str: converters.text("a text"),
        bool: converters.boolean,
        int: converters.integer(0),
        float: converters.seconds(allow_inf=True),
        bytes: _bytes,
        tuple: lambda raw: _spellings(raw, default),
        type(None): _max_line,
    }
    return by_type[type(default)]


def _member(kind: type[Enum], raw: Any) -> Enum:
    try:
        return kind(raw)
    except ValueError:
        raise ValueError(" or ".join(repr(member.value) for member in kind)) from None


def _bytes(raw: Any) -> bytes:
    try:
        return raw.encode("ascii") if isinstance(raw, str) else bytes(memoryview(raw))
    except (TypeError, ValueError):
        raise ValueError("bytes, or ASCII text") from None


def _spellings(raw: Any, plain: Spellings) -> Spellings:
    try:
        pairs = tuple((_bytes(spelling).lower(), str(meaning)) for spelling, meaning in raw)
        if not {meaning for _, meaning in pairs} <= {meaning for _, meaning in plain}:
            raise ValueError
    except (TypeError, ValueError):
        raise ValueError("pairs of a spelling and the field it means") from None
    return pairs


def _max_line(raw: Any) -> int | None:
    try:
        return None if raw is None else converters.integer(0)(raw)
    except ValueError as wanted:
        raise ValueError(f"{wanted}, or None") from None
