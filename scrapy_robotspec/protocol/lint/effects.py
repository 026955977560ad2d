"""Computes what crawlers may fetch by the groups of a file.

A sentence about an effect is made here, from verdicts that it carries as claims. The rules of
groups that crawlers combine alike are read once. A file can combine them in more ways than it has
lines; beyond a bound no effect is stated (SAF-02).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.editions import AgentMatch
from scrapy_robotspec.protocol.agents import followed_keys, key_of
from scrapy_robotspec.protocol.extent import Rules
from scrapy_robotspec.protocol.lint.findings import Claim, Effect, shown
from scrapy_robotspec.protocol.models import DEFAULT
from scrapy_robotspec.protocol.precedence import forbids

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.lint.group_reader import Group

#: Where no effect is stated.
_UNKNOWN = Effect("reads it as it stands")
#: Max readings of rules, as a multiple of the rules in the file.
READINGS = 4


class Effects:
    """The verdicts of a file, for the crawlers that it names."""

    def __init__(self, groups: Sequence[Group], edition: Edition) -> None:
        self._groups = groups
        self._edition = edition
        self._numbers: dict[str, list[int]] = {}  # of each key's groups
        for number, group in enumerate(groups):
            is_default = edition.whole_agent_names and group.default is not None  # UAG-10
            for key in (DEFAULT,) if is_default else dict.fromkeys(group.keys):
                self._numbers.setdefault(key, []).append(number)
        self._by_groups: dict[tuple[int, ...], Rules] = {}
        self._by_key: dict[str, Rules | None] = {}
        self._left = READINGS * sum(len(group.rules) for group in groups)

    def follows(self, name: str, keys: frozenset[str]) -> bool:
        """Whether a crawler follows a group with some keys.

        True where names are compared with all others.
        """
        if self._edition.agent_match is AgentMatch.CONTAINED:
            return True
        return not keys.isdisjoint(followed_keys(self._numbers, name, self._edition))

    def rules_of(self, name: str | None) -> Rules | None:
        """The rules for a crawler; None beyond the bound.

        *name*: one that the file contains, or ``*``.
        """
        key = None if name is None else key_of(name, self._edition)
        if key is not None and key not in self._by_key:
            self._by_key[key] = self._read(tuple(self._numbers.get(key, ())))
        return None if key is None else self._by_key[key]

    @property
    def default(self) -> Rules:
        """The rules for crawlers without a group of their own."""
        return self.rules_of(DEFAULT) or Rules((), self._edition)

    def of_crawler(self, name: str | None) -> Effect:
        """How much of the site a crawler may fetch."""
        rules = self.rules_of(name)
        if name is None or rules is None:
            return _UNKNOWN
        is_open, path = not forbids(rules.root), rules.exception
        if path is None:
            part = "every page" if is_open else "no page"
            return Effect(f"lets {shown(name)} fetch {part}", (Claim(name, None, is_open),))
        opened, closed = ("/", path) if is_open else (path, "/")
        words = f"lets {shown(name)} fetch {shown(opened)}, not {shown(closed)}"
        return Effect(words, (Claim(name, opened, True), Claim(name, closed, False)))

    def of_path(self, name: str | None, path: str) -> Effect:
        """Whether a crawler may fetch a path."""
        rules = self.rules_of(name)
        if name is None or rules is None:
            return _UNKNOWN
        allows = rules.allows(path)
        lets = "lets" if allows else "does not let"
        words = f"{lets} {shown(name)} fetch {shown(path)}"
        return Effect(words, (Claim(name, path, allows),))

    def _read(self, numbers: tuple[int, ...]) -> Rules | None:
        """The combined rules of some groups."""
        if numbers not in self._by_groups and self._left >= 0:
            lines = [line for number in numbers for line in self._groups[number].rules]
            self._left -= len(lines)
            raw = [(line.field == "allow", line.value, line.start) for line in lines]
            self._by_groups[numbers] = Rules(raw, self._edition)
        return self._by_groups.get(numbers)
