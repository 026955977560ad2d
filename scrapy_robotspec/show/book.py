"""A file taken apart once, for many questions about its groups.

Which group a crawler follows is the protocol's rule; what is added here is that a file with
thousands of groups need not be read anew for each of thousands of crawlers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.agents import followed_keys, key_of
from scrapy_robotspec.protocol.groups import read_groups
from scrapy_robotspec.protocol.lines import numbers_at
from scrapy_robotspec.protocol.models import DEFAULT, OtherLine, decode
from scrapy_robotspec.show.text import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.protocol.models import Finding, Rule
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt


@dataclass(frozen=True, slots=True)
class Followed:
    """What a crawler follows in a file, whatever the URL."""

    tokens: tuple[str, ...]
    names: tuple[str, ...]
    """The agents of the group followed; ``("*",)`` for the default, ``()`` for none."""
    first_lines: tuple[int, ...]
    """Where each of the combined groups begins (GRP-08)."""
    rules: tuple[Rule, ...]
    """In file order."""
    other: tuple[OtherLine, ...]
    crawl_delay: float | None


class Book:
    """One reading of one file."""

    def __init__(self, robots: RobotsTxt) -> None:
        self.robots = robots
        self.groups = robots.groups
        edition = robots.edition
        self._other: dict[int, OtherLine] = {}
        self._places: dict[str, list[int]] = {}
        self._spelt: dict[str, str] = {}
        self._raw_groups = read_groups(robots.body, edition)
        others = [line for group in self._raw_groups for line in group.others]
        numbers = numbers_at(robots.body, [line.start for line in others])
        for line in others:
            self._other[line.start] = OtherLine(line.field, decode(line.value), numbers[line.start])
        for at, group in enumerate(self._raw_groups):
            keys = group.keys(edition)
            for key in keys:
                self._places.setdefault(key, []).append(at)
            for name in group.names:
                if key_of(name, edition) in keys:
                    self._spelt.setdefault(key_of(name, edition), name)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What the linter has to say."""
        return self.robots.lint()

    @cached_property
    def sitemaps(self) -> tuple[str, ...]:
        """The sitemaps that the file names."""
        return self.robots.sitemaps

    def summary(self) -> str:
        """What the file holds, in numbers."""
        parts = [
            count(len(self.robots.body), "octet"),
            count(len(self.groups), "group"),
            count(sum(len(group.rules) for group in self.groups), "rule"),
            count(len(self.sitemaps), "sitemap"),
        ]
        cut = ", cut at the parsing limit" if self.robots.truncated else ""
        return f"{', '.join(parts)}{cut}, edition {self.robots.edition.name}"

    @property
    def tokens(self) -> list[str]:
        """Every name that a group can be followed by, as first written, without ``*``."""
        return [name for key, name in self._spelt.items() if key != DEFAULT]

    def followed(self, tokens: Sequence[str]) -> Followed:
        """What a crawler with these tokens follows (UAG-01)."""
        keys = followed_keys(self._places, tuple(tokens), self.robots.edition)
        places = sorted({at for key in keys for at in self._places[key]})
        other = tuple(
            self._other[line.start]
            for at in places
            for line in self._raw_groups[at].others_for(keys, self.robots.edition)
        )
        return Followed(
            tokens=tuple(tokens),
            names=tuple(self._spelt[key] for key in keys),
            first_lines=tuple(self.groups[at].first_line for at in places),
            rules=tuple(rule for at in places for rule in self.groups[at].rules),
            other=other,
            crawl_delay=self._crawl_delay(tokens, other),
        )

    def _crawl_delay(self, tokens: Sequence[str], other: Sequence[OtherLine]) -> float | None:
        if all(line.field != "crawl-delay" for line in other):
            return None  # and nothing need be read
        return self.robots.crawl_delay(tokens)
