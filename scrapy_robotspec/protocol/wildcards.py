"""Many wildcard patterns at once: which is the best that matches a path?

Patterns come with a rank, an integer that is better the smaller it is; what ranks mean is
``ruleset.py``'s. Each pattern has a needle, its longest literal, which stands in every path that
it matches. Nearly all patterns are ruled out by their needle alone.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.patterns import literals_of, matches

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: A pattern's rank, and the pattern in its one form; it has a star.
Ranked = tuple[int, str]

#: Needles are tried one by one below this number; from it on the index costs less.
INDEX_FROM = 64
#: Three characters behind a delimiter, or any four; they may overlap.
_DELIMITED = re.compile(r"[/?&=._-](?=(...))", re.DOTALL)
_ANY = re.compile("(?=(....))", re.DOTALL)
_GRAM = 4
#: Such parts of a needle among which the rarest is chosen.
_TRIED = 8
#: Needles that may share a part behind a delimiter.
_SHARING = 16
#: So many needles are searched for one by one before a path's parts are sorted.
_FEW = 32
#: A path of more characters is no URL that servers take; its parts would fill the memory.
_LONG = 8192
_PART = 256


def wildcards(patterns: Iterable[Ranked]) -> Wildcards:
    """The best structure for some patterns."""
    ordered = sorted(patterns)
    return IndexedWildcards(ordered) if len(ordered) >= INDEX_FROM else Wildcards(ordered)


class Wildcards:
    """Patterns in order of rank."""

    __slots__ = ("_needles", "_ranks", "_texts")

    def __init__(self, ordered: Sequence[Ranked]) -> None:
        self._ranks = array("q", [rank for rank, _ in ordered])
        self._needles: list[str] = []  # one for each pattern
        self._texts: list[str] = []  # empty where the needle is all there is to it
        for _, text in ordered:
            needle = _only_contains(text)
            self._texts.append("" if needle else text)
            self._needles.append(needle or self._needle(text))

    def glance(self) -> Sequence[str]:
        """Texts of which at least one stands in every path that a pattern matches."""
        return self._needles

    def _needle(self, text: str) -> str:
        """The longest literal, but for the first, which is known to be there already."""
        return max(literals_of(text)[1:], key=len)

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

    __slots__ = ("_heads",)

    def __init__(self, ordered: Sequence[tuple[int, int, str]]) -> None:
        super().__init__([(rank, text) for _, rank, text in ordered])
        self._heads = array("i", [head for head, _, _ in ordered])

    def best_under(self, head: int, parents: Sequence[int] | None, path: str, best: int) -> int:
        """The rank of the best pattern that matches a path, or ``best`` if none is better.

        ``head`` is the longest prefix that the path starts with.
        """
        heads = self._heads
        while head >= 0:
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
    patterns. Where they can, needles are known by what follows a delimiter, because a path has few
    delimiters. It also bounds what a hostile file can cost: see :class:`_Parts`.
    """

    __slots__ = ("_anywhere", "_delimited", "_others", "_sizes")

    def __init__(self, ordered: Sequence[Ranked]) -> None:
        super().__init__(ordered)
        self._delimited: dict[str, list[int]] = {}
        self._anywhere: dict[str, list[int]] = {}
        others = [
            (index, needle)
            for index, needle in enumerate(self._needles)
            if not _enter(self._delimited, index, _DELIMITED.findall(needle), _SHARING)
        ]
        if len(others) >= _FEW:  # those too short for a gram may still be few
            few = [other for other in others if len(other[1]) < _GRAM]
        else:
            few = others
        self._others = few if len(few) < _FEW else []
        alone = {index for index, _ in self._others}
        for index, needle in others:
            if index not in alone:
                _enter(self._anywhere, index, _ANY.findall(needle) or [needle])
        self._sizes = tuple({len(gram) for gram in self._anywhere})

    def glance(self) -> Sequence[str]:
        """Texts of which at least one stands in every path that a pattern matches."""
        return ("",)  # too many to look for

    def _needle(self, text: str) -> str:
        """The longest literal."""
        return max(literals_of(text), key=len)

    def best(self, path: str, best: int) -> int:
        """The rank of the best pattern that matches a path, or ``best`` if none is better."""
        candidates = sorted(self._candidates(path))
        parts = _Parts(path) if len(candidates) > _FEW and len(path) < _LONG else None
        for index in candidates:
            if self._ranks[index] > best:
                break
            if parts is None:
                possible = self._needles[index] in path
            else:
                text = self._texts[index] or self._needles[index]
                possible = all(map(parts.contain, literals_of(text)))
            if possible and self._matches(index, path):
                return self._ranks[index]
        return best

    def _candidates(self, path: str) -> list[int]:
        """The patterns that a part of their needles does not rule out."""
        found = [index for index, needle in self._others if needle in path]
        for gram in self._delimited.keys() & _DELIMITED.findall(path):
            found += self._delimited[gram]
        for size in self._sizes:
            grams = {path[place : place + size] for place in range(len(path) - size + 1)}
            for gram in self._anywhere.keys() & grams:
                found += self._anywhere[gram]
        return found


class _Parts:
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


def _only_contains(text: str) -> str:
    """The one literal that a path has only to hold somewhere, if a pattern asks for no more.

    A path begins with a slash, so ``/*`` asks for no more than ``*`` does, unless another slash
    follows.
    """
    head, _, tail = text.partition("*")
    if "*" in tail or tail.endswith("$") or len(head) > 1:
        return ""
    return "" if head and tail.startswith("/") else tail


def _enter(
    index: dict[str, list[int]], number: int, grams: Sequence[str], most: int | None = None
) -> bool:
    """Enter a needle under its rarest gram, unless ``most`` others share even that."""
    for gram in grams:
        if gram not in index:
            index[gram] = [number]
            return True
    fewest = min((index[gram] for gram in grams[-_TRIED:]), key=len, default=None)
    if fewest is None or (most is not None and len(fewest) >= most):
        return False
    fewest.append(number)
    return True
