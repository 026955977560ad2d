"""One path indexed for many patterns (PAT-11).

A search for a text that is nearly there, or that is there only before the place it is needed at,
takes the product of both lengths. Here the places of each literal are looked up once, and a pattern
costs a few steps for each of its literals.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: The places of all parts of a length are learned together: up to the length _SHORT at once, else
#: after one literal of the length for each _RARE characters of the path; max parts.
_SHORT = 3
_RARE = 4
_PARTS = 1 << 17
#: Of short parts the next end is stored for each character of the path; max such numbers.
_NEXT_ENDS = 1 << 20
#: Max length of the beginnings of suffixes that are kept (characters), and of all of them together.
_BEGINNING = 256
_ALL = 1 << 23
#: The places of more suffixes than this are sorted in blocks that literals share.
_BLOCK = 512
#: Sorts after every character of a canonical path, which is ASCII.
_LAST = "\x80"
#: In a text of this length (characters) CPython searches in linear time.
_LINEAR = 30_000

#: The first literal of a pattern, the others, and the length of all of them.
Split = tuple[str, list[str], int]


class SuffixIndex:
    """Places of literals in a path."""

    def __init__(self, path: str, split: dict[str, Split]) -> None:
        """*split* caches the literals of each pattern."""
        self._path = path
        self._split = split
        self._padded = path + "\0" * _LINEAR  # no literal contains NUL
        self._never = len(path) + 1  # the place after the last
        self._nowhere = -len(path) - 1, self._never
        self._next_ends: dict[str, array[int]] = {}
        self._places: dict[str, Sequence[int]] = {}  # sorted, then _never; empty for blocks
        self._blocks: dict[str, list[Sequence[int]]] = {}
        self._looked_up: Counter[int] = Counter()  # by length
        self._learned: set[int] = set()  # lengths
        self._beginning = max(_SHORT, min(_BEGINNING, _ALL // len(path)))
        self._suffixes: list[str] = []
        self._offsets: list[int] = []
        self._sorted: dict[tuple[int, int], list[int]] = {}

    def matches(self, text: str) -> bool:
        """Whether a pattern matches the path, as ``wildcards.matches`` decides."""
        # hot path of hostile files
        first, others, length = self._split.get(text) or self._split_text(text)
        places = self._places.get(others[-1]) or self._look_up(others[-1])
        last = places[-2] if places else max(block[-2] for block in self._blocks[others[-1]])
        end = len(first)
        limit = last + len(others[-1]) - length + end  # leaves room for the other literals
        if limit < end or not self._path.startswith(first):
            return False
        for literal in others:
            ends = self._next_ends.get(literal)
            if ends is not None:
                end = ends[end]
            elif places := self._places.get(literal) or self._look_up(literal):
                end = places[bisect_left(places, end)] + len(literal)
            else:
                end = self._find_end(literal, end)
            limit += len(literal)
            if end > limit:
                return False
        return True

    def _split_text(self, text: str) -> Split:
        first, *others = text.split("*")
        self._split[text] = split = first, others or [""], len(text) - len(others)
        return split

    def _find_end(self, literal: str, begin: int) -> int:
        """The end of a literal's first place from an offset on, or a greater number."""
        if len(literal) > self._beginning:
            place = self._padded.find(literal, begin)
            return self._never if place < 0 else place + len(literal)
        nexts = (block[bisect_left(block, begin)] for block in self._blocks[literal])
        return min(nexts) + len(literal)

    def _look_up(self, literal: str) -> Sequence[int]:
        """Learn the places of a literal; empty if they are in blocks."""
        length = len(literal)
        if length not in self._learned and not self._places.get(literal):
            self._looked_up[length] += 1
            if length <= _SHORT or self._looked_up[length] * _RARE > len(self._path):
                self._learn(length)
            if length not in self._learned and literal not in self._places:
                blocks = list(self._find_blocks(literal))
                self._blocks[literal] = blocks
                self._places[literal] = [*blocks, self._nowhere][0] if len(blocks) < 2 else ()
        return self._places.get(literal, self._nowhere)

    def _learn(self, length: int) -> None:
        """Learn the places of all parts of the path with a length, unless there are too many."""
        size = len(self._path)
        if length in self._learned or (len(self._learned) + 1) * size > _PARTS:
            return
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
        self._places.update(parts)

    def _find_blocks(self, literal: str) -> Iterator[Sequence[int]]:
        """The places of the suffixes that begin with a literal, in blocks."""
        if len(literal) > self._beginning:  # in two, so that it is searched for
            yield from [(len(self._path) - len(literal), self._never)] * 2
            return
        if not self._suffixes:
            suffixes = [self._path[at : at + self._beginning] for at in range(len(self._path))]
            self._offsets = sorted(range(len(suffixes)), key=suffixes.__getitem__)
            self._suffixes = [suffixes[at] for at in self._offsets]
        low = bisect_left(self._suffixes, literal)
        high = bisect_left(self._suffixes, literal + _LAST, low)
        while low < high:
            size = _BLOCK - low % _BLOCK
            while low % (2 * size) == 0 and low + 2 * size <= high:
                size *= 2
            span = low, min(low + size, high)
            if span not in self._sorted:
                self._sorted[span] = [*sorted(self._offsets[slice(*span)]), self._never]
            yield self._sorted[span]
            low += size
