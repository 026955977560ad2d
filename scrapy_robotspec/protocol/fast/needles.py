"""The longest literals of many patterns, looked up in a path.

The longest literal of a pattern, its needle, is in every path that the pattern matches. Nearly all
patterns are ruled out by their needle.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.fast.prefixes import parents_of

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Max length of a needle that is looked up, and of its beginning that is looked up first
#: (characters).
_NEEDLE = 32
_START = 4


def needle_of(text: str) -> str:
    """The longest literal of a pattern, without its leading slash."""
    return max(text[1:].split("*"), key=len)


class Needles:
    """The sorted needles of many patterns."""

    __slots__ = ("_ends", "_numbers", "_parents", "_sizes", "_sorted", "_starts")

    def __init__(self, patterns: Sequence[str]) -> None:
        needles = [needle_of(text)[:_NEEDLE] for text in patterns]
        counts = Counter(needles)
        self._sorted = tuple(sorted(counts))
        # The patterns in the order of their needles, and the end of each needle's patterns.
        self._numbers = array("i", sorted(range(len(needles)), key=needles.__getitem__))
        self._ends = array("i", accumulate(map(counts.__getitem__, self._sorted), initial=0))
        self._parents = parents_of(self._sorted)
        size = min([_START, *(len(needle) for needle in counts if len(needle) > 1)])
        self._starts = {needle[:size] for needle in counts}
        self._sizes = tuple({len(start) for start in self._starts})

    def patterns_in(self, path: str) -> list[int]:
        """The numbers of the patterns whose needle a path contains, in order."""
        numbers, ends = self._numbers, self._ends
        return sorted(
            number for index in self.find(path) for number in numbers[ends[index] : ends[index + 1]]
        )

    def find(self, path: str) -> set[int]:
        """The indexes of the needles that a path contains."""
        needles, parents = self._sorted, self._parents
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
