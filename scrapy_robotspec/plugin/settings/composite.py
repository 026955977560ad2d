"""Converters of settings that few crawls set."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction, signature
from os import PathLike, fspath
from os.path import exists, isdir, realpath
from shutil import which
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from scrapy.utils.misc import load_object
from w3lib.url import file_uri_to_path

from scrapy_robotspec.access.outcome import Meaning, StatusPolicy
from scrapy_robotspec.access.overrides import HostTable, Override, host_key
from scrapy_robotspec.converters import Converter, mapping, names, seconds
from scrapy_robotspec.editions import EDITIONS, Edition, get_edition
from scrapy_robotspec.protocol.agents import product_tokens
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.protocol.usage import is_label

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

Tokens = tuple[str, ...]
Chooser = Callable[["Request", "Crawler"], Any]

_PLACEHOLDER = re.compile(r"\{(\w+)\}|%\((\w+)\)[sd]")
_HEADER_NAME = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)
_IMPORT_PATH = re.compile(r"[^\W\d]\w*([.:][^\W\d]\w*)+")


def report_file(raw: Any) -> str:
    """The path of a report, with its placeholders; also a ``Path``."""
    path = _path(raw)
    if path is None or not path.lower().endswith((".jsonl", ".html")):
        raise ValueError("the local path of a file that ends in .jsonl or .html")
    if not {found[1] or found[2] for found in _PLACEHOLDER.finditer(path)} <= {"name", "time"}:
        raise ValueError("a path with no placeholders but {time} and {name}")
    return path


def file_of(path: str | PathLike[str], spider: object, now: float) -> str:
    """The file that a report's path or a feed's URI means.

    *spider*: its attributes stand for placeholders. The time is written as in Scrapy's feeds.
    """
    moment = datetime.fromtimestamp(now, timezone.utc).replace(microsecond=0)
    values = {"time": moment.isoformat().replace(":", "-"), "batch_id": 1}

    def value_of(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        return str(values.get(name) or getattr(spider, name, ""))

    text = _PLACEHOLDER.sub(value_of, fspath(path))
    return realpath(file_uri_to_path(text) if text.startswith("file:") else text)


def local_folder(raw: Any) -> str:
    """The path of a folder that exists or can be made."""
    path = _path(raw)
    if path is None or (exists(path) and not isdir(path)):
        raise ValueError("the local path of a folder, not of a file")
    return path


def stamping_command(raw: Any) -> str:
    """A command for :func:`~scrapy_robotspec.evidence.timestamp.stamp`."""
    try:
        words = shlex.split(raw) if isinstance(raw, str) else []
    except ValueError:
        words = []
    text = " ".join(words)
    if "{digest}" not in text or "{output}" not in text or which(words[0]) is None:
        raise ValueError(
            "a command that can be run, with {digest} for the hash and {output} for the reply"
        )
    return str(raw)


def _path(raw: Any) -> str | None:
    """A text or ``Path`` that can name a file; a feed's URL would be a folder named ``s3:``."""
    path = raw.__fspath__() if hasattr(raw, "__fspath__") else raw
    is_path = isinstance(path, str) and "\0" not in path and "://" not in path
    return path if is_path else None


def cache_schemes(raw: Any) -> Mapping[str, Callable[[str], object]]:
    """Read a mapping from schemes of ``ROBOTSPEC_CACHE`` to classes of stores."""
    wanted = (
        "a dict such as {'postgres': 'myproject.stores.PostgresStore'}, from schemes to classes of "
        "stores or their import paths"
    )
    given = mapping(raw, wanted)
    return {scheme: _imported(store, wanted) for scheme, store in given.items()}


def names_of(is_valid: Callable[[str], object], wanted: str) -> Converter[tuple[str, ...]]:
    """Convert to *wanted* names, each once."""

    def read(raw: Any) -> tuple[str, ...]:
        found = dict.fromkeys(names(raw))
        if not all(map(is_valid, found)):
            raise ValueError(wanted)
        return tuple(found)

    return read


#: Labels of usage preferences (aipref-vocab).
usage_labels = names_of(
    is_label, "labels such as 'train-ai': lower-case letters, digits, '-', '_', '.'"
)
#: Names of HTTP headers (RFC 9110 §5.6.2).
header_names = names_of(_HEADER_NAME.fullmatch, "names of headers, such as ['X-Crawler-Contact']")


def edition(raw: Any) -> Edition:
    """Read a name, an Edition, or a dict of changes."""
    if isinstance(raw, str) and raw.lstrip().startswith("{"):
        raw = mapping(raw, "a name, or a JSON object with 'base'")
    wanted = f"a name ({', '.join(EDITIONS)}), an Edition, or a dict with 'base'"
    is_known = raw in EDITIONS if isinstance(raw, str) else isinstance(raw, Edition | Mapping)
    if not is_known:
        raise ValueError(wanted)
    try:
        return get_edition(raw)
    except (TypeError, ValueError) as error:  # a ConfigurationError is a ValueError
        raise ValueError(f"{wanted}; {error}") from None


_STATUS_POLICY = (
    "a dict such as {429: 'unreachable', '4xx': 'disallow'}, from statuses (100 to 599; a 3xx is "
    "followed, or counts as 404) and classes ('2xx', '4xx', '5xx') to "
    f"{', '.join(repr(meaning.value) for meaning in Meaning)}"
)
#: Statuses that end a redirect chain, and their classes, by their text.
_STATUSES = {str(key): key for key in (*range(100, 300), *range(400, 600), "2xx", "4xx", "5xx")}


def status_policy(raw: Any) -> StatusPolicy:
    """Read a mapping from HTTP statuses and their classes to meanings (FET-09)."""
    given = mapping(raw, _STATUS_POLICY, lambda key: str(key).lower())
    try:
        meant = {_STATUSES[key]: Meaning(meaning) for key, meaning in given.items()}
    except (KeyError, ValueError):
        raise ValueError(_STATUS_POLICY) from None
    return MappingProxyType(meant)


# --- ROBOTSPEC_USER_AGENT_TOKEN


def token_source(raw: Any, edition: Edition) -> Tokens | Chooser:
    """Read ROBOTSPEC_USER_AGENT_TOKEN; raises ``ValueError`` for a wrong value."""
    if isinstance(raw, str):
        if _IMPORT_PATH.fullmatch(raw):
            path = raw.replace(":", ".")
            raw = _imported(path, "the import path of a function f(request, crawler)")
        elif raw.lstrip().startswith("[") or "," in raw:
            raw = list(names(raw))
    if not callable(raw):
        return product_tokens(raw, edition)
    _check_chooser(raw)
    return raw  # type: ignore[no-any-return]


def _imported(path: Any, wanted: str) -> Any:
    """The callable *path*, or the one that it names."""
    try:
        found = load_object(path)
    except (ImportError, NameError, TypeError, ValueError) as error:
        raise ValueError(f"{wanted} ({error})") from error
    if not callable(found):
        raise ValueError(f"{wanted}, not {found!r}")
    return found


def _check_chooser(function: Any) -> None:
    """Raise ``ValueError`` unless *function* takes (request, crawler) and returns at once."""
    wanted = "a function f(request, crawler) that returns a token or a list of tokens"
    if isinstance(function, type):
        raise ValueError(f"{wanted}, not the class {function.__name__}")
    for each in (function, type(function).__call__):  # also of an object that can be called
        if iscoroutinefunction(each) or isasyncgenfunction(each) or isgeneratorfunction(each):
            raise ValueError(f"{wanted}: define it with 'def', without 'async' and 'yield'")
    try:
        signature(function).bind(None, None)
    except TypeError as problem:
        raise ValueError(f"{wanted}; with these two arguments: {problem}") from None
    except ValueError:  # a function in C without a signature
        pass


# --- ROBOTSPEC_OVERRIDES

_OVERRIDES = (
    "a dict from host names to 'ignore', 'disallow', a robots.txt text, or a dict with "
    "'status_policy', 'token' or 'crawl_delay'"
)


def overrides(raw: Any, edition: Edition) -> HostTable | None:
    """Read ``ROBOTSPEC_OVERRIDES``; raises ``ValueError`` for a wrong key or value.

    None: there are none.
    """
    given = mapping(raw, _OVERRIDES, host_key)
    return HostTable({host: _override(host, given[host], edition) for host in given}) or None


def _override(host: str, value: Any, edition: Edition) -> Override:
    if isinstance(value, Mapping):
        return _changes(host, value, edition)
    if value == "ignore" or value == "disallow":
        return Override(replacement=value)
    if isinstance(value, str) and ("\n" in value or ":" in value):
        robots = RobotsTxt.parse(value.encode("utf-8", "replace"), edition)
        if not robots.groups:
            raise ValueError(f"for {host!r} a robots.txt text with a User-agent line")
        return Override(replacement=robots)
    hint = " (not 'allow')" if value == "allow" else ""
    raise ValueError(f"for {host!r} 'ignore'{hint}, 'disallow', a robots.txt text, or a dict")


def _changes(host: str, value: Mapping[Any, Any], edition: Edition) -> Override:
    read: dict[str, Converter[Any]] = {
        "status_policy": status_policy,
        "token": lambda raw: product_tokens(raw, edition),
        "crawl_delay": seconds(),
    }
    if not value or set(value) - set(read):
        raise ValueError(f"for {host!r} a dict with some of {', '.join(map(repr, read))}")
    try:
        return Override(**{(name := each): read[each](raw) for each, raw in value.items()})
    except ValueError as error:
        raise ValueError(f"for {host!r} as {name!r} {error}") from None


# --- the table

#: Converters by field of :class:`~scrapy_robotspec.plugin.settings.settings.Settings`.
_CONVERTERS: dict[str, Converter[Any]] = {
    "edition": edition,
    "cache_schemes": cache_schemes,
    "status_policy": status_policy,
    "usage": usage_labels,
    "evidence": local_folder,
    "evidence_headers": header_names,
    "evidence_timestamp": stamping_command,
    "report": report_file,
}
#: Converters that depend on the edition.
_BY_EDITION: dict[str, Callable[[Any, Edition], Any]] = {
    "user_agent_token": token_source,
    "overrides": overrides,
}


def converter_of(name: str, edition: Edition) -> Converter[Any]:
    """The converter of the field *name*, in a crawl by *edition*."""
    if name in _BY_EDITION:
        return lambda raw: _BY_EDITION[name](raw, edition)
    return _CONVERTERS[name]
