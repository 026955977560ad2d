"""Canonical path patterns, and how they match (PAT-02, PAT-03, RUL-04).

A pattern is literals with ``*`` between them. Its anchor is :data:`END`, and so is the end of every
path that it is compared with: an anchored literal is one more literal to search for.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.editions import SLASH_ASSUMED, Edition
from scrapy_robotspec.protocol.paths import (
    INCOMPLETE,
    LITERAL_DOLLAR,
    QUERY_APOSTROPHE,
    escape_specials,
    escapes_specials,
    find_apostrophes,
    join_apostrophes,
    join_escapes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scrapy_robotspec.protocol.packed import PackedTexts

    #: Texts by index.
    Texts = tuple[str, ...] | PackedTexts
    #: Finds the first place of a literal in a path, from an offset on; -1: none.
    Find = Callable[[str, int], int]

#: A canonical pattern, and the length that PRE-01 compares.
Measured = tuple[str, int]

#: Most apostrophes of a pattern that may be in a path or in a query; it bounds the patterns made.
MAX_APOSTROPHES = 4
#: Most patterns of a rule for incomplete escapes in URLs.
MAX_PATTERNS = 4

#: Stands for the end of a path, so that ``/a$`` is the prefix ``/a#``. Neither a rule nor a path
#: contains it: there a comment begins, here the fragment.
END = "#"

#: CPython searches a text of 30,000 characters in linear time; searching a shorter one may take
#: the product of both lengths. No literal contains NUL.
PADDING = "\0" * 30_000
#: Max product of both lengths that costs less than the padding.
MAX_PRODUCT = 30_000

#: Texts are packed from this many on, if their average length is below (characters). Real sites
#: have fewer.
PACK_FROM, _PACKED_LENGTH = 512, 48

_STARS = re.compile(r"\*+")
_CUT = re.compile(rf"{INCOMPLETE}(?=\*|\Z)")
_CUT_BEHIND_DIGIT = re.compile(rf"{INCOMPLETE}(?=[0-9A-F](?:\*|\Z))")


def canonical_pattern(text: str, edition: Edition) -> Measured | None:
    """The pattern of a canonical value; None: never matches (RUL-04)."""
    first = text[:1]
    if first != "/" and not (first == "*" and edition.star_begins_path):
        if edition.slashless is not SLASH_ASSUMED:
            return None
        text = "/" + text
    if "%2" in text and escapes_specials(edition):
        text = join_escapes(text)
    if "?" in text and edition.decode_unreserved:
        text = join_apostrophes(text)
    length = len(text) - text.count(INCOMPLETE)
    if "*" not in text and "$" not in text:  # usual
        return text, length
    if not edition.wildcards:
        return escape_specials(text), length
    is_anchored = text.endswith("$")
    text = text.removesuffix("$")
    content = text.rstrip("*")  # PAT-03
    if len(content) < len(text):
        if not is_anchored and not edition.count_trailing_star:
            length -= len(text) - len(content)
        is_anchored = False  # any end will do
    if "**" in content:
        content = _STARS.sub("*", content)
    if escapes_specials(edition):
        content = content.replace("$", LITERAL_DOLLAR)  # PAT-06
    return content + END if is_anchored else content, length


def in_components(text: str, edition: Edition) -> list[str]:
    """A canonical pattern with its last apostrophes in path or query (PAT-12).

    Only those behind a star may be in either.
    """
    found = [text]
    star = text.find("*") if "'" in text or "%27" in text else -1
    if star >= 0 and edition.decode_unreserved:
        places = [*find_apostrophes(text.partition("?")[0], star)]
        for place in places[: -MAX_APOSTROPHES - 1 : -1]:
            text = text[: place.start()] + QUERY_APOSTROPHE + text[place.end() :]
            found.append(text)
    return found


def with_escapes(text: str, most: int) -> list[str]:
    """A canonical pattern, cut inside escapes as a rule is (PAT-07).

    With a digit, the incomplete escape of a URL has another spelling: two patterns for each of the
    last ones, *most* in all.
    """
    if INCOMPLETE not in text:  # usual
        return [text]
    *parts, last = _CUT_BEHIND_DIGIT.split(_CUT.sub("", text))
    found = [last]
    while parts and len(found) < most:
        part = parts.pop()
        found = [part + mark + rest for mark in ("", INCOMPLETE) for rest in found]
    first = "".join(parts)
    return [first + rest for rest in found]


def matches(pattern: str, path: str, find: Find | None = None) -> bool:
    """Whether a canonical path with its ``END`` matches a canonical pattern (PAT-02).

    Each literal takes its leftmost place, without backtracking: if any placing works, this
    one does (PAT-11). *find* searches *path*.
    """
    if "*" not in pattern:
        return path.startswith(pattern)
    first, *literals = pattern.split("*", len(path))  # no path has room for more literals
    if not path.startswith(first):
        return False
    if find is None:
        is_short = len(path) * len(pattern) < MAX_PRODUCT
        find = (path if is_short else path + PADDING).find
    end = len(first)
    for literal in literals:
        place = find(literal, end)
        if place < 0:
            return False
        end = place + len(literal)
    return True


def pack(texts: Sequence[str]) -> tuple[Texts, Callable[[Any, str], int]]:
    """Texts and their ``bisect_right``.

    They take little memory if they are many short ones.
    """
    if len(texts) < PACK_FROM or sum(map(len, texts)) >= len(texts) * _PACKED_LENGTH:  # usual
        return tuple(texts), bisect_right
    from scrapy_robotspec.protocol.packed import PackedTexts

    return PackedTexts(texts), PackedTexts.bisect_right


def parents_of(texts: Sequence[str]) -> array[int] | None:
    """The index of each sorted text's longest own beginning, or -1.

    None if no text starts with another, which is usual.
    """
    if not any(map(str.startswith, texts[1:], texts)):
        return None
    parents = [-1]
    for parent, text in enumerate(texts[1:]):  # the neighbour, or its parent, and so on
        while parent >= 0 and not text.startswith(texts[parent]):
            parent = parents[parent]
        parents.append(parent)
    return array("i", parents)
