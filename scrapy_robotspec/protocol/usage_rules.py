"""Usage preferences of a file: which of its statements hold for a URL (USE-01 to USE-08).

Paths are matched as those of Allow and Disallow are, and no verdict depends on anything here.
Sources: aipref-attach-05, section 3; contentsignals.org; RSL 1.0, section 4 (licenses).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, cast

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
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.editions import Edition

#: Most usages kept for one file: one for each combination of paths that decided.
_KEPT = 256


class _PathStatements(NamedTuple):
    """All statements of one field with the same path."""

    length: int
    """Of the pattern, as rules of the edition are measured; -1 for no path (USE-01)."""
    pattern: str | None
    """In its canonical form; None: no path."""
    source: UsageSource
    statements: list[UsageStatement]


class UsageRules:
    """The usage statements of a file that hold for one crawler. False if there are none."""

    __slots__ = ("_edition", "_kept", "_paths")

    def __init__(self, body: bytes, tokens: Sequence[str], edition: Edition) -> None:
        self._edition = edition
        paths = _by_path(_lines_for(body, tokens, edition), edition) if _may_state(body) else []
        self._paths = sorted(paths, key=lambda each: -each.length)
        self._kept: dict[tuple[int, ...], Usage] = {}

    def __bool__(self) -> bool:
        return bool(self._paths)

    @property
    def statements(self) -> tuple[UsageStatement, ...]:
        """Every statement, in file order, also those that no URL can match or a path hides."""
        return tuple(sorted((each for path in self._paths for each in path.statements), key=_line))

    def find(self, url: str | bytes) -> Usage:
        """The usage of a URL, provided that it may be crawled.

        Each field decides by its longest matching path; the two are combined like two sources.
        """
        deciding = self._deciding(path_of(url, self._edition))
        usage = self._kept.get(deciding)
        if usage is None:
            statements = (each for at in deciding for each in self._paths[at].statements)
            usage = usage_of(sorted(statements, key=_line))
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            self._kept[deciding] = usage
        return usage

    def _deciding(self, path: str) -> tuple[int, ...]:
        """The indexes of the longest matching paths; several if equally long."""
        longest: dict[UsageSource, int] = {}
        deciding = []
        for at, (length, pattern, source, _) in enumerate(self._paths):
            if length < longest.get(source, -1):
                continue
            if pattern is None or matches(pattern, path):
                longest[source] = length
                deciding.append(at)
        return tuple(deciding)


def read_licenses(body: bytes, edition: Edition) -> tuple[str, ...]:
    """The absolute URLs of the license lines, in file order (USE-06)."""
    if b"license" not in body.lower():
        return ()
    lines = (line for line in read_lines(body, edition) if line.field == "license")
    return tuple(url for line in lines if is_absolute(url := decode(line.value)))


def _line(statement: UsageStatement) -> int:
    return statement.line or 0


def _may_state(body: bytes) -> bool:
    """False only for a file without any statement."""
    return b"content-" in body.lower()


def _by_path(
    lines: Iterator[tuple[UsageSource, bytes, int]], edition: Edition
) -> list[_PathStatements]:
    found: dict[tuple[UsageSource, str | None], _PathStatements] = {}
    for source, value, number in lines:
        path, preferences = _split_path(value)
        # A path that begins with a slash always has a pattern.
        measured = (
            None if path is None else canonical_pattern(canonical_text(path, edition), edition)
        )
        pattern, length = measured or (None, -1)
        statement = UsageStatement(
            source, decode(preferences), None if path is None else decode(path), number
        )
        entry = found.setdefault((source, pattern), _PathStatements(length, pattern, source, []))
        entry.statements.append(statement)
    return list(found.values())


def _split_path(value: bytes) -> tuple[bytes | None, bytes]:
    """The path of a statement, if there is one, and its preferences (USE-01)."""
    if not value.startswith(b"/"):
        return None, value
    path, *rest = value.replace(b"\t", b" ").split(b" ", 1)
    return path, value[len(path) :].strip(b" \t") if rest else b""


def _lines_for(
    body: bytes, tokens: Sequence[str], edition: Edition
) -> Iterator[tuple[UsageSource, bytes, int]]:
    """Source, value and line number of the statements for a crawler."""
    for line in read_lines(body, edition):
        if line.field == "user-agent":
            break
        if line.field == "content-signal":  # before the first group: for every agent (USE-07)
            yield "content-signal", line.value, line.number
    # Usage is no part of any edition, so an edition without other fields has it, too (USE-08).
    selected = select_groups(body, tokens, replace(edition, other_fields=True))
    others = [line for line in selected.others if line.field in USAGE_FIELDS]
    numbers = numbers_at(body, [line.start for line in others])
    for other in others:
        yield cast("UsageSource", other.field), other.value, numbers[other.start]
