"""How much of a site some rules leave open.

This is decided by examples. The example of a pattern has text that no rule contains in the place of
each ``*``, and at its end unless the pattern is anchored. A rule that matches the example therefore
matches every path that the pattern matches. So a rule has effect exactly if no rule of the other
kind that matches one of its examples takes precedence.
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Literal

from scrapy_robotspec.protocol.paths import (
    INCOMPLETE,
    LITERAL_DOLLAR,
    LITERAL_STAR,
    QUERY_APOSTROPHE,
    ROBOTS_TXT,
)
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

#: Max wildcard patterns that are tried for all questions about the rules of a file, and how many of
#: them a question counts for besides.
MOST_TRIED = 1 << 22
_QUESTION = 40
#: The site that paths are asked about.
SITE = "https://h"
#: Characters that canonical paths contain as they are, those first that rules rarely contain. None
#: completes an escape (PAT-07).
_RARE = "~!'(),@:;+_.QZXJKVWYqzxjkvwy-&=GHILMNOPRSTUghilmnoprstu"
#: Where the rules contain all of them.
_RARE_TEXT = "%F4%8F%BF%BD"
#: How characters of canonical paths alone are written.
_IN_URL = {ord(INCOMPLETE): "", ord(LITERAL_STAR): "%2A", ord(LITERAL_DOLLAR): "%24"}
_IN_URL[ord(QUERY_APOSTROPHE)] = "%27"
#: Two characters that a percent sign of a URL would make an escape, unless the second is one.
_completing = re.compile(f"{INCOMPLETE}([0-9A-F])([0-9A-Fa-f])")


class Rules:
    """The rules that some crawlers follow."""

    def __init__(
        self, rules: Sequence[RawRule], edition: Edition, left: list[int] | None = None
    ) -> None:
        """*left*: the wildcard patterns that may be tried (SAF-02).

        Other rules of the file may share it.
        """
        self._edition = edition
        self.rules = rules
        self._left = left or [MOST_TRIED]
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
        longest = len("*/" + END)  # of a pattern that matches it
        short = [each for each in self.keyed if len(each[1]) <= longest]
        return min(matching_keys(short, "/"), default=NO_RULE)

    def allows(self, path: str) -> bool | None:
        """Whether a path may be fetched; None beyond the bound."""
        self._left[0] -= self._stars + _QUESTION
        return not self._compiled.find(SITE + path) & FORBIDS if self._left[0] > 0 else None

    @cached_property
    def extent(self) -> Extent:
        """How much of a site they leave open, ``/robots.txt`` aside (PRE-04).

        Beyond the bound, "some".
        """
        if not self.rules:
            return "no rules"
        if not any(self.disallowed):  # hot path
            return "allows all"
        if b"/" in self.disallowed and not any(self.allowed):  # nor are patterns made
            return "denies all"
        if self.exception is not None or self._left[0] <= 0:
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
        if not is_open and self._is_exception(f"/{self._unused}"):
            yield f"/{self._unused}"
        for key, pattern in self.keyed:
            if forbids(key) is is_open:
                paths = map(as_in_url, self._examples(pattern))
                yield from islice(filter(self._is_exception, paths), 1)

    def _is_exception(self, path: str) -> bool:
        return path != ROBOTS_TXT and self.allows(path) is forbids(self.root)

    def _examples(self, pattern: str) -> Iterator[str]:
        """Canonical paths that a pattern matches, a short one first."""
        yield path_of_pattern(pattern)
        path = pattern[:-1] if pattern.endswith(END) else pattern + self._unused
        path = path.replace("*", self._unused)
        if path.startswith(f"{self._unused}/"):  # the star stands for nothing, too
            yield path[len(self._unused) :]
        yield path if path.startswith("/") else f"/{path}"

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
    def _stars(self) -> int:
        return sum("*" in pattern for _, pattern in self.keyed)

    @cached_property
    def _compiled(self) -> RuleSet:
        return RuleSet(self.keyed, self._edition)


def as_in_url(path: str) -> str:
    """A path of a URL that has a canonical spelling."""
    if path.isprintable():  # usual
        return path
    path = _completing.sub(lambda digits: f"{digits[1]}%{ord(digits[2]):X}", path)
    return path.translate(_IN_URL)  # of control characters


def path_of_pattern(pattern: str) -> str:
    """A path that a canonical pattern matches."""
    path = as_in_url(pattern.removesuffix(END).replace("*", "x"))
    return path if path.startswith("/") else f"/{path}"
