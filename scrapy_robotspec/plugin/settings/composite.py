"""Converters of single settings whose values other packages define."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from importlib.util import find_spec
from os.path import dirname, exists, isdir
from shutil import which
from types import MappingProxyType
from typing import Any

from scrapy_robotspec import converters
from scrapy_robotspec.access.outcome import Meaning, StatusPolicy
from scrapy_robotspec.editions import Edition, get_edition
from scrapy_robotspec.protocol.usage import is_label

#: Names in braces, also as Scrapy's feeds write them: ``%(time)s``.
_PLACEHOLDER = re.compile(r"\{(\w*)\}|%\((\w*)\)s")
#: Max length of the operator's text in the evidence (characters).
_MAX_OPERATOR = 10_000


def report_file(raw: Any) -> str:
    """The path of a report, with its placeholders; also a ``Path``."""
    path = _path(raw)
    if path is None or not path.lower().endswith((".jsonl", ".html")):
        raise ValueError("the path of a file that ends in .jsonl or .html")
    names = {match[1] or match[2] for match in _PLACEHOLDER.finditer(path)}
    if not names <= {"time", "name"}:
        raise ValueError("a path with no placeholders but {time} and {name}")
    folder = dirname(path) or "."
    if _PLACEHOLDER.search(folder):
        return path  # unknown before the spider is
    if isdir(path) or not isdir(folder):
        raise ValueError("the path of a file, in a folder that is there")
    if not os.access(folder, os.W_OK):
        raise ValueError("the path of a file, in a folder that this process can write to")
    return path


def evidence_folder(raw: Any) -> str:
    """The path of a folder that exists or can be made."""
    path = _path(raw)
    if path is None or (exists(path) and not isdir(path)):
        raise ValueError("the path of a folder")
    if find_spec("warcio") is None:
        raise ValueError("None, or install what it needs: pip install 'scrapy-robotspec[evidence]'")
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


def operator(raw: Any) -> str:
    """A text for the first line of the evidence."""
    if not isinstance(raw, str) or len(raw) > _MAX_OPERATOR:
        raise ValueError(f"a text of at most {_MAX_OPERATOR} characters")
    return raw


def _path(raw: Any) -> str | None:
    """A text or ``Path`` that can name a file."""
    path = raw.__fspath__() if hasattr(raw, "__fspath__") else raw
    return path if isinstance(path, str) and "\0" not in path else None


def crawl_delay(raw: Any) -> bool:
    """Whether delays are obeyed; a number of seconds is another setting's."""
    try:
        return converters.boolean(raw)
    except ValueError as wanted:
        raise ValueError(f"{wanted}, or ROBOTSPEC_DEFAULT_CRAWL_DELAY = seconds") from None


def usage_labels(raw: Any) -> tuple[str, ...]:
    """Labels of usage preferences (aipref-vocab), each once."""
    labels = tuple(dict.fromkeys(converters.names(raw)))
    if not all(map(is_label, labels)):
        raise ValueError("labels such as 'train-ai': lower-case letters, digits, '-', '_', '.'")
    return labels


def edition(raw: Any) -> Edition:
    """Read a name, an Edition, or a dict of changes."""
    if isinstance(raw, str) and raw.lstrip().startswith("{"):
        raw = converters.mapping(raw, "a name, or a JSON object with 'base'")
    wanted = "a name, an Edition, or a dict with 'base'"
    if not isinstance(raw, str | Edition | Mapping):
        raise ValueError(wanted)
    try:
        return get_edition(raw)
    except (TypeError, ValueError) as error:  # a ConfigurationError is a ValueError
        raise ValueError(f"{wanted}; {error}") from None


_STATUS_POLICY = (
    "a dict such as {429: 'unreachable', '4xx': 'disallow'}, from statuses (100 to 599) and "
    f"classes ('2xx', '4xx', '5xx') to {', '.join(repr(meaning.value) for meaning in Meaning)}"
)
#: Classes of statuses that end a redirect chain.
_CLASSES = ("2xx", "4xx", "5xx")


def status_policy(raw: Any) -> StatusPolicy:
    """Read a mapping from HTTP statuses and their classes to meanings (FET-09)."""
    given = converters.mapping(raw, _STATUS_POLICY)
    try:
        meant = {_status(status): Meaning(meaning) for status, meaning in given.items()}
    except ValueError:
        raise ValueError(_STATUS_POLICY) from None
    return MappingProxyType(meant)


def _status(raw: Any) -> int | str:
    if isinstance(raw, str) and raw.lower() in _CLASSES:
        return raw.lower()
    status = converters.integer(100)(raw)
    if status > 599:
        raise ValueError
    return status
