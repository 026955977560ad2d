"""Wildcard patterns: the best of them that matches a path.

Here a pattern's final ``$`` is ``END``, and so is the end of a path: an anchored literal is one
more literal to search for.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.fast.literals import Literals, matches
from scrapy_robotspec.protocol.fast.needles import Needles, needle_of
from scrapy_robotspec.protocol.fast.places import Places

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

#: Stands for the path's end, so that ``/a$`` is the prefix ``/a#``. Neither a rule nor a path
#: contains it: there a comment begins, here the fragment.
END = "#"

#: From this many patterns on, needles are looked up instead of tried one by one.
INDEX_FROM = 64
#: From this product of the characters of patterns and of the path on, searches need a bound
#: (PAT-11).
_HEAVY = 1 << 23
#: From this length of a path on (characters), the needles of some patterns are tried before all
#: are looked up, to know whether that would rule out most patterns.
_LONG = 1_000
_SAMPLE = 64
_STARS = re.compile(r"\*+")


class Wildcards:
    """Patterns in order of precedence: the first that matches is the best."""

    __slots__ = ("_keys", "_literals", "_needles", "_size", "_texts", "few")

    few: Sequence[str]
    """Needles of the patterns in order of precedence; none if there are many patterns."""

    def __init__(self, patterns: Mapping[str, int]) -> None:
        self._texts = tuple(sorted(patterns, key=patterns.__getitem__))
        self._keys = array("q", map(patterns.__getitem__, self._texts))
        few = len(self._texts) < INDEX_FROM
        self.few = tuple(map(needle_of, self._texts)) if few else ()
        self._size = sum(map(len, self._texts))
        self._needles: Needles | None = None  # until many patterns are tried
        self._literals: Literals | None = None  # until a path makes many searches

    def best(self, path: str, best: int) -> int:
        """The best matching key, or *best*."""
        keys, texts = self._keys, self._texts
        if self.few:
            for number, needle in enumerate(self.few):
                if needle in path and matches(texts[number], path):
                    return min(best, keys[number])
            return best
        better = bisect_left(keys, best)
        return next((keys[number] for number in self._matching(path, better)), best)

    def _matching(self, path: str, end: int) -> Iterable[int]:
        """The patterns before *end* that match a path, in order."""
        texts = self._texts
        light = len(path) < _LONG or self._size * len(path) <= _HEAVY
        if light or self._needles_rule_out(path):
            if self._needles is None:
                self._needles = Needles(texts)
            tried = [number for number in self._needles.patterns_in(path) if number < end]
            if sum(len(texts[number]) for number in tried) * len(path) <= _HEAVY:
                return (number for number in tried if matches(texts[number], path))
        if self._literals is None:
            self._literals = Literals(texts)
        return Places(path, self._literals).matching(end)

    def _needles_rule_out(self, path: str) -> bool:
        """Whether a path lacks the needles of most patterns: of some, if there are many."""
        some = self._texts[:: 1 + len(self._texts) // _SAMPLE]
        return sum(needle_of(text) in path for text in some) * 4 < len(some)


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
        return Places(path, Literals(texts)).matching(len(texts))
    return (index for index, text in enumerate(texts) if matches(text, path))
