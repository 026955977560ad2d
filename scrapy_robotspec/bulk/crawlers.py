"""Many crawlers and the groups they follow."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.bulk.group_rules import KnownRules
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
    from collections.abc import Collection, Mapping, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.agent_index import Place, Spans

#: Max assignments kept: files that name the same crawlers share one.
_KEPT = 4096
#: Max crawlers for which a file's other agents are passed over.
_FEW = 8


class Combination(NamedTuple):
    """Groups that some crawlers follow together."""

    keys: tuple[str, ...]
    """Keys of the groups; none without a group."""
    asked: tuple[str, ...]
    """The tokens of one of these crawlers."""


class Assignment(NamedTuple):
    """Which crawlers follow which groups of a file."""

    combinations: tuple[Combination, ...]
    places: array[int]
    """For each crawler the index of its combination."""


class Crawlers:
    """The crawlers of a run in one edition."""

    __slots__ = (
        *("_by_key", "_edition", "_kept", "asked", "beginnings", "known_rules", "product_tokens"),
    )

    def __init__(self, tokens: tuple[str, ...], edition: Edition) -> None:
        self._edition = edition
        self.known_rules = KnownRules(edition)
        self.asked = tuple(tokens_from_user_agent(token, edition) for token in tokens)
        #: The name that groups are found under (UAG-11); None for a crawler that none can name.
        self.product_tokens: tuple[str | None, ...] = tuple(
            asked[0] if asked else (DEFAULT if token == DEFAULT else None)
            for token, asked in zip(tokens, self.asked, strict=True)
        )
        #: How the agents begin that matter, if that is worth the comparison.
        self.beginnings: tuple[bytes, ...] = ()
        if len(tokens) <= _FEW:
            named = {each for asked in self.asked for each in beginnings(asked, edition)}
            self.beginnings = (*named, *OTHER_BEGINNINGS)
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
        combinations = [Combination(others, ())]
        numbers = {others: 0}
        places = array("i", [0]) * len(self.asked)
        for at in self._named(present):
            keys = followed_keys(present, self.asked[at], self._edition)
            if keys not in numbers:
                numbers[keys] = len(combinations)
                combinations.append(Combination(keys, self.asked[at]))
            places[at] = numbers[keys]
        return Assignment(tuple(combinations), places)

    def _named(self, present: frozenset[str]) -> Sequence[int]:
        """The crawlers that some of the keys may be of."""
        if self._by_key is None:
            return range(len(self.asked))
        return sorted({at for key in present for at in self._by_key.get(key, ())})


def follow(index: Mapping[str, Place], keys: Sequence[str]) -> tuple[tuple[str, ...], Spans]:
    """Names and spans of the groups with some keys.

    No byte is in two spans.
    """
    if len(keys) == 1:  # usual
        name, spans = index[keys[0]]
        return (name,), tuple(spans)
    places = [index[key] for key in keys]
    parts = [part for _, spans in places for part in zip(spans[::2], spans[1::2], strict=True)]
    joined: list[int] = []
    for begin, end in sorted(parts):
        if joined and begin < joined[-1]:  # a group of several of these agents
            joined[-1] = max(joined[-1], end)
        else:
            joined += begin, end
    return tuple(name for name, _ in places), tuple(joined)
