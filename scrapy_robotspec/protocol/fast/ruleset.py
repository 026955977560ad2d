"""The compiled rules of one group."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.fast.prefixes import parents_of, spread
from scrapy_robotspec.protocol.fast.wildcards import END, Wildcards, with_end
from scrapy_robotspec.protocol.paths import (
    LITERAL_DOLLAR,
    LITERAL_STAR,
    LONE_PERCENT,
    ROBOTS_TXT,
    base_of,
    canonical_path,
    find_noncanonical,
    path_of,
)
from scrapy_robotspec.protocol.precedence import FORBIDS, ITSELF, NO_RULE, keyed_patterns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.groups import RawRule

#: Only canonical paths match these: escapes, and literals that may end one.
_ESCAPES = ("%", LONE_PERCENT, LITERAL_STAR, LITERAL_DOLLAR)
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
        keys, patterns = _compile(rules, edition)
        self.forbids = any(key & FORBIDS for key in (*keys.values(), *patterns.values()))
        texts = "\n".join((*keys, *patterns))
        self._escapes = any(map(texts.__contains__, _ESCAPES)) or _ends_escape(texts) is not None
        self._to_end = END in texts
        prefixes = sorted(keys)
        self._edition = edition
        # The last URL up to the slash its path begins with, and the offset of this slash.
        self._base, self._path_at = "x://x/", 5
        self._keys = array("q", map(keys.__getitem__, prefixes))
        self._parents = parents_of(prefixes)
        spread(self._keys, self._parents or ())
        self._prefixes = tuple(prefixes)
        self._wildcards = Wildcards(patterns) if patterns else None
        self._needles = (*(self._wildcards.few or ("",)),) if self._wildcards else ()

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
        best = self._best_prefix(path)
        for needle in self._needles:  # nearly always none is in the path
            if needle in path:
                return self._made_wildcards().best(path, best)
        return best

    def find_all(self, urls: Sequence[str | bytes]) -> list[int]:
        """:meth:`find` for each URL. The URLs of one site share steps."""
        base, start = self._base, self._path_at
        paths = [url[start:] for url in urls if isinstance(url, str) and url.startswith(base)]
        text = "".join(paths)
        unusual = "%" in text or "#" in text or "\\" in text or ROBOTS_TXT in paths
        if len(paths) < len(urls) or unusual or (self._escapes and find_noncanonical(text)):
            return list(map(self.find, urls))
        if self._to_end:
            paths = [path + END for path in paths]
        keys = list(map(self._best_prefix, paths))
        for place in set(_places_of(self._needles, paths)):
            keys[place] = self._made_wildcards().best(paths[place], keys[place])
        return keys

    def _best_prefix(self, path: str) -> int:
        """The best key of the prefixes that a path begins with, or ``NO_RULE``."""
        prefixes, parents = self._prefixes, self._parents
        index = bisect_right(prefixes, path) - 1
        while index >= 0 and not path.startswith(prefixes[index]):
            index = -1 if parents is None else parents[index]
        return NO_RULE if index < 0 else self._keys[index]

    def _made_wildcards(self) -> Wildcards:
        """The patterns that are more than prefixes; there are some where there are needles."""
        assert self._wildcards is not None
        return self._wildcards

    def _has_base(self, url: str) -> bool:
        """Keep where the path of *url* begins, if that is plain; URLs of one site begin alike."""
        base = base_of(url)
        if base:
            self._base, self._path_at = base, len(base) - 1
        return base != ""


def _places_of(needles: Sequence[str], texts: Sequence[str]) -> Iterator[int]:
    """The places of the texts that contain a needle, and perhaps of a few others."""
    text, ends = "".join(texts), list(accumulate(map(len, texts)))
    for needle in needles:
        at = text.find(needle)
        while 0 <= at < len(text):
            place = bisect_right(ends, at)
            yield place
            at = text.find(needle, ends[place])


def _compile(rules: Sequence[RawRule], edition: Edition) -> tuple[dict[str, int], dict[str, int]]:
    """The smallest key of each prefix, and of each pattern that is more than a prefix."""
    prefixes: dict[str, int] = {}
    patterns: dict[str, int] = {}
    for key, text in keyed_patterns(rules, edition):
        if "*" in text or "$" in text:
            text = with_end(text)
        found = patterns if "*" in text else prefixes
        if found.setdefault(text, key) > key:
            found[text] = key
    return prefixes, patterns
