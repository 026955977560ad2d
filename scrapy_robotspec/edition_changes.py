"""Reads the fields of an edition that a user changes."""

from __future__ import annotations

from dataclasses import fields
from functools import partial
from typing import Any

from scrapy_robotspec import converters
from scrapy_robotspec.errors import ConfigurationError


def value_of(edition: Any, name: str, raw: Any) -> Any:
    """*raw* as a value of the field *name* of *edition*."""
    names = sorted(field.name for field in fields(edition))
    if name not in names:
        raise ConfigurationError(f"unknown edition field {name!r}: use one of {', '.join(names)}")
    by_type: dict[type, converters.Converter[Any]] = {
        str: converters.text,
        bool: converters.boolean,
        int: converters.integer(0),
        float: converters.number("a number of seconds of at least 0, or inf", 0),
        bytes: _bytes,
        tuple: partial(_spellings, {meaning for _, meaning in edition.known_fields}),
        type(None): lambda raw: None if raw is None else converters.integer(0)(raw),  # max_line
    }
    kind = type(getattr(edition, name))
    converter = by_type.get(kind, partial(_member, kind))
    return converters.convert(f"edition field {name!r}", raw, converter)


def _member(kind: Any, raw: Any) -> Any:
    try:
        return kind(raw)
    except ValueError:
        raise ValueError(" or ".join(repr(member.value) for member in kind)) from None


def _bytes(raw: Any) -> bytes:
    try:
        return raw.encode("ascii") if isinstance(raw, str) else bytes(memoryview(raw))
    except (TypeError, ValueError):
        raise ValueError("bytes, or ASCII text") from None


def _spellings(meanings: set[str], raw: Any) -> tuple[tuple[bytes, str], ...]:
    try:
        pairs = tuple((_bytes(spelling).lower(), str(meaning)) for spelling, meaning in raw)
        if not {meaning for _, meaning in pairs} <= meanings:
            raise ValueError
    except (TypeError, ValueError):
        raise ValueError("pairs of a spelling and the field it means") from None
    return pairs
