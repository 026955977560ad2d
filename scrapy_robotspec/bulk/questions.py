"""The questions of a run: crawlers, paths, editions and columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from scrapy_robotspec.bulk.columns import SCHEMA
from scrapy_robotspec.editions import Edition, get_edition
from scrapy_robotspec.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Sequence

#: A path that every row answers for.
ROOT = "/"


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
        names = (tokens,) if isinstance(tokens, str) else tuple(tokens)
        asked = (paths,) if isinstance(paths, str) else tuple(paths)
        given = (editions,) if isinstance(editions, str | Edition) else tuple(editions)
        wanted = (columns,) if isinstance(columns, str) else tuple(columns or SCHEMA.names)
        return _checked(names, asked, given, bool(lint), wanted)


@lru_cache(maxsize=32)  # an engine asks the same about each batch
def _checked(
    tokens: tuple[str, ...],
    paths: tuple[str, ...],
    editions: tuple[str | Edition, ...],
    lint: bool,
    columns: tuple[str, ...],
) -> Questions:
    tokens = tuple(dict.fromkeys(_token(token) for token in tokens))
    if not tokens:
        raise ConfigurationError("tokens is empty: give at least one crawler, such as 'GPTBot'")
    wrong = next((path for path in paths if not str(path).startswith("/")), None)
    if wrong is not None:
        raise ConfigurationError(f"paths contains {wrong!r}: a path begins with a slash")
    found = {edition.name: edition for edition in map(get_edition, editions)}
    if not found:
        raise ConfigurationError("editions is empty: give at least one, such as 'google-2019'")
    unknown = next((name for name in columns if name not in SCHEMA.names), None)
    if unknown is not None:
        known = ", ".join(SCHEMA.names)
        raise ConfigurationError(f"columns contains {unknown!r}: the columns are {known}")
    others = tuple(path for path in dict.fromkeys(paths) if path != ROOT)
    chosen = tuple(name for name in SCHEMA.names if name in columns)
    return Questions(tokens, others, tuple(found.values()), lint, chosen)


def _token(token: object) -> str:
    if not isinstance(token, str) or not token.strip():
        raise ConfigurationError(f"tokens contains {token!r}: give the names of crawlers as text")
    return token.strip()
