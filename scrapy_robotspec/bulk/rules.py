"""Verdicts of some groups, and the open share of a site.

The share is decided by examples. The example of a pattern has text that no rule contains in the
place of each ``*``, and at its end unless the pattern is anchored. A rule that matches the example
therefore matches every path that the pattern matches. So a rule has effect exactly if no rule of
the other kind that matches one of its examples takes precedence.
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Literal

from scrapy_robotspec.bulk.questions import SITE
from scrapy_robotspec.protocol import fast
from scrapy_robotspec.protocol.agent_index import has_plain_lines, rule_around, rules_in
from scrapy_robotspec.protocol.paths import ROBOTS_TXT, as_in_url
from scrapy_robotspec.protocol.patterns import matches
from scrapy_robotspec.protocol.precedence import NO_RULE, forbids, keyed_patterns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.groups import RawRule
    from scrapy_robotspec.protocol.precedence import KeyedPattern

Extent = Literal["no rules", "allows all", "denies all", "some"]

#: Max texts that are remembered, and max length of each (bytes): thousands of files share a few.
_KNOWN = 4096
_MAX_KNOWN = 4096
#: Bytes of a wide value: nothing but a slash, stars and an anchor.
_WIDE = b"/*$"
#: The colon of a rule, except one that disallows and has no wide value.
_DECISIVE = re.compile(
    rb":(?<=[wW \t]:)(?:(?<!sallow:)(?<!SALLOW:)|(?![ \t]*[/*$]*[^ \t\r\n#*/$]))"
).finditer
#: Characters that canonical paths contain as they are, those first that rules rarely contain.
_RARE = "~!'(),@:;+_.0123456789QZXJKVWYqzxjkvwy-&=ABCDEFGHILMNOPRSTUabcdefghilmnoprstu"
#: Where the rules contain all of them.
_RARE_TEXT = "%F4%8F%BF%BD"


class TextRules:
    """The rules on some lines."""

    root: int
    """The deciding precedence key for ``/``."""

    def __init__(self, text: bytes, edition: Edition) -> None:
        self._text = text
        self._edition = edition
        self._decisive = _decisive(text, edition)
        self._allows = [rule for rule in self._decisive if rule[0]]
        wide = [rule for rule in self._decisive if not rule[1].strip(_WIDE)]
        if edition.index_html:
            wide += self._allows  # an index page may open the root (PRE-05)
        self._wide = list(keyed_patterns(wide, edition)) if wide else []
        self.root = _best_match(self._wide, "/")

    @cached_property
    def extent(self) -> Extent:
        """How much of a site the rules leave open, ``/robots.txt`` aside (PRE-04)."""
        unused = unused_text(self._text)
        if forbids(_best_match(self._wide, f"/{unused}")):
            disallows = self._disallows() if self._allows else ()
            opens = self._have_effect(self._allows, disallows, unused)
            return "some" if opens else "denies all"
        # An empty value may allow all (RUL-02).
        overruling = [rule for rule in self._decisive if rule[0] or not rule[1]]
        disallows = self._disallows()
        if self._have_effect(disallows, overruling, unused):
            return "some"
        return "allows all" if disallows or self._decisive else "no rules"

    def _disallows(self) -> Sequence[RawRule]:
        rules = rules_in(self._text, (0, len(self._text)), self._edition)
        return [rule for rule in rules if not rule[0]]

    def _have_effect(
        self, rules: Sequence[RawRule], others: Sequence[RawRule], unused: str
    ) -> bool:
        """Whether any of the rules, all of one kind, is not overruled by *others*."""
        find = fast.RuleSet(others, self._edition).find if others else None
        return any(
            path != ROBOTS_TXT and (find is None or key < find(SITE + as_in_url(path)))
            for rule in rules
            for key, pattern in keyed_patterns([rule], self._edition)
            if forbids(key) is not rule[0]  # a rule without a path may not forbid (RUL-02)
            for path in _examples(pattern, unused)
        )


_known_rules = lru_cache(_KNOWN)(TextRules)


def rules_of(text: bytes, edition: Edition) -> TextRules:
    """The rules on some lines."""
    return (_known_rules if len(text) <= _MAX_KNOWN else TextRules)(text, edition)


def _decisive(text: bytes, edition: Edition) -> Sequence[RawRule]:
    """The rules that allow or may match ``/``; passes over most others."""
    if not has_plain_lines(edition):
        return rules_in(text, (0, len(text)), edition)
    found: list[RawRule] = []
    last = 0  # no byte is searched twice for a line end
    for match in _DECISIVE(text):
        colon = match.start()
        if (rule := rule_around(text, last, colon, len(text))) is not None:
            found.append(rule)
        last = colon
    return found


def _best_match(patterns: Iterable[KeyedPattern], path: str) -> int:
    """The deciding key for a canonical path, or ``NO_RULE``."""
    return min((key for key, pattern in patterns if matches(pattern, path)), default=NO_RULE)


def unused_text(text: bytes) -> str:
    """Text that some rules do not contain, escaped or not."""
    upper = text.upper() if b"%" in text else b""
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
