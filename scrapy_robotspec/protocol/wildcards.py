"""Wildcard patterns: those that match a path, the best first."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from operator import itemgetter
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.patterns import (
    PACK_FROM,
    PADDING,
    matches,
    pack,
    parents_of,
)

if TYPE_CHECKING:
    from scrapy_robotspec.protocol.packed import PackedSet

#: From this many patterns on, needles are looked up instead of tried one by one.
INDEX_FROM = 64
#: From this many patterns on whose needle is in a path, this path's suffixes are sorted. Files of
#: real sites have fewer.
SORT_FROM = 16
#: Paths from this length on (characters) are worth sorting. A shorter one is searched at once for
#: the last literal of a pattern, which is missing more often than the first.
LONG = 64
#: Max length of a suffix that is compared (characters); it bounds memory. A longer literal is
#: searched by its beginning first.
_LENGTH = 512
#: Max places of a literal that are kept; of more the first one and the last ones. Where a literal
#: has more, the next place is near, so the path is searched for it.
_KEPT = 64
#: Sorts behind every character of a path.
_LAST = chr(0x10FFFF)
#: Max length of a needle that is looked up, and of its beginning that is looked up first
#: (characters).
_NEEDLE = 32
_START = 4
#: Fewer beginnings than this are looked for one by one.
_FEW = 32


class Wildcards:
    """Patterns with their keys."""

    __slots__ = ("_index", "_keys", "_texts", "needles")

    def __init__(self, patterns: Mapping[str, int]) -> None:
        #: A needle of each pattern; none if there are many patterns.
        self.needles: tuple[str, ...] = ()
        self._index: Needles | None = None
        if len(patterns) < INDEX_FROM:
            texts = sorted(patterns, key=patterns.__getitem__)
            self.needles = tuple(map(needle_of, texts))
        else:
            pairs = sorted(zip(map(needle_of, patterns), patterns, strict=True), key=itemgetter(0))
            texts = [text for _, text in pairs]
            self._index = Needles([needle for needle, _ in pairs])
        self._texts, _ = pack(texts)
        self._keys = array("q", map(patterns.__getitem__, texts))

    def matching(self, path: str, bound: int) -> Iterator[int]:
        """The keys below a bound whose patterns match, in order.

        *path* ends with ``END``.
        """
        if self._index is None:
            numbers = [number for number, needle in enumerate(self.needles) if needle in path]
        else:
            numbers = sorted(self._index.found_in(path), key=self._keys.__getitem__)
        is_long = len(path) >= LONG
        searched = SearchedPath(path) if is_long and len(numbers) >= SORT_FROM else None
        find = None if searched is None else searched.find
        for number in numbers:
            key, text = self._keys[number], self._texts[number]
            if key >= bound:
                return
            if searched is None:
                may_match = is_long or text[text.rfind("*") + 1 :] in path
            else:
                may_match = searched.may_match(text)
            if may_match and matches(text, path, find):
                yield key


def needle_of(pattern: str) -> str:
    """The longest literal of a pattern, without its leading slash.

    A long one is cut. Every path that the pattern matches contains it, and nearly no other does.
    """
    first, _, rest = pattern[1:].partition("*")
    if "*" in rest:
        rest = max(rest.split("*"), key=len)
    return (rest if len(rest) > len(first) else first)[:_NEEDLE]


class Needles:
    """The sorted needles of many patterns.

    The last of the sorted texts that sort before a path either starts it or shares its beginning
    with every other that does. So only that text, its longest own beginning among them (its
    parent), the parent's parent and so on are candidates.
    """

    def __init__(self, needles: Sequence[str]) -> None:
        ends = dict(zip(needles, count(1), strict=False))  # behind the last of equal ones
        self._ends = array("I", ends.values())
        self._parents = parents_of(tuple(ends))
        self._needles, self._bisect = pack(tuple(ends))
        size = min([_START, *(len(needle) for needle in ends if len(needle) > 1)])
        starts = {needle[:size] for needle in ends}
        self._sizes = tuple({len(start) for start in starts})
        self._starts: set[str] | PackedSet = starts
        self._few = tuple(starts) if len(starts) < _FEW else ()
        if len(starts) >= PACK_FROM:
            from scrapy_robotspec.protocol.packed import PackedSet

            self._starts = PackedSet(starts)

    def found_in(self, path: str) -> list[int]:
        """The numbers of the needles that a path contains."""
        needles, parents, starts = self._needles, self._parents, self._starts
        if self._few and not any(map(path.__contains__, self._few)):
            return []
        found: dict[int, None] = {}
        for size in self._sizes:
            places = range(len(path) - size + 1)
            # Nearly always none; a path that repeats itself has few.
            for text in {
                path[at : at + _NEEDLE] for at in places if path[at : at + size] in starts
            }:
                index = self._bisect(needles, text) - 1
                while index >= 0 and index not in found:
                    if text.startswith(needles[index]):
                        found[index] = None
                    index = -1 if parents is None else parents[index]
        ends = self._ends
        return [
            number
            for index in found
            for number in range(ends[index - 1] if index else 0, ends[index])
        ]


class SearchedPath(dict[str, Sequence[int]]):
    """The places of literals in a path, whose suffixes stand in order.

    A literal begins those suffixes that stand together in the order, so a binary search finds all
    its places. A path that only resembles the literals costs no more than another.
    """

    def __init__(self, path: str) -> None:
        super().__init__()
        self._padded = path + PADDING
        self._order = sorted(range(len(path)), key=lambda at: path[at : at + _LENGTH])
        self._suffixes = [path[at : at + _LENGTH] for at in self._order]

    def may_match(self, pattern: str) -> bool:
        """Whether each literal has a place behind those before it.

        The last one is looked at first: most patterns fail there.
        """
        # hot path
        begin, end = len(pattern) - pattern.count("*"), len(pattern)
        while end >= 0:
            star = pattern.rfind("*", 0, end)
            places = self[pattern[star + 1 : end]]
            begin -= end - star - 1
            if not places or places[-1] < begin:
                return False
            end = star
        return True

    def find(self, literal: str, begin: int) -> int:
        """The first place of a literal from an offset on, or -1."""
        places = self[literal]
        if not places or places[-1] < begin:
            return -1
        if len(literal) > _LENGTH or (begin > places[0] and len(places) == _KEPT):
            return self._padded.find(literal, begin)
        return places[bisect_left(places, begin)]

    def __missing__(self, literal: str) -> Sequence[int]:
        """The places of a literal, or of the beginning of a long one, in order."""
        text = literal[:_LENGTH]
        begin = bisect_left(self._suffixes, text)
        places = sorted(self._order[begin : bisect_left(self._suffixes, text + _LAST, begin)])
        if len(places) > _KEPT:
            places[1 : 1 - _KEPT] = []
        self[literal] = places
        return places
