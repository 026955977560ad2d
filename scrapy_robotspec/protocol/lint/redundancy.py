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
from typing import TYPE_CHECKING

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.lines import BYTE_ORDER_MARK, split_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy_robotspec.protocol.lines import Line
    from scrapy_robotspec.protocol.lint.findings import Faults
    from scrapy_robotspec.protocol.lint.group_reader import Group

_STRUCTURE = ("user-agent", "allow", "disallow")
_LENIENT = EDITIONS["google"]
_LONGEST_LINE = _LENIENT.max_line or 0
#: The beginning of a line that some edition may read as a group's or a rule's.
_BEGINNING = re.compile(
    b"[ \t]*(?:%b)"
    % b"|".join(name for name, field in _LENIENT.known_fields if field in _STRUCTURE),
    re.I,
)
#: A field in a spelling that every edition knows.
_PLAIN = re.compile(rb"[ \t]*(?:user-agent|allow|disallow)[ \t]*:", re.I)
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
    if not _BEGINNING.match(text):
        return True
    if _PLAIN.match(text):
        return line.field in _STRUCTURE
    return line.field not in _STRUCTURE and split_line(text, _LENIENT) is None


def find_redundant(groups: Iterable[Group]) -> Faults:
    """The rules that can be deleted, all of them together."""
    seen: dict[tuple[bytes, ...], dict[_Rule, int]] = {}
    for group in groups:
        values = tuple(sorted(line.value for line in group.agents))
        found = list(_redundant(group, seen.setdefault(values, {})))
        all_but = len(found) == len(group.rules)  # one of the rules has to stay
        yield from found[all_but:]


def _redundant(group: Group, seen: dict[_Rule, int]) -> Faults:
    """The redundant rules of a group.

    ``seen``: number of the first line with a rule, in groups with the same names that are compared;
    those of this group are added.
    """
    in_group: dict[_Rule, int] = {}
    compared = len(group.rules) if group.above_blank is None else group.above_blank
    for at, line in enumerate(group.rules):
        if not line.value:
            yield line, "RS307", "A rule without a path has no effect here", "ignores it"
            continue
        first = in_group.setdefault((line.field, line.value), line.number)
        if at < compared and first == line.number:
            first = seen.setdefault((line.field, line.value), line.number)
        if first != line.number:
            fault = f"Line {first} holds the same rule"
            yield line, "RS303", fault, "does not need this one"
