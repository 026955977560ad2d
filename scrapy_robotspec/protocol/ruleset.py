"""The compiled rules of one combined group: the longest match decides (PRE-01, PRE-02).

What decides is put into one integer, the rank, which sorts as the rules take precedence:

    longest first | allow before disallow | forbids | offset of the rule's line

so that finding the deciding rule is finding the smallest rank, and the rank found says both what
the verdict is and where its rule stands. How it is found fast, ``prefixes.py`` and
``wildcards.py`` know.
"""

from __future__ import annotations

import re
from array import array
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.patterns import Pattern, index_page_pattern, read_pattern
from scrapy_robotspec.protocol.prefixes import SortedPrefixes, sort_prefixes
from scrapy_robotspec.protocol.wildcards import (
    INDEX_FROM,
    HeadedWildcards,
    Ranked,
    wildcards,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.groups import RawRule

_FORBIDS = 1 << 32
_DISALLOW = _FORBIDS << 1
_LENGTH = _DISALLOW << 1
_LONGEST = (1 << 28) - 1
_OFFSET = _FORBIDS - 1

#: The rank of no rule: worse than any other, and it does not forbid.
NO_RULE = (_LONGEST + 1) * _LENGTH

#: Stands for the path's end behind a prefix, so that ``/a$`` is the prefix ``/a#``. Neither a rule
#: nor a path can hold it: there a comment begins, here the fragment.
_END = "#"

#: A value whose pattern is the value itself: nothing special, nothing to spell otherwise.
_ORDINARY = re.compile(rb"/[^*$% \x80-\xff]*").fullmatch


def rank_of(length: int, allow: bool, start: int, *, inert: bool = False) -> int:
    """The rank of a rule: see above. An inert rule decides nothing whatever it says."""
    rank = (_LONGEST - min(length, _LONGEST)) * _LENGTH + start
    return rank if allow else rank + (_DISALLOW if inert else _DISALLOW + _FORBIDS)


def forbids(rank: int) -> bool:
    """Whether the rule of a rank forbids."""
    return bool(rank & _FORBIDS)


def line_start(rank: int) -> int:
    """Offset of the line of a rank's rule in the file."""
    return rank & _OFFSET


def ranked_patterns(rules: Iterable[RawRule], edition: Edition) -> Iterator[tuple[int, Pattern]]:
    """What may decide: of a rule one pattern, none, or two (PRE-05)."""
    for allow, value, start in rules:
        if not value:
            if edition.empty_rules_decide_line:
                yield rank_of(0, allow, start, inert=True), Pattern(("",), False, 0)
            continue  # RUL-02
        pattern = read_pattern(value, edition)
        if pattern is not None:
            yield rank_of(pattern.length, allow, start), pattern
        if allow and edition.index_html:
            directory = index_page_pattern(value, edition)
            if directory is not None:
                yield rank_of(directory.length, True, start), directory


class RuleSet:
    """The rules of one combined group, made to be asked often."""

    __slots__ = ("_floating", "_headed", "_prefixes", "_ranks", "_to_end", "escapes", "forbids")

    escapes: bool
    """Some rule holds an escape, so paths must be spelt in the one form to be compared."""
    forbids: bool
    """Some rule forbids; otherwise nothing is left to ask."""

    def __init__(self, rules: Sequence[RawRule], edition: Edition) -> None:
        prefixes, patterns = _compile(rules, edition)
        headed = [] if len(patterns) >= INDEX_FROM else [p for p in patterns if _head(p[1])]
        for _, text in headed:
            prefixes.setdefault(_head(text), NO_RULE)
        ordered = sorted(prefixes)
        self._to_end = _END in "".join(ordered)
        self._prefixes = sort_prefixes(ordered)
        self._ranks = _with_shorter(self._prefixes, [prefixes[prefix] for prefix in ordered])
        self._headed = _headed(headed, ordered)
        floating = patterns if not headed else [p for p in patterns if not _head(p[1])]
        self._floating = wildcards(floating) if floating else None
        self.escapes = any("%" in text for text in (*ordered, *(text for _, text in patterns)))
        self.forbids = any(map(forbids, (*prefixes.values(), *(rank for rank, _ in patterns))))

    def find(self, path: str) -> int:
        """The rank of the rule that decides about a path, or ``NO_RULE``.

        The path must be in its one form if ``escapes``; else percent signs only must be.
        """
        best = NO_RULE
        index = self._prefixes.longest(path + _END if self._to_end else path)
        if index >= 0:
            best = self._ranks[index]
            if self._headed is not None:
                best = self._headed.best_under(self._prefixes.chain(index), path, best)
        return best if self._floating is None else self._floating.best(path, best)


def _compile(rules: Iterable[RawRule], edition: Edition) -> tuple[dict[str, int], list[Ranked]]:
    """The best rank of each prefix, and the patterns that are more than prefixes."""
    prefixes: dict[str, int] = {}
    patterns: list[Ranked] = []
    closely = []
    for rule in rules:
        allow, value, start = rule
        if _ORDINARY(value) and not (allow and edition.index_html):
            rank = rank_of(len(value), allow, start)
            text = value.decode("ascii")
            if rank < prefixes.get(text, NO_RULE):
                prefixes[text] = rank
        else:
            closely.append(rule)
    for rank, pattern in ranked_patterns(closely, edition):
        prefix = _as_prefix(pattern)
        if prefix is None:
            patterns.append((rank, pattern.text))
        else:
            prefixes[prefix] = min(rank, prefixes.get(prefix, NO_RULE))
    return prefixes, patterns


def _as_prefix(pattern: Pattern) -> str | None:
    """The prefix that matches as a pattern does, if there is one."""
    if len(pattern.literals) == 1:
        return pattern.literals[0] + _END if pattern.anchored else pattern.literals[0]
    if pattern.anchored and not any(pattern.literals[1:]):
        return pattern.literals[0]  # /a*$
    return None


def _head(text: str) -> str:
    """The first literal, where it tells more than that a path begins."""
    head = text.partition("*")[0]
    return "" if head == "/" else head


def _with_shorter(prefixes: SortedPrefixes, ranks: Sequence[int]) -> array[int]:
    """Of each prefix the best rank among its own and those of the prefixes it starts with."""
    best = array("q", ranks)
    for index in range(len(best)):
        parent = prefixes.parent(index)
        if parent >= 0 and best[parent] < best[index]:
            best[index] = best[parent]
    return best


def _headed(patterns: Sequence[Ranked], prefixes: Sequence[str]) -> HeadedWildcards | None:
    if not patterns:
        return None
    indices = {prefix: index for index, prefix in enumerate(prefixes)}
    return HeadedWildcards(sorted((indices[_head(text)], rank, text) for rank, text in patterns))
