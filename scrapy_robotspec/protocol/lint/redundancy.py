"""Finds rules that no edition needs.

A rule can go when an earlier line holds the same rule for the same crawlers, or when it has no path
and its group has other rules. Three conditions keep that safe:

- Every edition reads the file's lines alike; :func:`reads_alike` tests each line.
- A group keeps one of its rules. Without any, its user-agent lines would join the next group.
- Rules of two groups are compared only if both groups are written without blank lines, which end a
  group in one edition.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.lines import BYTE_ORDER_MARK, field_reader, split_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_robotspec.protocol.lines import Line

_STRUCTURE = ("user-agent", "allow", "disallow")
_LENIENT = EDITIONS["google"]
_LONGEST_LINE = _LENIENT.max_line or 0
#: A comment, or a field in a spelling that every edition knows.
_PLAIN = re.compile(rb"[ \t]*(?:#|(?:user-agent|allow|disallow|sitemap)[ \t]*:)", re.I)
_ODD_BYTES = re.compile(rb"[\0\v\f\r]")

#: Kind and value of a rule, as written.
_Rule = tuple[str, bytes]


def reads_alike(line: Line) -> bool:
    """Whether all editions read a line's group and rule alike."""
    text = line.text
    if line.number == 1 and (line.start not in (0, len(BYTE_ORDER_MARK)) or text[:1] == b"\xef"):
        return False  # a partial byte order mark, which one edition skips
    if len(text) > _LONGEST_LINE or _ODD_BYTES.search(text):
        return False
    if _PLAIN.match(text):
        return line.field in (*_STRUCTURE, "sitemap") or text.lstrip(b" \t").startswith(b"#")
    if line.field in _STRUCTURE:
        return False
    pair = split_line(text, _LENIENT)
    return pair is None or field_reader(_LENIENT)(pair[0]) not in _STRUCTURE


class Redundant(NamedTuple):
    """A rule that can be deleted."""

    line: Line
    first: int | None
    """Number of the line with the same rule; None for a rule without a path."""


@dataclass(slots=True)
class _Group:
    """A group as most editions read it: blank lines do not end it."""

    names: list[bytes] = field(default_factory=list)
    contiguous: bool = True
    """False after a blank line."""
    rules: int = 0
    seen: dict[_Rule, int] = field(default_factory=dict)
    """Number of the first line with a rule, in this group."""
    redundant: list[Redundant] = field(default_factory=list)


class RedundancyFinder:
    """Takes lines one by one, then lists redundant rules."""

    def __init__(self) -> None:
        self.alike = True
        """Whether every edition reads all lines up to here alike."""
        self._group: _Group | None = None
        self._found: list[Redundant] = []
        #: By names of a group: the first line with a rule, in groups without blank lines.
        self._seen: dict[tuple[bytes, ...], dict[_Rule, int]] = {}
        self._here: dict[_Rule, int] = {}

    def read(self, line: Line) -> None:
        """Take the next line, blank ones included."""
        if not self.alike:
            return
        if not line.text.strip(b" \t"):
            if self._group:
                self._group.contiguous = False
        elif not reads_alike(line):
            self.alike = False
        elif line.field == "user-agent":
            self._read_agent(line)
        elif line.field in _STRUCTURE and self._group:
            self._read_rule(line, self._group)

    def finish(self) -> Iterator[Redundant]:
        """The rules that can be deleted, all of them together."""
        self._close()
        if self.alike:
            yield from self._found

    def _read_agent(self, line: Line) -> None:
        if self._group is None or self._group.rules:
            self._close()
            self._group = _Group()
        self._group.names.append(line.value)

    def _close(self) -> None:
        group, self._group = self._group, None
        if group is None:
            return
        # All rules of a group redundant: one has to stay.
        self._found += group.redundant[len(group.redundant) == group.rules :]

    def _read_rule(self, line: Line, group: _Group) -> None:
        if not group.rules:
            self._here = self._seen.setdefault(tuple(sorted(group.names)), {})
        group.rules += 1
        rule = (line.field, line.value)
        if not line.value:
            group.redundant.append(Redundant(line, None))
            return
        first = group.seen.setdefault(rule, line.number)
        if group.contiguous and first == line.number:
            first = self._here.setdefault(rule, line.number)
        if first != line.number:
            group.redundant.append(Redundant(line, first))
