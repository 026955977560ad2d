"""Wildcard patterns: the best of them that matches a path.

The longest literal of a pattern, its needle, is in every path that the pattern matches. Nearly all
patterns are ruled out by their needle. Here a pattern's final ``$`` is ``END``, and so is the end
of a path: an anchored literal is one more literal to search for.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.fast.prefixes import parents_of
from scrapy_robotspec.protocol.fast.suffixes import SuffixIndex
from scrapy_robotspec.protocol.precedence import keyed_patterns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.groups import RawRule

#: Stands for the path's end, so that ``/a$`` is the prefix ``/a#``. Neither a rule nor a path
#: contains it: there a comment begins, here the fragment.
END = "#"

#: From this many patterns on, needles are looked up instead of tried one by one.
INDEX_FROM = 64
#: Max length of a needle that is looked up, and of its beginning that is looked up first
#: (characters).
_NEEDLE = 64
_START = 4
#: From this product of patterns and characters of the path on, searches need a bound (PAT-11).
_HEAVY = 1 << 14


class Wildcards:
    """Patterns with their precedence keys, by the needles that a path contains."""

    __slots__ = (
        *("_ends", "_finals", "_keys", "_needles", "_parents", "_sizes", "_starts", "_texts"),
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
        self._finals: dict[str, tuple[str, int]] = {}
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
        suffixes = SuffixIndex(path, self._finals) if len(tried) * len(path) > _HEAVY else None
        for number in tried:
            if keys[number] < best:
                text = texts[number]
                if suffixes.matches(text) if suffixes else matches(text, path):
                    best = keys[number]
        return best

    def _find_needles(self, path: str) -> set[int]:
        """The needles that a path contains."""
        needles, parents = self._needles, self._parents
        found: set[int] = set()
        for at in self._find_starts(path):
            text = path[at : at + _NEEDLE]
            index = bisect_right(needles, text) - 1
            while index >= 0 and index not in found:
                if text.startswith(needles[index]):
                    found.add(index)
                index = -1 if parents is None else parents[index]
        return found

    def _find_starts(self, path: str) -> Iterator[int]:
        """Places in a path where a needle may begin."""
        starts = self._starts
        for size in self._sizes:
            parts = [path[at : at + size] for at in range(len(path) - size + 1)]
            if not starts.isdisjoint(parts):
                yield from (at for at, part in enumerate(parts) if part in starts)


def needle_of(text: str) -> str:
    """The longest literal of a pattern, without its leading slash."""
    return max(text[1:].split("*"), key=len)


def matches(text: str, path: str) -> bool:
    """As ``patterns.matches``, for a pattern and a path with their ends."""
    first, *others = text.split("*")
    if not path.startswith(first):
        return False
    end = len(first)
    for literal in others:
        end = path.find(literal, end)
        if end < 0:
            return False
        end += len(literal)
    return True


def with_end(text: str) -> str:
    """A pattern with ``END`` for its anchor, and without a last star."""
    content = text[:-1]
    anchored = text.endswith("$") and not content.endswith("*")
    return content + END if anchored else content.rstrip("*")


def matching_keys(rules: Sequence[RawRule], path: str, edition: Edition) -> Iterator[int]:
    """The keys of all matching rules, as ``precedence.matching_keys``."""
    match = matcher(path, len(rules))
    return (key for key, text in keyed_patterns(rules, edition) if match(text))


def matcher(path: str, patterns: int) -> Callable[[str], bool]:
    """``patterns.matches`` for one path and a number of patterns."""
    path += END
    suffixes = SuffixIndex(path, {}) if patterns * len(path) > _HEAVY else None

    def match(text: str) -> bool:
        text = with_end(text) if text.endswith(("$", "*")) else text
        return suffixes.matches(text) if suffixes and "*" in text else matches(text, path)

    return match
