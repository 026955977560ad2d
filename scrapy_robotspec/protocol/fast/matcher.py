"""Every pattern that matches a path, not only the best one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.fast.suffixes import SuffixIndex
from scrapy_robotspec.protocol.fast.wildcards import END, HEAVY, with_end
from scrapy_robotspec.protocol.patterns import matches
from scrapy_robotspec.protocol.precedence import keyed_patterns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.groups import RawRule


def matching_keys(rules: Sequence[RawRule], path: str, edition: Edition) -> Iterable[int]:
    """The keys of all matching rules, as ``precedence.matching_keys``."""
    matches_path = matcher(path, len(rules))
    return (key for key, text in keyed_patterns(rules, edition) if matches_path(text))


def matcher(path: str, patterns: int) -> Callable[[str], bool]:
    """``patterns.matches`` for one path and a number of patterns.

    If they are many, the places of their literals in the path are looked up once (PAT-11).
    """
    if patterns * len(path) <= HEAVY:
        return partial(_matches, path)
    path += END
    return partial(_matches_indexed, path, SuffixIndex(path, {}))


def _matches(path: str, text: str) -> bool:
    return matches(text, path)


def _matches_indexed(path: str, index: SuffixIndex, text: str) -> bool:
    if text.endswith(("$", "*")):
        text = with_end(text)
    return index.matches(text) if "*" in text else path.startswith(text)
