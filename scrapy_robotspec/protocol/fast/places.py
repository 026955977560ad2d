"""The places of literals in one path, for bounded matching (PAT-11)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate, chain, compress
from operator import sub
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.fast.literals import matches

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scrapy_robotspec.protocol.fast.literals import Literals

#: The places of a literal are flagged, not listed, if there are more than one in this many.
_OFTEN = 16
#: In a text of this length (characters) CPython searches in linear time.
_LINEAR = 30_000

#: A place before the path, the sorted places, and one after the path.
_Sorted = tuple[int, ...]


class Places:
    """The places of literals in one path."""

    def __init__(self, path: str, literals: Literals) -> None:
        entries, size, longest = literals.entries, len(path), max(literals.lengths)
        self._path = path
        self._literals = literals
        self._never = size + 1  # the place after the last
        ranks = [bisect_right(entries, path[at : at + longest]) for at in range(size)]
        self._order = sorted(range(size), key=ranks.__getitem__)
        counts = [0] * (len(entries) + 1)
        for rank in ranks:
            counts[rank] += 1
        upto = list(accumulate(counts)).__getitem__  # the number of places with at most such a rank
        # Where the places of each literal begin in the order of ranks, and how many they are.
        self._begins = list(map(upto, literals.begins))
        self._sizes: list[int] = list(map(sub, map(upto, literals.ends), self._begins))
        nowhere = -1, self._never
        self._places: list[_Sorted | None] = [None if found else nowhere for found in self._sizes]
        self._flags = {0: bytearray(b"\1" * size + b"\0\1")}

    def matching(self, end: int) -> Iterator[int]:
        """The patterns before *end* that match the path, as :func:`matches` decides."""
        # hot path of hostile files
        literals, places, flags, path = self._literals, self._places, self._flags, self._path
        lengths, numbers, patterns = literals.lengths, literals.numbers, literals.patterns
        heads = {first for first in literals.firsts if path.startswith(literals.texts[first])}
        padded = path + "\0" * _LINEAR  # no literal contains NUL
        tables, rooms = self._tables(), self._rooms()
        possible = compress(literals.rows[:end], map(rooms.__getitem__, literals.tail_of))
        for pattern, first, start, stop, tail in possible:
            if first not in heads:
                continue
            begin, room = lengths[first], rooms[tail]
            for number in numbers[start + 1 : stop]:
                if begin >= room:
                    break
                if number in tables:
                    begin = tables[number][begin]
                    continue
                at = places[number]
                if at is None:
                    at = self._find(number)
                begin = at[bisect_left(at, begin)] if at else flags[number].find(1, begin)
                begin += lengths[number]
            if begin < room and (tail or matches(patterns[pattern], padded)):
                yield pattern

    def _tables(self) -> Mapping[int, Sequence[int]]:
        """The end of the next place of short literals, by place.

        Only for those that are often there.
        """
        tables: dict[int, list[int]] = {}
        for literal in self._literals.short:
            begin, size = self._begins[literal], self._sizes[literal]
            if size * _OFTEN > len(self._path):
                length = self._literals.lengths[literal]
                table: list[int] = []
                for at in sorted(self._order[begin : begin + size]):
                    table += [at + length] * (at + 1 - len(table))
                tables[literal] = table + [self._never] * (self._never - len(table))
        return tables

    def _rooms(self) -> Sequence[int]:
        """By tail, its last place in the path plus 1, or 0."""
        tails, lengths = self._literals.tails, self._literals.lengths
        rooms = [0] * len(tails)
        found = map(self._sizes.__getitem__, self._literals.lasts)
        for tail, (before, last) in compress(enumerate(tails), found):
            room = self._room(last, len(self._path)) if last else self._never
            if before:
                left = room - 1 - lengths[before]
                room = self._room(before, left) if left >= 0 else 0
            rooms[tail] = room
        return rooms

    def _room(self, literal: int, end: int) -> int:
        """A literal's last place that is not after *end*, plus 1."""
        at = self._places[literal]
        if at is None:
            at = self._find(literal)
        if at:
            return at[bisect_right(at, end) - 1] + 1
        return self._flags[literal].rfind(1, 0, end + 1) + 1

    def _find(self, literal: int) -> _Sorted:
        """The places of a literal; none if they are flagged."""
        begin, size = self._begins[literal], self._sizes[literal]
        found: _Sorted = ()
        if size * _OFTEN > len(self._path):
            self._flag(literal)
        else:
            found = -1, *sorted(self._order[begin : begin + size]), self._never
        self._places[literal] = found
        return found

    def _flag(self, literal: int) -> None:
        """Flag each place of a literal: those of its beginnings, without a few."""
        order, begins, sizes = self._order, self._begins, self._sizes
        nested = [literal]
        while nested[-1] not in self._flags:
            nested.append(self._literals.parents[nested[-1]])
        whole = nested.pop()
        for inner in reversed(nested):
            flags = self._flags[inner] = bytearray(self._flags[whole])
            before = order[begins[whole] : begins[inner]]
            after = order[begins[inner] + sizes[inner] : begins[whole] + sizes[whole]]
            for at in chain(before, after):
                flags[at] = 0
            whole = inner
