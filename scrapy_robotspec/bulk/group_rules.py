"""Rules of some groups: verdicts, and the open share of a site.

The second question is decided by examples. The example of a pattern has text that no rule contains
in the place of each ``*``, and at its end unless the pattern is anchored. A rule that matches the
example therefore matches every path that the pattern matches. So a rule never has effect exactly if
rules of the other kind match its examples and take precedence.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Literal

from scrapy_robotspec.protocol import fast
from scrapy_robotspec.protocol.agent_index import has_plain_lines, rule_around, rules_in
from scrapy_robotspec.protocol.paths import ROBOTS_TXT, as_in_url
from scrapy_robotspec.protocol.patterns import matches
from scrapy_robotspec.protocol.precedence import NO_RULE, forbids, keyed_patterns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.agent_index import Spans
    from scrapy_robotspec.protocol.groups import RawRule
    from scrapy_robotspec.protocol.precedence import KeyedPattern

Extent = Literal["allows all", "denies all", "some"]

#: Paths are asked about as parts of a URL, which is the quickest.
SITE = "https://h"
#: Max groups that are remembered, and max length of each (bytes).
_KNOWN = 4096
_MAX_KNOWN = 4096
#: Bytes of a wide value: nothing but a slash, stars and an anchor.
_WIDE = b"/*$"
#: The colon of a rule, except one that disallows and has no wide value.
_DECISIVE = re.compile(
    rb":(?<=[wW \t]:)(?:(?<!sallow:)(?<!SALLOW:)|(?![ \t]*[/*$]*[^ \t\r\n#*/$]))"
).finditer
#: Bytes of a group that are read first, because the first disallow line mostly has effect.
_HEAD = 128
#: Max rules that are compared with others that are not compiled.
_FEW = 8
_LINE_END = re.compile(rb"[\r\n]").search
#: Characters that canonical paths contain as they are, those first that rules rarely contain.
_RARE = "~!'(),@:;+_.0123456789QZXJKVWYqzxjkvwy-&=ABCDEFGHILMNOPRSTUabcdefghilmnoprstu"
#: Where the rules contain all of them.
_RARE_TEXT = "%F4%8F%BF%BD"


class GroupRules:
    """The rules in some spans of a file."""

    __slots__ = ("_allows", "_body", "_decisive", "_edition", "_extent", "_spans", "_wide", "root")

    root: int
    """The deciding precedence key for ``/``."""

    def __init__(self, body: bytes, spans: Spans, edition: Edition) -> None:
        self._body = body
        self._spans = spans
        self._edition = edition
        self._decisive = list(_decisive(body, spans, edition))
        self._allows = [rule for rule in self._decisive if rule[0]]
        wide = [rule for rule in self._decisive if not rule[1].strip(_WIDE)]
        if edition.index_html:
            wide += self._allows  # an index page may open the root (PRE-05)
        self._wide = list(keyed_patterns(wide, edition)) if wide else []
        self._extent: Extent | None = None
        self.root = _best_match(self._wide, "/")

    def find_all(self, paths: Sequence[str]) -> list[int]:
        """The deciding precedence key for each path."""
        compiled = fast.compile(self._body, self._edition)
        return compiled.find_all([SITE + path for path in paths], self._spans)

    @property
    def is_empty(self) -> bool:
        """Whether the groups have no rules."""
        return not (self._decisive or self._rules())

    @property
    def extent(self) -> Extent:
        """How much of a site the rules leave open, ``/robots.txt`` aside (PRE-04)."""
        if self._extent is None:
            self._extent = self._find_extent()
        return self._extent

    def _find_extent(self) -> Extent:
        text = b"\n".join([self._body[begin:end] for begin, end in _pairs(self._spans)])
        unused = unused_text(text)
        if forbids(_best_match(self._wide, f"/{unused}")):
            if not self._allows:
                return "denies all"
            disallows = [rule for rule in self._rules() if not rule[0]]
            opens = self._have_effect(self._allows, disallows, unused)
            return "some" if opens else "denies all"
        # An empty value may allow all (RUL-02).
        overruling = [rule for rule in self._decisive if rule[0] or not rule[1]]
        for read in (self._first_rules, self._rules):
            disallows = [rule for rule in read() if not rule[0]]
            if self._have_effect(disallows, overruling, unused):
                return "some"
        return "allows all"

    def _have_effect(
        self, rules: Sequence[RawRule], others: Sequence[RawRule], unused: str
    ) -> bool:
        """Whether any of the rules, all of one kind, is not overruled by *others*."""
        find = _finder(others, len(rules), self._edition)
        return any(
            path != ROBOTS_TXT and key < find(path)
            for rule in rules
            for key, pattern in keyed_patterns([rule], self._edition)
            if forbids(key) is not rule[0]  # a rule without a path may not forbid (RUL-02)
            for path in _examples(pattern, unused)
        )

    def _first_rules(self) -> Sequence[RawRule]:
        """The rules of the first lines: a disallow line among them mostly has effect."""
        for begin, end in _pairs(self._spans[:2]):
            line_end = _LINE_END(self._body, begin + _HEAD, end)
            head = (begin, line_end.end() if line_end else end)
            return rules_in(self._body, head, self._edition)
        return ()

    def _rules(self) -> Sequence[RawRule]:
        return rules_in(self._body, self._spans, self._edition)


class KnownRules:
    """Rules of groups, cached by text: thousands of files share a few."""

    __slots__ = ("_by_text", "_edition")

    def __init__(self, edition: Edition) -> None:
        self._edition = edition
        self._by_text: dict[bytes, GroupRules] = {}

    def find(self, body: bytes, spans: Spans) -> tuple[int, GroupRules]:
        """The rules in some spans, and the offset that they count from."""
        if len(spans) != 2 or spans[1] - spans[0] > _MAX_KNOWN:
            return 0, GroupRules(body, spans, self._edition)
        text = body[spans[0] : spans[1]]
        rules = self._by_text.get(text)
        if rules is None:
            if len(self._by_text) >= _KNOWN:
                self._by_text.clear()
            rules = self._by_text[text] = GroupRules(text, (0, len(text)), self._edition)
        return spans[0], rules


def _decisive(body: bytes, spans: Spans, edition: Edition) -> Iterator[RawRule]:
    """The rules that allow or may match ``/``; passes over most others."""
    if not has_plain_lines(edition):
        yield from rules_in(body, spans, edition)
        return
    for begin, end in _pairs(spans):
        last = begin  # no byte is searched twice for a line end
        for match in _DECISIVE(body, begin, end):
            colon = match.start()
            rule = rule_around(body, last, colon, end)
            if rule is not None:
                yield rule
            last = colon


def _pairs(spans: Spans) -> Iterator[tuple[int, int]]:
    return zip(spans[::2], spans[1::2], strict=True)


def _best_match(patterns: Iterable[KeyedPattern], path: str) -> int:
    """The deciding key for a canonical path, or ``NO_RULE``."""
    return min((key for key, pattern in patterns if matches(pattern, path)), default=NO_RULE)


def _finder(rules: Sequence[RawRule], questions: int, edition: Edition) -> Callable[[str], int]:
    """Finds the deciding key for a canonical path; compiles the rules for many questions."""
    if questions > _FEW and rules:
        compiled = fast.RuleSet(rules, edition)
        return lambda path: compiled.find(SITE + as_in_url(path))
    patterns = list(keyed_patterns(rules, edition)) if rules else ()
    return partial(_best_match, patterns)


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
