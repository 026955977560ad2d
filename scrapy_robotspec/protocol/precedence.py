"""Precedence keys: one integer per rule (PRE-01, PRE-02).

    longest first | allow before disallow | forbids | offset of the rule's line

The deciding rule is the one with the smallest key, and the key contains the verdict and the place
of the rule in the file.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.paths import INCOMPLETE, canonical_text
from scrapy_robotspec.protocol.patterns import END, INDEX_PAGE, matches

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.lines import RawRule

#: A precedence key, and the canonical pattern it belongs to.
KeyedPattern = tuple[int, str]

FORBIDS = 1 << 32
_DISALLOW = FORBIDS << 1
LENGTH = _DISALLOW << 1
_OFFSET = FORBIDS - 1

#: The key where no rule matches: greater than any other, and it does not forbid.
NO_RULE = 1 << 62
#: The key for ``/robots.txt`` itself (PRE-04). It does not forbid.
ITSELF = -1 << 34
#: The keys of rules of length 0 on a line at offset 0.
ALLOWS = NO_RULE - LENGTH
DISALLOWS = ALLOWS + _DISALLOW + FORBIDS


def forbids(key: int) -> bool:
    """Whether the rule of a key forbids."""
    return bool(key & FORBIDS)


def line_start(key: int) -> int:
    """Offset of the line of a key's rule in the file."""
    return key & _OFFSET


def keyed_patterns(rules: Sequence[RawRule], edition: Edition) -> list[KeyedPattern]:
    """Patterns of rules with their keys, in file order."""
    joined = canonical_text(b"\n".join([value for _, value, _ in rules]), edition)
    #: Beginnings of usual values, and what no usual value contains.
    heads = ["/", "*"] if edition.star_begins_path else ["/"]
    stars = "**" if edition.wildcards else "*"
    page = INDEX_PAGE if edition.index_html else stars
    incomplete = INCOMPLETE if INCOMPLETE in joined else stars
    counts_star = edition.count_trailing_star
    found: list[KeyedPattern] = []
    for (allow, _, start), text in zip(rules, joined.split("\n"), strict=False):  # hot path
        key = start + (ALLOWS if allow else DISALLOWS)
        is_rare = "$" in text or "%2" in text or "'" in text or stars in text or page in text
        is_rare = is_rare or incomplete in text
        if text[:1] in heads and not is_rare:
            key -= len(text) * LENGTH
            if text[-1] == "*":  # PAT-03
                text = text[:-1]
                key += 0 if counts_star else LENGTH
            found.append((key, text))
        elif text:
            for pattern, length in _unusual()(text, edition, allow=allow):
                found.append((key - length * LENGTH, pattern))  # one, usually
        elif edition.empty_rules_decide_line:  # else RUL-02: nothing
            found.append((key & ~FORBIDS, ""))
    return found


@cache
def _unusual() -> Callable[..., list[tuple[str, int]]]:
    """The function for other patterns; most crawls need none."""
    from scrapy_robotspec.protocol.unusual_patterns import patterns_of

    return patterns_of


def matching_keys(patterns: Sequence[KeyedPattern], path: str) -> list[int]:
    """The keys of all patterns that match a path, in file order."""
    path += END
    return [key for key, text in patterns if matches(text, path)]


def best_key(rules: Sequence[RawRule], path: str, edition: Edition) -> int:
    """The key of the deciding rule, or ``NO_RULE``."""
    return min(matching_keys(keyed_patterns(rules, edition), path), default=NO_RULE)
