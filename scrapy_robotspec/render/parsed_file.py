"""One robots.txt file, read once to describe its groups and crawlers.

Which group applies is decided by ``protocol``; this saves reading the file again for each crawler.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.protocol.agents import followed_keys, key_of, named_agent
from scrapy_robotspec.protocol.groups import OtherLine, read_groups
from scrapy_robotspec.protocol.lines import numbers_at, read_lines
from scrapy_robotspec.protocol.models import DEFAULT, decode
from scrapy_robotspec.protocol.precedence import (
    NO_RULE,
    forbids,
    keyed_patterns,
    line_start,
    matching_keys,
)
from scrapy_robotspec.protocol.robotstxt import greatest_delay
from scrapy_robotspec.protocol.usage import USAGE_FIELDS
from scrapy_robotspec.render.text import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.protocol.groups import Group, RawRule
    from scrapy_robotspec.protocol.lines import Line
    from scrapy_robotspec.protocol.models import Rule
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt


#: Kind and length of a rule as one number, and its pattern in canonical form.
RuleKey = tuple[int, str]


class GroupSummary(NamedTuple):
    """Everything a file contains for one crawler, independent of a URL."""

    tokens: tuple[str, ...]
    names: tuple[str, ...]
    """User agents of the group that applies; ``("*",)`` for the default, ``()`` for none."""
    groups: tuple[Group, ...]
    """The combined groups (GRP-08), in file order."""
    other: tuple[OtherLine, ...]
    crawl_delay: float | None
    """Seconds."""

    @property
    def first_lines(self) -> tuple[int, ...]:
        """Line numbers at which the groups begin."""
        return tuple(group.first_line for group in self.groups)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of the groups, in file order."""  # thousands of crawlers may share them
        return tuple(rule for group in self.groups for rule in group.rules)


class ParsedFile:
    """A robots.txt file with its groups, crawlers and lines."""

    def __init__(self, robots: RobotsTxt) -> None:
        self.robots = robots
        self.groups = robots.groups
        edition = robots.edition
        self._places: dict[str, list[int]] = {}
        self._names: dict[str, str] = {}  # by key, as first written
        self._raw = read_groups(robots.body, edition)
        self._at_line = {group.first_line: at for at, group in enumerate(self.groups)}
        for at, group in enumerate(self._raw):
            keys = group.keys(edition)
            for key in keys:
                self._places.setdefault(key, []).append(at)
            for name in group.names:
                if key_of(name, edition) in keys:
                    self._names.setdefault(key_of(name, edition), name)

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """Every line of the file, blank and invalid ones included."""
        return tuple(read_lines(self.robots.body, self.robots.edition))

    def extents(self) -> Iterator[tuple[int, int]]:
        """The first and last lines of each group.

        Blank lines and comments at its end do not count.
        """
        firsts = {group.first_line for group in self.groups}
        blank_ends = self.robots.edition.blank_line_ends_group
        first = last = 0
        for line in self.lines:
            if line.number in firsts or (blank_ends and not line.text.strip()):
                if first:
                    yield first, last
                first = line.number if line.number in firsts else 0
            last = line.number if line.field else last
        if first:
            yield first, last

    @cached_property
    def written(self) -> dict[str, str]:
        """Product token -> name as written, where they differ (UAG-03)."""
        edition = self.robots.edition
        found: dict[str, str] = {}
        for line in self.lines:
            name = named_agent(line.value, edition) if line.field == "user-agent" else None
            if name and name != DEFAULT:
                found.setdefault(self._names.get(key_of(name, edition), name), decode(line.value))
        return {name: text for name, text in found.items() if text != name}

    def summary(self) -> str:
        """The size of the file in numbers."""
        parts = [
            count(len(self.robots.body), "byte"),
            count(len(self.groups), "group"),
            count(sum(len(group.rules) for group in self.groups), "rule"),
            count(len(self.robots.sitemaps), "sitemap"),
        ]
        cut = ", cut at the parsing limit" if self.robots.truncated else ""
        return f"{', '.join(parts)}{cut}, edition {self.robots.edition.name}"

    @cached_property
    def tokens(self) -> list[str]:
        """Every product token that selects a group, as first written, without ``*``."""
        return [name for key, name in self._names.items() if key != DEFAULT]

    def size_for(self, tokens: Sequence[str]) -> int:
        """The number of lines that are read for a crawler's explanation."""
        if self.states_usage:
            return len(self.lines)
        groups = (self._raw[at] for at in self._followed(self._keys(tokens)))
        return sum(len(group.rules) + len(group.others) for group in groups)

    def group_for(self, tokens: Sequence[str]) -> GroupSummary:
        """The combined groups of a crawler with these tokens (UAG-01)."""
        keys, edition = self._keys(tokens), self.robots.edition
        places = self._followed(keys)
        other = [line for at in places for line in self._raw[at].others_for(keys, edition)]
        return GroupSummary(
            tokens=tuple(tokens),
            names=tuple(self._names[key] for key in keys),
            groups=tuple(self.groups[at] for at in places),
            other=tuple(self._others[line.start] for line in other),
            crawl_delay=greatest_delay(other),
        )

    def effective_rules(self, group: GroupSummary) -> dict[RuleKey, Rule]:
        """The rules that can decide, by precedence and canonical pattern.

        Two groups with the same keys give the same verdicts. An allow rule for every path is left
        out where no disallow rule has less precedence: without it the verdict is the same.
        """
        found: dict[RuleKey, Rule] = {}
        for raw, rule in self._rules_of(group):
            for key, pattern in keyed_patterns([raw], self.robots.edition):
                found.setdefault((key - line_start(key), pattern), rule)
        last = max((key for key, _ in found if forbids(key)), default=NO_RULE)
        return {
            (key, pattern): rule
            for (key, pattern), rule in found.items()
            if pattern or forbids(key) or key < last < NO_RULE
        }

    def matches(self, path: str, group: GroupSummary) -> tuple[Rule, ...]:
        """The rules that match a canonical path, the deciding one first."""
        rules = {raw[2]: rule for raw, rule in self._rules_of(group)}
        raw = [raw for raw, _ in self._rules_of(group)]
        keys = sorted(matching_keys(raw, path, self.robots.edition))
        return tuple(dict.fromkeys(rules[line_start(key)] for key in keys))

    @cached_property
    def states_usage(self) -> bool:
        """Whether the file has usage preferences or licenses (USE-01, USE-06)."""
        fields = {line.field for line in self._others.values()}
        return bool(fields.intersection(USAGE_FIELDS) or self.robots.licenses)

    @cached_property
    def _others(self) -> dict[int, OtherLine]:
        """The other lines of all groups, by offset."""
        lines = [line for group in self._raw for line in group.others]
        numbers = numbers_at(self.robots.body, [line.start for line in lines])
        return {
            line.start: OtherLine(line.field, decode(line.value), numbers[line.start])
            for line in lines
        }

    def _keys(self, tokens: Sequence[str]) -> tuple[str, ...]:
        return followed_keys(self._places, tuple(tokens), self.robots.edition)

    def _followed(self, keys: Sequence[str]) -> list[int]:
        return sorted({at for key in keys for at in self._places[key]})

    def _rules_of(self, group: GroupSummary) -> Iterator[tuple[RawRule, Rule]]:
        """Each rule of a group, as read and as shown."""
        for line in group.first_lines:
            at = self._at_line[line]
            yield from zip(self._raw[at].rules, self.groups[at].rules, strict=True)
