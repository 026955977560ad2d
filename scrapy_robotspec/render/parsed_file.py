"""One robots.txt file, read once to describe its groups and crawlers.

Which group applies is decided by ``protocol``; this saves reading the file again for each crawler.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.protocol.agent_index import numbers_of
from scrapy_robotspec.protocol.groups import AllGroups, read_sitemaps
from scrapy_robotspec.protocol.lines import Line, read_lines
from scrapy_robotspec.protocol.models import DEFAULT, POLICY_TOKENS, Group, OtherLine, Rule
from scrapy_robotspec.protocol.precedence import keyed_patterns, line_start
from scrapy_robotspec.render.text import count, listed, safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.protocol.robotstxt import RobotsTxt


#: A crawler's product tokens; none stand for a crawler that no group names.
Tokens = tuple[str, ...]
#: Kind and length of a rule as one number, and its pattern in canonical form.
RuleKey = tuple[int, str]


class GroupSummary(NamedTuple):
    """Everything a file contains for one crawler, independent of a URL."""

    tokens: Tokens
    names: tuple[str, ...]
    """User agents of the group that applies; ``("*",)`` for the default, ``()`` for none."""
    groups: tuple[Group, ...]
    """The combined groups (GRP-08), in file order."""
    other: tuple[OtherLine, ...]
    crawl_delay: float | None
    """Seconds."""

    @property
    def group_lines(self) -> tuple[int, ...]:
        """Line numbers at which the groups begin."""
        return tuple(group.first_line for group in self.groups)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of the groups, in file order."""  # thousands of crawlers may share them
        return tuple(rule for group in self.groups for rule in group.rules)

    @property
    def words(self) -> str:
        """The group that applies and why, escaped (UAG-01, UAG-05)."""
        if not self.names:
            cause = "no group names it" if self.tokens else "no group is for every crawler"
            return f"none: {cause}, so everything is allowed"
        lines = listed([str(line) for line in self.group_lines[:10]])
        at = f"from line {lines}" if len(self.groups) == 1 else f"combined from lines {lines}"
        if self.names == ("*",):
            reason = "no group names the crawler" if self.tokens else "the group for all others"
            return f"* ({at}): {reason}"
        return f"{safe(', '.join(self.names))} ({at}): the most specific name that matches"


class ParsedFile:
    """A robots.txt file with its groups, crawlers and lines."""

    def __init__(self, robots: RobotsTxt, name: str = "") -> None:
        """*name*: where it comes from. With a URL, sitemaps may be those of its site (SIT-03)."""
        self.robots = robots
        # Its own: an index of agents lets those of the file forget their rules and names.
        self._all = AllGroups(robots.body, robots.edition)
        self.groups = self._all.as_written()
        origin = ""
        if "://" in name:
            from scrapy_robotspec.access.origin import Origin  # a file on a disk has none

            origin = str(Origin.of(name) or "")
        self.sitemaps = read_sitemaps(robots.body, robots.edition, origin)
        written = self._all.written.items()
        self.written = {name: text for name, text in written if name}
        """Product token -> name as first written (UAG-03)."""
        self.for_all = robots.for_all

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The lines of the file, without further blank ones in a row."""
        return tuple(read_lines(self.robots.body, self.robots.edition, every=True))

    def summary(self) -> str:
        """The size of the file in numbers."""
        parts = [
            count(len(self.robots.body), "byte"),
            count(len(self.groups), "group"),
            count(sum(len(group.rules) for group in self.groups), "rule"),
            count(len(self.sitemaps), "sitemap"),
        ]
        if licenses := len(self.for_all.licenses):
            parts.append(count(licenses, "license"))
        cut = ", cut at the parsing limit" if self.robots.truncated else ""
        return f"{', '.join(parts)}{cut}, edition {self.robots.edition.name}"

    def tokens(self) -> list[str]:
        """Every crawler's token that selects a group, as first written, without ``*``."""
        others = (DEFAULT, *POLICY_TOKENS)  # USE-10
        return [name for key, (name, _) in self._all.places.items() if key.lower() not in others]

    def size_for(self, tokens: Tokens) -> int:
        """The number of lines that are read for a crawler's explanation."""
        for_all = len(self.sitemaps) + sum(map(len, self.for_all))
        return for_all + sum(
            len(self.groups[number].rules) + len(self._all.groups[number].others)
            for number in self._numbers(tokens)
        )

    def group_for(self, tokens: Tokens) -> GroupSummary:
        """The combined groups of a crawler with these tokens (UAG-01)."""
        return GroupSummary(
            tokens=tokens,
            names=self.robots.file.follow(tokens).names,
            groups=tuple(self.groups[number] for number in self._numbers(tokens)),
            other=self.robots.other(tokens),
            crawl_delay=self.robots.crawl_delay(tokens),
        )

    def effective_rules(self, tokens: Tokens) -> dict[RuleKey, Rule]:
        """A crawler's rules, by precedence and canonical pattern.

        Two crawlers with the same keys get the same verdicts.
        """
        rules = self.robots.file.follow(tokens).rules.rules
        found: dict[RuleKey, Rule] = {}
        for key, pattern in keyed_patterns(rules, self.robots.edition):
            start = line_start(key)
            found.setdefault((key - start, pattern), self._all.rules[start])
        return found

    def _numbers(self, tokens: Tokens) -> Sequence[int]:
        """The numbers of a crawler's groups."""
        return numbers_of(self._all.places, self.robots.file.follow(tokens).keys)
