"""The questions of a run: crawlers, paths, editions and columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrapy_robotspec.bulk.columns import SCHEMA
from scrapy_robotspec.editions import Edition, get_edition
from scrapy_robotspec.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The site that paths are asked about.
SITE = "https://h"


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
