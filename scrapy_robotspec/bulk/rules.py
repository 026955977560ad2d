"""How much of a site some rules leave open.

This is decided by examples. The example of a pattern has text that no rule contains in the place of
each ``*``, and at its end unless the pattern is anchored. A rule that matches the example therefore
matches every path that the pattern matches. So a rule has effect exactly if no rule of the other
kind that matches one of its examples takes precedence.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Literal

from scrapy_robotspec.protocol import fast
from scrapy_robotspec.protocol.agent_index import rules_in
from scrapy_robotspec.protocol.paths import ROBOTS_TXT, as_in_url
from scrapy_robotspec.protocol.precedence import best_key, forbids, keyed_patterns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.groups import RawRule

Extent = Literal["no rules", "allows all", "denies all", "some"]

#: Max texts that are remembered, and max length of each (bytes): thousands of files share a few.
_KNOWN = 4096
_MAX_KNOWN = 4096
#: Bytes of a value that may match ``/``.
_WIDE = b"/*$"
#: The site that paths are asked about.
SITE = "https://h"
#: Characters that canonical paths contain as they are, those first that rules rarely contain.
_RARE = "~!'(),@:;+_.0123456789QZXJKVWYqzxjkvwy-&=ABCDEFGHILMNOPRSTUabcdefghilmnoprstu"
#: Where the rules contain all of them.
_RARE_TEXT = "%F4%8F%BF%BD"


class Rules:
    """The rules that some crawlers follow."""

    root: int
    """The deciding precedence key for ``/``."""

    def __init__(self, text: bytes, edition: Edition) -> None:
        self._rules = rules_in(text, (0, len(text)), edition)
        self._edition = edition
        # An index page may open the root (PRE-05).
        wide = [
            rule
            for rule in self._rules
            if not rule[1].strip(_WIDE) or (rule[0] and edition.index_html)
        ]
        self.root = best_key(wide, "/", edition)

    @cached_property
    def extent(self) -> Extent:
        """How much of a site they leave open, ``/robots.txt`` aside (PRE-04)."""
        if not self._rules:
            return "no rules"
        edition, unused = self._edition, _unused_text(self._rules)
        allows = [rule for rule in self._rules if rule[0]]
        disallows = [rule for rule in self._rules if not rule[0]]
        if not forbids(self.root):
            empty = [rule for rule in disallows if not rule[1]]  # it may allow all (RUL-02)
            some = _have_effect(disallows, [*allows, *empty], unused, edition)
            return "some" if some else "allows all"
        some = not forbids(best_key(self._rules, f"/{unused}", edition))
        some = some or _have_effect(allows, disallows, unused, edition)
        return "some" if some else "denies all"


_known_rules = lru_cache(_KNOWN)(Rules)


def rules_of(text: bytes, edition: Edition) -> Rules:
    """The rules on some lines."""
    return (_known_rules if len(text) <= _MAX_KNOWN else Rules)(text, edition)


def _have_effect(
    rules: Sequence[RawRule], others: Sequence[RawRule], unused: str, edition: Edition
) -> bool:
    """Whether any of the rules, all of one kind, is not overruled by *others*."""
    if not rules:
        return False
    find = fast.RuleSet(others, edition).find
    return any(
        path != ROBOTS_TXT and key < find(SITE + as_in_url(path))
        for rule in rules
        for key, pattern in keyed_patterns([rule], edition)
        if forbids(key) is not rule[0]  # a rule without a path may not forbid (RUL-02)
        for path in _examples(pattern, unused)
    )


def _unused_text(rules: Sequence[RawRule]) -> str:
    """Text that the rules do not contain, escaped or not."""
    text = b"".join([value for _, value, _ in rules])
    upper = text.upper()
    return next(
        (each for each in _RARE if each.encode() not in text and b"%%%X" % ord(each) not in upper),
        _RARE_TEXT,
    )


def _examples(pattern: str, unused: str) -> Iterator[str]:
    """Canonical paths that a pattern matches."""
    path = pattern[:-1] if pattern.endswith("$") else pattern + unused
    path = path.replace("*", unused)
    if path.startswith("/"):
        yield path
        return
    if path.startswith(f"{unused}/"):  # the star stands for nothing, too
        yield path[len(unused) :]
    yield f"/{path}"
