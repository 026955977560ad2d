"""One path indexed for many patterns (PAT-11).

A search for a text that is nearly there, or that is there only before the place it is needed at,
takes the product of both lengths. Here the places of each literal are looked up once, and a pattern
costs a few steps for each of its literals.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left

#: Literals up to this length are looked up among all parts of the path of their length, unless
#: there are this many parts.
_SHORT = 16
_MANY = 1 << 19
#: Max length of the beginnings of suffixes that are kept (characters), and of all of them together.
_BEGINNING = 256
_ALL = 1 << 23
#: Sorts after every character of a canonical path, which is ASCII.
_LAST = "\x80"
#: In a text of this length (characters) CPython searches in linear time.
_LINEAR = 30_000


class SuffixIndex:
    """First and last places of literals in a path."""

    def __init__(self, path: str, finals: dict[str, tuple[str, int]]) -> None:
        """*finals* caches the last literal of each pattern, and the length of the others."""
        self._path = path
        self._finals = finals
        self._padded = path + "\0" * _LINEAR  # no literal contains NUL
        self._firsts = {"": 0}
        self._lasts = {"": len(path)}
        self._lengths: set[int] = set()
        self._beginning = max(_SHORT, min(_BEGINNING, _ALL // len(path)))
        self._suffixes: list[str] = []
        self._offsets: list[int] = []
        self._places: dict[str, array[int]] = {}

    def matches(self, text: str) -> bool:
        """Whether a pattern matches the path, as ``wildcards.matches`` decides."""
        path, firsts, lasts = self._path, self._firsts, self._lasts
        # hot path of hostile files
        final, before = self._finals.get(text) or self._find_final(text)
        room = (lasts.get(final) or self._look_up(final)) - before  # for what the stars stand for
        if room < 0:
            return False
        first, *others = text.split("*")
        if not path.startswith(first):
            return False
        end = len(first)
        for literal in others:
            if len(literal) <= 1:
                place = path.find(literal, end)
            elif literal not in lasts and self._look_up(literal) < end:
                return False
            else:
                place = firsts.get(literal, -1)
                if place < end:
                    if lasts[literal] < end:
                        return False
                    place = self._find_next(literal, end)
            room -= place - end
            if place < 0 or room < 0:
                return False
            end = place + len(literal)
        return True

    def _find_next(self, literal: str, begin: int) -> int:
        """The first place of a literal from an offset on; there is one."""
        if len(literal) > self._beginning:
            return self._padded.find(literal, begin)
        places = self._places.get(literal)
        if places is None:
            places = self._places[literal] = array("i", sorted(self._find_places(literal)))
        return places[bisect_left(places, begin)]

    def _find_final(self, text: str) -> tuple[str, int]:
        final = text[text.rindex("*") + 1 :]
        self._finals[text] = final, len(text) - text.count("*") - len(final)
        return self._finals[text]

    def _look_up(self, literal: str) -> int:
        """Learn the first and the last place of a literal; the last or -1."""
        length = len(literal)
        few = length <= _SHORT and len(self._lasts) + len(self._path) < _MANY
        if length not in self._lengths and few:
            self._add_parts(length)
        if length in self._lengths:
            return self._lasts.setdefault(literal, -1)
        if length <= self._beginning:
            places = sorted(self._find_places(literal))
            first, last = (places[0], places[-1]) if places else (-1, -1)
            if first < last:
                self._places[literal] = array("i", places)
        else:
            first, last = self._padded.find(literal), len(self._path)  # or less
        self._firsts[literal], self._lasts[literal] = first, last
        return last

    def _add_parts(self, length: int) -> None:
        """Learn the places of all parts of the path with a length."""
        places = range(len(self._path) - length + 1)
        parts = [self._path[at : at + length] for at in places]
        self._lasts.update(zip(parts, places, strict=True))
        self._firsts.update(zip(reversed(parts), reversed(places), strict=True))
        self._lengths.add(length)

    def _find_places(self, literal: str) -> list[int]:
        if not self._suffixes:
            suffixes = [self._path[at : at + self._beginning] for at in range(len(self._path))]
            self._offsets = sorted(range(len(suffixes)), key=suffixes.__getitem__)
            self._suffixes = sorted(suffixes)
        low = bisect_left(self._suffixes, literal)
        high = bisect_left(self._suffixes, literal + _LAST, low)
        return self._offsets[low:high]
