"""Ranks: what decides about a path, put into one integer that sorts as rules take precedence.

    longest first | allow before disallow | forbids | offset of the rule's line

Finding the deciding rule is finding the smallest rank (PRE-01, PRE-02), and the rank found says
both what the verdict is and where its rule stands. Here rules get their ranks, and few of them are
tried one by one; many are compiled in ``ruleset.py``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.paths import normalise
from scrapy_robotspec.protocol.patterns import index_page_form, matches, one_form

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.groups import RawRule

#: A pattern's rank, and the pattern in its one form.
Ranked = tuple[int, str]

FORBIDS = 1 << 32
_DISALLOW = FORBIDS << 1
LENGTH = _DISALLOW << 1
_OFFSET = FORBIDS - 1

#: The rank of no rule: worse than any other, and it does not forbid.
NO_RULE = 1 << 62
#: In a rank's place: the file itself was asked for (PRE-04). It does not forbid.
ITSELF = -1 << 34
#: The ranks of rules of length 0 on a line at offset 0.
ALLOWS = NO_RULE - LENGTH
DISALLOWS = ALLOWS + _DISALLOW + FORBIDS

#: Rules sifted and tried one by one, at most, times the characters of the path.
_GLANCED = 1 << 22
_TRIED = 1 << 16
#: An octet that may not stand for itself in a pattern.
_FIRST_ODD = re.compile(rb"[$% \x80-\xff]").search


def forbids(rank: int) -> bool:
    """Whether the rule of a rank forbids."""
    return bool(rank & FORBIDS)


def line_start(rank: int) -> int:
    """Offset of the line of a rank's rule in the file."""
    return rank & _OFFSET


def ranked_patterns(rules: Sequence[RawRule], edition: Edition) -> Iterator[Ranked]:
    """What may decide: of a rule one pattern, none, or two (PRE-05)."""
    texts = spelt([value for _, value, _ in rules], edition)
    for (allow, value, start), text in zip(rules, texts, strict=False):
        rank = start + (ALLOWS if allow else DISALLOWS)
        if text.startswith("/") and "*" not in text and "$" not in text:
            yield rank - len(text) * LENGTH, text  # as one_form() has it: most rules come this way
        elif value:
            pattern = one_form(text, edition)
            if pattern is not None:
                yield rank - pattern[1] * LENGTH, pattern[0]
        elif edition.empty_rules_decide_line:  # else RUL-02: nothing
            yield rank & ~FORBIDS, ""
        if allow and edition.index_html:
            directory = index_page_form(text, edition)
            if directory is not None:
                yield rank - directory[1] * LENGTH, directory[0]


def spelt(values: Sequence[bytes], edition: Edition) -> list[str]:
    """Values of rules in their one form, all in one go; none holds a line end."""
    return normalise(b"\n".join(values), edition).split("\n")


def decide_once(rules: Sequence[RawRule], path: str, edition: Edition) -> int | None:
    """The rank of the rule that decides about a path in its one form, or ``NO_RULE``.

    What it buys: most files of a broad crawl are asked about few URLs. Trying the few rules that a
    glance leaves takes a fifth of the time of making a :class:`RuleSet` of all, and leaves nothing
    behind. None for so many that all had better be compiled at once.
    """
    if not rules:
        return NO_RULE
    if len(rules) * len(path) > _TRIED:
        return None
    ranks = [rank for rank, text in ranked_patterns(rules, edition) if matches(text, path)]
    return min(ranks, default=NO_RULE)


def sift(rules: Sequence[RawRule], path: str, edition: Edition) -> Sequence[RawRule] | None:
    """The rules that may match a path, and a few that do not; None for too many to look at."""
    if len(rules) * len(path) > _GLANCED:
        return None
    if edition.index_html:
        return rules
    octets = path.encode("ascii")
    return [rule for rule in rules if _may_match(rule[1], octets)]


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
