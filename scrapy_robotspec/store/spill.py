"""The temporary file behind the memory store.

An unnamed SQLite database: only this process can open it, and the system deletes it when the
process ends, however it ends.
"""

from __future__ import annotations

import logging
import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

logger = logging.getLogger(__name__)

_SET_UP = (
    "PRAGMA journal_mode = OFF",
    "PRAGMA synchronous = OFF",
    "CREATE TABLE records (origin TEXT UNIQUE, record BLOB)",
)
_GET = "SELECT record FROM records WHERE origin = ?"
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
        for statement in _SET_UP:
            self._execute(statement)

    def put(self, records: Iterable[tuple[str, bytes]]) -> None:
        """Add *records*, origins and bytes, in place of those that are there."""
        self._execute("BEGIN")
        for record in records:
            self._execute(_PUT, *record)
        self._execute(_TRIM, self._max_records)
        self._execute("COMMIT")

    def get(self, origin: str) -> bytes | None:
        """Return the record of *origin*."""
        for (record,) in self._execute(_GET, origin):
            return record  # type: ignore[no-any-return]
        return None

    def close(self) -> None:
        """Delete the file."""
        if self._database is not None:
            with suppress(sqlite3.Error):
                self._database.close()
            self._database = None

    def _execute(self, statement: str, *values: object) -> list[Any]:
        """The rows of *statement*; none after a failure."""
        if self._database is None:
            return []
        try:
            return self._database.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            self.close()
            logger.warning(
                "The temporary file of the robots.txt store memory:// fails (%s): records that do "
                "not fit into memory are forgotten and fetched again",
                error,
            )
            return []
