"""``RobotsTxt``: the face of this room. It joins the parts and keeps no rule of its own.

A file is kept as its octets and read again for each new question; only the rules that the last few
tokens led to stay compiled.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy_robotspec.editions import Edition, get_edition
from scrapy_robotspec.protocol.groups import Columns, follow, read_groups
from scrapy_robotspec.protocol.lines import cut_to_limit, numbers_at
from scrapy_robotspec.protocol.paths import ROBOTS_TXT, path_of
from scrapy_robotspec.protocol.patterns import matches
from scrapy_robotspec.protocol.ranks import (
    FORBIDS,
    ITSELF,
    NO_RULE,
    decide_once,
    line_start,
    ranked_patterns,
    sift,
)
from scrapy_robotspec.protocol.ruleset import RuleSet
from scrapy_robotspec.protocol.scan import glance, is_plain, rules_in, scan
from scrapy_robotspec.protocol.sitemaps import read_sitemaps
from scrapy_robotspec.protocol.values import Finding, Group, OtherLine, Rule, Verdict, decode
from scrapy_robotspec.protocol.verdicts import rules_at, verdict_of, without_rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.protocol.groups import RawRule
    from scrapy_robotspec.protocol.scan import Spans
    from scrapy_robotspec.protocol.usage import Usage
    from scrapy_robotspec.protocol.usage_rules import UsageRules

#: Compiled groups kept for one file; a crawler seldom asks with more tokens.
_KEPT = 8
#: Verdicts kept for one group. They do not depend on the URL, so few are ever made.
_KEPT_VERDICTS = 256

#: Product tokens as they are asked with.
Tokens = str | tuple[str, ...]

#: Equal to nothing that anybody may ask with.
_NOT_YET = object()

_SECONDS = re.compile(r"[0-9]+(\.[0-9]*)?|\.[0-9]+")


class _Followed(RuleSet):
    """What stays of a file for one crawler: one object, as a crawl has thousands at hand."""

    __slots__ = ("compiled_for", "names", "new", "spans", "tokens", "verdicts")

    def __init__(
        self, tokens: Tokens | None, names: tuple[str, ...], spans: Spans, edition: str
    ) -> None:
        self.tokens = tokens
        self.spans = spans  # none where the edition needs every line read, and once compiled
        self.new = True
        self.compiled_for: object = _NOT_YET  # the tokens, once the rules are compiled
        self.verdicts = without_rule(names, edition)  # by rank
        self.names = self.verdicts[NO_RULE].group  # the same names, but shared by all files

    def compile(self, rules: Columns, edition: Edition) -> None:
        """From now on :meth:`find` may be asked."""
        super().__init__(rules, edition)
        self.compiled_for = self.tokens
        self.spans = ()


class RobotsTxt:
    """A robots.txt file, read by the rules of one edition.

    Made by :meth:`parse`. No content of the file and no URL makes any method raise (SAF-01); an
    argument of a wrong type is a ``TypeError``.
    """

    __slots__ = (
        "_delays",
        "_earlier",
        "_followed",
        "_usage",
        "body",
        "edition",
        "truncated",
    )

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
        self._delays: dict[Tokens, float | None] | None = None
        self._usage: dict[Tokens, UsageRules] | None = None

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
        followed = self._followed
        if followed.compiled_for != tokens:
            return not self._ask(url, tokens) & FORBIDS
        return not (followed.forbids and followed.find(url) & FORBIDS)

    def explain(self, url: str | bytes, tokens: str | Sequence[str]) -> Verdict:
        """The verdict of :meth:`allowed` with the group and the rule that decided (EXT-02)."""
        followed = self._followed
        if followed.compiled_for != tokens:
            rank = self._ask(url, tokens)
            followed = self._followed
        else:
            rank = followed.find(url)
        return followed.verdicts.get(rank) or self._keep_verdict(followed, rank)

    def matches(self, url: str | bytes, tokens: str | Sequence[str]) -> tuple[Rule, ...]:
        """Every rule of the group followed that matches a URL, the deciding one first.

        For tools: the group is read anew.
        """
        path = path_of(url, self.edition)
        rules = follow(self.body, _as_tuple(tokens), self.edition).rules
        ranks = sorted(
            rank for rank, text in ranked_patterns(rules, self.edition) if matches(text, path)
        )
        return tuple(rules_at(map(line_start, ranks), self.body, self.edition).values())

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """The absolute URLs of the sitemap lines, in file order (SIT-01, SIT-03)."""
        return read_sitemaps(self.body, self.edition)

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups as written, in file order (GRP-01). Read anew at each use."""
        groups = read_groups(self.body, self.edition)
        starts = [start for group in groups for _, _, start in group.rules]
        rules = rules_at(starts, self.body, self.edition)
        numbers = numbers_at(self.body, [group.start for group in groups])
        return tuple(
            Group(
                tuple(group.names),
                tuple(rules[start] for _, _, start in group.rules),
                numbers[group.start],
            )
            for group in groups
        )

    def crawl_delay(self, tokens: str | Sequence[str]) -> float | None:
        """The greatest crawl delay of the group followed, in seconds; None for none (EXT-01)."""
        asked = tokens if isinstance(tokens, str) else tuple(tokens)
        delays = self._delays
        if delays is None or (asked not in delays and len(delays) >= _KEPT):
            delays = self._delays = {}
        if asked not in delays:
            delays[asked] = self._read_delay(asked)
        return delays[asked]  # kept, because it is asked for with every request

    def _read_delay(self, tokens: Tokens) -> float | None:
        delays = [
            float(line.value)
            for line in self.other(tokens)
            if line.field == "crawl-delay" and _SECONDS.fullmatch(line.value)
        ]
        return max(delays, default=None)

    def other(self, tokens: str | Sequence[str]) -> tuple[OtherLine, ...]:
        """The lines of the group followed whose fields the protocol does not know (EXT-03)."""
        followed = follow(self.body, _as_tuple(tokens), self.edition)
        lines = [line for group in followed.groups for line in group.others]
        numbers = numbers_at(self.body, [start for _, _, start in lines])
        return tuple(OtherLine(name, decode(value), numbers[start]) for name, value, start in lines)

    def usage(self, url: str | bytes, tokens: str | Sequence[str]) -> Usage:
        """What a page may be used for, as far as the file states it (USE-01 to USE-04)."""
        from scrapy_robotspec.protocol.usage import Usage  # few files state any

        if not self.allowed(url, tokens):
            return Usage(applies=False)
        return self.usage_rules(tokens).find(path_of(url, self.edition))

    def usage_rules(self, tokens: str | Sequence[str]) -> UsageRules:
        """The usage statements for a crawler, for many URLs that may be crawled."""
        from scrapy_robotspec.protocol.usage_rules import UsageRules

        asked = tokens if isinstance(tokens, str) else tuple(tokens)
        kept = self._usage
        if kept is None or (asked not in kept and len(kept) >= _KEPT):
            kept = self._usage = {}
        if asked not in kept:
            kept[asked] = UsageRules(self.body, _as_tuple(asked), self.edition)
        return kept[asked]

    @property
    def licenses(self) -> tuple[str, ...]:
        """The absolute URLs of the license lines, in file order (USE-06, RSL 1.0)."""
        from scrapy_robotspec.protocol.usage_rules import read_licenses

        return read_licenses(self.body, self.edition)

    def lint(self) -> tuple[Finding, ...]:
        """What a person should know about the file, line by line."""
        from scrapy_robotspec.protocol.lint import lint  # costs nothing unless asked for

        return lint(self)

    def _keep_verdict(self, followed: _Followed, rank: int) -> Verdict:
        kept = followed.verdicts
        if len(kept) >= _KEPT_VERDICTS:
            kept = without_rule(followed.names, self.edition.name)
        verdict = verdict_of(rank, followed.names, self.body, self.edition)
        followed.verdicts = {**kept, rank: verdict}  # those without a rule all files share
        return verdict

    def _ask(self, url: str | bytes, tokens: str | Sequence[str]) -> int:
        """The rank of what decides, for another crawler than before, or one not yet compiled."""
        asked = tokens if isinstance(tokens, str) else tuple(tokens)
        read: Sequence[RawRule] | None = None
        for followed in (self._followed, *self._earlier):
            if followed.tokens == asked:
                break
        else:
            followed, read = self._follow(asked)
        self._turn_to(followed)
        if followed.compiled_for is _NOT_YET:
            if followed.new:  # many an origin of a broad crawl is asked about no second page
                followed.new = False
                rank = self._try(url, followed.spans, read)
                if rank is not None:
                    return rank
            rules = self._rules_of(followed) if read is None else Columns.of(read)
            followed.compile(rules, self.edition)
        return followed.find(url)

    def _follow(self, asked: Tokens) -> tuple[_Followed, Sequence[RawRule] | None]:
        """What a crawler follows, and its rules if they had to be read to find that."""
        if is_plain(self.edition):
            names, spans = scan(self.body, _as_tuple(asked), self.edition)
            return _Followed(asked, names, spans, self.edition.name), None
        read = follow(self.body, _as_tuple(asked), self.edition)
        followed = _Followed(asked, read.names, (), self.edition.name)
        rules = read.rules
        if not rules:  # so the file need not be read again
            followed.compile(Columns.of(()), self.edition)
        return followed, rules

    def _try(self, url: str | bytes, spans: Spans, rules: Sequence[RawRule] | None) -> int | None:
        """The rank of what decides, or None where the rules had better be compiled."""
        path = path_of(url, self.edition)
        if path == ROBOTS_TXT and self.edition.robots_txt_allowed:
            return ITSELF
        if rules is None:
            rules = glance(self.body, spans, path.encode("ascii"), self.edition)
        else:
            rules = sift(rules, path, self.edition)
        return None if rules is None else decide_once(rules, path, self.edition)

    def _turn_to(self, followed: _Followed) -> None:
        """Make it the first of the few that are kept."""
        before = self._followed
        self._followed = followed
        if before is not _NOBODY and before is not followed:
            others = [kept for kept in self._earlier if kept is not followed]
            self._earlier = (before, *others[: _KEPT - 2])

    def _rules_of(self, followed: _Followed) -> Columns:
        if is_plain(self.edition):
            return rules_in(self.body, followed.spans)
        asked = () if followed.tokens is None else followed.tokens  # "" is a token, too
        return Columns.of(follow(self.body, _as_tuple(asked), self.edition).rules)


def _as_tuple(tokens: str | Sequence[str]) -> tuple[str, ...]:
    if isinstance(tokens, str):
        return (tokens,)
    for token in tokens:
        if not isinstance(token, str):  # octets come out of a header, one by one
            raise TypeError(f"a product token is a str, not {type(token).__name__}")
    return tuple(tokens)


#: Before the first question. Not even the question with no tokens, for the default group, is this.
_NOBODY = _Followed(None, (), (), "")
