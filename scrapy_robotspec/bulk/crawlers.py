"""Many crawlers and the groups they follow."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.editions import AgentMatch
from scrapy_robotspec.protocol.agents import candidates, followed_keys, tokens_from_user_agent
from scrapy_robotspec.protocol.models import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from scrapy_robotspec.editions import Edition

#: Max assignments kept: files that name the same crawlers share one.
_KEPT = 4096

#: Keys of the groups that a crawler follows; none without a group.
Followed = tuple[str, ...]


class Assignment(NamedTuple):
    """Which crawlers follow which groups of a file."""

    followed: tuple[Followed, ...]
    """Each combination of groups once."""
    places: array[int]
    """For each crawler the index of its combination."""


class Crawlers:
    """The crawlers of a run in one edition."""

    __slots__ = ("_by_key", "_edition", "_kept", "asked", "product_tokens")

    def __init__(self, tokens: tuple[str, ...], edition: Edition) -> None:
        self._edition = edition
        self.asked = tuple(tokens_from_user_agent(token, edition) for token in tokens)
        #: The name that groups are found under (UAG-11); None for a crawler that none can name.
        self.product_tokens: tuple[str | None, ...] = tuple(
            asked[0] if asked else (DEFAULT if token == DEFAULT else None)
            for token, asked in zip(tokens, self.asked, strict=True)
        )
        #: The crawlers that may follow the groups of a key, by index; None: all of any, where names
        #: are compared by what they contain.
        self._by_key: dict[str, list[int]] | None = None
        if edition.agent_match is not AgentMatch.CONTAINED:
            self._by_key = {DEFAULT: []}
            for at, asked in enumerate(self.asked):
                for key in {key for some in candidates(asked, edition) for key in some}:
                    self._by_key.setdefault(key, []).append(at)
        self._kept: dict[frozenset[str], Assignment] = {}

    def assign(self, present: Collection[str]) -> Assignment:
        """The groups followed in a file with some agents, by key."""
        by_key = self._by_key
        keys = frozenset(present if by_key is None else filter(by_key.__contains__, present))
        found = self._kept.get(keys)
        if found is None:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            found = self._kept[keys] = self._assign(keys)
        return found

    def _assign(self, present: frozenset[str]) -> Assignment:
        others = followed_keys(present, (), self._edition)  # of crawlers that no agent names
        combinations = {others: 0}
        places = array("i", [0]) * len(self.asked)
        for at in self._named(present):
            keys = followed_keys(present, self.asked[at], self._edition)
            places[at] = combinations.setdefault(keys, len(combinations))
        return Assignment(tuple(combinations), places)

    def _named(self, present: frozenset[str]) -> Sequence[int]:
        """The crawlers that some of the keys may be of."""
        if self._by_key is None:
            return range(len(self.asked))
        return sorted({at for key in present for at in self._by_key.get(key, ())})
