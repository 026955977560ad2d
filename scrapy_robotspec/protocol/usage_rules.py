"""UsageRules: which statements hold for a URL (USE-01 to USE-10).

Paths are matched as those of Allow and Disallow are, and no verdict depends on anything here.
Sources: aipref-attach-05, section 3; draft-kelley-aipref-training-preference-signal-00;
contentsignals.org; RSL 1.0, section 4 (licenses).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, cast

from scrapy_robotspec.protocol.groups import is_absolute
from scrapy_robotspec.protocol.lines import numbers_at, rules_at
from scrapy_robotspec.protocol.models import decode
from scrapy_robotspec.protocol.paths import canonical_text, path_of
from scrapy_robotspec.protocol.patterns import END, canonical_pattern, in_components
from scrapy_robotspec.protocol.precedence import forbids, line_start
from scrapy_robotspec.protocol.usage import (
    POLICY_TOKENS,
    USAGE_FIELDS,
    Usage,
    UsageSource,
    UsageStatement,
    usage_of,
)
from scrapy_robotspec.protocol.wildcards import Wildcards

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.agents import Tokens
    from scrapy_robotspec.protocol.groups import RawOther
    from scrapy_robotspec.protocol.robots_file import GroupRules, RobotsFile

#: Max usages kept for one file: few of its paths decide about all URLs.
_KEPT = 256
#: Max crawlers whose statements are kept for one file.
_KEPT_CRAWLERS = 16

#: Length of a pattern as rules of the edition are measured, and its statements; those without a
#: path have the empty pattern, of length 0.
_Measured = tuple[int, list[UsageStatement]]


class UsageRules:
    """The usage statements for one crawler; False without any."""

    __slots__ = ("_edition", "_fields", "_kept", "_policies", "statements")

    statements: tuple[UsageStatement, ...]
    """Every statement, in file order."""

    def __init__(
        self,
        body: bytes,
        lines: Sequence[RawOther],
        edition: Edition,
        policies: Sequence[_Policy] = (),
    ) -> None:
        self._edition = edition
        self._policies = policies
        self._kept: dict[tuple[UsageStatement, ...], Usage] = {}
        numbers = numbers_at(body, [line.start for line in lines])
        fields: dict[UsageSource, dict[str, _Measured]] = {}
        found: list[UsageStatement] = []
        for line in lines:
            path, preferences = split_path(line.value)
            source = cast("UsageSource", line.field)
            written = None if path is None else decode(path)
            found.append(UsageStatement(source, decode(preferences), written, numbers[line.start]))
            by_pattern = fields.setdefault(source, {})
            for length, text in _patterns(path, edition):
                if length > by_pattern.get(text, (-1,))[0]:
                    by_pattern[text] = (length, [])
                if length == by_pattern[text][0]:
                    by_pattern[text][1].append(found[-1])
        self._fields = [_ranked(by_pattern) for by_pattern in fields.values()]
        found += [each for policy in policies for each in policy.statements.values()]
        self.statements = tuple(sorted(found, key=_line))

    def __bool__(self) -> bool:
        return bool(self.statements)

    def find(self, url: str | bytes) -> Usage:
        """The usage of a URL, provided that it may be crawled.

        Each field decides by its longest matching path; the two are combined like two sources.
        """
        path = path_of(url, self._edition) + END
        deciding = {each for field in self._fields for each in _longest(*field, path)}
        deciding.update(each for policy in self._policies for each in policy.deciding(url))
        statements = tuple(sorted(deciding, key=_line))
        usage = self._kept.get(statements)
        if usage is None:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            usage = self._kept[statements] = usage_of(statements)
        return usage


def _ranked(by_pattern: Mapping[str, _Measured]) -> tuple[Wildcards, Sequence[_Measured]]:
    """The patterns of a field, and what they measure: the longest first."""
    ranked = sorted(by_pattern.items(), key=lambda each: -each[1][0])
    ranks = {text: rank for rank, (text, _) in enumerate(ranked)}
    return Wildcards(ranks), [measured for _, measured in ranked]


def _longest(
    patterns: Wildcards, ranked: Sequence[_Measured], path: str
) -> Iterator[UsageStatement]:
    """The statements with the longest patterns that match a path with its ``END`` (USE-02)."""
    longest = -1
    for length, statements in map(ranked.__getitem__, patterns.matching(path, len(ranked))):
        if length < longest:
            return
        longest = length
        yield from statements


class _Policy:
    """The rules of the groups that a policy token names (USE-10)."""

    def __init__(self, token: str, body: bytes, rules: GroupRules) -> None:
        self._rules = rules
        written = rules_at(body, [start for _, _, start in rules.rules], rules.edition)
        self.statements = {
            start: UsageStatement("policy-token", token, rule.pattern, rule.line)
            for start, rule in written.items()
            if rule.pattern and rule.kind == "disallow"
        }

    def deciding(self, url: str | bytes) -> Iterator[UsageStatement]:
        """The rule that disallows a URL."""
        key = self._rules.find(url)
        if forbids(key):
            yield self.statements[line_start(key)]


class FileUsage:
    """The usage statements and licenses of a file."""

    def __init__(self, body: bytes, file: RobotsFile) -> None:
        self._body = body
        self._file = file
        self._may_state = file.contains(*(field.encode() for field in USAGE_FIELDS))
        named = [token for token in POLICY_TOKENS if file.contains(token.encode())]
        followed = [(token, file.follow(token)) for token in named]
        self._policies = [
            _Policy(token, body, found.rules) for token, found in followed if found.keys == (token,)
        ]
        self._kept: dict[tuple[int, ...], UsageRules] = {}

    def rules_for(self, tokens: Tokens) -> UsageRules:
        """The statements for a crawler; shared if others have the same."""
        lines = self._lines_for(tokens)
        starts = tuple([line.start for line in lines])
        rules = self._kept.get(starts)
        if rules is None:
            if len(self._kept) >= _KEPT_CRAWLERS:
                self._kept.clear()
            rules = UsageRules(self._body, lines, self._file.edition, self._policies)
            self._kept[starts] = rules
        return rules

    @cached_property
    def licenses(self) -> tuple[str, ...]:
        """The absolute URLs of the license lines, in file order (USE-06)."""
        if not self._file.contains(b"license"):
            return ()
        groups = self._file.all_groups
        others = [*groups.outside, *(line for group in groups.groups for line in group.others)]
        found = sorted((line for line in others if line.field == "license"), key=_start)
        return tuple(url for line in found if is_absolute(url := decode(line.value)))

    def _lines_for(self, tokens: Tokens) -> Sequence[RawOther]:
        if not self._may_state:
            return ()
        groups = self._file.all_groups
        begin = groups.groups[0].start if groups.groups else len(self._body)
        above = (line for line in groups.outside if line.start < begin)
        return [
            *(line for line in above if line.field == "content-signal"),  # for all (USE-07)
            *(line for line in self._file.others_for(tokens) if line.field in USAGE_FIELDS),
        ]


def _line(statement: UsageStatement) -> int:
    return statement.line or 0


def _start(line: RawOther) -> int:
    return line.start


def _patterns(path: bytes | None, edition: Edition) -> Iterator[tuple[int, str]]:
    """Length and text of the patterns of a path."""
    measured = None if path is None else canonical_pattern(canonical_text(path, edition), edition)
    text, length = measured or ("", 0)
    for pattern in in_components(text, edition):
        yield length, pattern


def split_path(value: bytes) -> tuple[bytes | None, bytes]:
    """The path of a statement, if any, and its preferences (USE-01)."""
    if not value.startswith(b"/"):
        return None, value
    path, *rest = value.replace(b"\t", b" ").split(b" ", 1)
    return path, value[len(path) :].strip(b" \t") if rest else b""
