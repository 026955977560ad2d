"""Whether a file's lines are plain where editions read them differently.

Searching the bytes of a plain file for agents and rules finds those that reading its lines does.
Most files of real sites are plain in every edition.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from scrapy_robotspec.editions import PLAIN_FIELDS, Edition
from scrapy_robotspec.protocol.lines import begins_line, field_for, skip_byte_order_mark

if TYPE_CHECKING:
    from collections.abc import Sequence

_WHITE = b" \t"
#: The fields of agents and rules.
_FIELDS = {spelling: field for spelling, field in PLAIN_FIELDS if field != "sitemap"}
#: How lines of agents and rules begin, or the first line (FMT-05).
_BEGINNINGS = (*_FIELDS, b"\xef")
#: The field of a rule, or its end, without the colon that some editions do not need.
_find_odd = re.compile(rb"allow(?![ \t]*:)").finditer


def is_plain(body: bytes, lowered: bytes, edition: Edition) -> bool:
    """Whether a search of its bytes finds a file's agents and rules.

    For editions in which not all files are plain (``has_plain_lines``).
    User-agent lines without a colon aside, which are left to the search.
    """
    odd = _odd_parts(edition)
    if odd is None or any(map(lowered.__contains__, odd[0])):
        return False
    if edition.blank_line_ends_group and body.count(b"\r") != body.count(b"\r\n"):
        return False
    if edition.max_line is not None and not _is_read_whole(lowered, edition.max_line):
        return False
    first = skip_byte_order_mark(body, edition)
    for spelling in odd[1]:
        at = lowered.find(spelling)
        while at >= 0:
            if begins_line(lowered, at, first):
                return False
            at = lowered.find(spelling, at + 1)
    return not (edition.reads_other_spellings and _has_odd_rules(lowered, first))


@lru_cache
def _odd_parts(edition: Edition) -> tuple[Sequence[bytes], Sequence[bytes]] | None:
    """Bytes of no plain file, and beginnings of none of its lines; None if no file is plain.

    In lower case.
    """
    if any(field_for(spelling, edition) != field for spelling, field in _FIELDS.items()):
        return None
    odd = ({*edition.whitespace} ^ {*_WHITE}) - {*b"\r\n"}
    known = {spelling for spelling, field in edition.known_fields if field != "sitemap"}
    nul = [b"\0"] if edition.nul_ends_line else []
    return [*nul, *(bytes([byte]) for byte in odd)], [*known - _FIELDS.keys()]


def _is_read_whole(lowered: bytes, limit: int) -> bool:
    """Whether no line of agents or rules is longer."""
    begin = 0
    while len(lowered) - begin > limit:
        end = lowered.rfind(b"\n", begin, begin + limit + 1) + 1
        if not end:
            end = lowered.find(b"\n", begin) + 1 or len(lowered)
            line = lowered[begin:end].strip(b" \t\r\n")
            if b"\r" in line or line.startswith(_BEGINNINGS):
                return False
        begin = end
    return True


def _has_odd_rules(lowered: bytes, first: int) -> bool:
    """Whether some line begins with the field of a rule, but no colon follows."""
    if lowered.count(b"allow") == lowered.count(b"allow:"):  # usual
        return False
    for match in _find_odd(lowered):
        at = match.start()
        if begins_line(lowered, at - 3 if lowered.endswith(b"dis", 0, at) else at, first):
            return True
    return False
