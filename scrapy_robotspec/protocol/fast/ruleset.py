"""The compiled rules of one group."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from scrapy_robotspec.editions import Slashless
from scrapy_robotspec.protocol.fast.prefixes import parents_of, spread
from scrapy_robotspec.protocol.fast.wildcards import (
    END,
    INDEX_FROM,
    compile_wildcards,
    matches,
    needle_of,
)
from scrapy_robotspec.protocol.google import INDEX_PAGE
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
    canonical_all,
    keyed_pattern,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.groups import RawRule
    from scrapy_robotspec.protocol.precedence import KeyedPattern

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

    def __init__(self, rules: Sequence[RawRule], edition: Edition) -> None:
        keys, patterns = _compile(rules, edition)
        self.forbids = any(key & FORBIDS for key in (*keys.values(), *patterns.values()))
        texts = "\n".join((*keys, *patterns))
        self._escapes = bool(_MEETS_ESCAPE(texts))
        self._to_end = END in texts
        headed = _take_headed(patterns)
        for text in headed:
            keys.setdefault(_head(text), NO_RULE)
        prefixes = sorted(keys)
        self._edition = edition
        self._base = _NO_BASE  # the last URL up to the slash its path begins with
        self._path_at = 0
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
        if self._to_end:
            path += END
        prefixes, parents = self._prefixes, self._parents
        index = bisect_right(prefixes, path) - 1
        while index >= 0 and not path.startswith(prefixes[index]):
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


def _compile(rules: Sequence[RawRule], edition: Edition) -> tuple[dict[str, int], dict[str, int]]:
    """The smallest key of each prefix, and of each pattern that is more than a prefix."""
    prefixes: dict[str, int] = {}
    patterns: dict[str, int] = {}
    for key, text in _keyed(rules, edition):
        if text.endswith(("$", "*")):
            text = _with_end(text)
        found = patterns if "*" in text else prefixes
        if key < found.get(text, NO_RULE):
            found[text] = key
    return prefixes, patterns


def _keyed(rules: Sequence[RawRule], edition: Edition) -> Iterator[KeyedPattern]:
    """As ``keyed_patterns``; usual rules at a third of the cost."""
    texts = canonical_all([value for _, value, _ in rules], edition)
    usual = edition.wildcards and not (edition.decode_unreserved and _SPECIAL("\n".join(texts)))
    beginnings = "/*" if edition.slashless is Slashless.PATTERN else "/"
    for rule, text in zip(rules, texts, strict=False):
        allow, _, start = rule
        if (
            not usual
            or text[:1] not in beginnings
            or not text
            or ("$" in text and text.index("$") < len(text) - 1)
            or (allow and edition.index_html and INDEX_PAGE in text)
        ):
            yield from keyed_pattern(rule, text, edition)
            continue
        key = start + (ALLOWS if allow else DISALLOWS)
        if text.endswith("*"):
            pattern = text.rstrip("*")
            length = len(text if edition.count_trailing_star else pattern)
            yield key - length * LENGTH, pattern
        else:
            yield key - len(text) * LENGTH, text


def _with_end(text: str) -> str:
    """A pattern with ``END`` for its anchor, and without a last star."""
    content = text[:-1]
    return (
        content + END if text.endswith("$") and not content.endswith("*") else content.rstrip("*")
    )


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
