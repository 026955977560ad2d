"""Whether a file's lines are plain where editions read them differently.

Searching the bytes of a plain file for agents and rules finds those that reading its lines does.
Most files of real sites are plain in every edition.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from scrapy_robotspec.editions import PLAIN_FIELDS, Edition
from scrapy_robotspec.protocol.lines import field_for, skip_byte_order_mark

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    _Find = Callable[[bytes, int], re.Match[bytes] | None]

_WHITE = b" \t"
#: The fields of agents and rules.
_FIELDS = {spelling: field for spelling, field in PLAIN_FIELDS if field != "sitemap"}
#: How lines of agents and rules begin, or the first line (FMT-05).
_BEGINNINGS = (*_FIELDS, b"\xef")
_NOT_USUAL = rb"(?!disallow:|allow:|user-agent:)"


def is_plain(body: bytes, lowered: bytes, edition: Edition) -> bool:
    """Whether a search of its bytes finds a file's agents and rules.

    For editions in which not all files are plain (``has_plain_lines``).
    User-agent lines without a colon aside, which are left to the search.
    """
    odd = _odd_parts(edition)
    if odd is None or any(map(lowered.__contains__, odd[0])):
        return False
    has_cr = edition.blank_line_ends_group and b"\r" in body
    if has_cr and body.count(b"\r") != body.count(b"\r\n"):
        return False
    if edition.max_line is not None and not _is_read_whole(lowered, edition.max_line):
        return False
    first = skip_byte_order_mark(body, edition)
    return not any(find(lowered, first) for find in odd[1])


@lru_cache
def _odd_parts(edition: Edition) -> tuple[Sequence[bytes], Sequence[_Find]] | None:
    """Bytes of no plain file, and what finds a line that none has; None if no file is plain.

    In lower case. Such a line begins with another spelling, or is a rule without a colon where the
    edition reads it. Most lines are passed by without a comparison with each spelling.
    """
    known = {spelling for spelling, field in edition.known_fields if field != "sitemap"}
    usual = all(field_for(spelling, edition) == field for spelling, field in _FIELDS.items())
    if not known or b"" in known or not usual:
        return None
    white = ({*edition.whitespace} ^ {*_WHITE}) - {*b"\r\n"}
    nul = [b"\0"] if edition.nul_ends_line else []
    odd = [re.escape(spelling) for spelling in known - _FIELDS.keys()]
    odd += [rb"(?:dis)?allow(?![ \t]*:)"] if edition.reads_other_spellings else []
    letters = re.escape(b"".join(spelling[:1] for spelling in known))
    line = _NOT_USUAL + rb"[ \t]*(?=[" + letters + rb"])(?:" + b"|".join(odd) + rb")"
    first = re.compile(line).match
    finds = [first, *(re.compile(end + line).search for end in (b"\n", b"\r"))] if odd else []
    return [*nul, *(bytes([byte]) for byte in white)], finds


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
