"""Texts of large files in little memory.

A ``str`` takes 50 bytes besides its characters, and lines of hostile files have few of these.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import accumulate, chain, pairwise

_Span = tuple[int, int]
_Place = tuple[str, Sequence[int]]

#: Every text of this number is kept as it is: a binary search compares those first.
_BLOCK = 16
#: Bits of a :class:`PackedSet` for each of its texts, at least.
_BITS = 16


class PackedTexts:
    """Texts as one."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._firsts = texts[::_BLOCK]
        self._joined = "".join(texts)
        self._offsets = array("I", accumulate(map(len, texts), initial=0))

    def __getitem__(self, index: int) -> str:
        offsets = self._offsets
        return self._joined[offsets[index] : offsets[index + 1]]

    def __iter__(self) -> Iterator[str]:
        return (self._joined[begin:end] for begin, end in pairwise(self._offsets))

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def bisect_right(self, text: str) -> int:
        """As ``bisect.bisect_right`` for sorted texts."""
        begin = max(bisect_right(self._firsts, text) - 1, 0) * _BLOCK
        return bisect_right(self, text, begin, min(begin + _BLOCK, len(self)))


class PackedSet:
    """Texts by their hashes: few others seem to be among them."""

    def __init__(self, texts: Collection[str]) -> None:
        self._mask = (1 << (len(texts) * _BITS).bit_length()) - 1
        self._bits = bytearray(self._mask // 8 + 1)
        for text in texts:
            number = hash(text) & self._mask
            self._bits[number >> 3] |= 1 << (number & 7)

    def __contains__(self, text: str) -> bool:
        number = hash(text) & self._mask
        return self._bits[number >> 3] >> (number & 7) & 1 == 1


class PackedSpans:
    """Spans of some groups; equal ones are one key."""

    def __init__(self, spans: Sequence[_Span]) -> None:
        self._offsets = array("I", chain.from_iterable(spans))

    def __iter__(self) -> Iterator[_Span]:
        offsets = iter(self._offsets)
        return zip(offsets, offsets, strict=True)

    def __len__(self) -> int:
        return len(self._offsets) // 2

    def __getitem__(self, index: int) -> _Span:
        return self._offsets[2 * index], self._offsets[2 * index + 1]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PackedSpans) and self._offsets == other._offsets

    def __hash__(self) -> int:
        return hash(self._offsets.tobytes())


class PackedPlaces(Mapping[str, _Place]):
    """The places of many agents by their keys, sorted."""

    def __init__(self, places: Mapping[str, _Place]) -> None:
        keys = sorted(places)
        self._keys = PackedTexts(keys)
        self._names = PackedTexts([places[key][0] for key in keys])
        self._numbers = array("I")
        self._bounds = array("I", [0])
        for key in keys:
            self._numbers.extend(places[key][1])
            self._bounds.append(len(self._numbers))

    def __getitem__(self, key: str) -> _Place:
        at = self._keys.bisect_right(key) - 1
        if at < 0 or self._keys[at] != key:
            raise KeyError(key)
        return self._names[at], self._numbers[self._bounds[at] : self._bounds[at + 1]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._bounds) - 1
