"""The groups of a file (GRP), and what they allow to crawlers.

A sentence about an effect is made here, from verdicts. The rules of groups that crawlers combine
alike are read once. A file can combine them in more ways than it has lines; beyond a bound no
effect is stated (SAF-02).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from scrapy_robotspec.editions import AgentMatch
from scrapy_robotspec.protocol.agent_index import numbers_of
from scrapy_robotspec.protocol.agents import followed_keys, key_of
from scrapy_robotspec.protocol.extent import MOST_TRIED, Rules
from scrapy_robotspec.protocol.lines import Line, raw_rules
from scrapy_robotspec.protocol.lint.findings import shown
from scrapy_robotspec.protocol.models import DEFAULT
from scrapy_robotspec.protocol.precedence import forbids

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scrapy_robotspec.protocol.groups import AllGroups, RawGroup

#: Where no effect is stated.
UNKNOWN = "reads it as it stands"
#: Max bytes of groups that are read, as a multiple of the file's.
READINGS = 4


class Effects:
    """The verdicts of a file, for the crawlers that it names."""

    def __init__(self, every: AllGroups) -> None:
        self.edition = every.edition
        self.groups = every.groups
        #: The lines of all rules.
        self.rules = [line for group in every.groups for line in group.rules]
        self._places = every.places
        self._by_key: dict[str, Rules | None] = {}
        self._by_numbers: dict[tuple[int, ...], Rules] = {}
        self._left = READINGS * len(every.body)
        self._tries = [MOST_TRIED]
        default = self.followed_by(DEFAULT)
        assert default is not None  # nothing is read before it
        #: The rules for crawlers without a group of their own.
        self.default = default

    @cached_property
    def lines(self) -> Mapping[int, Line]:
        """The lines of all rules, by offset."""
        return {line.start: line for line in self.rules}

    def follows(self, name: str, keys: frozenset[str]) -> bool:
        """Whether a crawler follows a group with some keys.

        True where names are compared with all others.
        """
        if self.edition.agent_match is AgentMatch.CONTAINED:
            return True
        key = key_of(name, self.edition)
        return not keys.isdisjoint(followed_keys(self._places, (key,), self.edition))

    def followed_by(self, name: str | None) -> Rules | None:
        """The rules that a crawler follows; None where no effect is stated.

        That is beyond the bound, and for a crawler that does not follow its own groups.
        *name*: one that the file contains, or ``*``.
        """
        if name is None:
            return None
        key = key_of(name, self.edition)
        if key not in self._by_key:
            self._by_key[key] = self._read(key)
        return self._by_key[key]

    @cached_property
    def combined(self) -> Sequence[tuple[str, RawGroup, Rules]]:
        """The first crawlers that follow each choice of groups, with a group."""
        found: dict[Rules, tuple[str, RawGroup, Rules]] = {}
        for group in self.groups:
            crawler = group.crawler
            rules = self.followed_by(crawler)
            if crawler is not None and rules is not None:
                found.setdefault(rules, (crawler, group, rules))
        return list(found.values())

    def of_crawler(self, name: str | None) -> str:
        """How much of the site a crawler may fetch."""
        rules = self.followed_by(name)
        if name is None or rules is None:
            return UNKNOWN
        is_open, path = not forbids(rules.root), rules.exception
        if path is None:
            part = "every page" if is_open else "no page"
            return UNKNOWN if rules.extent == "some" else f"lets {shown(name)} fetch {part}"
        opened, closed = ("/", path) if is_open else (path, "/")
        return f"lets {shown(name)} fetch {shown(opened)}, not {shown(closed)}"

    def is_open(self, name: str) -> bool:
        """Whether a crawler may fetch a page; False if unknown."""
        rules = self.followed_by(name)
        return rules is not None and rules.extent != "denies all"

    def of_path(self, name: str, path: str) -> str:
        """Whether a crawler may fetch a path."""
        rules = self.followed_by(name)
        allows = None if rules is None else rules.allows(path)
        if allows is None:
            return UNKNOWN
        lets = "lets" if allows else "does not let"
        return f"{lets} {shown(name)} fetch {shown(path)}"

    def _read(self, key: str) -> Rules | None:
        present = (key,) if key in self._places else ()
        # An edition may ignore names beside *, or read a name otherwise than it compares one.
        if key != DEFAULT and followed_keys(present, (key,), self.edition) != (key,):
            return None
        numbers = tuple(numbers_of(self._places, present))
        if numbers not in self._by_numbers and self._left >= 0:
            groups = [self.groups[number] for number in numbers]
            self._left -= sum(end - begin for begin, end in (group.span for group in groups))
            rules = raw_rules(line for group in groups for line in group.rules)
            self._by_numbers[numbers] = Rules(rules, self.edition, self._tries)
        return self._by_numbers.get(numbers)
