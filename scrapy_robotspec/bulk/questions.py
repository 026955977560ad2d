"""The questions of a run, and crawlers that follow the same groups."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.bulk.columns import SCHEMA
from scrapy_robotspec.editions import AgentMatch, Edition, get_edition
from scrapy_robotspec.errors import ConfigurationError
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

    #: The keys of the groups that a crawler follows, and its tokens.
    Follower = tuple[tuple[str, ...], tuple[str, ...]]

#: The site that paths are asked about.
SITE = "https://h"
#: Max crawlers for which a file's other agents are passed over.
_FEW = 8


@dataclass(frozen=True, slots=True)
class Questions:
    """The questions about each file; made by :meth:`of`.

    Hashable and picklable.
    """

    tokens: tuple[str, ...]
    """Names of crawlers, each once; a row for each."""
    paths: tuple[str, ...]
    """Paths besides ``/``, each once."""
    editions: tuple[Edition, ...]
    lint: bool
    """Whether findings of the linter are counted, which takes as long as all the rest."""
    columns: tuple[str, ...]
    """The columns to compute, in the order of ``SCHEMA``."""

    @classmethod
    def of(
        cls,
        tokens: str | Sequence[str],
        paths: str | Sequence[str] = (),
        editions: str | Edition | Sequence[str | Edition] = "google-2019",
        lint: bool = False,
        columns: str | Sequence[str] | None = None,
    ) -> Questions:
        """Check the questions; without *columns*, all of them.

        Raises ``ConfigurationError`` for no token, a path without a slash, an unknown edition or
        column.
        """
        names = (tokens,) if isinstance(tokens, str) else tokens
        tokens = tuple(dict.fromkeys(_token(token) for token in names))
        if not tokens:
            raise ConfigurationError("tokens is empty: give at least one crawler, such as 'GPTBot'")
        paths = (paths,) if isinstance(paths, str) else tuple(paths)
        wrong = next((path for path in paths if not str(path).startswith("/")), None)
        if wrong is not None:
            raise ConfigurationError(f"paths contains {wrong!r}: a path begins with a slash")
        given = (editions,) if isinstance(editions, str | Edition) else editions
        found = {edition.name: edition for edition in map(get_edition, given)}
        if not found:
            raise ConfigurationError("editions is empty: give at least one, such as 'google-2019'")
        columns = (columns,) if isinstance(columns, str) else tuple(columns or SCHEMA.names)
        unknown = next((name for name in columns if name not in SCHEMA.names), None)
        if unknown is not None:
            known = ", ".join(SCHEMA.names)
            raise ConfigurationError(f"columns contains {unknown!r}: the columns are {known}")
        others = tuple(path for path in dict.fromkeys(paths) if path != "/")
        chosen = tuple(name for name in SCHEMA.names if name in columns)
        return cls(tokens, others, tuple(found.values()), bool(lint), chosen)


def _token(token: object) -> str:
    if not isinstance(token, str) or not token.strip():
        raise ConfigurationError(f"tokens contains {token!r}: give the names of crawlers as text")
    return token.strip()


class Name(NamedTuple):
    """A crawler's name."""

    given: str
    product_token: str | None
    """The token that its groups are found under (UAG-11); None: no group can name it."""


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
        self.names = [Name(name, product_token(name, edition)) for name in names]
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
