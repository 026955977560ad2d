"""Canonical path patterns, and how they match (PAT-02).

A pattern is literals with ``*`` between them. Its anchor is :data:`END`, and so is the end of every
path that it is compared with: an anchored literal is one more literal to search for.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scrapy_robotspec.protocol.packed import PackedTexts

    #: Texts by index.
    Texts = tuple[str, ...] | PackedTexts
    #: Finds the first place of a literal in a path, from an offset on; -1: none.
    Find = Callable[[str, int], int]

#: Stands for the end of a path, so that ``/a$`` is the prefix ``/a#``. Neither a rule nor a path
#: contains it: there a comment begins, here the fragment.
END = "#"
#: In a pattern, it may open a directory (PRE-05).
INDEX_PAGE = "/index.htm"

#: CPython searches a text of 30,000 characters in linear time; searching a shorter one may take
#: the product of both lengths. No literal contains NUL.
PADDING = "\0" * 30_000
#: Max product of both lengths that costs less than the padding.
MAX_PRODUCT = 30_000

#: Texts are packed from this many on, if their average length is below (characters). Real sites
#: have fewer.
PACK_FROM, _PACKED_LENGTH = 512, 48


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
