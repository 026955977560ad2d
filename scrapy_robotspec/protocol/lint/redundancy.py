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
from scrapy_robotspec.protocol.lines import BYTE_ORDER_MARK, split_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_robotspec.protocol.lines import Line

_STRUCTURE = ("user-agent", "allow", "disallow")
_LENIENT = EDITIONS["google"]
_LONGEST_LINE = _LENIENT.max_line or 0
#: How the lines begin that some edition may read as a group's or a rule's, in lower case.
_BEGINNINGS = tuple(spelling for spelling, field in _LENIENT.known_fields if field in _STRUCTURE)
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
    if not text.lstrip(_LENIENT.whitespace).lower().startswith(_BEGINNINGS):
        return True
    return line.field not in _STRUCTURE and split_line(text, _LENIENT) is None


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
    rules: list[Line] = field(default_factory=list)
    compared: int = 0
    """How many of its rules are compared with those of other groups."""


class RedundancyFinder:
    """Takes lines in order, then lists redundant rules."""

    def __init__(self) -> None:
        self.alike = True
        """Whether every edition reads all lines up to here alike."""
        self._group: _Group | None = None
        self._found: list[Redundant] = []
        #: By names of a group: the first line with a rule, in groups without blank lines.
        self._seen: dict[tuple[bytes, ...], dict[_Rule, int]] = {}

    def compare_editions(self, line: Line) -> None:
        """Take a line that editions may read differently, before lines below it."""
        if self.alike and line.text.strip(b" \t"):
            self.alike = reads_alike(line)

    def read_rule(self, line: Line) -> None:
        """Take the next rule."""
        group = self._group
        if self.alike and group:
            group.rules.append(line)
            group.compared += group.contiguous

    def read_blank(self) -> None:
        """Take a blank line."""
        if self._group:
            self._group.contiguous = False

    def read_agent(self, line: Line) -> None:
        """Take the next user-agent line."""
        if self._group is None or self._group.rules:
            self._close()
            self._group = _Group()
        self._group.names.append(line.value)

    def finish(self) -> Iterator[Redundant]:
        """The rules that can be deleted, all of them together."""
        self._close()
        if self.alike:
            yield from self._found

    def _close(self) -> None:
        group, self._group = self._group, None
        if group is None or not group.rules:
            return
        seen = self._seen.setdefault(tuple(sorted(group.names)), {})
        redundant = list(_redundant(group, seen))
        # All rules of a group redundant: one has to stay.
        self._found += redundant[len(redundant) == len(group.rules) :]


def _redundant(group: _Group, seen: dict[_Rule, int]) -> Iterator[Redundant]:
    """The redundant rules of a group.

    ``seen``: number of the first line with a rule, in groups with the same names that are compared;
    those of this group are added.
    """
    in_group: dict[_Rule, int] = {}
    for number, line in enumerate(group.rules):
        if not line.value:
            yield Redundant(line, None)
            continue
        first = in_group.setdefault((line.field, line.value), line.number)
        if number < group.compared and first == line.number:
            first = seen.setdefault((line.field, line.value), line.number)
        if first != line.number:
            yield Redundant(line, first)
