"""The literals of many patterns, sorted once (PAT-11).

A search for a text that is nearly there, or that is there only before the place it is needed at,
takes the product of both lengths. ``Places`` finds all literals by one binary search for each place
of a path instead, and then a pattern costs a few steps for each of its literals.
"""

from __future__ import annotations

from functools import cached_property
from itertools import accumulate, count
from operator import sub
from typing import TYPE_CHECKING, TypeVar

from scrapy_robotspec.protocol.fast.prefixes import parents_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_T = TypeVar("_T")

#: Max length of a pattern whose literals are sorted; a file has few longer ones (characters).
_LONG = 4096
#: Max length of a short literal; a file has room for many of them (characters).
_SHORT = 3
#: Sorts after every character of a canonical path, which is ASCII.
_LAST = "\x80"


class Literals:
    """The sorted literals of many patterns; number 0 is the empty one.

    Each has two entries: itself, and one that sorts after every text which begins with it. So a
    text begins with the literals whose first entry sorts before it, and the second after it.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self.patterns = patterns
        indexed = [text if len(text) <= _LONG else "" for text in patterns]
        written = "*".join(indexed).split("*")
        self.texts = sorted({"", *written})
        self.lengths = list(map(len, self.texts))
        self.short = [number for number, size in enumerate(self.lengths) if 0 < size <= _SHORT]
        seconds = [text + _LAST for text in self.texts]
        self.entries = sorted(self.texts + seconds)
        rank = _numbered(self.entries).__getitem__
        self.begins = list(map(rank, self.texts))  # the first entry of each literal
        self.ends = list(map(rank, seconds))
        self.numbers = list(map(_numbered(self.texts).__getitem__, written))  # pattern by pattern
        self._keep_rows([text.count("*") + 1 for text in indexed])

    def _keep_rows(self, sizes: Sequence[int]) -> None:
        """Keep the parts of the patterns, which have *sizes* literals each."""
        numbers = self.numbers
        ends = list(accumulate(sizes))
        begins = list(map(sub, ends, sizes))
        tails = [
            (numbers[end - 2] if size > 2 else 0, numbers[end - 1]) if size > 1 else (0, 0)
            for end, size in zip(ends, sizes, strict=True)
        ]
        # The last two literals; 0 for the first of the pattern, and where it is not indexed.
        self.tails = list(dict.fromkeys([(0, 0), *tails]))
        self.lasts = [last for _, last in self.tails]
        self.tail_of = list(map(_numbered(self.tails).__getitem__, tails))
        firsts = list(map(numbers.__getitem__, begins))
        self.firsts = set(firsts)
        # Each pattern's number, first literal, its place, the place before the tail, and tail.
        stops = [max(0, end - 2) for end in ends]
        self.rows = list(zip(count(), firsts, begins, stops, self.tail_of, strict=False))

    @cached_property
    def parents(self) -> Sequence[int]:
        """By literal, its longest own beginning that is a literal, too."""
        return parents_of(self.texts) or ()


def _numbered(values: Iterable[_T]) -> Mapping[_T, int]:
    return dict(zip(values, count(), strict=False))


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
