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

#: Literals of a pattern: the first, those between, the last but one and the last; or 0 for none.
_Row = tuple[int, list[int], int, int]
#: A place before the path, the sorted places, and one after the path; or a flag for each place.
_Places = tuple[int, ...] | bytearray


class Literals:
    """The sorted literals of many patterns, by number.

    Each has two entries: itself, and one that sorts after every text which begins with it. So a
    text begins with the literals whose first entry sorts before it, and the second after it.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self.patterns = patterns
        indexed = (text for text in patterns if len(text) <= _LONG)
        found = dict.fromkeys(chain.from_iterable(text.split("*") for text in indexed))
        literals = sorted({"": None, **found})
        entries = sorted(literals + [literal + _LAST for literal in literals])
        self.entries = entries
        self.lengths = list(map(len, entries))
        self.longest = max(self.lengths)
        self.ends = [0] * len(entries)  # the second entry of each literal
        self.wholes = [0] * len(entries)  # its longest beginning that is a literal
        numbers: dict[str, int] = {}
        begun = [0]
        for number, entry in enumerate(entries):
            if entry[-1:] == _LAST:
                self.ends[begun.pop()] = number
            else:
                self.wholes[number] = begun[-1]
                begun.append(number)
                numbers[entry] = number
        self.rows = [None if len(text) > _LONG else _row(text, numbers) for text in patterns]


def _row(text: str, numbers: dict[str, int]) -> _Row:
    first, *between = map(numbers.__getitem__, text.split("*"))
    last = between.pop() if between else 0
    return first, between, between.pop() if between else 0, last


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
        # hot path of hostile files
        literals, places, find, rank = self._literals, self._places, self._find, self._rank
        lengths, ends, rows = literals.lengths, literals.ends, literals.rows
        size = len(self._path)
        for pattern in patterns:
            row = rows[pattern]
            if row is None:
                padded = self._path + "\0" * _LINEAR  # no literal contains NUL
                if matches(literals.patterns[pattern], padded):
                    yield pattern
                continue
            first, between, before, last = row
            if not first < rank <= ends[first]:
                continue
            begin, end = lengths[first], size  # what is left of the path
            if last:  # most patterns fail at their last literals
                at = places[last] or find(last)
                end = at[-2] if isinstance(at, tuple) else at.rfind(1, 0, size)
            if before:
                end -= lengths[before]
                if begin > end:
                    continue
                at = places[before] or find(before)
                if isinstance(at, tuple):
                    end = at[bisect_right(at, end) - 1]
                else:
                    end = at.rfind(1, 0, end + 1)
            if begin > end:
                continue
            for number in between:
                at = places[number] or find(number)
                if isinstance(at, tuple):
                    begin = at[bisect_left(at, begin)] + lengths[number]
                else:
                    begin = at.find(1, begin) + lengths[number]
                if begin > end:
                    break
            else:
                yield pattern

    def _find(self, literal: int) -> _Places:
        """The places of a literal."""
        found: _Places
        begin, end = self._span(literal)
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
