"""The compiled rules of one group."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from itertools import chain
from typing import TYPE_CHECKING

from scrapy_robotspec.editions import Slashless
from scrapy_robotspec.protocol.needles import parents_of
from scrapy_robotspec.protocol.paths import (
    LITERAL_DOLLAR,
    LITERAL_STAR,
    LONE_PERCENT,
    QUERY_APOSTROPHE,
    ROBOTS_TXT,
    base_of,
    canonical_path,
    find_noncanonical,
    path_of,
)
from scrapy_robotspec.protocol.patterns import END
from scrapy_robotspec.protocol.precedence import (
    ALLOWS,
    DISALLOWS,
    FORBIDS,
    ITSELF,
    LENGTH,
    NO_RULE,
    canonical_all,
    patterns_of,
)
from scrapy_robotspec.protocol.wildcards import Wildcards

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.groups import RawRule

#: Only canonical paths match these: escapes, and literals that may end one.
_ESCAPES = ("%", LONE_PERCENT, LITERAL_STAR, LITERAL_DOLLAR, QUERY_APOSTROPHE)
_ends_escape = re.compile(r"\*[0-9A-F]").search


class RuleSet:
    """The rules of one combined group, compiled for many questions."""

    __slots__ = (
        *("_base", "_edition", "_escapes", "_keys", "_needles", "_parents", "_path_at"),
        *("_prefixes", "_to_end", "_wildcards", "forbids"),
    )

    forbids: bool
    """Some rule forbids; otherwise every URL is allowed."""

    def __init__(self, rules: Sequence[RawRule], edition: Edition) -> None:
        keys, patterns = compile_rules(rules, edition)
        self.forbids = any(map(FORBIDS.__and__, chain(keys.values(), patterns.values())))
        texts = "\n".join((*keys, *patterns))
        self._escapes = any(map(texts.__contains__, _ESCAPES)) or _ends_escape(texts) is not None
        self._to_end = END in texts
        self._edition = edition
        # The last URL up to the slash its path begins with, and the offset of this slash.
        self._base, self._path_at = "x://x/", 5
        self._prefixes = tuple(sorted(keys))
        self._keys = array("q", map(keys.__getitem__, self._prefixes))
        self._parents = parents_of(self._prefixes)
        self._wildcards = Wildcards(patterns) if patterns else None
        self._needles = (self._wildcards.needles or ("",)) if self._wildcards else ()

    def find(self, url: str | bytes) -> int:
        """The deciding key for a URL, ``NO_RULE`` or ``ITSELF``."""
        if isinstance(url, str) and (url.startswith(self._base) or self._has_base(url)):  # hot path
            path = url[self._path_at :]
            unusual = "%" in path or "#" in path or "\\" in path
            if unusual or (self._escapes and find_noncanonical(path)):
                path = canonical_path(path, self._edition)
        else:
            path = path_of(url, self._edition)
        if path == ROBOTS_TXT and self._edition.robots_txt_allowed:
            return ITSELF
        if self._to_end:
            path += END
        prefixes, parents = self._prefixes, self._parents
        best = NO_RULE
        index = bisect_right(prefixes, path) - 1
        while index >= 0:
            if path.startswith(prefixes[index]) and self._keys[index] < best:
                best = self._keys[index]
            index = -1 if parents is None else parents[index]
        for needle in self._needles:  # nearly always none is in the path
            if needle in path:
                return self._wildcards.best(path, best)  # type: ignore[union-attr]
        return best

    def _has_base(self, url: str) -> bool:
        """Keep where the path of *url* begins, if that is plain; URLs of one site begin alike."""
        base = base_of(url)
        if base:
            self._base, self._path_at = base, len(base) - 1
        return base != ""


def compile_rules(
    rules: Sequence[RawRule], edition: Edition
) -> tuple[dict[str, int], dict[str, int]]:
    """The smallest key of each prefix and of each longer pattern.

    They match paths with their ``END``.
    """
    prefixes: dict[str, int] = {}
    patterns: dict[str, int] = {}
    texts = canonical_all([value for _, value, _ in rules], edition)
    star = "*" if edition.slashless is Slashless.PATTERN else "/"
    is_usual = edition.wildcards and not edition.index_html
    counts_star = edition.count_trailing_star
    for (allow, _, start), text in zip(rules, texts, strict=False):  # hot path
        unusual = "%" in text or "$" in text or "'" in text or "**" in text
        if not unusual and is_usual and (text[:1] == "/" or text[:1] == star):
            key = start + (ALLOWS if allow else DISALLOWS) - len(text) * LENGTH
            if text[-1] == "*":  # PAT-03
                text = text[:-1]
                key += 0 if counts_star else LENGTH
            found = patterns if "*" in text else prefixes
            if found.setdefault(text, key) > key:
                found[text] = key
            continue
        for key, pattern in patterns_of(allow, text, start, edition):
            found = patterns if "*" in pattern else prefixes
            if found.setdefault(pattern, key) > key:
                found[pattern] = key
    return prefixes, patterns
