"""Wildcard patterns: those that match a path, the best first."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.needles import Needles, needle_of
from scrapy_robotspec.protocol.patterns import matches
from scrapy_robotspec.protocol.searched_path import SearchedPath

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: From this many patterns on, needles are looked up instead of tried one by one.
INDEX_FROM = 64
#: From this many patterns on whose needle is in a path, this path's suffixes are sorted. Files of
#: real sites have fewer.
SORT_FROM = 16


class Wildcards:
    """Patterns with their keys."""

    __slots__ = ("_index", "_keys", "_texts", "needles")

    def __init__(self, patterns: Mapping[str, int]) -> None:
        self._texts = tuple(sorted(patterns, key=patterns.__getitem__))
        self._keys = array("q", map(patterns.__getitem__, self._texts))
        is_few = len(patterns) < INDEX_FROM
        #: A needle of each pattern; none if there are many patterns.
        self.needles = tuple(map(needle_of, self._texts)) if is_few else ()
        self._index = None if is_few else Needles(self._texts)

    def matching(self, path: str, bound: int) -> Iterator[int]:
        """The keys below a bound whose patterns match, in order.

        *path* ends with ``END``.
        """
        better = bisect_left(self._keys, bound)
        if self._index is None:
            needles = enumerate(self.needles[:better])
            numbers = [number for number, needle in needles if needle in path]
        else:
            found = self._index.patterns_in(path)
            numbers = sorted([number for number in found if number < better])
        searched = SearchedPath(path) if len(numbers) >= SORT_FROM else None
        find = None if searched is None else searched.find
        for number in numbers:
            text = self._texts[number]
            may_match = searched is None or searched.may_match(text.split("*"))
            if may_match and matches(text, path, find):
                yield self._keys[number]
