"""The questions of a run, and the columns of the answers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from scrapy_robotspec.editions import AgentMatch, Edition, get_edition
from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.protocol.agents import asked_keys, keys_of, tokens_from_user_agent
from scrapy_robotspec.protocol.models import DEFAULT, POLICY_TOKENS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scrapy_robotspec.protocol.robots_file import RobotsFile

_TEXT, _TEXTS, _INTEGER, _FLAG = pa.string(), pa.list_(pa.string()), pa.int32(), pa.bool_()
_VERDICT = {"allowed": _FLAG, "reason": _TEXT, "line": _INTEGER, "rule": _TEXT}

#: A type, and the attribute that is the value.
Column = tuple[pa.DataType, str]

#: Columns with one value for each crawler: of a ``Name``.
OF_CRAWLER: dict[str, Column] = {
    "token": (_TEXT, "given"),
    "product_token": (_TEXT, "product_token"),
}
#: Columns with one value for each file in an edition: of a ``FileAnswers``.
OF_FILE: dict[str, Column] = {
    "origin": (_TEXT, "document.origin"),
    "url": (_TEXT, "document.url"),
    "source": (_TEXT, "document.source"),
    "status": (_INTEGER, "document.status"),
    "outcome": (_TEXT, "outcome"),
    "redirects": (_TEXTS, "redirects"),
    "error": (_TEXT, "document.error"),
    "bytes": (pa.int64(), "document.size"),
    "sha256": (_TEXT, "document.sha256"),
    "truncated": (_FLAG, "truncated"),
    "sitemaps": (_TEXTS, "sitemaps"),
    "edition": (_TEXT, "edition.name"),
    "lint_errors": (_INTEGER, "findings.error"),
    "lint_warnings": (_INTEGER, "findings.warning"),
    "lint_advice": (_INTEGER, "findings.advice"),
}
#: Columns with one value for all crawlers that follow the same groups: of a ``GroupAnswers``.
OF_GROUP: dict[str, Column] = {
    "group": (_TEXTS, "names"),
    "class": (_TEXT, "extent"),
    "allowed": (_FLAG, "root.allowed"),
    "reason": (_TEXT, "root.reason"),
    "line": (_INTEGER, "root.line"),
    "rule": (_TEXT, "root.rule"),
    "paths": (pa.list_(pa.struct({"path": _TEXT, **_VERDICT})), "paths"),
    "crawl_delay": (pa.float64(), "delay"),
    "usage": (pa.map_(_TEXT, _TEXT), "usage"),
}
COLUMNS = {**OF_CRAWLER, **OF_FILE, **OF_GROUP}
#: The columns of the output, in order; docs/bulk.md describes each.
SCHEMA = pa.schema([(name, kind) for name, (kind, _) in COLUMNS.items()])


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
        paths: str | Sequence[str],
        editions: str | Edition | Sequence[str | Edition],
        lint: bool,
        columns: str | Sequence[str] | None,
    ) -> Questions:
        """Check the questions; without *columns*, all of them.

        Raises ``ConfigurationError`` for no token, a path without a slash, an unknown edition or
        column.
        """
        tokens = tuple(dict.fromkeys(map(_token, _several(tokens))))
        if not tokens:
            raise ConfigurationError("tokens is empty: give at least one crawler, such as 'GPTBot'")
        paths = _several(paths)
        for path in paths:
            if not re.fullmatch("/[^\ud800-\udfff]*", str(path)):
                raise ConfigurationError(
                    f"paths contains {path!r}: a path begins with a slash, and is Unicode text"
                )
        found = {edition.name: edition for edition in map(get_edition, _several(editions))}
        if not found:
            raise ConfigurationError("editions is empty: give at least one, such as 'google-2019'")
        columns = _several(columns or SCHEMA.names)
        for name in set(columns) - set(SCHEMA.names):
            known = ", ".join(SCHEMA.names)
            raise ConfigurationError(f"columns contains {name!r}: the columns are {known}")
        others = tuple(path for path in dict.fromkeys(paths) if path != "/")
        chosen = tuple(name for name in SCHEMA.names if name in columns)
        return cls(tokens, others, tuple(found.values()), bool(lint), chosen)

    @property
    def rows(self) -> int:
        """The number of rows about each file."""
        return len(self.editions) * len(self.tokens)

    @property
    def schema(self) -> pa.Schema:
        """The schema of the answers."""
        return pa.schema([SCHEMA.field(name) for name in self.columns])


def _several(given: Any) -> tuple[Any, ...]:
    """One value, or several."""
    return (given,) if isinstance(given, str | Edition) else tuple(given)


def _token(token: object) -> str:
    """A name that is not blank and has no lone surrogate, which no column can hold."""
    if not (
        isinstance(token, str) and re.fullmatch(r"\s*[^\s\ud800-\udfff][^\ud800-\udfff]*", token)
    ):
        raise ConfigurationError(
            f"tokens contains {token!r}: give the names of crawlers as Unicode text"
        )
    if label := POLICY_TOKENS.get(token.strip().lower()):
        raise ConfigurationError(
            f"tokens contains {token!r}, a policy token: it names a use of pages, "
            f"{label}, not a crawler; the column usage has it"
        )
    return token.strip()


class Name(NamedTuple):
    """A crawler's name."""

    given: str
    product_token: str | None
    """The token that its groups are found under (UAG-11); None: no group can name it."""
    asked: tuple[str, ...]
    """This token, if it has one of its own."""

    @classmethod
    def of(cls, name: str, edition: Edition) -> Name:
        """A name in an edition."""
        asked = tokens_from_user_agent(name, edition)
        return cls(name, asked[0] if asked else DEFAULT if name == DEFAULT else None, asked)


class Crawlers:
    """The crawlers of a run in one edition."""

    def __init__(self, names: Sequence[str], edition: Edition) -> None:
        self.edition = edition
        self.names = [Name.of(name, edition) for name in names]
        self._is_one = len(names) == 1
        self.usual = self.names[0].asked if self._is_one else ()
        """The token of those that are not among :meth:`named_by`."""
        self._by_key: dict[str, list[int]] = {}
        for place, name in enumerate(self.names):
            for asked in asked_keys(name.asked, edition):
                for key in keys_of(asked, edition):
                    self._by_key.setdefault(key, []).append(place)

    def named_by(self, file: RobotsFile) -> Iterable[int]:
        """The places of crawlers that a file may name.

        Others follow ``*``. None for an only crawler, which needs no index of all agents.
        """
        if self._is_one:
            return ()
        if self.edition.agent_match is AgentMatch.CONTAINED:
            return range(len(self.names))
        return {place for key in file.index.places for place in self._by_key.get(key, ())}
