"""The literals of many patterns, and their places in a path (PAT-11).

A search for a text that is nearly there, or that is there only before the place it is needed at,
takes the product of both lengths. Here the literals of all patterns are sorted once. One binary
search for each place of a path finds every literal that begins there, and a pattern costs a few
steps for each of its literals.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate, chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

#: Max length of a pattern whose literals are sorted; a file has few longer ones (characters).
_LONG = 4096
#: The places of a literal are flagged, not listed, if there are more than one in this many.
_OFTEN = 16
#: Sorts after every character of a canonical path, which is ASCII.
_LAST = "\x80"
#: In a text of this length (characters) CPython searches in linear time.
_LINEAR = 30_000

#: A place before the path, the sorted places, and one after the path; or a flag for each place.
_Places = tuple[int, ...] | bytearray


class Literals:
    """The sorted literals of many patterns, by number.

    Each has two entries: itself, and one that sorts after every text which begins with it. So a
    text begins with the literals whose first entry sorts before it, and the second after it.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        counts = (text.count("*") + 1 if len(text) <= _LONG else 0 for text in patterns)
        self.starts = list(accumulate(counts, initial=0))  # of the numbers of each pattern
        literals = sorted({"": None, **dict.fromkeys(_split(patterns))})
        entries = sorted(literals + [literal + _LAST for literal in literals])
        self.patterns = patterns
        self.entries = entries
        self.lengths = list(map(len, entries))
        self.longest = max(self.lengths)
        self.ends = [0] * len(entries)  # the second entry of each literal
        self.wholes = [0] * len(entries)  # its longest beginning that is a literal
        begun = [0]
        number_of: dict[str, int] = {}
        for number, entry in enumerate(entries):
            if entry[-1:] == _LAST:
                self.ends[begun.pop()] = number
            else:
                self.wholes[number] = begun[-1]
                begun.append(number)
                number_of[entry] = number
        self.numbers = list(map(number_of.__getitem__, _split(patterns)))


def _split(patterns: Sequence[str]) -> Iterator[str]:
    """The literals of all patterns."""
    return chain.from_iterable(text.split("*") for text in patterns if len(text) <= _LONG)


class Places:
    """The places of literals in one path."""

    def __init__(self, path: str, literals: Literals) -> None:
        entries, longest = literals.entries, literals.longest
        self._path = path
        self._literals = literals
        self._never = len(path) + 1  # the place after the last
        self._nowhere = -1, self._never
        ranks = [bisect_right(entries, path[at : at + longest]) for at in range(len(path))]
        self._order = sorted(range(len(path)), key=ranks.__getitem__)
        counts = [0] * (len(entries) + 1)
        for rank in ranks:
            counts[rank] += 1
        self._upto = list(accumulate(counts))  # the number of places with each rank or a lower one
        self._rank = ranks[0]
        self._places: list[_Places | None] = [None] * len(entries)
        self._flags = {0: bytearray(b"\1" * len(path) + b"\0\1")}

    def matching(self, patterns: Iterable[int]) -> Iterator[int]:
        """The patterns that match the path, as :func:`matches` decides."""
        literals = self._literals
        starts, numbers = literals.starts, literals.numbers
        for pattern in patterns:
            begin, end = starts[pattern], starts[pattern + 1]
            if begin == end:
                padded = self._path + "\0" * _LINEAR  # no literal contains NUL
                found = matches(literals.patterns[pattern], padded)
            else:
                first = numbers[begin]
                found = first < self._rank <= literals.ends[first] and self._are_in_order(
                    literals.lengths[first], numbers[begin + 1 : end]
                )
            if found:
                yield pattern

    def _are_in_order(self, begin: int, numbers: Sequence[int]) -> bool:
        """Whether literals have places in their order behind *begin*."""
        # hot path of hostile files
        places, lengths, find = self._places, self._literals.lengths, self._find
        end = len(self._path)
        for number in numbers[:-3:-1]:  # the last two, where most patterns fail
            end -= lengths[number]
            if begin > end:
                return False
            at = places[number] or find(number)
            if isinstance(at, tuple):
                end = at[bisect_right(at, end) - 1]
            else:
                end = at.rfind(1, 0, end + 1)
        for number in numbers[:-2]:
            at = places[number] or find(number)
            if isinstance(at, tuple):
                begin = at[bisect_left(at, begin)] + lengths[number]
            else:
                begin = at.find(1, begin) + lengths[number]
            if begin > end:
                return False
        return begin <= end

    def _find(self, literal: int) -> _Places:
        """The places of a literal."""
        begin, end = self._span(literal)
        found: _Places
        if begin == end:
            found = self._nowhere
        elif end - begin == 1:
            found = -1, self._order[begin], self._never
        elif (end - begin) * _OFTEN > len(self._path):
            found = self._flag(literal)
        else:
            found = -1, *sorted(self._order[begin:end]), self._never
        self._places[literal] = found
        return found

    def _span(self, literal: int) -> tuple[int, int]:
        """Begin and end of a literal's places in the order of ranks."""
        return self._upto[literal], self._upto[self._literals.ends[literal]]

    def _flag(self, literal: int) -> bytearray:
        """A flag for each place of a literal: those of its beginnings, without a few."""
        nested = [literal]
        while nested[-1] not in self._flags:
            nested.append(self._literals.wholes[nested[-1]])
        whole = nested.pop()
        flags = self._flags[whole]
        for inner in reversed(nested):
            flags = self._flags[inner] = bytearray(flags)
            (begin, end), (first, last) = self._span(whole), self._span(inner)
            for at in chain(self._order[begin:first], self._order[last:end]):
                flags[at] = 0
            whole = inner
        return flags


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
