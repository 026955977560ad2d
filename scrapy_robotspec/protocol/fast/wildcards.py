"""Wildcard patterns: the best of them that matches a path.

The longest literal of a pattern, its needle, is in every path that the pattern matches. Nearly all
patterns are ruled out by their needle. Here a pattern's final ``$`` is ``END``, and so is the end
of a path: an anchored literal is one more literal to search for.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.fast.literals import Literals, Places, matches
from scrapy_robotspec.protocol.fast.prefixes import parents_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

#: Stands for the path's end, so that ``/a$`` is the prefix ``/a#``. Neither a rule nor a path
#: contains it: there a comment begins, here the fragment.
END = "#"

#: From this many patterns on, needles are looked up instead of tried one by one.
INDEX_FROM = 64
#: Max length of a needle that is looked up, and of its beginning that is looked up first
#: (characters).
_NEEDLE = 32
_START = 4
#: From this product of the characters of patterns and of the path on, searches need a bound
#: (PAT-11).
_HEAVY = 1 << 23
_STARS = re.compile(r"\*+")


class Wildcards:
    """Patterns with their precedence keys, by the needles that a path contains."""

    __slots__ = (
        *("_ends", "_keys", "_literals", "_needles", "_parents", "_sizes", "_starts", "_texts"),
        "few",
    )

    few: Sequence[str]
    """Needles of the patterns in order of precedence; none if there are many patterns."""

    def __init__(self, patterns: Mapping[str, int]) -> None:
        needles = {text: needle_of(text)[:_NEEDLE] for text in patterns}
        few = len(patterns) < INDEX_FROM
        order = patterns.__getitem__ if few else needles.__getitem__
        self._texts = tuple(sorted(patterns, key=order))
        self._keys = array("q", map(patterns.__getitem__, self._texts))
        if few:
            self.few = tuple(map(needles.__getitem__, self._texts))
            return
        self.few = ()
        self._literals: Literals | None = None  # until a path makes many searches
        counts = Counter(needles.values())
        self._needles = tuple(sorted(counts))
        self._ends = array("i", accumulate(map(counts.__getitem__, self._needles), initial=0))
        self._parents = parents_of(self._needles)
        size = min([_START, *(len(needle) for needle in counts if len(needle) > 1)])
        self._starts = {needle[:size] for needle in counts}
        self._sizes = tuple({len(start) for start in self._starts})

    def best(self, path: str, best: int) -> int:
        """The best matching key, or *best*."""
        keys, texts = self._keys, self._texts
        if self.few:
            for number, needle in enumerate(self.few):
                if needle in path and matches(texts[number], path):
                    return min(best, keys[number])
            return best
        found, ends = self._find_needles(path), self._ends
        tried = [number for index in found for number in range(ends[index], ends[index + 1])]
        better = (number for number in tried if keys[number] < best)
        for number in self._matching(better, path, sum(len(texts[number]) for number in tried)):
            best = keys[number]
        return best

    def _matching(self, numbers: Iterable[int], path: str, size: int) -> Iterable[int]:
        """The patterns that match a path, of some with *size* characters in all."""
        if size * len(path) <= _HEAVY:
            return (number for number in numbers if matches(self._texts[number], path))
        if self._literals is None:
            self._literals = Literals(self._texts)
        return Places(path, self._literals).matching(numbers)

    def _find_needles(self, path: str) -> set[int]:
        """The needles that a path contains."""
        needles, parents = self._needles, self._parents
        found: set[int] = set()
        for size in self._sizes:
            parts = [path[at : at + size] for at in range(len(path) - size + 1)]
            starts = self._starts.intersection(parts)
            for at in (at for at, part in enumerate(parts) if part in starts) if starts else ():
                text = path[at : at + _NEEDLE]
                index = bisect_right(needles, text) - 1
                while index >= 0 and index not in found:
                    if text.startswith(needles[index]):
                        found.add(index)
                    index = -1 if parents is None else parents[index]
        return found


def needle_of(text: str) -> str:
    """The longest literal of a pattern, without its leading slash."""
    return max(text[1:].split("*"), key=len)


def with_end(text: str) -> str:
    """A pattern with ``END`` for its anchor, and without needless stars."""
    if "**" in text:
        text = _STARS.sub("*", text)
    if text.endswith("$"):
        return text[:-2] if text.endswith("*$") else text[:-1] + END
    return text.removesuffix("*")


def matching(patterns: Sequence[str], path: str) -> Iterable[int]:
    """The indexes of the patterns that match a path, as ``patterns.matches`` decides."""
    texts = list(map(with_end, patterns))
    path += END
    if sum(map(len, texts)) * len(path) > _HEAVY:
        return Places(path, Literals(texts)).matching(range(len(texts)))
    return (index for index, text in enumerate(texts) if matches(text, path))
