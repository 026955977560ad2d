"""One path indexed for many patterns (PAT-11).

A search for a text that is nearly there, or that is there only before the place it is needed at,
takes the product of both lengths. Here a pattern costs a few steps for each of its literals.
"""

from __future__ import annotations

from bisect import bisect_left

from scrapy_robotspec.protocol.patterns import literals_of

#: Max length of the beginnings of suffixes that are kept (characters), and of all of them together.
_BEGINNING = 256
_ALL = 1 << 23
_LEAST = 16
#: Sorts after every character of a canonical path, which is ASCII.
_LAST = "\x80"
#: From this length on (characters) CPython searches in linear time for all but short texts.
_LINEAR = 30_000
#: Ends no literal: canonical text has no NUL.
_PADDING = "\0"
_NOWHERE = (-1, -1)


class SuffixIndex:
    """The sorted suffixes of a path."""

    __slots__ = ("_beginning", "_offsets", "_padded", "_path", "_places", "_suffixes")

    def __init__(self, path: str) -> None:
        size = max(_LEAST, min(_BEGINNING, _ALL // len(path)))
        suffixes = [path[at : at + size] for at in range(len(path))]
        self._offsets = sorted(range(len(path)), key=suffixes.__getitem__)
        self._suffixes = sorted(suffixes)
        self._beginning = size
        self._path = path
        self._padded = path.ljust(_LINEAR, _PADDING)
        self._places: dict[str, tuple[int, int]] = {}

    def matches(self, text: str) -> bool:
        """Whether the path matches a canonical pattern, as ``patterns.matches`` decides."""
        first, *others = literals_of(text)
        path, padded, known = self._path, self._padded, self._places
        final = others[-1]
        anchored = text.endswith("$")
        if not path.startswith(first) or (anchored and not path.endswith(final)):
            return False
        before = len(text) - len(others) - len(final) - anchored  # characters of other literals
        if self._find_places(final)[1] < before:
            return False
        end = start = len(first)
        for literal in others:  # hot path of hostile files
            place, last = known.get(literal) or self._find_places(literal)
            if last < end:
                return False
            if place < end:
                place = padded.find(literal, end)
                if place < 0:
                    return False
            start, end = end, place + len(literal)
        return not anchored or len(path) - len(final) >= start

    def _find_places(self, literal: str) -> tuple[int, int]:
        """Offsets of the first and the last place of a literal; of a long one's beginning.

        The first is -1 if it is not known, the last if there is none.
        """
        beginning = literal[: self._beginning]
        places = self._places.get(beginning)
        if places is None:
            low = bisect_left(self._suffixes, beginning)
            high = bisect_left(self._suffixes, beginning + _LAST, low)
            found = self._offsets[low:high] if beginning else [0, len(self._path)]
            places = (min(found), max(found)) if found else _NOWHERE
            self._places[beginning] = places
        if len(literal) > len(beginning):
            places = self._places[literal] = (-1, places[1])
        return places
