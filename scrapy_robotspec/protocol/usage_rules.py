"""UsageRules: which statements hold for a URL (USE-01 to USE-08).

Paths are matched as those of Allow and Disallow are, and no verdict depends on anything here.
Sources: aipref-attach-05, section 3; contentsignals.org; RSL 1.0, section 4 (licenses).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from scrapy_robotspec.protocol.groups import is_absolute, select_groups
from scrapy_robotspec.protocol.lines import numbers_at, read_statements, skip_byte_order_mark
from scrapy_robotspec.protocol.models import decode
from scrapy_robotspec.protocol.paths import canonical_text, path_of
from scrapy_robotspec.protocol.patterns import END, canonical_pattern, matches
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
    from scrapy_robotspec.protocol.lines import Statement

#: Most usages kept for one file: few of its paths decide about all URLs.
_KEPT = 256
#: Most paths with wildcards of one field that are compared with a URL, in file order. It bounds the
#: time for a file that is made to be slow, as the parsing limit does (FMT-12).
MAX_WILDCARDS = 1000

#: Source, value and line number of a statement.
UsageLine = tuple[UsageSource, bytes, int]
#: Length of a pattern as rules of the edition are measured, and its canonical form; those of a
#: statement without a path are 0 and empty.
_Pattern = tuple[int, str]


class UsageRules:
    """The usage statements for one crawler; False without any."""

    __slots__ = ("_edition", "_fields", "_kept", "statements")

    statements: tuple[UsageStatement, ...]
    """Every statement, in file order."""

    def __init__(self, lines: Iterable[UsageLine], edition: Edition) -> None:
        self._edition = edition
        fields: dict[UsageSource, dict[_Pattern, list[UsageStatement]]] = {}
        for source, value, number in lines:
            path, preferences = split_path(value)
            written = None if path is None else decode(path)
            statement = UsageStatement(source, decode(preferences), written, number)
            pattern = _pattern(path, edition)
            fields.setdefault(source, {}).setdefault(pattern, []).append(statement)
        #: Patterns of each field with their statements, the longest first.
        self._fields = [_usable(by_pattern) for by_pattern in fields.values()]
        usable = (each for field in self._fields for _, statements in field for each in statements)
        self.statements = tuple(sorted(usable, key=_line))
        self._kept: dict[tuple[UsageStatement, ...], Usage] = {}

    def __bool__(self) -> bool:
        return bool(self._fields)

    def find(self, url: str | bytes) -> Usage:
        """The usage of a URL, provided that it may be crawled.

        Each field decides by its longest matching path; the two are combined like two sources.
        """
        path = path_of(url, self._edition) + END
        deciding = (each for field in self._fields for each in _longest(field, path))
        statements = tuple(sorted(deciding, key=_line))
        usage = self._kept.get(statements)
        if usage is None:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            usage = self._kept[statements] = usage_of(statements)
        return usage


def _usable(
    by_pattern: dict[_Pattern, list[UsageStatement]],
) -> list[tuple[_Pattern, list[UsageStatement]]]:
    """The patterns of one field that are compared, the longest first (USE-01)."""
    wild = [each for each in by_pattern if "*" in each[1] or each[1].endswith(END)]
    for pattern in wild[MAX_WILDCARDS:]:
        del by_pattern[pattern]
    return sorted(by_pattern.items(), reverse=True, key=lambda each: each[0])


def _longest(
    field: Iterable[tuple[_Pattern, list[UsageStatement]]], path: str
) -> Iterator[UsageStatement]:
    """The statements with the longest patterns that match a path with its end (USE-02)."""
    longest = -1
    for (length, text), statements in field:
        if length < longest:
            return
        if matches(text, path):
            longest = length
            yield from statements


def read_usage(body: bytes, tokens: Sequence[str], edition: Edition) -> UsageRules:
    """The usage statements of a file for a crawler."""
    if not may_state_usage(body):
        return UsageRules((), edition)
    # Editions that ignore other fields read these all the same (USE-08).
    selected = select_groups(body, tokens, replace(edition, other_fields=True))
    return UsageRules(usage_lines(body, selected.others, edition), edition)


def may_state_usage(body: bytes) -> bool:
    """False only if no line has one of the two fields."""
    lowered = body.lower()
    return b"content-usage" in lowered or b"content-signal" in lowered


def read_licenses(body: bytes, edition: Edition) -> tuple[str, ...]:
    """The absolute URLs of the license lines, in file order (USE-06)."""
    if b"license" not in body.lower():
        return ()
    lines = (line for line in _statements(body, edition) if line.field == "license")
    return tuple(url for line in lines if is_absolute(url := decode(line.value)))


def _line(statement: UsageStatement) -> int:
    return statement.line or 0


def _pattern(path: bytes | None, edition: Edition) -> _Pattern:
    measured = None if path is None else canonical_pattern(canonical_text(path, edition), edition)
    return (0, "") if measured is None else (measured[1], measured[0])


def split_path(value: bytes) -> tuple[bytes | None, bytes]:
    """The path of a statement, if any, and its preferences (USE-01)."""
    if not value.startswith(b"/"):
        return None, value
    path, *rest = value.replace(b"\t", b" ").split(b" ", 1)
    return path, value[len(path) :].strip(b" \t") if rest else b""


def usage_lines(body: bytes, others: Iterable[RawOther], edition: Edition) -> list[UsageLine]:
    """The statements of a file, given a crawler's other lines."""
    lines: list[Statement | RawOther] = []
    for line in _statements(body, edition):
        if line.field == "user-agent":
            break
        if line.field == "content-signal":  # before the first group: for every agent (USE-07)
            lines.append(line)
    lines += [line for line in others if line.field in USAGE_FIELDS]
    numbers = numbers_at(body, [line.start for line in lines])
    return [(cast("UsageSource", line.field), line.value, numbers[line.start]) for line in lines]


def _statements(body: bytes, edition: Edition) -> Iterator[Statement]:
    return read_statements(body, skip_byte_order_mark(body, edition), len(body), edition)
