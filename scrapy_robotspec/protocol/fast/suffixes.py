"""One path made ready for many patterns: a bound for hostile files (PAT-11).

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


class SuffixIndex:
    """All suffixes of a path, sorted, so that any part of it is found in a few steps."""

    __slots__ = ("_beginning", "_last", "_offsets", "_padded", "_path", "_suffixes")

    def __init__(self, path: str) -> None:
        size = max(_LEAST, min(_BEGINNING, _ALL // len(path)))
        suffixes = [path[at : at + size] for at in range(len(path))]
        self._offsets = sorted(range(len(path)), key=suffixes.__getitem__)
        self._suffixes = sorted(suffixes)
        self._beginning = size
        self._path = path
        self._padded = path.ljust(_LINEAR, _PADDING)
        self._last: dict[str, int] = {}

    def matches(self, text: str) -> bool:
        """Whether the path matches a canonical pattern, as ``patterns.matches`` decides."""
        first, *others = literals_of(text)
        path, padded, known = self._path, self._padded, self._last
        if not path.startswith(first):
            return False
        anchored = text.endswith("$")
        if anchored and not path.endswith(others[-1]):
            return False
        end = len(first)
        for literal in others:  # hot path of hostile files
            last = known.get(literal)
            if last is None:
                last = self._find_last(literal)
            if last < end:
                return False
            place = padded.find(literal, end)
            if place < 0:
                return False
            start, end = end, place + len(literal)
        return not anchored or len(path) - len(others[-1]) >= start

    def _find_last(self, literal: str) -> int:
        """Offset of the last place of a literal's beginning, or -1."""
        beginning = literal[: self._beginning]
        low = bisect_left(self._suffixes, beginning)
        high = bisect_left(self._suffixes, beginning + _LAST, low)
        last = max(self._offsets[low:high], default=-1) if literal else len(self._path)
        self._last[literal] = last
        return last
