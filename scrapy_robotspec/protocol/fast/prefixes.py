"""Sorted prefixes: the longest match by one binary search.

The last of the prefixes that sort before a path either starts it or shares its beginning with every
other that does. So only that prefix, its longest own prefix (its parent), the parent's
parent and so on are candidates.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import MutableSequence, Sequence


def parents_of(prefixes: Sequence[str]) -> array[int] | None:
    """The index of each prefix's longest own prefix, or -1.

    None if no prefix starts with another, which is usual.
    """
    nested = list(map(str.startswith, prefixes[1:], prefixes))
    if True not in nested:
        return None
    parents = array("i", [-1])
    for index, starts in enumerate(nested):
        parent = index  # the neighbour, or its parent, and so on
        while not starts and parent >= 0:
            parent = parents[parent]
            starts = parent >= 0 and prefixes[index + 1].startswith(prefixes[parent])
        parents.append(parent)
    return parents


def spread(values: MutableSequence[int], parents: Sequence[int]) -> None:
    """Give each prefix the smallest value along its prefixes."""
    for index, parent in enumerate(parents):
        if parent >= 0 and values[parent] < values[index]:
            values[index] = values[parent]
