"""``RobotsTxt``: the public face of the protocol package."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from scrapy_robotspec.editions import Edition, get_edition
from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.protocol.lines import SECONDS, Line, cut_to_limit, lines_at, rules_at
from scrapy_robotspec.protocol.models import Group, OtherLine, Rule, Verdict, VerdictReason, decode
from scrapy_robotspec.protocol.paths import path_of, resolve_dots
from scrapy_robotspec.protocol.precedence import (
    FORBIDS,
    ITSELF,
    NO_RULE,
    forbids,
    keyed_patterns,
    line_start,
    matching_keys,
)
from scrapy_robotspec.protocol.robots_file import RobotsFile, Selection

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scrapy_robotspec.protocol.agents import Tokens
    from scrapy_robotspec.protocol.lint.findings import Finding
    from scrapy_robotspec.protocol.usage import FileUsage, ForAll, Usage, UsageRules

#: The remedy where something else is ``ROBOTSTXT_PARSER``.
USE_PARSER = 'set ROBOTSTXT_PARSER = "scrapy_robotspec.RobotSpecParser"'
#: Max verdicts kept for one crawler. They depend on the rule and not on the URL, so they are few.
_KEPT_VERDICTS = 256


class RobotsTxt:
    """A robots.txt file, read by the rules of one edition.

    Made by :meth:`parse`. No content of the file and no URL makes any method raise (SAF-01). An
    argument of a wrong type is a ``TypeError``, a token that no group can be found under a
    ``ValueError`` (UAG-11).
    """

    __slots__ = ("_by_dots", "_usage", "file", "truncated")

    file: RobotsFile
    """The groups by the crawlers that follow them."""
    truncated: bool
    """Whether the file was longer than the parsing limit (FMT-12)."""

    def __init__(self, body: bytes, edition: Edition, truncated: bool) -> None:
        self.truncated = truncated
        self.file = RobotsFile(body, edition)
        self._usage: FileUsage | None = None  # until the first question
        self._by_dots: RobotsTxt | None = None

    @classmethod
    def from_crawler(cls, *arguments: object) -> RobotsTxt:
        """Called by Scrapy if it is ``ROBOTSTXT_PARSER``. Raises :class:`ConfigurationError`."""
        raise ConfigurationError(USE_PARSER)

    @classmethod
    def parse(
        cls, body: bytes, edition: str | Edition = "google-2019", *, limit: int | None = None
    ) -> RobotsTxt:
        """Read a file.

        ``edition`` is a preset's name or an edition; ``limit`` overrides its parsing limit (bytes),
        but never goes below ``parsing_limit_minimum``. Raises ``TypeError`` for a body that is not
        ``bytes`` and ``ConfigurationError`` for an unknown edition.
        """
        if not isinstance(body, bytes):
            raise TypeError(f"a robots.txt body must be bytes, not {type(body).__name__}")
        edition = get_edition(edition)
        limit = edition.parsing_limit if limit is None else limit
        limit = max(limit, edition.parsing_limit_minimum)
        read = cut_to_limit(body, limit) if len(body) > limit else body
        return cls(read, edition, len(read) < len(body))

    @property
    def body(self) -> bytes:
        """The bytes that are read, cut to the parsing limit."""
        return self.file.body

    @property
    def edition(self) -> Edition:
        """The edition that it is read by."""
        return self.file.edition

    def __repr__(self) -> str:
        return f"<RobotsTxt: {len(self.body)} bytes, edition {self.edition.name}>"

    def allowed(self, url: str | bytes, tokens: str | Sequence[str]) -> bool:
        """Whether a crawler with these tokens may request a URL."""
        # hot path
        file = self.file
        selection = file.selection
        if selection is None or file.tokens != tokens:
            selection = file.follow(_as_tokens(tokens))
        rules = selection.rules.compiled
        if rules is None:
            return not selection.rules.find(url) & FORBIDS
        return not (rules.forbids and rules.find(url) & FORBIDS)

    def explain(self, url: str | bytes, tokens: str | Sequence[str]) -> Verdict:
        """The verdict of :meth:`allowed`, with the group and the deciding rule (EXT-02)."""
        # hot path
        selection = self.file.selection
        if selection is None or self.file.tokens != tokens:
            selection = self.file.follow(_as_tokens(tokens))
        key = (selection.rules.compiled or selection.rules).find(url)
        verdict = selection.verdicts and selection.verdicts.get(key)
        return verdict or self._verdict_of(selection, key)

    def explain_served(self, url: str | bytes, tokens: str | Sequence[str]) -> Verdict:
        """The verdict for a page, also as servers read its URL (PAT-15).

        Crawls and tools ask this for every URL that is sent; :meth:`explain` compares a URL just as
        it is given. If only the URL as servers read it is disallowed, ``verdict.resolved`` is that
        URL, and the rule is the one that disallows it.
        """
        # hot path
        verdict = self.explain(url, tokens)
        text = url if isinstance(url, str) else url.decode("latin-1")
        if not verdict.allowed or (resolved := resolve_dots(text)) == text:
            return verdict
        target = resolved if isinstance(url, str) else resolved.encode("latin-1")
        served = self.explain(target, tokens)
        if served.reason == "robots_txt_itself":  # reached by dots, it is a page like others
            edition = replace(self.edition, robots_txt_allowed=False)
            self._by_dots = self._by_dots or RobotsTxt(self.body, edition, self.truncated)
            served = self._by_dots.explain(target, tokens)
        return verdict if served.allowed else replace(served, resolved=resolved)

    def matches(self, url: str | bytes, tokens: str | Sequence[str]) -> tuple[Rule, ...]:
        """Every matching rule, the deciding one first."""
        path = path_of(url, self.edition)
        rules = self.file.follow(_as_tokens(tokens)).rules.rules
        keys = sorted(matching_keys(keyed_patterns(rules, self.edition), path))
        written = rules_at(self.body, map(line_start, keys), self.edition)
        return tuple(dict.fromkeys(written[line_start(key)] for key in keys))

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """The absolute URLs of the sitemap lines, in file order (SIT-01, SIT-03)."""
        from scrapy_robotspec.protocol.groups import read_sitemaps  # few commands need them

        return read_sitemaps(self.body, self.edition)

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups as written, in file order (GRP-01). Reads the whole file."""
        return self.file.read_groups().as_written()

    def crawl_delay(self, tokens: str | Sequence[str]) -> float | None:
        """The greatest crawl delay for a crawler, in seconds, or None (EXT-01).

        Always finite, as JSON demands.
        """
        delays = {line.value for line in self._others(tokens, "crawl-delay")}
        seconds = (float(each) for each in delays if SECONDS.fullmatch(each))
        return max((min(each, sys.float_info.max) for each in seconds), default=None)

    def other(self, tokens: str | Sequence[str]) -> tuple[OtherLine, ...]:
        """The other lines for a crawler, in file order (EXT-03).

        A line holds for the agents that its group names above it (EXT-01), a content signal above
        the first group for all (USE-07).
        """
        lines = self._others(tokens)
        return tuple([OtherLine(line.field, decode(line.value), line.number) for line in lines])

    def usage(self, url: str | bytes, tokens: str | Sequence[str]) -> Usage:
        """The usage preferences stated for a URL (USE-01 to USE-04)."""
        from scrapy_robotspec.protocol.usage import Usage  # few files state any

        if not self.allowed(url, tokens):
            return Usage(applies=False)
        return self.usage_rules(tokens).find(url)

    def usage_rules(self, tokens: str | Sequence[str]) -> UsageRules:
        """The usage statements for a crawler and many URLs."""
        return self._file_usage().rules_for(_as_tokens(tokens))

    @property
    def for_all(self) -> ForAll:
        """The lines that hold for every crawler, whichever group it follows."""
        return self._file_usage().for_all

    @property
    def licenses(self) -> tuple[str, ...]:
        """The absolute license URLs, in file order (USE-06)."""
        return self.for_all.licenses if "license" in self.file.words else ()

    def lint(self) -> tuple[Finding, ...]:
        """The linter's findings, in file order."""
        from scrapy_robotspec.protocol.lint.linter import lint  # imported on first use only

        return lint(self.file, is_cut=self.truncated)

    def _verdict_of(self, selection: Selection, key: int) -> Verdict:
        """The verdict of a precedence key, in words."""
        names, rule = selection.names, None
        reason: VerdictReason = "rule"
        if key == ITSELF:
            reason = "robots_txt_itself"
        elif key == NO_RULE:
            reason = "no_rule" if names else "no_group"
        else:
            start = line_start(key)
            rule = rules_at(self.body, (start,), self.edition)[start]
        verdict = Verdict(not forbids(key), reason, rule, names, self.edition.name)
        if selection.verdicts is None or len(selection.verdicts) >= _KEPT_VERDICTS:
            selection.verdicts = {}
        selection.verdicts[key] = verdict
        return verdict

    def _file_usage(self) -> FileUsage:
        from scrapy_robotspec.protocol.usage import FileUsage  # few files state any

        if self._usage is None:
            self._usage = FileUsage(self.file)
        return self._usage

    def _others(self, tokens: str | Sequence[str], *fields: str) -> Iterable[Line]:
        """The other lines for a crawler, or those with a field, if the edition reads them."""
        file = self.file
        keys = file.follow(_as_tokens(tokens)).keys  # UAG-11
        if self.edition.other_fields and file.words.issuperset(fields):
            return lines_at(file.body, file.others.starts_for(keys, fields), file.edition)
        return ()


def _as_tokens(tokens: str | Sequence[str]) -> Tokens:
    """Tokens that can be a key."""
    if isinstance(tokens, str):
        return tokens
    if isinstance(tokens, bytes) or not hasattr(tokens, "__iter__"):
        kind = type(tokens).__name__
        raise TypeError(f"product tokens must be str or a sequence of str, not {kind}")
    return tuple(tokens)
