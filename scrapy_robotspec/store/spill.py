"""The temporary file behind the memory store.

An unnamed SQLite database: only this process can open it, and the system deletes it when the
process ends, however it ends.
"""

from __future__ import annotations

import logging
import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

logger = logging.getLogger(__name__)


class Spill:
    """Keeps *max_records* records; the oldest are deleted first.

    A failure, as of a full disk, closes the file with one warning: from then on it is empty.
    """

    def __init__(self, max_records: int) -> None:
        self._max_records = max_records
        self._count = 0
        self._database: sqlite3.Connection | None = None
        try:
            self._database = sqlite3.connect("", isolation_level=None)
            self._database.executescript(
                "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                "CREATE TABLE records (origin TEXT UNIQUE, record BLOB)"
            )
        except sqlite3.Error as error:
            self._give_up(error)

    def put(self, records: Iterable[tuple[str, bytes]]) -> None:
        """Add *records*: origins and bytes."""
        if self._database is None:
            return
        try:
            self._database.execute("BEGIN")
            for record in records:
                self._count -= self._delete(record[0])
                self._database.execute("INSERT INTO records VALUES (?, ?)", record)
                self._count += 1
            self._trim()
            self._database.execute("COMMIT")
        except sqlite3.Error as error:
            self._give_up(error)

    def get(self, origin: str) -> bytes | None:
        """Return the record of *origin*."""
        if self._database is None or not self._count:
            return None
        query = "SELECT record FROM records WHERE origin = ?"
        try:
            row = self._database.execute(query, (str.__str__(origin),)).fetchone()
        except sqlite3.Error as error:
            self._give_up(error)
            return None
        return None if row is None else row[0]

    def delete(self, origin: str) -> None:
        """Delete the record of *origin*, if there is one."""
        if self._database is None or not self._count:
            return
        try:
            self._count -= self._delete(str.__str__(origin))
        except sqlite3.Error as error:
            self._give_up(error)

    def close(self) -> None:
        """Delete the file."""
        if self._database is not None:
            with suppress(sqlite3.Error):
                self._database.close()
            self._database = None

    def _delete(self, origin: str) -> int:
        assert self._database is not None
        return self._database.execute("DELETE FROM records WHERE origin = ?", (origin,)).rowcount

    def _trim(self) -> None:
        assert self._database is not None
        surplus = self._count - self._max_records
        if surplus > 0:
            oldest = "SELECT rowid FROM records ORDER BY rowid LIMIT ?"
            self._database.execute(f"DELETE FROM records WHERE rowid IN ({oldest})", (surplus,))
            self._count -= surplus

    def _give_up(self, error: Exception) -> None:
        self.close()
        logger.warning(
            "The temporary file of the robots.txt store memory:// fails (%s): records that do not "
            "fit into memory are forgotten and fetched again",
            error,
        )
