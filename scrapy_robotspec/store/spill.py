"""The temporary file behind the memory store.

An unnamed SQLite database: only this process can open it, and the system deletes it when the
process ends, however it ends.
"""

from __future__ import annotations

import logging
import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_T = TypeVar("_T")

logger = logging.getLogger(__name__)

_GET = "SELECT record FROM records WHERE origin = ?"
_DELETE = "DELETE FROM records WHERE origin = ?"
_PUT = "INSERT OR REPLACE INTO records VALUES (?, ?)"
#: Rows are numbered in the order of their insertion.
_TRIM = "DELETE FROM records WHERE rowid <= (SELECT max(rowid) FROM records) - ?"


class Spill:
    """Keeps at most *max_records* records, those inserted last.

    A failure, as of a full disk, closes the file with one warning: from then on it is empty.
    """

    def __init__(self, max_records: int) -> None:
        self._max_records = max_records
        self._database: sqlite3.Connection | None = sqlite3.connect("", isolation_level=None)
        self._try(
            lambda database: database.executescript(
                "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                "CREATE TABLE records (origin TEXT UNIQUE, record BLOB)"
            )
        )

    def put(self, records: Iterable[tuple[str, bytes]]) -> None:
        """Add *records*: origins and bytes."""

        def put(database: sqlite3.Connection) -> None:
            database.execute("BEGIN")
            database.executemany(_PUT, records)
            database.execute(_TRIM, (self._max_records,))
            database.execute("COMMIT")

        self._try(put)

    def get(self, origin: str) -> bytes | None:
        """Return the record of *origin*."""
        row = self._try(lambda database: database.execute(_GET, (origin,)).fetchone())
        return None if row is None else row[0]

    def delete(self, origin: str) -> None:
        """Delete the record of *origin*, if there is one."""
        self._try(lambda database: database.execute(_DELETE, (origin,)))

    def close(self) -> None:
        """Delete the file."""
        if self._database is not None:
            with suppress(sqlite3.Error):
                self._database.close()
            self._database = None

    def _try(self, call: Callable[[sqlite3.Connection], _T]) -> _T | None:
        """Call with the database; None where there is none any more."""
        if self._database is None:
            return None
        try:
            return call(self._database)
        except sqlite3.Error as error:
            self._give_up(error)
            return None

    def _give_up(self, error: Exception) -> None:
        self.close()
        logger.warning(
            "The temporary file of the robots.txt store memory:// fails (%s): records that do not "
            "fit into memory are forgotten and fetched again",
            error,
        )
