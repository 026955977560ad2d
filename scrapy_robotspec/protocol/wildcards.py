"""Many wildcard patterns at once: which is the best that matches a path?

Patterns come with a rank, an integer that is better the smaller it is; what ranks mean is
``ruleset.py``'s. Each pattern has a needle, its longest literal, which stands in every path that
it matches. Nearly all patterns are ruled out by their needle alone.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.patterns import Pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

#: A pattern's rank, and the pattern in its one form with its stars and its anchor.
Ranked = tuple[int, str]

#: Needles are tried one by one below this number; from it on the index costs less.
INDEX_FROM = 64
#: Characters of a needle that the index knows it by.
_GRAM = 4
#: Grams of a needle among which the rarest is chosen.
_TRIED = 8
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
        self._needles = [_needle(text) for _, text in ordered]
        # Where the needle is all there is to it, one text serves as both.
        self._texts = [
            needle if _only_contains(text, needle) else text
            for (_, text), needle in zip(ordered, self._needles, strict=True)
        ]

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
        return text is self._needles[index] or as_pattern(text).matches(path)


class HeadedWildcards(Wildcards):
    """Patterns whose first literals are among sorted prefixes, known by the prefix's index.

    What it buys: a pattern such as ``/shop/*sort=`` costs nothing for a path outside ``/shop/``.
    """

    __slots__ = ("_heads",)

    def __init__(self, ordered: Sequence[tuple[int, int, str]]) -> None:
        super().__init__([(rank, text) for _, rank, text in ordered])
        self._heads = array("i", [head for head, _, _ in ordered])

    def best_under(self, heads: Iterable[int], path: str, best: int) -> int:
        """The rank of the best pattern with one of some heads that matches a path, or ``best``."""
        for head in heads:
            first = bisect_left(self._heads, head)
            for index in range(first, bisect_right(self._heads, head, first)):
                if self._ranks[index] >= best:
                    break
                if self._needles[index] in path and self._matches(index, path):
                    best = self._ranks[index]
        return best


class IndexedWildcards(Wildcards):
    """Very many patterns, found by four characters of their needles.

    What it buys: the cost of a verdict follows the length of the path and no longer the number of
    patterns. It also bounds what a hostile file can cost: see :class:`_Parts`.
    """

    __slots__ = ("_by_gram", "_sizes")

    def __init__(self, ordered: Sequence[Ranked]) -> None:
        super().__init__(ordered)
        self._by_gram = _index(self._needles)
        self._sizes = tuple({len(gram) for gram in self._by_gram})

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
                possible = all(map(parts.contain, _literals(self._texts[index])))
            if possible and self._matches(index, path):
                return self._ranks[index]
        return best

    def _candidates(self, path: str) -> Iterator[int]:
        """The patterns of whose needle at least four characters stand in the path."""
        for size in self._sizes:
            grams = {path[place : place + size] for place in range(len(path) - size + 1)}
            for gram in self._by_gram.keys() & grams:
                yield from self._by_gram[gram]


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


def as_pattern(text: str) -> Pattern:
    """A pattern as text, ready to match alone; its length does not count here."""
    anchored = text.endswith("$")
    return Pattern(tuple(_literals(text)), anchored, 0)


def _literals(text: str) -> list[str]:
    return text.removesuffix("$").split("*")


def _needle(text: str) -> str:
    return max(_literals(text), key=len)


def _only_contains(text: str, needle: str) -> bool:
    """Whether a path matches as soon as the needle stands anywhere in it.

    A path begins with a slash, so ``/*`` asks for no more than ``*`` does, unless another slash
    follows.
    """
    return text == "*" + needle or (text == "/*" + needle and not needle.startswith("/"))


def _index(needles: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Each needle's rarest gram -> the indices of the needles known by it."""
    grams = [_grams(needle) for needle in needles]
    frequency = Counter(gram for some in grams for gram in some)
    found: dict[str, list[int]] = {}
    for index, some in enumerate(grams):
        found.setdefault(min(some, key=frequency.__getitem__), []).append(index)
    return {gram: tuple(indices) for gram, indices in found.items()}


def _grams(needle: str) -> set[str]:
    """Some parts of a needle of ``_GRAM`` characters, or a shorter needle itself."""
    last = len(needle) - _GRAM
    if last <= 0:
        return {needle}
    return {needle[place : place + _GRAM] for place in range(0, last + 1, 1 + last // _TRIED)}
