"""The compiled rules of one combined group: the longest match decides (PRE-01, PRE-02).

What decides is a rank, see ``ranks.py``, so the smallest of those whose patterns match is looked
for. How that is found fast, ``prefixes.py`` and ``wildcards.py`` know.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.fast.prefixes import PackedPrefixes, SortedPrefixes, sort_prefixes
from scrapy_robotspec.protocol.fast.wildcards import INDEX_FROM, HeadedWildcards, wildcards
from scrapy_robotspec.protocol.paths import (
    ROBOTS_TXT,
    base_of,
    canonical_path,
    find_noncanonical,
    path_of,
)
from scrapy_robotspec.protocol.precedence import (
    ALLOWS,
    DISALLOWS,
    FORBIDS,
    ITSELF,
    LENGTH,
    NO_RULE,
    KeyedPattern,
    canonical_all,
    keyed_patterns,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.fast.index import Columns
    from scrapy_robotspec.protocol.groups import RawRule

#: A wildcard pattern with its head, the literal before the first star.
Headed = tuple[str, int, str]

#: Stands for the path's end behind a prefix, so that ``/a$`` is the prefix ``/a#``. Neither a rule
#: nor a path can hold it: there a comment begins, here the fragment.
_END = "#"

#: Where those in hand can be searched directly.
_NO_PREFIXES = SortedPrefixes(())

#: Finds an escaped "*" or "$", which counts 1 in a pattern's length.
_SPECIAL = re.compile("%2(?:4|A)").search

#: Before the first URL: no URL begins so.
_NO_BASE = "\0 no base \0"

#: Of very many wildcards, those are known by their heads that have no longer one than so, and share
#: it with no more than so many.
_LONG_HEAD = 24
_SHARING = 8


class RuleSet:
    """The rules of one combined group, made to be asked often."""

    __slots__ = (
        "_base",
        "_edition",
        "_escapes",
        "_floating",
        "_headed",
        "_needles",
        "_parents",
        "_path_at",
        "_prefixes",
        "_ranks",
        "_texts",
        "_to_end",
        "forbids",
    )

    forbids: bool
    """Some rule forbids; otherwise nothing is left to ask."""

    def __init__(self, rules: Columns, edition: Edition) -> None:
        ranks, patterns = _compile(rules, edition)
        headed, floating = partition(patterns) if patterns else ((), ())
        for head, _, _ in headed:
            ranks.setdefault(head, NO_RULE)
        ordered = sorted(ranks)
        self._edition = edition
        self._base = _NO_BASE  # the last URL up to the slash its path begins with
        self._path_at = 0
        texts = "\n".join(ordered)
        self._to_end = _END in texts
        # With an escape in some rule, paths must be spelt in the one form to be compared; else only
        # their percent signs must be.
        self._escapes = "%" in texts or any("%" in text for _, text in patterns)
        self.forbids = any(rank & FORBIDS for rank in ranks.values()) or any(
            rank & FORBIDS for rank, _ in patterns
        )
        self._ranks = array("q", [ranks[prefix] for prefix in ordered])
        prefixes = sort_prefixes(ordered)
        self._parents = prefixes.parents
        if self._parents is not None:
            prefixes.spread(self._ranks)
        packed = isinstance(prefixes, PackedPrefixes)
        self._texts = None if packed else prefixes.texts
        self._prefixes = prefixes if packed or self._parents is not None else _NO_PREFIXES
        self._headed = _headed(headed, ordered, self._parents) if headed else None
        self._floating = wildcards(floating) if floating else None
        self._needles = self._floating.glance() if self._floating else ()

    def find(self, url: str | bytes) -> int:
        """The rank of the rule that decides about a URL, ``NO_RULE`` or ``ITSELF``."""
        # Nearly every verdict comes this way, so no function is called for what is one line.
        if isinstance(url, str) and url.startswith(self._base):
            path = url[self._path_at :]
            # One part of the condition is false for nearly every path: hot path.
            if (
                "%" in path
                or "#" in path
                or "\\" in path
                or (self._escapes and find_noncanonical(path))
            ):
                path = canonical_path(path, self._edition)
        else:
            path = self._path(url)
        if path == ROBOTS_TXT and self._edition.robots_txt_allowed:
            return ITSELF
        start = path + _END if self._to_end else path
        texts = self._texts
        if texts is None:
            index = self._prefixes.longest(start)
        else:
            index = bisect_right(texts, start) - 1
            if index >= 0 and not start.startswith(texts[index]):
                index = -1 if self._parents is None else self._prefixes.longest(start)
        best = NO_RULE
        if index >= 0:
            best = self._ranks[index]
            if self._headed is not None and self._headed.under[index]:
                best = self._headed.best_under(index, self._parents, path, best)
        for needle in self._needles:  # nearly always none of them is there
            if needle in path and self._floating is not None:
                return self._floating.best(path, best)
        return best

    def _path(self, url: str | bytes) -> str:
        """The path of a URL that does not begin as the last did.

        What remembering buys: a file is asked about the URLs of one site, so nearly always all up
        to the path is what it was before. Comparing that takes a tenth of the time of finding where
        the path begins.
        """
        base = base_of(url) if isinstance(url, str) else ""
        if base:
            self._base, self._path_at = base, len(base) - 1
        return path_of(url, self._edition)


def _compile(rules: Columns, edition: Edition) -> tuple[dict[str, int], list[KeyedPattern]]:
    """The best rank of each prefix, and the patterns that are more than prefixes."""
    ranks: dict[str, int] = {}
    patterns: list[KeyedPattern] = []
    others: list[RawRule] = []
    # Most rules are ranked here as keyed_patterns() does it, at a third of the cost.
    counted = edition.count_trailing_star
    texts = canonical_all(rules.values, edition)
    joined = "\n".join(texts)
    usual = edition.wildcards and not edition.index_html and not _SPECIAL(joined)
    all_plain = usual and not ("*" in joined or "$" in joined) and joined.startswith("/")
    all_plain = all_plain and joined.count("\n/") == len(texts) - 1
    for allow, value, start, text in zip(*rules, texts, strict=False):
        length = len(text)
        if not all_plain:
            if not usual or "$" in text or text[:1] != "/":
                if value or edition.empty_rules_decide_line:
                    others.append((allow, value, start))
                continue
            if "*" in text:
                text = text.rstrip("*")
                length = length if counted else len(text)
        rank = start + (ALLOWS if allow else DISALLOWS) - length * LENGTH
        if not all_plain and "*" in text:
            patterns.append((rank, text))
        elif rank < ranks.get(text, NO_RULE):
            ranks[text] = rank
    for rank, text in keyed_patterns(others, edition) if others else ():
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


def partition(patterns: Sequence[KeyedPattern]) -> tuple[list[Headed], list[KeyedPattern]]:
    """The patterns whose heads tell more than that a path begins, and the others.

    Of very many, those stay with the others that share their head with more than a few, or have a
    long one: so no path leads to more heads than a few, nor to more than a few patterns.
    """
    headed: list[Headed] = []
    floating: list[KeyedPattern] = []
    for rank, text in patterns:
        head = text[: text.index("*")]
        if len(head) > 1:
            headed.append((head, rank, text))
        else:
            floating.append((rank, text))
    if len(headed) >= INDEX_FROM:
        sharing = Counter(head for head, _, _ in headed)
        floating += [
            (rank, text)
            for head, rank, text in headed
            if len(head) > _LONG_HEAD or sharing[head] > _SHARING
        ]
        headed = [
            one for one in headed if len(one[0]) <= _LONG_HEAD and sharing[one[0]] <= _SHARING
        ]
    return headed, floating


def _headed(
    patterns: Iterable[Headed], prefixes: Sequence[str], parents: Sequence[int] | None
) -> HeadedWildcards:
    indices = ((bisect_left(prefixes, head), rank, text) for head, rank, text in patterns)
    return HeadedWildcards(sorted(indices), parents or [-1] * len(prefixes))
