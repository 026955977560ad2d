"""UsageRules: which statements hold for a URL (USE-01 to USE-10).

Paths are matched as those of Allow and Disallow are, and no verdict depends on anything here.
Sources: aipref-attach-05, section 3; draft-kelley-aipref-training-preference-signal-00;
contentsignals.org; RSL 1.0, section 4 (licenses).
"""

from __future__ import annotations

from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, cast

from scrapy_robotspec.protocol.groups import is_absolute
from scrapy_robotspec.protocol.lines import rules_at
from scrapy_robotspec.protocol.models import decode
from scrapy_robotspec.protocol.paths import path_of
from scrapy_robotspec.protocol.patterns import END
from scrapy_robotspec.protocol.precedence import (
    LENGTH,
    NO_RULE,
    forbids,
    keyed_patterns,
    line_start,
)
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
    from collections.abc import Iterable, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.agents import Tokens
    from scrapy_robotspec.protocol.groups import RawOther
    from scrapy_robotspec.protocol.robots_file import GroupRules, RobotsFile

#: Max usages kept for one file: few of its paths decide about all URLs.
_KEPT = 256
#: Max crawlers whose statements are kept for one file.
_KEPT_CRAWLERS = 16


class UsageRules:
    """The usage statements for one crawler; False without any."""

    __slots__ = ("_kept", "_sources", "statements")

    statements: tuple[UsageStatement, ...]
    """Every statement, in file order."""

    def __init__(self, sources: Sequence[_Field | _Policy]) -> None:
        self._sources = sources
        self._kept: dict[tuple[UsageStatement, ...], Usage] = {}
        found = (statement for source in sources for statement in source.statements.values())
        self.statements = tuple(sorted(found, key=_line))

    def __bool__(self) -> bool:
        return bool(self.statements)

    def find(self, url: str | bytes) -> Usage:
        """The usage of a URL, provided that it may be crawled.

        Each field decides by its longest matching path; the two are combined like two sources.
        """
        deciding = {statement for source in self._sources for statement in source.deciding(url)}
        statements = tuple(sorted(deciding, key=_line))
        usage = self._kept.get(statements)
        if usage is None:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            usage = self._kept[statements] = usage_of(statements)
        return usage


class _Field:
    """The lines of one field."""

    def __init__(self, lines: Sequence[RawOther], edition: Edition) -> None:
        self._edition = edition
        pairs = [split_path(line.value) for line in lines]
        self.statements = {
            index: UsageStatement(
                cast("UsageSource", line.field),
                decode(value),
                None if path is None else decode(path),
                line.number,
            )
            for index, (line, (path, value)) in enumerate(zip(lines, pairs, strict=True))
        }
        self._general = [each for each in self.statements.values() if each.path is None]
        #: Precedence keys by pattern, with an index in the place of an offset.
        by_pattern: dict[str, list[int]] = {}
        rules = [(False, path, index) for index, (path, _) in enumerate(pairs) if path]
        for key, pattern in keyed_patterns(rules, edition):
            by_pattern.setdefault(pattern, []).append(key)
        self._alike = {min(keys): keys for keys in by_pattern.values()}
        self._patterns = Wildcards({pattern: min(keys) for pattern, keys in by_pattern.items()})

    def deciding(self, url: str | bytes) -> Iterable[UsageStatement]:
        """The statements with the longest paths that match a URL, else those without (USE-02)."""
        path = path_of(url, self._edition) + END
        for length, matching in groupby(self._patterns.matching(path, NO_RULE), _length):
            keys = (key for first in matching for key in self._alike[first])
            return [self.statements[line_start(key)] for key in keys if _length(key) == length]
        return self._general


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

    def deciding(self, url: str | bytes) -> Iterable[UsageStatement]:
        """The rule that disallows a URL."""
        key = self._rules.find(url)
        return [self.statements[line_start(key)]] if forbids(key) else ()


class FileUsage:
    """The usage statements and licenses of a file."""

    def __init__(self, file: RobotsFile) -> None:
        self._file = file
        self._may_state = file.contains(*(field.encode() for field in USAGE_FIELDS))
        named = [token for token in POLICY_TOKENS if file.contains(token.encode())]
        followed = [(token, file.follow(token)) for token in named]
        self._policies = [
            _Policy(token, file.body, found.rules)
            for token, found in followed
            if found.keys == (token,)
        ]
        self._kept: dict[tuple[int, ...], UsageRules] = {}

    def rules_for(self, tokens: Tokens) -> UsageRules:
        """The statements for a crawler; shared if others have the same."""
        lines = self._lines_for(tokens)
        numbers = tuple([line.number for line in lines])
        rules = self._kept.get(numbers)
        if rules is None:
            if len(self._kept) >= _KEPT_CRAWLERS:
                self._kept.clear()
            by_field = ([line for line in lines if line.field == each] for each in USAGE_FIELDS)
            fields = [_Field(found, self._file.edition) for found in by_field if found]
            rules = self._kept[numbers] = UsageRules([*fields, *self._policies])
        return rules

    @cached_property
    def licenses(self) -> tuple[str, ...]:
        """The absolute URLs of the license lines, in file order (USE-06)."""
        if not self._file.contains(b"license"):
            return ()
        every = self._file.all_groups()
        others = [*every.above, *every.between]
        others += [line for group in every.groups for line in group.others]
        found = sorted((line.number, line.value) for line in others if line.field == "license")
        return tuple(url for _, value in found if is_absolute(url := decode(value)))

    def _lines_for(self, tokens: Tokens) -> Sequence[RawOther]:
        if not self._may_state:
            return ()
        every = self._file.all_groups()
        found = every.others_for(self._file.follow(tokens).keys)
        return [
            *(line for line in every.above if line.field == "content-signal"),  # for all (USE-07)
            *(line for line in found if line.field in USAGE_FIELDS),
        ]


def _line(statement: UsageStatement) -> int:
    return statement.line or 0


def _length(key: int) -> int:
    """Grows as the length of a key's pattern shrinks."""
    return key // LENGTH


def split_path(value: bytes) -> tuple[bytes | None, bytes]:
    """The path of a statement, if any, and its preferences (USE-01)."""
    if not value.startswith(b"/"):
        return None, value
    path, *rest = value.replace(b"\t", b" ").split(b" ", 1)
    return path, value[len(path) :].strip(b" \t") if rest else b""
