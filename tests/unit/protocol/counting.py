"""Texts that count what is done with them: bounds are counts, not times."""

from __future__ import annotations


class CountedText(str):
    """A text that counts comparisons."""

    __slots__ = ()
    steps = 0

    def __gt__(self, other: str) -> bool:
        CountedText.steps += 1
        return str.__gt__(self, other)
