"""Crawlers: which of many follow the same groups of a file."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from scrapy_robotspec.editions import AgentMatch
from scrapy_robotspec.protocol.agent_index import OTHER_BEGINNINGS
from scrapy_robotspec.protocol.agents import (
    beginnings,
    candidates,
    followed_keys,
    tokens_from_user_agent,
)
from scrapy_robotspec.protocol.models import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from scrapy_robotspec.editions import Edition

    #: The keys of the groups that a crawler follows, and its tokens.
    Follower = tuple[tuple[str, ...], tuple[str, ...]]


#: Max crawlers for which a file's other agents are passed over.
_FEW = 8


def product_token(name: str, edition: Edition) -> str | None:
    """The token that a crawler's groups are found under (UAG-11).

    None: no group can name it.
    """
    asked = tokens_from_user_agent(name, edition)
    return asked[0] if asked else (DEFAULT if name == DEFAULT else None)


class Crawlers:
    """The crawlers of a run in one edition."""

    __slots__ = ("_by_key", "_edition", "asked", "beginnings", "names")

    def __init__(self, names: Sequence[str], edition: Edition) -> None:
        self._edition = edition
        #: Each name with its product token.
        self.names = [(name, product_token(name, edition)) for name in names]
        self.asked = tuple(tokens_from_user_agent(name, edition) for name in names)
        #: How the agents begin that matter, if that is worth the comparison.
        self.beginnings: tuple[bytes, ...] = ()
        if len(names) <= _FEW:
            named = {each for asked in self.asked for each in beginnings(asked, edition)}
            self.beginnings = (*named, *OTHER_BEGINNINGS)
        #: The crawlers that may follow the groups of a key, by index.
        self._by_key: dict[str, list[int]] = {}
        for at, asked in enumerate(self.asked):
            for key in {key for some in candidates(asked, edition) for key in some}:
                self._by_key.setdefault(key, []).append(at)

    def all_at(self, place: int) -> array[int]:
        """The same place for each crawler."""
        return array("i", [place]) * len(self.asked)

    def assign(self, present: Collection[str], first: int) -> tuple[Sequence[Follower], array[int]]:
        """One crawler for each way to follow groups.

        The second value says which of them each crawler is like.
        ``present``: the keys of the agents that a file names. The places count from *first* on.
        """
        others = followed_keys(present, (), self._edition)  # of crawlers that no agent names
        found: list[Follower] = [(others, ())]
        numbers = {others: first}
        places = self.all_at(first)
        for at in self._named(present):
            keys = followed_keys(present, self.asked[at], self._edition)
            if keys not in numbers:
                numbers[keys] = first + len(found)
                found.append((keys, self.asked[at]))
            places[at] = numbers[keys]
        return found, places

    def _named(self, present: Collection[str]) -> Iterable[int]:
        """The crawlers that some of the keys may be of."""
        if self._edition.agent_match is AgentMatch.CONTAINED:
            return range(len(self.asked))
        by_key = self._by_key
        return {at for key in present if key in by_key for at in by_key[key]}
