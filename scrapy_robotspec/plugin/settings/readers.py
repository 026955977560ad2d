"""Readers of single settings: the raw value in, the typed value out.

A reader knows nothing of the setting it reads for. It raises ValueError with a text that fits
behind "give …". Values may come from the command line, hence as text; objects as JSON.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from os.path import dirname, isdir
from types import MappingProxyType
from typing import Any, TypeVar

from scrapy_robotspec.access.outcome import Meaning
from scrapy_robotspec.editions import Edition, get_edition
from scrapy_robotspec.protocol.usage import is_label

_T = TypeVar("_T")

Reader = Callable[[Any], _T]

_TRUE, _FALSE = ("1", "true"), ("0", "false")


def boolean(raw: Any) -> bool:
    """Read a boolean as Scrapy does."""
    text = str(int(raw) if isinstance(raw, bool) else raw).lower()
    if text not in _TRUE + _FALSE:
        raise ValueError("True or False")
    return text in _TRUE


def integer(minimum: int) -> Reader[int]:
    """A whole number of at least *minimum*."""

    def read(raw: Any) -> int:
        try:
            if isinstance(raw, bool | float):
                raise ValueError
            number = int(raw)
            if number < minimum:
                raise ValueError
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"a whole number of at least {minimum}") from None
        return number

    return read


def seconds(minimum: float = 0.0, *, above: bool = False, allow_inf: bool = False) -> Reader[float]:
    """Seconds from *minimum* on (*above*: more than it); ``inf`` only where *endless*."""
    wanted = f"a number of seconds {'above' if above else 'of at least'} {minimum:g}"
    if allow_inf:
        wanted += ", or inf"

    def read(raw: Any) -> float:
        try:
            if isinstance(raw, bool):
                raise ValueError
            number = float(raw)
            if math.isnan(number) or number < minimum or (above and number == minimum):
                raise ValueError
            if math.isinf(number) and not allow_inf:
                raise ValueError
        except (TypeError, ValueError, OverflowError):
            raise ValueError(wanted) from None
        return number

    return read


def one_of(*words: _T) -> Reader[_T]:
    """One of the *words*."""

    def read(raw: Any) -> _T:
        for word in words:
            if raw == word:
                return word
        raise ValueError(" or ".join(map(repr, words)))

    return read


def text(wanted: str) -> Reader[str]:
    """A text that is not empty."""

    def read(raw: Any) -> str:
        if not isinstance(raw, str) or not raw.strip():
            raise ValueError(wanted)
        return raw

    return read


def new_file(raw: Any) -> str:
    """The path of a file that can be made; also a ``Path``."""
    path = raw.__fspath__() if hasattr(raw, "__fspath__") else raw
    if not isinstance(path, str) or isdir(path) or not isdir(dirname(path) or "."):
        raise ValueError("the path of a file, in a folder that is there")
    return path


def optional(read: Reader[_T]) -> Reader[_T | None]:
    """Read None and "" as None, anything else with *read*."""

    def read_or_none(raw: Any) -> _T | None:
        return None if raw is None or raw == "" else read(raw)

    return read_or_none


def names(raw: Any) -> tuple[str, ...]:
    """Read a list of strings, also as JSON or comma-separated."""
    wanted = "a list of names"
    if isinstance(raw, str):
        raw = _json(raw, wanted) if raw.lstrip().startswith("[") else raw.split(",")
    if isinstance(raw, Mapping | bytes) or not hasattr(raw, "__iter__"):
        raise ValueError(wanted)
    values = tuple(raw)
    if not all(isinstance(value, str) for value in values):
        raise ValueError(wanted)
    return tuple(value.strip() for value in values if value.strip())


def usage_labels(raw: Any) -> tuple[str, ...]:
    """Labels of usage preferences (aipref-vocab), each once."""
    labels = tuple(dict.fromkeys(names(raw)))
    if not all(map(is_label, labels)):
        raise ValueError("labels such as 'train-ai': lower-case letters, digits, '-', '_', '.'")
    return labels


def mapping(raw: Any, wanted: str) -> Mapping[Any, Any]:
    """A dict; as text a JSON object."""
    if isinstance(raw, str):
        raw = _json(raw, wanted) if raw.strip() else {}
    if not isinstance(raw, Mapping):
        raise ValueError(wanted)
    return raw


def edition(raw: Any) -> Edition:
    """Read a name, an Edition, or a dict of changes."""
    if isinstance(raw, str) and raw.lstrip().startswith("{"):
        raw = mapping(raw, "a name, or a JSON object with 'base'")
    wanted = "a name, an Edition, or a dict with 'base'"
    if not isinstance(raw, str | Edition | Mapping):
        raise ValueError(wanted)
    try:
        return get_edition(raw)
    except (TypeError, ValueError) as error:  # a ConfigurationError is a ValueError
        raise ValueError(f"{wanted}; {error}") from None


_STATUS_POLICY = "a dict such as {429: 'unreachable'}, from statuses (100 to 599) to " + ", ".join(
    repr(meaning.value) for meaning in Meaning
)


def status_policy(raw: Any) -> Mapping[int, Meaning]:
    """Read a mapping from HTTP status to meaning (FET-09)."""
    given = mapping(raw, _STATUS_POLICY)
    try:
        meant = {_status(status): Meaning(meaning) for status, meaning in given.items()}
    except ValueError:
        raise ValueError(_STATUS_POLICY) from None
    return MappingProxyType(meant)


def _status(raw: Any) -> int:
    status = integer(100)(raw)
    if status > 599:
        raise ValueError
    return status


def _json(raw: str, wanted: str) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        raise ValueError(f"{wanted}; as text it must be JSON") from None
