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
from bisect import bisect_left, bisect_right
from itertools import chain
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.paths import normalise
from scrapy_robotspec.protocol.patterns import index_page_form, matches, one_form
from scrapy_robotspec.protocol.prefixes import PackedPrefixes, sort_prefixes
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

#: An octet that may not stand for itself in a pattern.
_FIRST_ODD = re.compile(rb"[$% \x80-\xff]").search

#: Rules tried one by one, at most, times the characters of the path.
_TRIED = 1 << 16

#: A wildcard pattern with its head, the literal before the first star.
Headed = tuple[str, int, str]

FORBIDS = 1 << 32
_DISALLOW = FORBIDS << 1
_LENGTH = _DISALLOW << 1
_OFFSET = FORBIDS - 1

#: The rank of no rule: worse than any other, and it does not forbid.
NO_RULE = 1 << 62
#: The ranks of rules of length 0 on a line at offset 0.
_ALLOWS = NO_RULE - _LENGTH
_FORBIDS_TOO = _ALLOWS + _DISALLOW + FORBIDS

#: Stands for the path's end behind a prefix, so that ``/a$`` is the prefix ``/a#``. Neither a rule
#: nor a path can hold it: there a comment begins, here the fragment.
_END = "#"

#: A value whose pattern is the value itself: nothing special, nothing to spell otherwise.
_ORDINARY = re.compile(rb"/[^*$% \x80-\xff]*").fullmatch


def forbids(rank: int) -> bool:
    """Whether the rule of a rank forbids."""
    return bool(rank & FORBIDS)


def line_start(rank: int) -> int:
    """Offset of the line of a rank's rule in the file."""
    return rank & _OFFSET


def ranked_patterns(rules: Sequence[RawRule], edition: Edition) -> Iterator[Ranked]:
    """What may decide: of a rule one pattern, none, or two (PRE-05)."""
    # All values are spelt in one go; none holds a line end.
    texts = normalise(b"\n".join([value for _, value, _ in rules]), edition).split("\n")
    for (allow, value, start), text in zip(rules, texts, strict=False):
        rank = start + (_ALLOWS if allow else _FORBIDS_TOO)
        if text.startswith("/") and "*" not in text and "$" not in text:
            yield rank - len(text) * _LENGTH, text  # as one_form() has it: most rules come this way
        elif value:
            pattern = one_form(text, edition)
            if pattern is not None:
                yield rank - pattern[1] * _LENGTH, pattern[0]
        elif edition.empty_rules_decide_line:  # else RUL-02: nothing
            yield rank & ~FORBIDS, ""
        if allow and edition.index_html:
            directory = index_page_form(text, edition)
            if directory is not None:
                yield rank - directory[1] * _LENGTH, directory[0]


def decide_once(rules: Sequence[RawRule], path: str, edition: Edition) -> int | None:
    """The rank of the rule that decides about a path in its one form, or ``NO_RULE``.

    What it buys: most files of a broad crawl are asked about one or two URLs. Trying the rules one
    by one takes a tenth of the time of making a :class:`RuleSet`, and leaves nothing behind. None
    for a group so large that it had better be compiled at once.
    """
    if not edition.index_html:
        octets = path.encode("ascii")
        rules = [rule for rule in rules if _may_match(rule[1], octets)]
    if not rules:
        return NO_RULE
    if len(rules) * len(path) > _TRIED:
        return None
    ranks = [rank for rank, text in ranked_patterns(rules, edition) if matches(text, path)]
    return min(ranks, default=NO_RULE)


def _may_match(value: bytes, path: bytes) -> bool:
    """False for most rules that do not match, whatever the edition."""
    first, star, others = value.partition(b"*")
    if not path.startswith(first) and not path.startswith(_ordinary_part(first)):
        return not value.startswith((b"/", b"*"))  # a slash may have to be put in front
    return not star or _ordinary_part(others.rpartition(b"*")[2]) in path


def _ordinary_part(literal: bytes) -> bytes:
    """A literal up to what may not stand for itself."""
    odd = _FIRST_ODD(literal)
    return literal[: odd.start()] if odd else literal


class RuleSet:
    """The rules of one combined group, made to be asked often."""

    __slots__ = (
        "_floating",
        "_headed",
        "_needles",
        "_parents",
        "_prefixes",
        "_ranks",
        "_texts",
        "_to_end",
        "escapes",
        "forbids",
    )

    escapes: bool
    """Some rule holds an escape, so paths must be spelt in the one form to be compared."""
    forbids: bool
    """Some rule forbids; otherwise nothing is left to ask."""

    def __init__(self, rules: Sequence[RawRule], edition: Edition) -> None:
        ranks, patterns = _compile(rules, edition)
        headed, floating = _part(patterns)
        for head, _, _ in headed:
            ranks.setdefault(head, NO_RULE)
        ordered = sorted(ranks)
        texts = "".join(ordered)
        self.escapes = "%" in texts or any("%" in text for _, text in patterns)
        self.forbids = any(map(forbids, chain(ranks.values(), (rank for rank, _ in patterns))))
        self._to_end = _END in texts
        self._prefixes = sort_prefixes(ordered)
        self._ranks = array("q", [ranks[prefix] for prefix in ordered])
        self._prefixes.spread(self._ranks)
        self._headed = _headed(headed, ordered) if headed else None
        self._floating = wildcards(floating) if floating else None
        self._needles = self._floating.glance() if self._floating else ()
        packed = isinstance(self._prefixes, PackedPrefixes)
        self._texts = None if packed else self._prefixes.texts
        self._parents = self._prefixes.parents

    def find(self, path: str) -> int:
        """The rank of the rule that decides about a path, or ``NO_RULE``.

        The path must be in its one form if ``escapes``; else only its percent signs must be.
        """
        best = NO_RULE
        start = path + _END if self._to_end else path
        texts = self._texts
        if texts is None:
            index = self._prefixes.longest(start)
        else:  # the same, without the call: nearly every verdict comes this way
            index = bisect_right(texts, start) - 1
            if index >= 0 and not start.startswith(texts[index]):
                index = -1 if self._parents is None else self._prefixes.longest(start)
        if index >= 0:
            best = self._ranks[index]
            if self._headed is not None:
                best = self._headed.best_under(index, self._parents, path, best)
        for needle in self._needles:  # nearly always none of them is there
            if needle in path and self._floating is not None:
                return self._floating.best(path, best)
        return best


def _compile(rules: Sequence[RawRule], edition: Edition) -> tuple[dict[str, int], list[Ranked]]:
    """The best rank of each prefix, and the patterns that are more than prefixes."""
    ranks: dict[str, int] = {}
    patterns: list[Ranked] = []
    for rank, text in ranked_patterns(rules, edition):
        prefix = text
        if text.endswith("$"):
            prefix = _as_prefix(text)
        elif text.endswith("*"):
            prefix = text[:-1]
        if "*" in prefix:
            patterns.append((rank, text))
        elif rank < ranks.get(prefix, NO_RULE):
            ranks[prefix] = rank
    return ranks, patterns


def _as_prefix(text: str) -> str:
    """The prefix that matches as an anchored pattern does; it has a star if there is none."""
    content = text[:-1]
    if "*" not in content:
        return content + _END
    return content.rstrip("*") if content.endswith("*") else text  # /a*$


def _part(patterns: Sequence[Ranked]) -> tuple[list[Headed], list[Ranked]]:
    """The patterns whose heads tell more than that a path begins, and the others.

    Very many are better all found by their needles.
    """
    if len(patterns) >= INDEX_FROM:
        return [], list(patterns)
    headed: list[Headed] = []
    floating: list[Ranked] = []
    for rank, text in patterns:
        head = text.partition("*")[0]
        if len(head) > 1:
            headed.append((head, rank, text))
        else:
            floating.append((rank, text))
    return headed, floating


def _headed(patterns: Iterable[Headed], prefixes: Sequence[str]) -> HeadedWildcards:
    indices = ((bisect_left(prefixes, head), rank, text) for head, rank, text in patterns)
    return HeadedWildcards(sorted(indices))
