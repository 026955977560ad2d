"""How much of a site some rules leave open.

This is decided by examples. The example of a pattern has text that no rule contains in the place of
each ``*``, and at its end unless the pattern is anchored. A rule that matches the example therefore
matches every path that the pattern matches. So a rule has effect exactly if no rule of the other
kind that matches one of its examples takes precedence.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal

from scrapy_robotspec.protocol.paths import ROBOTS_TXT, as_in_url
from scrapy_robotspec.protocol.patterns import END
from scrapy_robotspec.protocol.precedence import (
    FORBIDS,
    NO_RULE,
    KeyedPattern,
    forbids,
    keyed_patterns,
    matching_keys,
)
from scrapy_robotspec.protocol.ruleset import RuleSet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.lines import RawRule

Extent = Literal["no rules", "allows all", "denies all", "some"]

#: The site that paths are asked about.
SITE = "https://h"
#: Characters that canonical paths contain as they are, those first that rules rarely contain.
_RARE = "~!'(),@:;+_.0123456789QZXJKVWYqzxjkvwy-&=ABCDEFGHILMNOPRSTUabcdefghilmnoprstu"
#: Where the rules contain all of them.
_RARE_TEXT = "%F4%8F%BF%BD"


class Rules:
    """The rules that some crawlers follow."""

    rules: Sequence[RawRule]

    def __init__(self, rules: Sequence[RawRule], edition: Edition) -> None:
        self._edition = edition
        self.rules = rules
        #: Values, as groups are compared by before their patterns are made.
        self.allowed = {value for allow, value, _ in rules if allow}
        self.disallowed = {value for allow, value, _ in rules if not allow}

    @cached_property
    def keyed(self) -> Sequence[KeyedPattern]:
        """Their patterns, in file order."""
        return keyed_patterns(self.rules, self._edition)

    @cached_property
    def root(self) -> int:
        """The deciding precedence key for ``/``."""
        return min(matching_keys(self.keyed, "/"), default=NO_RULE)

    def allows(self, path: str) -> bool:
        """Whether a path of a URL may be fetched."""
        return not self._compiled.find(SITE + path) & FORBIDS

    @cached_property
    def extent(self) -> Extent:
        """How much of a site they leave open, ``/robots.txt`` aside (PRE-04)."""
        if not self.rules:
            return "no rules"
        if self.exception is not None:
            return "some"
        return "denies all" if forbids(self.root) else "allows all"

    @cached_property
    def exception(self) -> str | None:
        """The first exception, or None."""
        return next(self.exceptions(), None)

    def exceptions(self) -> Iterator[str]:
        """Paths with another verdict than ``/``.

        One for each rule that makes an exception; ``/robots.txt`` does not count.
        """
        is_open = not forbids(self.root)
        if not is_open:
            other = f"/{self._unused}"
            if not forbids(min(matching_keys(self.keyed, other), default=NO_RULE)):
                yield other
        for key, pattern in self.keyed:
            if (pattern or is_open) and forbids(key) is is_open:  # "" is that of a star
                path = path_of_pattern(pattern)
                if self._decides(key, path):
                    yield path
                    continue
                examples = map(as_in_url, _examples(pattern, self._unused))
                example = next((each for each in examples if self._decides(key, each)), None)
                if example is not None:
                    is_alike = path != ROBOTS_TXT and self.allows(path) is not is_open
                    yield path if is_alike else example

    def _decides(self, key: int, path: str) -> bool:
        """Whether a rule takes precedence where the rules decide as for ``/`` otherwise."""
        return path != ROBOTS_TXT and key < self._overruling.find(SITE + path)

    @cached_property
    def _unused(self) -> str:
        """Text that the rules do not contain, escaped or not."""
        text = b"".join([value for _, value, _ in self.rules])
        upper = text.upper()
        return next(
            (
                each
                for each in _RARE
                if each.encode() not in text and b"%%%X" % ord(each) not in upper
            ),
            _RARE_TEXT,
        )

    @cached_property
    def _compiled(self) -> RuleSet:
        return RuleSet(self.keyed, self._edition)

    @cached_property
    def _overruling(self) -> RuleSet:
        """The rules that decide as that for ``/`` does: few, mostly."""
        kind = self.root & FORBIDS
        return RuleSet([each for each in self.keyed if each[0] & FORBIDS == kind], self._edition)


def path_of_pattern(pattern: str) -> str:
    """A path that a canonical pattern matches."""
    path = as_in_url(pattern.removesuffix(END).replace("*", "x"))
    return path if path.startswith("/") else f"/{path}"


def _examples(pattern: str, unused: str) -> Iterator[str]:
    """Canonical paths that a pattern matches."""
    path = pattern[:-1] if pattern.endswith(END) else pattern + unused
    path = path.replace("*", unused)
    if path.startswith("/"):
        yield path
        return
    if path.startswith(f"{unused}/"):  # the star stands for nothing, too
        yield path[len(unused) :]
    yield f"/{path}"
