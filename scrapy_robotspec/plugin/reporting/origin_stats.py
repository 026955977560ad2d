"""One row for each origin of a crawl, however many there are, in bounded memory.

What is counted and when is the report's business. Rows that do not fit into memory rest in a
private SQLite database, which SQLite itself keeps in a temporary file and removes.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from scrapy_robotspec.access.origin import Origin

#: Rows kept in memory: some 3 MB.
ROOM = 10_000


@dataclass(slots=True)
class OriginStats:
    """What happened with one origin. Numbers add up; the facts are those of the latest answer."""

    let_through: int = 0
    refused: int = 0
    waited: int = 0
    given_up: int = 0
    asked: int = 0
    """Attempts for its robots.txt, answers from a store included."""
    failed: int = 0
    """Those of them that brought no usable answer."""
    seconds: float = 0.0
    """How long the slowest took."""
    answer: str | None = None
    """rules, allow, disallow or unreachable."""
    status: int | None = None
    failure: str | None = None
    hops: int | None = None
    bytes: int | None = None


_COLUMNS = [field.name for field in fields(OriginStats)]
_FACTS = ("status", "failure", "hops", "bytes")  # replaced together with the answer


def _merge(column: str) -> str:
    """How a spilled row takes up a later one of the same origin."""
    if column == "answer":
        return "answer = coalesce(excluded.answer, answer)"
    if column in _FACTS:
        latest = f"CASE WHEN excluded.answer IS NULL THEN {column} ELSE excluded.{column} END"
        return f"{column} = {latest}"
    if column == "seconds":
        return "seconds = max(seconds, excluded.seconds)"
    return f"{column} = {column} + excluded.{column}"


_CREATE = f"CREATE TABLE origins (origin TEXT PRIMARY KEY, {', '.join(_COLUMNS)})"
_SPILL = (
    f"INSERT INTO origins VALUES (?{', ?' * len(_COLUMNS)}) ON CONFLICT (origin) DO UPDATE SET "
    + ", ".join(map(_merge, _COLUMNS))
)
_READ = "SELECT * FROM origins ORDER BY rowid"


def _values(row: OriginStats) -> list[Any]:
    return [getattr(row, name) for name in _COLUMNS]


class OriginStatsTable:
    """Rows by origin. A row from :meth:`row` is good for one change at once, not for keeping."""

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._rows: dict[Origin, OriginStats] = {}
        self._spilled: sqlite3.Connection | None = None

    def row(self, origin: Origin) -> OriginStats:
        """The row of ``origin``, to count in."""
        row = self._rows.get(origin)
        if row is None:
            if len(self._rows) >= self._room:
                self._spill(self._room // 2 or 1)
            row = self._rows[origin] = OriginStats()
        return row

    def rows(self) -> Iterator[dict[str, Any]]:
        """Every origin with what it adds up to, the first one seen first."""
        if self._spilled is None:
            for origin, row in self._rows.items():
                yield {"origin": str(origin), **dict(zip(_COLUMNS, _values(row), strict=True))}
            return
        self._spill(len(self._rows))
        for values in self._spilled.execute(_READ):
            yield dict(zip(("origin", *_COLUMNS), values, strict=True))

    def close(self) -> None:
        """Forget everything."""
        self._rows.clear()
        if self._spilled is not None:
            self._spilled.close()

    def _spill(self, number: int) -> None:
        if self._spilled is None:
            import sqlite3  # few crawls need it, and not every Python has it

            self._spilled = sqlite3.connect("")
            self._spilled.execute(_CREATE)
        oldest = list(islice(self._rows.items(), number))
        with self._spilled:
            self._spilled.executemany(
                _SPILL,
                [(str(origin), *_values(row)) for origin, row in oldest],
            )
        for origin, _ in oldest:
            del self._rows[origin]
