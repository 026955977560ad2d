"""Wildcard patterns: the best of them that matches a path."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.fast.needles import Needles, needle_of
from scrapy_robotspec.protocol.fast.searched_path import SearchedPath
from scrapy_robotspec.protocol.patterns import matches

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: From this many patterns on, needles are looked up instead of tried one by one.
INDEX_FROM = 64
#: From this many patterns on whose needle is in a path, this path's suffixes are sorted. Files of
#: real sites have fewer.
SORT_FROM = 16


class Wildcards:
    """Patterns with their keys."""

    __slots__ = ("_index", "_keys", "_texts", "needles")

    def __init__(self, patterns: Mapping[str, int]) -> None:
        self._texts = tuple(patterns)
        self._keys = array("q", patterns.values())
        is_few = len(patterns) < INDEX_FROM
        #: A needle of each pattern; none if there are many patterns.
        self.needles = tuple(map(needle_of, patterns)) if is_few else ()
        self._index = None if is_few else Needles(self._texts)

    def best(self, path: str, best: int) -> int:
        """The best key that matches a path with its end, or *best*."""
        keys, texts = self._keys, self._texts
        if self._index is None:
            numbers = [number for number, needle in enumerate(self.needles) if needle in path]
        else:
            numbers = self._index.patterns_in(path)
        if len(numbers) >= SORT_FROM:
            return self._best_of_many(numbers, path, best)
        for number in numbers:
            if keys[number] < best and matches(texts[number], path):
                best = keys[number]
        return best

    def _best_of_many(self, numbers: Sequence[int], path: str, best: int) -> int:
        searched = SearchedPath(path)
        for number in sorted(numbers, key=self._keys.__getitem__):
            if self._keys[number] >= best:
                break
            text = self._texts[number]
            if searched.may_match(text.split("*")) and matches(text, path, searched.find):
                return self._keys[number]
        return best
