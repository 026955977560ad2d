"""``RobotsTxt``: the face of this room. It joins the parts and keeps no rule of its own.

A file is kept as its octets and read again for each new question; only the rules that the last few
tokens led to stay compiled.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.editions import Edition, get_edition
from scrapy_robotspec.protocol.groups import follow, read_groups
from scrapy_robotspec.protocol.lines import (
    cut_to_limit,
    meaning,
    number_at,
    split_line,
    text_at,
)
from scrapy_robotspec.protocol.paths import ROBOTS_TXT, path_of
from scrapy_robotspec.protocol.ruleset import RuleSet
from scrapy_robotspec.protocol.sitemaps import read_sitemaps
from scrapy_robotspec.protocol.values import Finding, Group, Kind, OtherLine, Rule, Verdict, decode

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Compiled groups kept for one file; a crawler seldom asks with more tokens.
_KEPT = 8

_SECONDS = re.compile(r"[0-9]+(\.[0-9]*)?|\.[0-9]+")


class _Followed(NamedTuple):
    """What stays of a file for one crawler."""

    tokens: tuple[str, ...]
    names: tuple[str, ...]
    rules: RuleSet


class RobotsTxt:
    """A robots.txt file, read by the rules of one edition.

    Made by :meth:`parse`. No content of the file and no URL makes any method raise (SAF-01); an
    argument of a wrong type is a ``TypeError``.
    """

    __slots__ = ("_followed", "body", "edition", "truncated")

    body: bytes
    """The octets that are read, cut to the parsing limit."""
    edition: Edition
    truncated: bool
    """Whether the file was longer than the parsing limit (FMT-12)."""

    def __init__(self, body: bytes, edition: Edition, truncated: bool) -> None:
        self.body = body
        self.edition = edition
        self.truncated = truncated
        self._followed: list[_Followed] = []

    @classmethod
    def parse(
        cls, body: bytes, edition: str | Edition = "google-2019", *, limit: int | None = None
    ) -> RobotsTxt:
        """Read a file.

        ``edition`` is a preset's name or an edition; ``limit`` overrides its parsing limit, in
        octets, but never goes below ``parsing_limit_minimum``. Raises ``TypeError`` for a body that
        is not ``bytes`` and ``ConfigurationError`` for an unknown edition.
        """
        if not isinstance(body, bytes):
            raise TypeError(f"a robots.txt body must be bytes, not {type(body).__name__}")
        edition = get_edition(edition)
        limit = edition.parsing_limit if limit is None else limit
        read = cut_to_limit(body, max(limit, edition.parsing_limit_minimum))
        return cls(read, edition, len(read) < len(body))

    def __repr__(self) -> str:
        return f"<RobotsTxt: {len(self.body)} octets, edition {self.edition.name}>"

    def allowed(self, url: str | bytes, tokens: str | Sequence[str]) -> bool:
        """Whether a crawler with these product tokens, most specific first, may ask for a URL."""
        path = path_of(url, self.edition)
        if self._is_robots_txt(path):
            return True
        choice = self._follow(tokens).rules.find(path)
        return choice is None or choice.allow or choice.inert

    def explain(self, url: str | bytes, tokens: str | Sequence[str]) -> Verdict:
        """The verdict of :meth:`allowed` with the group and the rule that decided (EXT-02)."""
        path = path_of(url, self.edition)
        followed = self._follow(tokens)
        names, edition = followed.names, self.edition.name
        if self._is_robots_txt(path):
            return Verdict(True, "robots_txt_itself", None, names, edition)
        choice = followed.rules.find(path)
        if choice is None:
            return Verdict(True, "no_rule" if names else "no_group", None, names, edition)
        rule = self._rule(choice.start)
        return Verdict(choice.allow or choice.inert, "rule", rule, names, edition)

    def matches(self, url: str | bytes, tokens: str | Sequence[str]) -> tuple[Rule, ...]:
        """Every rule of the group followed that matches a URL, the deciding one first."""
        path = path_of(url, self.edition)
        choices = self._follow(tokens).rules.matching(path)
        first_of_line = {choice.start: choice for choice in reversed(list(choices))}
        return tuple(self._rule(choice.start) for choice in reversed(first_of_line.values()))

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """The absolute URLs of the sitemap lines, in file order (SIT-01, SIT-03)."""
        return read_sitemaps(self.body, self.edition)

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups as written, in file order (GRP-01). Read anew at each use."""
        return tuple(
            Group(
                tuple(group.names),
                tuple(self._rule(rule.start) for rule in group.rules),
                number_at(self.body, group.start),
            )
            for group in read_groups(self.body, self.edition)
        )

    def crawl_delay(self, tokens: str | Sequence[str]) -> float | None:
        """The greatest crawl delay of the group followed, in seconds; None for none (EXT-01)."""
        delays = [
            float(line.value)
            for line in self.other(tokens)
            if line.field == "crawl-delay" and _SECONDS.fullmatch(line.value)
        ]
        return max(delays, default=None)

    def other(self, tokens: str | Sequence[str]) -> tuple[OtherLine, ...]:
        """The lines of the group followed whose fields the protocol does not know (EXT-03)."""
        followed = follow(self.body, _as_tuple(tokens), self.edition)
        return tuple(
            OtherLine(name, decode(value), number_at(self.body, start))
            for group in followed.groups
            for name, value, start in group.others
        )

    def lint(self) -> tuple[Finding, ...]:
        """What a person should know about the file, line by line."""
        from scrapy_robotspec.protocol.lint import lint  # costs nothing unless asked for

        return lint(self)

    def _is_robots_txt(self, path: str) -> bool:
        return path == ROBOTS_TXT and self.edition.robots_txt_allowed  # PRE-04

    def _rule(self, start: int) -> Rule:
        """The rule whose line begins at an offset."""
        text = text_at(self.body, start)
        name, value = split_line(text, self.edition) or (b"", b"")
        kind: Kind = "allow" if meaning(name, self.edition) == "allow" else "disallow"
        return Rule(kind, decode(value), number_at(self.body, start), decode(text))

    def _follow(self, tokens: str | Sequence[str]) -> _Followed:
        """What a crawler with these tokens follows, compiled at the first question."""
        wanted = _as_tuple(tokens)
        for followed in self._followed:
            if followed.tokens == wanted:
                return followed
        names, groups = follow(self.body, wanted, self.edition)
        rules = RuleSet((rule for group in groups for rule in group.rules), self.edition)
        followed = _Followed(wanted, names, rules)
        self._followed = [followed, *self._followed[: _KEPT - 1]]
        return followed


def _as_tuple(tokens: str | Sequence[str]) -> tuple[str, ...]:
    return (tokens,) if isinstance(tokens, str) else tuple(tokens)
