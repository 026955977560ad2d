"""Many crawlers and the groups they follow."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.editions import AgentMatch
from scrapy_robotspec.protocol.agents import candidates, followed_keys, tokens_from_user_agent
from scrapy_robotspec.protocol.models import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Collection

    from scrapy_robotspec.editions import Edition

#: Max assignments kept: files that name the same crawlers share one.
_KEPT = 4096

#: Keys of the groups that a crawler follows; none without a group.
Followed = tuple[str, ...]


class Assignment(NamedTuple):
    """Which crawlers follow which groups of a file."""

    followed: tuple[Followed, ...]
    """Each combination of groups once."""
    places: tuple[int, ...]
    """For each crawler the index of its combination."""


class Crawlers:
    """The crawlers of a run in one edition."""

    __slots__ = ("_edition", "_kept", "_named", "asked", "product_tokens")

    def __init__(self, tokens: tuple[str, ...], edition: Edition) -> None:
        self._edition = edition
        self.asked = tuple(tokens_from_user_agent(token, edition) for token in tokens)
        #: The name that groups are found under (UAG-11); None for a crawler that none can name.
        self.product_tokens: tuple[str | None, ...] = tuple(
            asked[0] if asked else (DEFAULT if token == DEFAULT else None)
            for token, asked in zip(tokens, self.asked, strict=True)
        )
        #: Keys that matter; None: all, where names are compared by what they contain.
        self._named: frozenset[str] | None = None
        if edition.agent_match is not AgentMatch.CONTAINED:
            keys = candidates(tuple(token for asked in self.asked for token in asked), edition)
            self._named = frozenset((DEFAULT, *(key for some in keys for key in some)))
        self._kept: dict[frozenset[str], Assignment] = {}

    def assign(self, present: Collection[str]) -> Assignment:
        """The groups followed in a file with some agents, by key."""
        keys = frozenset(present) if self._named is None else self._named.intersection(present)
        found = self._kept.get(keys)
        if found is None:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            found = self._kept[keys] = self._assign(keys)
        return found

    def _assign(self, present: frozenset[str]) -> Assignment:
        followed = [followed_keys(present, asked, self._edition) for asked in self.asked]
        combinations = {keys: at for at, keys in enumerate(dict.fromkeys(followed))}
        return Assignment(
            tuple(combinations),
            tuple(combinations[keys] for keys in followed),
        )
