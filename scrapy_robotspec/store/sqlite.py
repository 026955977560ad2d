"""The store in an SQLite file, which processes on one machine may share.

Write-ahead logging lets readers and a writer work at once and survives ``kill -9``: a record is
there as a whole or not at all. Every call is one statement, so it is one transaction.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from scrapy_robotspec.errors import StoreError
from scrapy_robotspec.store.base import RecordStore, read
from scrapy_robotspec.store.leases import SKEW

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord

#: The names carry the version of the tables: another version's are left alone.
_TABLES = """
CREATE TABLE IF NOT EXISTS robotspec_records_1
    (origin TEXT PRIMARY KEY, updated REAL NOT NULL, record BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS robotspec_leases_1
    (origin TEXT PRIMARY KEY, owner TEXT NOT NULL, taken REAL NOT NULL, until REAL NOT NULL);
"""

_GET = "SELECT record FROM robotspec_records_1 WHERE origin = ?"
_PUT = "INSERT OR REPLACE INTO robotspec_records_1 VALUES (?, ?, ?)"
_DELETE = "DELETE FROM robotspec_records_1 WHERE origin = ?"
_PURGE = "DELETE FROM robotspec_records_1 WHERE updated < ?"
_COUNT = "SELECT count(*) FROM robotspec_records_1"
_ACQUIRE = """
INSERT INTO robotspec_leases_1 AS held VALUES (:origin, :owner, :now, :until)
ON CONFLICT (origin) DO UPDATE SET owner = :owner, taken = :now, until = :until
WHERE held.owner = :owner OR held.until <= :now OR held.taken - :skew > :now
"""
_RELEASE = "DELETE FROM robotspec_leases_1 WHERE origin = ? AND owner = ?"
_PURGE_LEASES = "DELETE FROM robotspec_leases_1 WHERE until < ?"


class _Result(NamedTuple):
    rows: list[Any]
    changed: int


class SqliteStore(RecordStore):
    """Keeps records in the file *path*, which is made if needed, for its owner's eyes only.

    *timeout* is how long a call waits for another process (seconds). May be called from any
    thread. After a failure the file is opened anew at the next call.
    """

    slow: ClassVar[bool] = True

    def __init__(self, path: str, timeout: float = 5.0) -> None:
        self._path = path
        self._timeout = timeout
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._closed = False
        self._execute(_COUNT)  # fails now rather than later

    def get(self, origin: Origin) -> RobotsRecord | None:
        rows = self._execute(_GET, (str(origin),)).rows
        return read(rows[0][0], origin) if rows else None

    def put(self, record: RobotsRecord) -> None:
        self._execute(_PUT, (str(record.origin), record.updated_at, record.to_bytes()))

    def delete(self, origin: Origin) -> None:
        self._execute(_DELETE, (str(origin),))

    def purge(self, before: float) -> int:
        self._execute(_PURGE_LEASES, (before,))
        return self._execute(_PURGE, (before,)).changed

    def acquire(self, origin: Origin, owner: str, now: float, seconds: float) -> bool:
        lease = {
            "origin": str(origin),
            "owner": owner,
            "now": now,
            "until": now + seconds,
            "skew": SKEW,
        }
        return self._execute(_ACQUIRE, lease).changed == 1

    def release(self, origin: Origin, owner: str) -> None:
        self._execute(_RELEASE, (str(origin), owner))

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._disconnect()

    def __len__(self) -> int:
        count: int = self._execute(_COUNT).rows[0][0]
        return count

    def _execute(
        self, statement: str, values: Sequence[object] | Mapping[str, object] = ()
    ) -> _Result:
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = self._connect()
                cursor = self._connection.execute(statement, values)
                return _Result(cursor.fetchall(), cursor.rowcount)
            except (sqlite3.Error, OSError) as error:
                self._disconnect()
                raise StoreError(f"{self._path}: {error}") from error

    def _connect(self) -> sqlite3.Connection:
        if self._closed:
            raise StoreError(f"{self._path}: the store is closed")
        _create_private(self._path)
        connection = sqlite3.connect(
            self._path,
            timeout=self._timeout,
            isolation_level=None,  # every statement commits itself
            check_same_thread=False,  # the lock keeps threads apart
        )
        try:
            # Another process may be switching the file over at this moment: then it is done.
            with suppress(sqlite3.OperationalError):
                connection.execute("PRAGMA journal_mode = WAL")
            # After a loss of power the last writes may be gone; they were only a cache.
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.executescript(_TABLES)
        except BaseException:
            connection.close()
            raise
        return connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None


def _create_private(path: str) -> None:
    """Make the file readable for its owner only: it tells what was crawled.

    A file that exists is not touched: opening and closing it would take away the locks that
    other connections of this process hold on it.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
