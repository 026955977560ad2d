"""The compiled rules of one group."""

from __future__ import annotations

import re
from array import array
from functools import cache
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.paths import (
    LITERAL_DOLLAR,
    LITERAL_STAR,
    QUERY_APOSTROPHE,
    ROBOTS_TXT,
    base_of,
    canonical_path,
    find_noncanonical,
    path_of,
)
from scrapy_robotspec.protocol.patterns import END, pack, parents_of
from scrapy_robotspec.protocol.precedence import FORBIDS, ITSELF, NO_RULE, KeyedPattern

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.wildcards import Wildcards

#: Only canonical paths match these: escapes, and literals that may end one.
_ESCAPES = ("%", LITERAL_STAR, LITERAL_DOLLAR, QUERY_APOSTROPHE)
_ends_escape = re.compile(r"\*[0-9A-F]").search


@cache  # an import statement takes longer than a small group
def _wildcards() -> type[Wildcards]:
    """The class, which crawls of sites without wildcards do not load."""
    from scrapy_robotspec.protocol.wildcards import Wildcards

    return Wildcards


class RuleSet:
    """The rules of one combined group, compiled for many questions."""

    __slots__ = (
        *("_base", "_bisect", "_edition", "_escapes", "_keys", "_needles", "_parents", "_path_at"),
        *("_prefixes", "_to_end", "_wildcards", "forbids"),
    )

    def __init__(self, keyed: Sequence[KeyedPattern], edition: Edition) -> None:
        keys: dict[str, int] = {}  # of prefixes; the smallest of equal ones
        patterns: dict[str, int] = {}
        for key, text in keyed:  # hot path
            found = patterns if "*" in text else keys
            if found.setdefault(text, key) > key:
                found[text] = key
        #: Some rule disallows; otherwise every URL is allowed.
        self.forbids = any(key & FORBIDS for key, _ in keyed)
        texts = "\n".join((*keys, *patterns))
        self._escapes = any(map(texts.__contains__, _ESCAPES)) or _ends_escape(texts) is not None
        self._to_end = END in texts
        self._edition = edition
        # The last URL up to the slash its path begins with, and the offset of this slash.
        self._base, self._path_at = "x://x/", 5
        prefixes = sorted(keys)
        self._keys = array("q", map(keys.__getitem__, prefixes))
        self._parents = parents_of(prefixes)
        self._prefixes, self._bisect = pack(prefixes)
        self._wildcards = _wildcards()(patterns) if patterns else None
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
        index = self._bisect(prefixes, path) - 1
        while index >= 0:
            if path.startswith(prefixes[index]) and self._keys[index] < best:
                best = self._keys[index]
            index = -1 if parents is None else parents[index]
        for needle in self._needles:  # nearly always none is in the path
            if needle in path:
                matching = self._wildcards.matching(path, best)  # type: ignore[union-attr]
                return next(matching, best)
        return best

    def _has_base(self, url: str) -> bool:
        """Keep where the path of *url* begins, if that is plain; URLs of one site begin alike."""
        base = base_of(url)
        if base:
            self._base, self._path_at = base, len(base) - 1
        return base != ""
