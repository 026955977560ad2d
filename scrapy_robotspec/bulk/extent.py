"""Whether a group leaves all, some or nothing of a site open.

The question is decided by examples. The example of a pattern has text that no rule contains in the
place of each ``*``, and at its end unless the pattern is anchored. A rule that matches the example
therefore matches every path that the pattern matches. So a rule never has effect exactly if rules
of the other kind match its examples and take precedence.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Literal

from scrapy_robotspec.protocol.fast import RuleSet
from scrapy_robotspec.protocol.paths import ROBOTS_TXT, as_in_url
from scrapy_robotspec.protocol.patterns import matches
from scrapy_robotspec.protocol.precedence import NO_RULE, forbids, keyed_patterns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scrapy_robotspec.bulk.group_rules import GroupRules
    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.groups import RawRule
    from scrapy_robotspec.protocol.precedence import KeyedPattern

Extent = Literal["allows all", "denies all", "some"]

#: Characters that canonical paths contain as they are, those first that rules rarely contain.
_RARE = "~!'(),@:;+_.0123456789QZXJKVWYqzxjkvwy-&=ABCDEFGHILMNOPRSTUabcdefghilmnoprstu"
#: Where a file contains all of them.
_RARE_TEXT = "%F4%8F%BF%BD"
#: Max patterns that are compared one by one, and paths they are compared with.
_MAX_COMPARED = 1000
_MAX_PATHS = 5


def extent(group: GroupRules, wide: Sequence[KeyedPattern]) -> Extent:
    """How much of a site a group leaves open.

    ``wide``: the patterns of its wide rules. ``/robots.txt`` does not count, which is always
    allowed (PRE-04).
    """
    # Without other rules none overrules, and any text serves.
    unused = unused_text(group.text) if group.allows or wide else _RARE_TEXT
    if forbids(best_match(wide, f"/{unused}")):
        others = _OtherRules(group.disallows(), group.edition) if group.allows else None
        return "some" if others and others.leave_any(group.allows, unused) else "denies all"
    without_path = (rule for rule in group.wide if not rule[1])  # it may allow all (RUL-02)
    others = _OtherRules(chain(group.allows, without_path), group.edition)
    return "some" if others.leave_any(group.disallows(), unused) else "allows all"


def best_match(patterns: Iterable[KeyedPattern], path: str) -> int:
    """The deciding key for a canonical path, or ``NO_RULE``."""
    return min((key for key, pattern in patterns if matches(pattern, path)), default=NO_RULE)


def unused_text(text: bytes) -> str:
    """Text that some rules do not contain, escaped or not."""
    upper = text.upper() if b"%" in text else b""
    return next(
        (each for each in _RARE if each.encode() not in text and b"%%%X" % ord(each) not in upper),
        _RARE_TEXT,
    )


class _OtherRules:
    """The rules of one kind, which may overrule those of the other kind."""

    def __init__(self, rules: Iterable[RawRule], edition: Edition) -> None:
        self._edition = edition
        self._rules = list(rules)
        self._patterns = list(keyed_patterns(self._rules, edition)) if self._rules else []
        self._asked = 0
        self._compiled: RuleSet | None = None  # until there have been enough questions

    def leave_any(self, rules: Iterable[RawRule], unused: str) -> bool:
        """Whether any of some rules of the other kind has effect."""
        return any(
            path != ROBOTS_TXT and key < self._find(path)
            for rule in rules
            for key, pattern in keyed_patterns([rule], self._edition)
            if forbids(key) is not rule[0]  # a rule without a path may not forbid (RUL-02)
            for path in _examples(pattern, unused)
        )

    def _find(self, path: str) -> int:
        """The deciding key for a canonical path."""
        if self._compiled is None:
            if self._asked < _MAX_PATHS and len(self._patterns) <= _MAX_COMPARED:
                self._asked += 1
                return best_match(self._patterns, path)
            self._compiled = RuleSet(self._rules, self._edition)
        return self._compiled.find(f"https://h{as_in_url(path)}")


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
