"""Sorted texts: binary search for prefixes and substrings of a path.

The last of the sorted texts that sort before a path either starts it or shares its beginning with
every other that does. So only that text, its longest own beginning among them (its parent), the
parent's parent and so on are candidates.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.patterns import parents_of

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Max length of a needle that is looked up, and of its beginning that is looked up first
#: (characters).
_NEEDLE = 32
_START = 4
#: Fewer beginnings than this are looked for one by one.
_FEW = 32


def needle_of(pattern: str) -> str:
    """The longest literal of a pattern, without its leading slash.

    A long one is cut. Every path that the pattern matches contains it, and nearly no other does.
    """
    first, _, rest = pattern[1:].partition("*")
    if "*" in rest:
        rest = max(rest.split("*"), key=len)
    return (rest if len(rest) > len(first) else first)[:_NEEDLE]


class Needles:
    """The needles of many patterns."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._numbers: dict[str, list[int]] = {}
        for number, pattern in enumerate(patterns):
            self._numbers.setdefault(needle_of(pattern), []).append(number)
        self._sorted = tuple(sorted(self._numbers))
        self._parents = parents_of(self._sorted)
        size = min([_START, *(len(needle) for needle in self._sorted if len(needle) > 1)])
        self._starts = {needle[:size] for needle in self._sorted}
        self._sizes = tuple({len(start) for start in self._starts})

    def patterns_in(self, path: str) -> list[int]:
        """The numbers of the patterns whose needle a path contains."""
        needles, parents, starts = self._sorted, self._parents, self._starts
        if len(starts) < _FEW and not any(map(path.__contains__, starts)):
            return []
        found: dict[int, None] = {}
        for size in self._sizes:
            places = range(len(path) - size + 1)
            for at in [at for at in places if path[at : at + size] in starts]:  # nearly always none
                text = path[at : at + _NEEDLE]
                index = bisect_right(needles, text) - 1
                while index >= 0 and index not in found:
                    if text.startswith(needles[index]):
                        found[index] = None
                    index = -1 if parents is None else parents[index]
        return [number for index in found for number in self._numbers[needles[index]]]
