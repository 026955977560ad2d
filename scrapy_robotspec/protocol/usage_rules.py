"""UsageRules: which statements hold for a URL (USE-01 to USE-08).

Paths are matched as those of Allow and Disallow are, and no verdict depends on anything here.
Sources: aipref-attach-05, section 3; contentsignals.org; RSL 1.0, section 4 (licenses).
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, cast

from scrapy_robotspec.protocol.groups import is_absolute, select_groups
from scrapy_robotspec.protocol.lines import numbers_at, read_lines
from scrapy_robotspec.protocol.models import decode
from scrapy_robotspec.protocol.paths import canonical_text, path_of
from scrapy_robotspec.protocol.patterns import canonical_pattern, matches
from scrapy_robotspec.protocol.usage import (
    USAGE_FIELDS,
    Usage,
    UsageSource,
    UsageStatement,
    usage_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.groups import RawOther

#: Most usages kept for one file: one for each combination of paths that decided.
_KEPT = 256
#: Most paths with wildcards of one field that are compared with a URL, in file order. It bounds the
#: time for a file that is made to be slow, as the parsing limit does (FMT-12).
MAX_WILDCARDS = 1000

#: A line that may have one of the two fields: nothing before it is a comment or another field.
_FIELD = re.compile(rb"(?:\A|[\r\n])[^\r\n#:]*content-(?:usage|signal)", re.IGNORECASE).search

#: Source, value and line number of a statement.
UsageLine = tuple[UsageSource, bytes, int]
#: Length of a pattern as rules of the edition are measured, and its canonical form.
_Pattern = tuple[int, str]


class _FieldPaths:
    """The statements of one field by their paths, and which path decides (USE-01, USE-02)."""

    __slots__ = ("_by_pattern", "_lengths", "_plain", "_wild", "_without_path")

    def __init__(self) -> None:
        self._by_pattern: dict[_Pattern, list[UsageStatement]] = {}
        self._without_path: list[UsageStatement] = []
        self._plain: dict[str, _Pattern] = {}
        self._lengths: list[int] = []
        self._wild: list[_Pattern] = []

    def add(self, statement: UsageStatement, pattern: _Pattern | None) -> None:
        """Add a statement; ``pattern`` is None for one without a path."""
        if pattern is None:
            self._without_path.append(statement)
        elif pattern in self._by_pattern:
            self._by_pattern[pattern].append(statement)
        elif _is_plain(pattern):
            self._by_pattern[pattern] = [statement]
            self._plain[pattern[1]] = pattern
        elif len(self._wild) < MAX_WILDCARDS:
            self._by_pattern[pattern] = [statement]
            self._wild.append(pattern)

    def sort(self) -> None:
        """Order the paths by length, once all are added."""
        self._lengths = sorted({length for length, _ in self._plain.values()}, reverse=True)
        self._wild.sort(reverse=True)

    def deciding(self, path: str) -> tuple[_Pattern, ...]:
        """The longest patterns that match a canonical path."""
        found: list[_Pattern] = []
        for length in self._lengths:
            if length <= len(path) and path[:length] in self._plain:
                found.append(self._plain[path[:length]])
                break
        for pattern in self._wild:
            if not matches(pattern[1], path):
                continue
            if found and pattern[0] < found[-1][0]:
                break
            if found and pattern[0] > found[-1][0]:
                found.clear()
            found.append(pattern)
        return tuple(found)

    def of(self, patterns: Sequence[_Pattern]) -> Iterator[UsageStatement]:
        """The statements with these patterns; without any, those that have no path."""
        if not patterns:
            yield from self._without_path
        for pattern in patterns:
            yield from self._by_pattern[pattern]

    @property
    def statements(self) -> Iterator[UsageStatement]:
        """Every statement."""
        yield from self._without_path
        yield from chain.from_iterable(self._by_pattern.values())


class UsageRules:
    """The usage statements for one crawler; False without any."""

    __slots__ = ("_edition", "_fields", "_kept")

    def __init__(self, lines: Iterable[UsageLine], edition: Edition) -> None:
        self._edition = edition
        self._fields: dict[UsageSource, _FieldPaths] = {}
        self._kept: dict[tuple[tuple[_Pattern, ...], ...], Usage] = {}
        for source, value, number in lines:
            path, preferences = _split_path(value)
            written = None if path is None else decode(path)
            statement = UsageStatement(source, decode(preferences), written, number)
            paths = self._fields.setdefault(source, _FieldPaths())
            paths.add(statement, None if path is None else _pattern(path, self._edition))
        for paths in self._fields.values():
            paths.sort()

    def __bool__(self) -> bool:
        return bool(self._fields)

    @property
    def statements(self) -> tuple[UsageStatement, ...]:
        """Every statement, in file order."""
        every = chain.from_iterable(paths.statements for paths in self._fields.values())
        return tuple(sorted(every, key=_line))

    def find(self, url: str | bytes) -> Usage:
        """The usage of a URL, provided that it may be crawled.

        Each field decides by its longest matching path; the two are combined like two sources.
        """
        path = path_of(url, self._edition)
        deciding = tuple(paths.deciding(path) for paths in self._fields.values())
        usage = self._kept.get(deciding)
        if usage is None:
            pairs = zip(self._fields.values(), deciding, strict=True)
            statements = chain.from_iterable(paths.of(patterns) for paths, patterns in pairs)
            usage = usage_of(sorted(statements, key=_line))
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            self._kept[deciding] = usage
        return usage


def read_usage(body: bytes, tokens: Sequence[str], edition: Edition) -> UsageRules:
    """The usage statements of a file for a crawler."""
    if not may_state_usage(body):
        return UsageRules((), edition)
    selected = select_groups(body, tokens, usage_edition(edition))
    return UsageRules(usage_lines(body, selected.others, edition), edition)


def may_state_usage(body: bytes) -> bool:
    """False only if no line has one of the two fields."""
    lowered = body.lower()
    if b"content-usage" not in lowered and b"content-signal" not in lowered:
        return False
    return _FIELD(body) is not None


def read_licenses(body: bytes, edition: Edition) -> tuple[str, ...]:
    """The absolute URLs of the license lines, in file order (USE-06)."""
    if b"license" not in body.lower():
        return ()
    lines = (line for line in read_lines(body, edition) if line.field == "license")
    return tuple(url for line in lines if is_absolute(url := decode(line.value)))


def _line(statement: UsageStatement) -> int:
    return statement.line or 0


def _pattern(path: bytes, edition: Edition) -> _Pattern | None:
    measured = canonical_pattern(canonical_text(path, edition), edition)
    return None if measured is None else (measured[1], measured[0])


def _is_plain(pattern: _Pattern) -> bool:
    """Whether a pattern matches just the paths that begin with it."""
    length, text = pattern
    return length == len(text) and "*" not in text and not text.endswith("$")


def _split_path(value: bytes) -> tuple[bytes | None, bytes]:
    """The path of a statement, if there is one, and its preferences (USE-01)."""
    if not value.startswith(b"/"):
        return None, value
    path, *rest = value.replace(b"\t", b" ").split(b" ", 1)
    return path, value[len(path) :].strip(b" \t") if rest else b""


def usage_edition(edition: Edition) -> Edition:
    """The same edition, with other fields for usage lines (USE-08)."""
    return replace(edition, other_fields=True)


def usage_lines(body: bytes, others: Iterable[RawOther], edition: Edition) -> list[UsageLine]:
    """The statements of a file, given a crawler's other lines."""
    found: list[UsageLine] = []
    for line in read_lines(body, edition):
        if line.field == "user-agent":
            break
        if line.field == "content-signal":  # before the first group: for every agent (USE-07)
            found.append(("content-signal", line.value, line.number))
    lines = [line for line in others if line.field in USAGE_FIELDS]
    numbers = numbers_at(body, [line.start for line in lines])
    return found + [
        (cast("UsageSource", line.field), line.value, numbers[line.start]) for line in lines
    ]
