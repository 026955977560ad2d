"""``RobotsTxt``: the face of this room. It joins the parts and keeps no rule of its own.

A file is kept as its octets and read again for each new question; only the rules that the last few
tokens led to stay compiled.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy_robotspec.editions import Edition, get_edition
from scrapy_robotspec.protocol.groups import follow, read_groups
from scrapy_robotspec.protocol.lines import (
    cut_to_limit,
    meaning,
    number_at,
    split_line,
    text_at,
)
from scrapy_robotspec.protocol.paths import ROBOTS_TXT, base_of, needs_spelling, path_of, spell
from scrapy_robotspec.protocol.ruleset import (
    NO_RULE,
    RuleSet,
    forbids,
    line_start,
    ranked_patterns,
)
from scrapy_robotspec.protocol.scan import is_plain, scan
from scrapy_robotspec.protocol.sitemaps import read_sitemaps
from scrapy_robotspec.protocol.values import Finding, Group, Kind, OtherLine, Rule, Verdict, decode

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Compiled groups kept for one file; a crawler seldom asks with more tokens.
_KEPT = 8
#: Verdicts kept for one group. They do not depend on the URL, so few are ever made.
_KEPT_VERDICTS = 256

#: In a rank's place: the file itself was asked for (PRE-04). It does not forbid.
_ITSELF = -1 << 34

_SECONDS = re.compile(r"[0-9]+(\.[0-9]*)?|\.[0-9]+")


class _Followed:
    """What stays of a file for one crawler."""

    __slots__ = ("asked", "names", "rules", "verdicts")

    def __init__(
        self, asked: str | tuple[str, ...] | None, names: tuple[str, ...], rules: RuleSet
    ) -> None:
        self.asked = asked
        self.names = names
        self.rules = rules
        self.verdicts: dict[int, Verdict] | None = None  # by rank


class RobotsTxt:
    """A robots.txt file, read by the rules of one edition.

    Made by :meth:`parse`. No content of the file and no URL makes any method raise (SAF-01); an
    argument of a wrong type is a ``TypeError``.
    """

    __slots__ = ("_base", "_earlier", "_followed", "_path_at", "body", "edition", "truncated")

    body: bytes
    """The octets that are read, cut to the parsing limit."""
    edition: Edition
    truncated: bool
    """Whether the file was longer than the parsing limit (FMT-12)."""

    def __init__(self, body: bytes, edition: Edition, truncated: bool) -> None:
        self.body = body
        self.edition = edition
        self.truncated = truncated
        self._followed = _NOBODY
        self._earlier: tuple[_Followed, ...] = ()
        self._base = ""  # the last URL up to the slash its path begins with
        self._path_at = 0

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
        if self._followed.asked != tokens:
            self._follow(tokens)
        if not self._followed.rules.forbids:
            return True
        return not forbids(self._find(url))

    def explain(self, url: str | bytes, tokens: str | Sequence[str]) -> Verdict:
        """The verdict of :meth:`allowed` with the group and the rule that decided (EXT-02)."""
        if self._followed.asked != tokens:
            self._follow(tokens)
        followed = self._followed
        rank = self._find(url)
        verdict = followed.verdicts.get(rank) if followed.verdicts else None
        return verdict or self._keep_verdict(followed, rank)

    def matches(self, url: str | bytes, tokens: str | Sequence[str]) -> tuple[Rule, ...]:
        """Every rule of the group followed that matches a URL, the deciding one first.

        For tools: the group is read anew.
        """
        path = path_of(url, self.edition)
        rules = follow(self.body, _as_tuple(tokens), self.edition).rules
        ranks = sorted(
            rank for rank, pattern in ranked_patterns(rules, self.edition) if pattern.matches(path)
        )
        return tuple(map(self._rule_at, dict.fromkeys(map(line_start, ranks))))

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
                tuple(self._rule_at(start) for _, _, start in group.rules),
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

    def _find(self, url: str | bytes) -> int:
        """The rank of what decides about a URL for the crawler followed.

        A file is asked about the URLs of one site, so nearly always all up to the path is what it
        was before. Comparing that costs a tenth of finding where the path begins, and only a path
        with a percent sign or a fragment has to be looked at more closely.
        """
        rules = self._followed.rules
        if url.__class__ is str and url.startswith(self._base) and self._base:
            path = url[self._path_at :]
            if "%" in path or "#" in path or (rules.escapes and needs_spelling(path)):
                path = spell(path, self.edition)
        else:
            path = path_of(url, self.edition)
            self._base = base_of(url, self.edition)
            self._path_at = len(self._base) - 1
        if path == ROBOTS_TXT and self.edition.robots_txt_allowed:
            return _ITSELF
        return rules.find(path)

    def _keep_verdict(self, followed: _Followed, rank: int) -> Verdict:
        if followed.verdicts is None or len(followed.verdicts) >= _KEPT_VERDICTS:
            followed.verdicts = {}
        verdict = followed.verdicts[rank] = self._verdict(followed.names, rank)
        return verdict

    def _verdict(self, names: tuple[str, ...], rank: int) -> Verdict:
        edition = self.edition.name
        if rank == _ITSELF:
            return Verdict(True, "robots_txt_itself", None, names, edition)
        if rank == NO_RULE:
            return Verdict(True, "no_rule" if names else "no_group", None, names, edition)
        return Verdict(not forbids(rank), "rule", self._rule_at(line_start(rank)), names, edition)

    def _rule_at(self, start: int) -> Rule:
        """The rule whose line begins at an offset."""
        text = text_at(self.body, start)
        name, value = split_line(text, self.edition) or (b"", b"")
        kind: Kind = "allow" if meaning(name, self.edition) == "allow" else "disallow"
        return Rule(kind, decode(value), number_at(self.body, start), decode(text))

    def _follow(self, tokens: str | Sequence[str]) -> None:
        """Turn to what a crawler with these tokens follows, compiled at the first question."""
        asked = tokens if isinstance(tokens, str) else tuple(tokens)
        others = tuple(kept for kept in (self._followed, *self._earlier) if kept.asked != asked)
        known = next(
            (kept for kept in (self._followed, *self._earlier) if kept.asked == asked), None
        )
        self._followed = known or self._compile(asked)
        self._earlier = others[: _KEPT - 1]

    def _compile(self, asked: str | tuple[str, ...]) -> _Followed:
        tokens = _as_tuple(asked)
        if is_plain(self.edition):
            names, rules = scan(self.body, tokens, self.edition)
        else:
            followed = follow(self.body, tokens, self.edition)
            names, rules = followed.names, followed.rules
        return _Followed(asked, names, RuleSet(rules, self.edition) if rules else _NO_RULES)


def _as_tuple(tokens: str | Sequence[str]) -> tuple[str, ...]:
    return (tokens,) if isinstance(tokens, str) else tuple(tokens)


#: One for all groups that hold none.
_NO_RULES = RuleSet((), get_edition("google-2019"))
#: Before the first question. Not even the question with no tokens, for the default group, is this.
_NOBODY = _Followed(None, (), _NO_RULES)
