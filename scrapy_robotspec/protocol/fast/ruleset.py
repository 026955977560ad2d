"""The compiled rules of one group."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.fast.prefixes import parents_of, spread
from scrapy_robotspec.protocol.fast.wildcards import INDEX_FROM, compile_wildcards, needle_of
from scrapy_robotspec.protocol.paths import (
    ROBOTS_TXT,
    base_of,
    canonical_path,
    find_noncanonical,
    path_of,
)
from scrapy_robotspec.protocol.patterns import canonical_pattern, matches
from scrapy_robotspec.protocol.precedence import (
    ALLOWS,
    DISALLOWS,
    FORBIDS,
    ITSELF,
    LENGTH,
    NO_RULE,
    canonical_all,
    keyed_patterns,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.fast.index import Columns
    from scrapy_robotspec.protocol.precedence import KeyedPattern

#: Stands for the path's end after a prefix, so that ``/a$`` is the prefix ``/a#``. Neither a rule
#: nor a path contains it: there a comment begins, here the fragment.
_END = "#"

#: Before the first URL: no URL begins so.
_NO_BASE = "\0 no base \0"

#: Finds a text that may be equal to an escape in a path or to the end of one. Without any, a path
#: need not be canonical.
_MEETS_ESCAPE = re.compile(r"%|\*[0-9A-F]").search

#: Finds an escaped "*" or "$", which counts 1 in a pattern's length.
_SPECIAL = re.compile("%2(?:4|A)").search

#: A wildcard pattern known by its first literal: its key, its needle, its text.
_Headed = tuple[int, str, str]


class RuleSet:
    """The rules of one combined group, compiled for many questions."""

    __slots__ = (
        "_base",
        "_edition",
        "_escapes",
        "_headed",
        "_keys",
        "_needles",
        "_parents",
        "_path_at",
        "_prefixes",
        "_to_end",
        "_wildcards",
        "forbids",
    )

    forbids: bool
    """Some rule forbids; otherwise every URL is allowed."""

    def __init__(self, rules: Columns, edition: Edition) -> None:
        keys, patterns = _compile(rules, edition)
        self.forbids = any(key & FORBIDS for key in (*keys.values(), *patterns.values()))
        self._escapes = bool(_MEETS_ESCAPE("\n".join((*keys, *patterns))))
        headed = _take_headed(patterns)
        for text in headed:
            keys.setdefault(_head(text), NO_RULE)
        prefixes = sorted(keys)
        self._edition = edition
        self._base = _NO_BASE  # the last URL up to the slash its path begins with
        self._path_at = 0
        self._to_end = _END in "\n".join(prefixes)
        self._keys = array("q", [keys[prefix] for prefix in prefixes])
        self._parents = parents_of(prefixes)
        if self._parents is not None:
            spread(self._keys, self._parents)
        self._prefixes = tuple(prefixes)
        self._headed = _by_prefix(headed, prefixes)
        self._wildcards = compile_wildcards(patterns) if patterns else None
        self._needles = self._wildcards.needles if self._wildcards else ()

    def find(self, url: str | bytes) -> int:
        """The deciding key for a URL, ``NO_RULE`` or ``ITSELF``."""
        # Hot path: nearly every verdict comes this way.
        if isinstance(url, str) and url.startswith(self._base):
            path = url[self._path_at :]
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
        prefixes, parents = self._prefixes, self._parents
        index = bisect_right(prefixes, start) - 1
        while index >= 0 and not start.startswith(prefixes[index]):
            index = -1 if parents is None else parents[index]
        best = NO_RULE
        if index >= 0:
            best = self._keys[index]
            if self._headed:
                best = self._best_headed(index, path, best)
        for needle in self._needles:  # nearly always none is in the path
            if needle in path and self._wildcards is not None:
                return self._wildcards.best(path, best)
        return best

    def _best_headed(self, index: int, path: str, best: int) -> int:
        """The best key among the patterns whose first literal the path starts with."""
        while index >= 0:
            for key, needle, text in self._headed.get(index, ()):
                if key > best:
                    break
                if needle in path and matches(text, path):
                    best = key
                    break
            index = -1 if self._parents is None else self._parents[index]
        return best

    def _path(self, url: str | bytes) -> str:
        """The path of a URL that does not begin as the last one.

        A file is asked about the URLs of one site, so comparing the beginning is enough for nearly
        all of them.
        """
        base = base_of(url) if isinstance(url, str) else ""
        if base:
            self._base, self._path_at = base, len(base) - 1
        return path_of(url, self._edition)


def _compile(rules: Columns, edition: Edition) -> tuple[dict[str, int], dict[str, int]]:
    """The smallest key of each prefix, and of each pattern that is more than a prefix."""
    prefixes: dict[str, int] = {}
    patterns: dict[str, int] = {}
    for key, text in _keyed(rules, edition):
        prefix = text
        if text.endswith("$"):
            prefix = _as_prefix(text)
        elif text.endswith("*"):
            prefix = text[:-1]
        if "*" in prefix:
            if key < patterns.get(text, NO_RULE):
                patterns[text] = key
        elif key < prefixes.get(prefix, NO_RULE):
            prefixes[prefix] = key
    return prefixes, patterns


def _keyed(rules: Columns, edition: Edition) -> Iterator[KeyedPattern]:
    """As ``keyed_patterns``; a usual file's rules at a third of the cost."""
    texts = canonical_all(rules.values, edition)
    if (
        not edition.wildcards
        or edition.index_html
        or edition.empty_rules_decide_line
        or _SPECIAL("\n".join(texts))
    ):
        yield from keyed_patterns(list(zip(*rules, strict=True)), edition)
        return
    counted = edition.count_trailing_star
    for allow, start, text in zip(rules.allows, rules.starts, texts, strict=False):
        key = start + (ALLOWS if allow else DISALLOWS)
        if "$" in text or text[:1] != "/":
            pattern = canonical_pattern(text, edition) if text else None
            if pattern is not None:
                yield key - pattern[1] * LENGTH, pattern[0]
        elif text.endswith("*"):
            stripped = text.rstrip("*")
            yield key - len(text if counted else stripped) * LENGTH, stripped
        else:
            yield key - len(text) * LENGTH, text


def _as_prefix(text: str) -> str:
    """The prefix that matches as an anchored pattern does; it has a star if there is none."""
    content = text[:-1]
    if "*" not in content:
        return content + _END
    return content.rstrip("*") if content.endswith("*") else text  # /a*$


def _head(text: str) -> str:
    return text[: text.index("*")]


def _take_headed(patterns: dict[str, int]) -> dict[str, _Headed]:
    """Take the patterns with a telling first literal out of *patterns*, unless they are many.

    They cost nothing for a path that begins otherwise.
    """
    if len(patterns) >= INDEX_FROM:
        return {}
    texts = [text for text in patterns if text.index("*") > 1]
    return {text: (patterns.pop(text), needle_of(text[text.index("*") :]), text) for text in texts}


def _by_prefix(
    headed: Mapping[str, _Headed], prefixes: Sequence[str]
) -> Mapping[int, Sequence[_Headed]]:
    """Headed patterns by the index of their first literal, in order of precedence."""
    found: dict[int, list[_Headed]] = {}
    for text, pattern in headed.items():
        found.setdefault(bisect_left(prefixes, _head(text)), []).append(pattern)
    return {index: tuple(sorted(some)) for index, some in found.items()}
