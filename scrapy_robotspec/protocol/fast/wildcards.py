"""Many wildcard patterns at once: which is the best that matches a path?

Patterns come with a rank, an integer that is better the smaller it is; what ranks mean is
``ruleset.py``'s. Each pattern has a needle, its longest literal, which stands in every path that
it matches. Nearly all patterns are ruled out by their needle alone.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections import Counter
from itertools import accumulate, chain
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.patterns import literals_of, matches

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: A pattern's rank, and the pattern in its one form; it has a star.
KeyedPattern = tuple[int, str]

#: The patterns with a gram; mostly one, so mostly no list is made.
_Index = dict[str, "tuple[int] | list[int]"]

#: Needles are tried one by one below this number; from it on the index costs less.
INDEX_FROM = 64
#: From this number on needles share so much that three characters tell too few apart.
_MANY = 1024
#: Three characters, or four, of which the first is a delimiter; three of which it is no frequent
#: letter; or any four. They may overlap. A path has few of the first kinds, and more of each that
#: follows.
_DELIMITED = re.compile(r"(?=([/?&=._-]..))", re.DOTALL)
_LONGER = re.compile(r"(?=([/?&=._-]...))", re.DOTALL)
_RARE = re.compile(r"(?=([^aeilnorst]..))", re.DOTALL)
_ANY = re.compile("(?=(....))", re.DOTALL)
_GRAM = 4
#: Such parts of a needle among which the rarest is chosen.
_TRIED = 8
#: Needles that may share three such characters.
_SHARING = 16
#: Needles without such are searched for one by one below this number.
_FEW = 32
#: Patterns that may share a literal that tells enough.
_FEW_SHARE = 4
#: From this number on patterns are not compared with each other: no honest file has so many.
_VERY_MANY = 8192
#: Needles times characters of the path, from which on the path's parts are sorted.
_DEAR = 1 << 14
#: A path of more characters is no URL that servers take; its parts would fill the memory.
_LONG = 8192
_PART = 256


def wildcards(patterns: Iterable[KeyedPattern]) -> Wildcards:
    """The best structure for some patterns."""
    ordered = sorted(patterns)
    return IndexedWildcards(ordered) if len(ordered) >= INDEX_FROM else Wildcards(ordered)


class _Texts:
    """Many short texts kept as one: a third of their memory."""

    __slots__ = ("ends", "joined")

    def __init__(self, texts: Iterable[str]) -> None:
        texts = list(texts)
        self.joined = "".join(texts)
        self.ends = array("I", accumulate(map(len, texts), initial=0))

    def __getitem__(self, index: int) -> str:
        return self.joined[self.ends[index] : self.ends[index + 1]]


class Wildcards:
    """Patterns in order of rank."""

    __slots__ = ("_needles", "_ranks", "_texts")

    def __init__(self, ordered: Sequence[KeyedPattern]) -> None:
        needles, texts = [], []
        for _, text in ordered:
            needle, is_all = _needle_of(text)
            needles.append(needle)
            texts.append("" if is_all else text)
        self._ranks = array("q", [rank for rank, _ in ordered])
        self._needles = needles
        self._texts = _Texts(texts)  # empty where the needle is all there is to it

    def glance(self) -> Sequence[str]:
        """Texts of which at least one stands in every path that a pattern matches."""
        return self._needles

    def best(self, path: str, best: int) -> int:
        """The rank of the best pattern that matches a path, or ``best`` if none is better."""
        ranks = self._ranks
        if ranks[0] > best:
            return best
        for index, needle in enumerate(self._needles):
            if needle in path:
                if ranks[index] > best:
                    return best
                if self._matches(index, path):
                    return ranks[index]
        return best

    def _matches(self, index: int, path: str) -> bool:
        """Whether a pattern matches, whose needle is known to be there."""
        text = self._texts[index]
        return not text or matches(text, path)


class HeadedWildcards(Wildcards):
    """Patterns whose first literals are among sorted prefixes, known by the prefix's index.

    What it buys: a pattern such as ``/shop/*sort=`` costs nothing for a path outside ``/shop/``.
    """

    __slots__ = ("_heads", "under")

    under: bytes
    """For each prefix, whether it or one that it starts with is the first literal of a pattern."""

    def __init__(self, ordered: Sequence[tuple[int, int, str]], parents: Sequence[int]) -> None:
        super().__init__([(rank, text) for _, rank, text in ordered])
        self._heads = array("i", [head for head, _, _ in ordered])
        under = bytearray(len(parents))
        for head in self._heads:
            under[head] = True
        for index, parent in enumerate(parents):
            if parent >= 0 and under[parent]:
                under[index] = True
        self.under = bytes(under)

    def best_under(self, head: int, parents: Sequence[int] | None, path: str, best: int) -> int:
        """The rank of the best pattern that matches a path, or ``best`` if none is better.

        ``head`` is the longest prefix that the path starts with.
        """
        heads = self._heads
        while head >= 0 and self.under[head]:
            index = bisect_left(heads, head)
            while index < len(heads) and heads[index] == head and self._ranks[index] < best:
                if self._needles[index] in path and self._matches(index, path):
                    best = self._ranks[index]
                index += 1
            head = -1 if parents is None else parents[head]
        return best


class IndexedWildcards(Wildcards):
    """Very many patterns, found by a few characters of their needles.

    What it buys: the cost of a verdict follows the length of the path and no longer the number of
    patterns. Where they can, needles are known by three characters that begin with a delimiter, or
    else with any but a frequent letter, because a path has few of these. It also bounds what a
    hostile file can cost: see :class:`SuffixIndex`.
    """

    __slots__ = ("_anywhere", "_grams", "_index", "_longest", "_others", "_sizes")

    def __init__(self, ordered: Sequence[KeyedPattern]) -> None:
        if len(ordered) < _VERY_MANY:
            needles = selective_literals([literals_of(text) for _, text in ordered])
        else:
            needles = [max(literals_of(text), key=len) for _, text in ordered]
        self._ranks = array("q", [rank for rank, _ in ordered])
        self._needles = [""]  # too many to glance at
        self._longest = needles
        self._texts = _Texts(text for _, text in ordered)
        self._anywhere: _Index = {}
        for kind in (_DELIMITED if len(needles) < _MANY else _LONGER, _RARE):
            self._grams = kind.findall
            self._index: _Index = {}
            others = [
                (index, needle)
                for index, needle in enumerate(needles)
                if not add_to_index(self._index, index, kind.findall(needle), _SHARING)
            ]
            if len(others) < _FEW:
                break
        if len(others) >= _FEW:  # those too short for a gram may still be few
            few = [other for other in others if len(other[1]) < _GRAM]
        else:
            few = others
        self._others = few if len(few) < _FEW else []
        alone = {index for index, _ in self._others}
        for index, needle in others:
            if index not in alone:
                add_to_index(self._anywhere, index, _ANY.findall(needle) or [needle])
        self._sizes = tuple({len(gram) for gram in self._anywhere})

    def best(self, path: str, best: int) -> int:
        """The rank of the best pattern that matches a path, or ``best`` if none is better."""
        found = self._candidates(path)
        parts = None
        if len(found) * len(path) > _DEAR and len(path) < _LONG:
            parts = SuffixIndex(path)
        else:
            longest = self._longest
            found = [index for index in found if longest[index] in path]
        found.sort()
        for index in found:
            if self._ranks[index] > best:
                break
            text = self._texts[index]
            possible = parts is None or all(map(parts.contain, literals_of(text)))
            if possible and matches(text, path):
                return self._ranks[index]
        return best

    def _candidates(self, path: str) -> list[int]:
        """The patterns that a part of their needles does not rule out."""
        found = [index for index, needle in self._others if needle in path]
        for gram in self._index.keys() & self._grams(path):
            found += self._index[gram]
        for size in self._sizes:
            grams = {path[place : place + size] for place in range(len(path) - size + 1)}
            for gram in self._anywhere.keys() & grams:
                found += self._anywhere[gram]
        return found


class SuffixIndex:
    """All parts of a path, sorted, so that a part is found in a few steps.

    What it buys: a search for a needle that is nearly there, over and over, takes time in the
    product of both lengths. A file of ten thousand such needles would hold the crawl for seconds.
    """

    __slots__ = ("_sorted",)

    def __init__(self, path: str) -> None:
        self._sorted = sorted(path[place : place + _PART] for place in range(len(path)))

    def contain(self, literal: str) -> bool:
        """Whether a literal stands in the path; of a very long one, whether its parts do."""
        return all(
            self._contain_part(literal[place : place + _PART])
            for place in range(0, len(literal), _PART)
        )

    def _contain_part(self, part: str) -> bool:
        index = bisect_left(self._sorted, part)
        return index < len(self._sorted) and self._sorted[index].startswith(part)


def selective_literals(patterns: Sequence[Sequence[str]]) -> list[str]:
    """Of each pattern's literals the longest that few others have: not all the ``.html``."""
    shared = Counter(chain.from_iterable(patterns))
    needles = []
    for literals in patterns:
        needle = max(literals, key=len)
        if shared[needle] > _FEW_SHARE:
            few = [literal for literal in literals if shared[literal] <= _FEW_SHARE]
            needle = max(few, key=len, default="") or needle
        needles.append(needle)
    return needles


def _needle_of(text: str) -> tuple[str, bool]:
    """The longest literal but for the first, and whether a path has only to hold it somewhere.

    The first is known to be there already. A path begins with a slash, so ``/*`` asks for no more
    than ``*`` does, unless another slash follows.
    """
    first, *others = literals_of(text)
    if len(others) > 1:
        return max(others, key=len), False
    needle = others[0]
    is_all = len(first) < 2 and text[-1] != "$" and not (first and needle.startswith("/"))
    return needle, is_all


def add_to_index(index: _Index, number: int, grams: Sequence[str], most: int | None = None) -> bool:
    """Enter a needle under its rarest gram, unless ``most`` others share even that."""
    for gram in grams:
        if gram not in index:
            index[gram] = (number,)
            return True
    rarest = min(grams[-_TRIED:], key=lambda gram: len(index[gram]), default=None)
    if rarest is None or (most is not None and len(index[rarest]) >= most):
        return False
    shared = index[rarest]
    if isinstance(shared, tuple):
        index[rarest] = [*shared, number]
    else:
        shared.append(number)
    return True
