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
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.protocol.agent_index import Spans
    from scrapy_robotspec.protocol.lint.group_reader import Group
    from scrapy_robotspec.protocol.robots_file import RobotsFile

#: Where no effect is stated.
_UNKNOWN = Effect("reads it as it stands")
#: Max bytes of rules that are read, as a multiple of the file's.
READINGS = 4


class Effects:
    """The verdicts of a file, for the crawlers that it names."""

    def __init__(self, file: RobotsFile, groups: Sequence[Group]) -> None:
        self.edition = file.edition
        self.groups = groups
        self._index = file.index
        self._by_key: dict[str, Rules | None] = {}
        self._by_spans: dict[Spans, Rules] = {}
        self._left = READINGS * len(file.body)
        #: The rules for crawlers without a group of their own.
        default = self.rules_of(DEFAULT)
        assert default is not None  # nothing is read before them
        self.default = default
        #: The lines of rules by their offsets in the file.
        self.lines = {line.start: line for group in groups for line in group.rules}

    def follows(self, name: str, keys: frozenset[str]) -> bool:
        """Whether a crawler follows a group with some keys.

        True where names are compared with all others.
        """
        if self.edition.agent_match is AgentMatch.CONTAINED:
            return True
        key = key_of(name, self.edition)
        return not keys.isdisjoint(followed_keys(self._index.places, (key,), self.edition))

    def rules_of(self, name: str | None) -> Rules | None:
        """The rules for a crawler; None where no effect is stated.

        That is beyond the bound, and for a crawler that does not follow its own groups.
        *name*: one that the file contains, or ``*``.
        """
        key = None if name is None else key_of(name, self.edition)
        if key is not None and key not in self._by_key:
            is_own = key == DEFAULT or self._follows_itself(key)
            self._by_key[key] = self._read(key) if is_own else None
        return None if key is None else self._by_key[key]

    def _follows_itself(self, key: str) -> bool:
        """Whether a crawler finds its groups under its name as written.

        An edition may ignore names beside ``*``, or read a name otherwise than it compares one.
        """
        present = self._index.places.keys() & {key}
        return followed_keys(present, (key,), self.edition) == (key,)

    def combined(self) -> Iterator[tuple[str, Group, Rules]]:
        """Crawlers whose rules no crawler before them follows, with their first groups."""
        seen: set[Rules] = set()
        for group in self.groups:
            rules = self.rules_of(group.crawler)
            if group.crawler is not None and rules is not None and rules not in seen:
                seen.add(rules)
                yield group.crawler, group, rules

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

    def of_path(self, name: str, path: str) -> Effect:
        """Whether a crawler may fetch a path."""
        rules = self.rules_of(name)
        if rules is None:
            return _UNKNOWN
        allows = rules.allows(path)
        lets = "lets" if allows else "does not let"
        words = f"{lets} {shown(name)} fetch {shown(path)}"
        return Effect(words, (Claim(name, path, allows),))

    def _read(self, key: str) -> Rules | None:
        group = self._index.rules_of([key] if key in self._index.places else [])
        if group.spans not in self._by_spans and self._left >= 0:
            self._left -= sum(end - begin for begin, end in group.spans)
            self._by_spans[group.spans] = Rules(group)
        return self._by_spans.get(group.spans)
