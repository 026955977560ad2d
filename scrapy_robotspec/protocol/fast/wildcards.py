"""Many wildcard patterns: the best of them that matches a path.

The longest literal of a pattern, its needle, is in every path that the pattern matches. Nearly all
patterns are ruled out by their needle.
"""

from __future__ import annotations

import re
from array import array
from functools import partial
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.fast.suffixes import SuffixIndex
from scrapy_robotspec.protocol.patterns import literals_of, matches

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scrapy_robotspec.protocol.precedence import KeyedPattern

#: The patterns filed under a part of their needles.
_Index = dict[str, list[int]]

#: From this many patterns on, needles are looked up instead of tried one by one.
INDEX_FROM = 64
#: Needles that are tried one by one beside an index, at most.
_FEW = 32
#: Length of the parts that needles are filed under (characters).
_PART = 4
#: Parts that begin with a delimiter: a path has few of these. They may overlap.
_DELIMITED = re.compile("(?=([^A-Za-z0-9]...))", re.DOTALL).findall
#: Parts of a needle among which the least used is chosen, and max needles that share one of those
#: with a delimiter.
_TRIED = 8
_SHARING = 16
#: From this product of patterns and characters of the path on, searches need a bound (PAT-11).
_HEAVY = 1 << 14


def compile_wildcards(patterns: Mapping[str, int]) -> Wildcards:
    """The best structure for some patterns with their precedence keys."""
    ordered = sorted((key, text) for text, key in patterns.items())
    return IndexedWildcards(ordered) if len(ordered) >= INDEX_FROM else Wildcards(ordered)


class Wildcards:
    """Patterns in order of precedence, tried one by one."""

    __slots__ = ("_keys", "_patterns", "needles")

    needles: Sequence[str]
    """Texts of which at least one is in every path that a pattern matches."""

    def __init__(self, ordered: Sequence[KeyedPattern]) -> None:
        self._keys = array("q", [key for key, _ in ordered])
        self._patterns = tuple(text for _, text in ordered)
        self.needles = tuple(needle_of(text) for text in self._patterns)

    def best(self, path: str, best: int) -> int:
        """The best matching key, or *best*."""
        for index, needle in enumerate(self.needles):
            if needle in path:
                if self._keys[index] > best:
                    break
                if matches(self._patterns[index], path):
                    return self._keys[index]
        return best


class IndexedWildcards(Wildcards):
    """Many patterns, each filed under a part of its needle.

    The cost of a verdict depends on the path and not on the number of patterns.
    """

    __slots__ = ("_all_needles", "_anywhere", "_delimited", "_others", "_sizes")

    def __init__(self, ordered: Sequence[KeyedPattern]) -> None:
        super().__init__(ordered)
        self._all_needles = self.needles
        self.needles = ("",)
        self._delimited: _Index = {}
        self._anywhere: _Index = {}
        others = []
        for number, needle in enumerate(self._all_needles):
            if not add_to_index(self._delimited, number, _DELIMITED(needle), _SHARING):
                others.append(number)
        if len(others) >= _FEW:
            for number in others:
                needle = self._all_needles[number]
                size = min(len(needle), _PART)
                parts = [needle[at : at + size] for at in range(len(needle) - size + 1)]
                add_to_index(self._anywhere, number, parts)
            others = []
        self._others = tuple(others)
        self._sizes = tuple({len(part) for part in self._anywhere})

    def best(self, path: str, best: int) -> int:
        """The best matching key, or *best*."""
        found = self._candidates(path)
        if not found:
            return best
        found.sort()
        if len(found) * len(path) > _HEAVY:
            matches_path = SuffixIndex(path).matches
        else:
            found = [index for index in found if self._all_needles[index] in path]
            matches_path = partial(matches, path=path)
        for index in found:
            if self._keys[index] > best:
                break
            if matches_path(self._patterns[index]):
                return self._keys[index]
        return best

    def _candidates(self, path: str) -> list[int]:
        """The patterns that a part of their needles does not rule out."""
        needles = self._all_needles
        found = [number for number in self._others if needles[number] in path]
        for part in self._delimited.keys() & _DELIMITED(path):
            found += self._delimited[part]
        for size in self._sizes:
            parts = {path[at : at + size] for at in range(len(path) - size + 1)}
            for part in self._anywhere.keys() & parts:
                found += self._anywhere[part]
        return found


def needle_of(text: str) -> str:
    """The longest literal of a pattern, without its leading slash."""
    first, *others = literals_of(text)
    return max(first if len(first) > 1 else "", *others, key=len)


def add_to_index(index: _Index, number: int, parts: Sequence[str], most: int | None = None) -> bool:
    """File a pattern under its least used part."""
    tried = parts[-_TRIED:]
    least = min(tried, key=lambda part: len(index.get(part, ())), default=None)
    if least is None or (most is not None and len(index.get(least, ())) >= most):
        return False
    index.setdefault(least, []).append(number)
    return True
