"""Sorted prefixes: which of many is the longest that a path starts with?

What it buys: one binary search in C instead of a test of every rule, so a verdict costs about the
same with ten rules as with ten thousand. Of the prefixes that sort before a path, the last one
either starts it or shares its beginning with every other that does, so only the prefixes *of that
prefix* are left to try: its parent, the parent's parent, and so on.

Nothing here knows what a rule is.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import MutableSequence, Sequence

#: From this many prefixes on memory counts more than the last tenth of a microsecond.
_PACK_FROM = 32
_BLOCK = 4
#: Sorts before whatever may follow a prefix; see ``PackedPrefixes``.
_SEPARATOR = "\0"
_AFTER_SEPARATOR = "\1"


def sort_prefixes(prefixes: Sequence[str]) -> SortedPrefixes:
    """The best structure for distinct prefixes that are sorted already."""
    if len(prefixes) >= _PACK_FROM and _SEPARATOR not in "".join(prefixes):
        return PackedPrefixes(prefixes)
    return SortedPrefixes(prefixes)


def _parents(prefixes: Sequence[str]) -> array[int] | None:
    """For each prefix the index of the longest other it starts with, or -1.

    None when no prefix starts with another, which is usual: of two that do, the neighbours between
    them do too.
    """
    before = list(map(str.startswith, prefixes[1:], prefixes))
    if True not in before:
        return None
    parents = array("i", [-1])
    for index, starts in enumerate(before):  # the neighbour, or what that starts with, or ...
        parent = index
        while not starts and parent >= 0:
            parent = parents[parent]
            starts = parent >= 0 and prefixes[index + 1].startswith(prefixes[parent])
        parents.append(parent)
    return parents


class SortedPrefixes:
    """A sorted list of distinct prefixes."""

    __slots__ = ("parents", "texts")

    parents: array[int] | None
    """For each prefix the index of the longest other it starts with, or -1; None if all are."""
    texts: tuple[str, ...]
    """Of plain texts a tuple is, and a list is not, let alone by the garbage collector."""

    def __init__(self, prefixes: Sequence[str]) -> None:
        self.parents = _parents(prefixes)
        self.texts = self._keep(prefixes)

    def _keep(self, prefixes: Sequence[str]) -> tuple[str, ...]:
        return tuple(prefixes)

    def longest(self, path: str) -> int:
        """Index of the longest prefix that a path starts with, or -1."""
        index = bisect_right(self.texts, path) - 1
        while index >= 0 and not path.startswith(self.texts[index]):
            index = self.parent(index)
        return index

    def parent(self, index: int) -> int:
        """Index of the longest other prefix that this one starts with, or -1."""
        return -1 if self.parents is None else self.parents[index]

    def spread(self, values: MutableSequence[int]) -> None:
        """Give each prefix the smallest of its own value and those of all it starts with."""
        for index, parent in enumerate(self.parents or ()):
            if parent >= 0 and values[parent] < values[index]:
                values[index] = values[parent]


class PackedPrefixes(SortedPrefixes):
    """The same in blocks, each one text, for many prefixes: a third of the memory.

    A search takes one step more: among the blocks, then within one. Blocks compare as their first
    prefixes do, because the separator behind those sorts before any octet that may stand there.
    """

    __slots__ = ()

    def _keep(self, prefixes: Sequence[str]) -> tuple[str, ...]:
        return tuple(
            _SEPARATOR.join(prefixes[first : first + _BLOCK])
            for first in range(0, len(prefixes), _BLOCK)
        )

    def longest(self, path: str) -> int:
        """Index of the longest prefix that a path starts with, or -1."""
        if _SEPARATOR in path:  # no prefix has one
            path = path.partition(_SEPARATOR)[0]
        number = bisect_right(self.texts, path + _AFTER_SEPARATOR) - 1
        if number < 0:
            return -1
        block = self.texts[number].split(_SEPARATOR)
        place = bisect_right(block, path) - 1
        first = number * _BLOCK
        index = first + place
        if path.startswith(block[place]):
            return index
        parents = self.parents
        if parents is None:
            return -1
        index = parents[index]
        while index >= 0:
            prefix = block[index - first] if index >= first else self._prefix(index)
            if path.startswith(prefix):
                return index
            index = parents[index]
        return -1

    def _prefix(self, index: int) -> str:
        return self.texts[index // _BLOCK].split(_SEPARATOR)[index % _BLOCK]
