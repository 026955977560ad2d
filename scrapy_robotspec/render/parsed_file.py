"""One robots.txt file, read once to describe its groups and crawlers.

Which group applies is decided by ``protocol``; this saves reading the file again for each crawler.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.protocol.agents import followed_keys, key_of, named_agent
from scrapy_robotspec.protocol.groups import OtherLine, read_groups
from scrapy_robotspec.protocol.lines import read_lines
from scrapy_robotspec.protocol.models import DEFAULT, decode
from scrapy_robotspec.protocol.patterns import END, matches
from scrapy_robotspec.protocol.precedence import keyed_patterns, line_start
from scrapy_robotspec.protocol.robotstxt import greatest_delay
from scrapy_robotspec.protocol.usage_rules import may_state_usage
from scrapy_robotspec.render.text import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.protocol.groups import Group, RawRule
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
        self.lines = tuple(read_lines(robots.body, edition))
        """The lines of the file, without further empty ones in a row."""
        self._numbers = {line.start: line.number for line in self.lines}
        self.written: dict[str, str] = {}
        """Product token -> name as written, where they differ (UAG-03)."""
        self._raw = read_groups(robots.body, edition)
        self._places: dict[str, list[int]] = {}
        for at, group in enumerate(self._raw):
            for key in group.keys(edition):
                self._places.setdefault(key, []).append(at)
        self._names: dict[str, str] = {}  # by key, as first written
        for line in self.lines:
            name = named_agent(line.value, edition) if line.field == "user-agent" else None
            if name is not None and key_of(name, edition) not in self._names:
                self._names[key_of(name, edition)] = name
                if name != decode(line.value):
                    self.written[name] = decode(line.value)

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

    def tokens(self) -> list[str]:
        """Every product token that selects a group, as first written, without ``*``."""
        places = self._places
        return [name for key, name in self._names.items() if key in places and key != DEFAULT]

    def size_for(self, tokens: Sequence[str]) -> int:
        """The number of lines that are read for a crawler's explanation."""
        if self._states_usage:
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
            other=tuple(
                OtherLine(line.field, decode(line.value), self._numbers[line.start])
                for line in other
            ),
            crawl_delay=greatest_delay(other),
        )

    def effective_rules(self, tokens: Sequence[str]) -> dict[RuleKey, Rule]:
        """A crawler's rules, by precedence and canonical pattern.

        Two crawlers with the same keys get the same verdicts.
        """
        found: dict[RuleKey, Rule] = {}
        for key, pattern, rule in self._keyed_rules(tokens):
            found.setdefault((key - line_start(key), pattern), rule)
        return found

    def matches(self, path: str, tokens: Sequence[str]) -> tuple[Rule, ...]:
        """A crawler's rules that match a canonical path, the deciding one first."""
        path += END
        keyed = {key: rule for key, text, rule in self._keyed_rules(tokens) if matches(text, path)}
        return tuple(dict.fromkeys(keyed[key] for key in sorted(keyed)))

    def _keyed_rules(self, tokens: Sequence[str]) -> Iterator[tuple[int, str, Rule]]:
        raw: list[RawRule] = []
        rules: dict[int, Rule] = {}
        for at in self._followed(self._keys(tokens)):
            raw += self._raw[at].rules
            starts = (start for _, _, start in self._raw[at].rules)
            rules.update(zip(starts, self.groups[at].rules, strict=True))
        for key, pattern in keyed_patterns(raw, self.robots.edition):
            yield key, pattern, rules[line_start(key)]

    @cached_property
    def _states_usage(self) -> bool:
        return may_state_usage(self.robots.body)

    def _keys(self, tokens: Sequence[str]) -> tuple[str, ...]:
        return followed_keys(self._places, tuple(tokens), self.robots.edition)

    def _followed(self, keys: Sequence[str]) -> list[int]:
        return sorted({at for key in keys for at in self._places[key]})
