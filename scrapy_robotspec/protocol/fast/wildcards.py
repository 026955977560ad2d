"""Wildcard patterns: the best of them that matches a path.

Here a pattern's final ``$`` is ``END``, and so is the end of a path: an anchored literal is one
more literal to search for.
"""

from __future__ import annotations

import re
from array import array
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.fast.needles import Needles, needle_of

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Stands for the path's end, so that ``/a$`` is the prefix ``/a#``. Neither a rule nor a path
#: contains it: there a comment begins, here the fragment.
END = "#"

#: From this many patterns on, needles are looked up instead of tried one by one.
INDEX_FROM = 64
#: CPython searches a text of 30,000 characters in linear time; searching a shorter one may take
#: the product of both lengths. From this length on a longer path costs less (characters).
_LONG = 6_000
_PADDING = "\0" * 30_000  # no literal contains NUL
#: Literals shorter than this are searched in linear time anyway (characters).
_SHORT = 6
_STARS = re.compile(r"\*+")


class Wildcards:
    """Patterns with their keys."""

    __slots__ = ("_index", "_keys", "_texts", "needles")

    def __init__(self, patterns: Mapping[str, int]) -> None:
        self._texts = tuple(patterns)
        self._keys = array("q", patterns.values())
        is_few = len(patterns) < INDEX_FROM
        #: A needle of each pattern; none if there are many patterns.
        self.needles = tuple(map(needle_of, patterns)) if is_few else ()
        self._index = None if is_few else Needles(self._texts)

    def best(self, path: str, best: int) -> int:
        """The best matching key, or *best*."""
        keys, texts = self._keys, self._texts
        if self._index is None:
            numbers = [number for number, needle in enumerate(self.needles) if needle in path]
        else:
            numbers = self._index.patterns_in(path)
        padded = path if len(path) < _LONG else path + _PADDING
        ends: dict[str, bool] = {}  # by last literal, which many patterns share
        for number in numbers:
            text = texts[number]
            last = text[text.rfind("*") + 1 :]
            if last not in ends:
                ends[last] = last in path
            if ends[last] and keys[number] < best and matches_with_end(text, path, padded):
                best = keys[number]
        return best


def with_end(text: str) -> str:
    """A pattern with ``END`` for its anchor, and without needless stars."""
    if "**" in text:
        text = _STARS.sub("*", text)
    if text.endswith("$"):
        return text[:-2] if text.endswith("*$") else text[:-1] + END
    return text.removesuffix("*")


def matches_with_end(text: str, path: str, padded: str) -> bool:
    """As ``patterns.matches``, for a pattern and a path with their ends.

    *padded*: the path, with padding if it is long.
    """
    first, *others = text.split("*")
    if not path.startswith(first):
        return False
    end = len(first)
    for literal in others:
        end = (path if len(literal) < _SHORT else padded).find(literal, end)
        if end < 0:
            return False
        end += len(literal)
    return True
