"""UsageRules: which statements hold for a URL (USE-01 to USE-10).

Paths are matched as those of Allow and Disallow are, and no verdict depends on anything here.
Sources: aipref-attach-05, section 3; draft-kelley-aipref-training-preference-signal-00;
contentsignals.org.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.protocol.lines import RawRule, rules_at
from scrapy_robotspec.protocol.models import POLICY_TOKENS, decode
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
    USAGE_FIELDS,
    Usage,
    UsageStatement,
    usage_of,
)
from scrapy_robotspec.protocol.wildcards import Wildcards

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.agents import Tokens
    from scrapy_robotspec.protocol.lines import Line
    from scrapy_robotspec.protocol.robots_file import GroupRules, RobotsFile
    from scrapy_robotspec.protocol.usage import UsageSource

_FIELD_NAMES = tuple(each.encode() for each in USAGE_FIELDS)
#: Max usages kept for one file: few of its paths decide about all URLs.
_KEPT = 256
#: Max crawlers whose statements are kept for one file.
_KEPT_CRAWLERS = 16


def _in_order(statements: Iterable[UsageStatement]) -> tuple[UsageStatement, ...]:
    return tuple(sorted(statements, key=lambda each: each.line or 0))


class UsageRules:
    """The usage statements for one crawler; False without any."""

    statements: tuple[UsageStatement, ...]
    """Every statement, in file order."""

    def __init__(self, sources: Sequence[_Field | _Policy]) -> None:
        self._sources = [source for source in sources if source.statements]
        self._kept: dict[tuple[tuple[int, ...], ...], Usage] = {}
        self.statements = _in_order(each for source in sources for each in source.statements)

    def __bool__(self) -> bool:
        return bool(self.statements)

    def find(self, url: str | bytes) -> Usage:
        """The usage of a URL, provided that it may be crawled.

        Each field decides by its longest matching path; the two are combined like two sources.
        """
        deciding = tuple([source.deciding(url) for source in self._sources])
        usage = self._kept.get(deciding)
        if usage is None:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            pairs = zip(self._sources, deciding, strict=True)
            found = {each for source, keys in pairs for key in keys for each in source.stated[key]}
            usage = self._kept[deciding] = usage_of(_in_order(found))
        return usage


class _Field:
    """The lines of one field."""

    def __init__(self, field: UsageSource, lines: Sequence[Line], edition: Edition) -> None:
        self._edition = edition
        self.statements: list[UsageStatement] = []
        self.stated: dict[int, list[UsageStatement]] = {NO_RULE: []}
        """Statements that decide together, by key; without a path: ``NO_RULE``."""
        rules: list[RawRule] = []  # each has its index in the place of an offset
        for line in lines:
            if line.field != field:
                continue
            path, value = split_path(line.value)
            written = None if path is None else decode(path)
            statement = UsageStatement(field, decode(value), written, line.number)
            if path is None:
                self.stated[NO_RULE].append(statement)
            else:
                rules.append((False, path, len(self.statements)))
            self.statements.append(statement)
        firsts: dict[str, int] = {}
        for key, pattern in sorted(keyed_patterns(rules, edition)):
            first = firsts.setdefault(pattern, key)
            if _length(key) == _length(first):
                self.stated.setdefault(first, []).append(self.statements[line_start(key)])
        self._patterns = Wildcards(firsts) if firsts else None

    def deciding(self, url: str | bytes) -> tuple[int, ...]:
        """The keys of the longest paths that match a URL (USE-02)."""
        # hot path
        if self._patterns is None:
            return (NO_RULE,)
        keys = list(self._patterns.matching(path_of(url, self._edition) + END, NO_RULE))
        if not keys:
            return (NO_RULE,)
        longest = _length(keys[0])
        return tuple([key for key in keys if _length(key) == longest])


class _Policy:
    """The rules of the groups that a policy token names (USE-10)."""

    def __init__(self, token: str, body: bytes, rules: GroupRules) -> None:
        self._rules = rules
        starts = [start for allow, path, start in rules.rules if path and not allow]
        self.stated = {
            start: (UsageStatement("policy-token", token, rule.pattern, rule.line),)
            for start, rule in rules_at(body, starts, rules.edition).items()
        }
        self.statements = [statement for (statement,) in self.stated.values()]

    def deciding(self, url: str | bytes) -> tuple[int, ...]:
        """The offset of the rule that disallows a URL."""
        key = self._rules.find(url)
        return (line_start(key),) if forbids(key) else ()


#: For most files.
_NOTHING = UsageRules(())


class ForAll(NamedTuple):
    """The lines of a file that hold for every crawler."""

    licenses: tuple[str, ...] = ()
    """The absolute license URLs, in file order (USE-06)."""
    statements: tuple[UsageStatement, ...] = ()
    """Signals above the first group (USE-07), and the rules of policy tokens (USE-10)."""


class FileUsage:
    """The usage statements of a file."""

    def __init__(self, file: RobotsFile) -> None:
        self._file = file
        self._may_state = any(map(file.contains, _FIELD_NAMES))
        self._policies: list[_Policy] = []
        for token in POLICY_TOKENS:
            if file.contains(token.encode()):
                followed = file.follow(token)
                if followed.keys == (token,):
                    self._policies.append(_Policy(token, file.body, followed.rules))
        self._kept: dict[tuple[int, ...], UsageRules] = {}

    @cached_property
    def for_all(self) -> ForAll:
        """The lines that hold for every crawler."""
        every = self._file.all_groups()
        signals = _Field("content-signal", every.signals, self._file.edition).statements
        stated = (each for policy in self._policies for each in policy.statements)
        return ForAll(every.license_urls, _in_order((*signals, *stated)))

    def rules_for(self, tokens: Tokens) -> UsageRules:
        """The statements for a crawler; shared if others have the same."""
        lines: list[Line] = []
        if self._may_state:
            found = self._file.all_groups().others_for(self._file.follow(tokens).keys)
            lines = [line for line in found if line.field in USAGE_FIELDS]
        if not lines and not self._policies:
            return _NOTHING
        numbers = tuple([line.number for line in lines])
        rules = self._kept.get(numbers)
        if rules is None:
            if len(self._kept) >= _KEPT_CRAWLERS:
                self._kept.clear()
            fields = [_Field(each, lines, self._file.edition) for each in USAGE_FIELDS]
            rules = self._kept[numbers] = UsageRules([*fields, *self._policies])
        return rules


def _length(key: int) -> int:
    """Equal for keys of equally long patterns."""
    return key // LENGTH


def split_path(value: bytes) -> tuple[bytes | None, bytes]:
    """The path of a statement, if any, and its preferences (USE-01)."""
    if not value.startswith(b"/"):
        return None, value
    path = value.replace(b"\t", b" ").partition(b" ")[0]
    return path, value[len(path) :].strip(b" \t")
