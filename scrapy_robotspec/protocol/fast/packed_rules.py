"""Compiled rules as plain values, and rules that match from them.

Such rules are usually asked about one URL, and no prefix matches it. One search finds that out.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.fast.ruleset import RuleSet
from scrapy_robotspec.protocol.fast.wildcards import Wildcards
from scrapy_robotspec.protocol.precedence import NO_RULE

if TYPE_CHECKING:
    from scrapy_robotspec.editions import Edition

#: Three flags; the beginning of URLs; prefixes, each after a line end, the length of the shortest,
#: keys and parents; needles; patterns, one on a line, and their keys.
PackedRules = tuple[
    bool, bool, bool, str, str, int, bytes, bytes | None, tuple[str, ...], str, bytes
]


def pack(rules: RuleSet) -> PackedRules:
    """*rules* as values for :class:`UnpackedRules`."""
    prefixes, parents, wildcards = rules._prefixes, rules._parents, rules._wildcards
    return (
        rules.forbids,
        rules._escapes,
        rules._to_end,
        rules._base,
        "".join([f"\n{prefix}" for prefix in prefixes]),
        min(map(len, prefixes), default=0),
        rules._keys.tobytes(),
        None if parents is None else parents.tobytes(),
        rules._needles,
        "" if wildcards is None else "\n".join(wildcards._texts),
        b"" if wildcards is None else wildcards._keys.tobytes(),
    )


class UnpackedRules(RuleSet):
    """The rules that :func:`pack` was given."""

    __slots__ = ("_pattern_keys", "_patterns", "_prefix_text", "_shortest")

    def __init__(self, packed: PackedRules, edition: Edition) -> None:
        (
            self.forbids,
            self._escapes,
            self._to_end,
            self._base,
            self._prefix_text,
            self._shortest,
            keys,
            parents,
            self._needles,
            self._patterns,
            self._pattern_keys,
        ) = packed
        self._edition = edition
        self._path_at = len(self._base) - 1
        self._keys = array("q", keys)
        self._parents = None if parents is None else array("i", parents)
        self._wildcards = None  # until a path contains a needle

    def _best_prefix(self, path: str) -> int:
        if "\n" + path[: self._shortest] not in self._prefix_text:
            return NO_RULE
        self._prefixes = tuple(self._prefix_text[1:].split("\n"))
        best = super()._best_prefix(path)
        self._prefixes = ()  # they take four times the memory of the text
        return best

    def _made_wildcards(self) -> Wildcards:
        if self._wildcards is None:
            keys = array("q", self._pattern_keys)
            self._wildcards = Wildcards(dict(zip(self._patterns.split("\n"), keys, strict=True)))
        return self._wildcards
