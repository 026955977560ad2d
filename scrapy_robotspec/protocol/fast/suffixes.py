"""One path indexed for many patterns (PAT-11).

A search for a text that is nearly there, or that is there only before the place it is needed at,
takes the product of both lengths. Here the places of each literal are looked up once, and a pattern
costs a few steps for each of its literals.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The places of all parts of a length are learned together: up to the length _SHORT at once, else
#: after one literal of the length for each _RARE characters of the path; max parts.
_SHORT = 3
_RARE = 4
_PARTS = 1 << 17
#: Max numbers of short parts: their next end is stored for each character of the path.
_NEXT_ENDS = 1 << 20
#: Max length of the beginnings of suffixes that are kept (characters), and of all of them together.
_BEGINNING = 256
_ALL = 1 << 23
#: Sorts after every character of a canonical path, which is ASCII.
_LAST = "\x80"
#: In a text of this length (characters) CPython searches in linear time.
_LINEAR = 30_000

#: The first literal of a pattern, the others, and the length of all of them.
Split = tuple[str, list[str], int]


class Splits(dict[str, Split]):
    """Patterns -> their literals."""

    def __missing__(self, text: str) -> Split:
        first, *others = text.split("*")
        split = self[text] = first, others or [""], len(text) - len(others)
        return split


class SuffixIndex(dict[str, "Sequence[int]"]):
    """Sorted places of literals in a path, then one after it."""

    def __init__(self, path: str, splits: Splits) -> None:
        super().__init__()
        self._path = path
        self._splits = splits
        self._padded = path + "\0" * _LINEAR  # no literal contains NUL
        self._never = len(path) + 1  # the place after the last
        self._nowhere: Sequence[int] = (-self._never, self._never)
        self._next_ends: dict[str, array[int]] = {}
        self._looked_up: Counter[int] = Counter()  # by length
        self._learned: set[int] = set()  # lengths
        self._beginning = max(_SHORT, min(_BEGINNING, _ALL // len(path)))

    def matches(self, text: str) -> bool:
        """Whether a pattern matches the path, as ``wildcards.matches`` decides."""
        # hot path of hostile files
        first, others, length = self._splits[text]
        end = len(first)
        places = self[others[-1]]
        last = places[-2] if places else len(self._path) - len(others[-1])
        limit = last + len(others[-1]) - length + end  # leaves room for the other literals
        if limit < end or not self._path.startswith(first):
            return False
        for literal in others:
            if ends := self._next_ends.get(literal):
                end = ends[end]
            elif places := self[literal]:
                end = places[bisect_left(places, end)] + len(literal)
            else:
                place = self._padded.find(literal, end)
                end = self._never if place < 0 else place + len(literal)
            limit += len(literal)
            if end > limit:
                return False
        return True

    def __missing__(self, literal: str) -> Sequence[int]:
        length = len(literal)
        if length not in self._learned:
            self._looked_up[length] += 1
            often = length <= _SHORT or self._looked_up[length] * _RARE > len(self._path)
            if not often or len(self._learned) >= _PARTS // len(self._path):
                return self.setdefault(literal, self._find(literal))
            self._learn(length)
        return self.setdefault(literal, self._nowhere)

    def _learn(self, length: int) -> None:
        """Learn the places of all parts of the path with a length."""
        size = len(self._path)
        self._learned.add(length)
        parts: dict[str, list[int]] = defaultdict(list)
        for at in range(size - length + 1):
            parts[self._path[at : at + length]].append(at)
        few = length <= _SHORT and len(parts) * size <= _NEXT_ENDS
        for part, places in parts.items():
            places.append(self._never)
            if few:
                self._next_ends[part] = ends = array("i")
                for place in places:
                    ends += array("i", [place + length]) * (place + 1 - len(ends))
        self.update(parts)

    def _find(self, literal: str) -> Sequence[int]:
        """A literal's places among the sorted suffixes; none if it is long."""
        if len(literal) > self._beginning:
            return ()
        suffixes, offsets = self._suffixes
        low = bisect_left(suffixes, literal)
        if not suffixes[low].startswith(literal):
            return self._nowhere
        if not suffixes[low + 1].startswith(literal):
            return offsets[low], self._never
        high = bisect_left(suffixes, literal + _LAST, low)
        return [*sorted(offsets[low:high]), self._never]

    @cached_property
    def _suffixes(self) -> tuple[list[str], list[int]]:
        """The sorted beginnings of all suffixes, two that nothing begins, and offsets."""
        suffixes = [self._path[at : at + self._beginning] for at in range(self._never)]
        offsets = sorted(range(len(suffixes)), key=suffixes.__getitem__)
        return [*(suffixes[at] for at in offsets), _LAST, _LAST], offsets
