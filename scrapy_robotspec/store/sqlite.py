"""SqliteStore: a file that processes on one machine may share.

Write-ahead logging lets readers and a writer work at once and survives ``kill -9``: a record is
there as a whole or not at all.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import contextmanager, suppress
from operator import attrgetter
from typing import TYPE_CHECKING

from scrapy_robotspec.access.policy import SKEW
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.store.base import (
    KEPT,
    LONGEST_LEASE,
    MAX_AGENTS,
    QUEUE_KEPT,
    Claim,
    RecordStore,
    Reservation,
    SlotQueue,
    SlotRequest,
    may_put,
    reserve,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_robotspec.access.origin import Origin

#: The names carry the version of the tables: another version's are left alone. Slots count in
#: seconds of the machine's monotonic clock, which all its processes share and which cannot be set;
#: it restarts with the machine.
_TABLES = """
CREATE TABLE IF NOT EXISTS robotspec_records_2
    (origin TEXT, agent TEXT, updated REAL NOT NULL, record BLOB NOT NULL,
    PRIMARY KEY (origin, agent));
CREATE INDEX IF NOT EXISTS robotspec_updated_2 ON robotspec_records_2 (updated);
CREATE TABLE IF NOT EXISTS robotspec_leases_1
    (origin TEXT PRIMARY KEY, owner TEXT NOT NULL, taken REAL NOT NULL, until REAL NOT NULL);
CREATE TABLE IF NOT EXISTS robotspec_lines_1
    (origin TEXT PRIMARY KEY, next REAL NOT NULL, tail REAL NOT NULL, written REAL NOT NULL);
"""

_GET = """
SELECT updated, record FROM robotspec_records_2 WHERE origin = ? AND agent IN ('', ?)
"""
_PUT = "INSERT OR REPLACE INTO robotspec_records_2 VALUES (?, ?, ?, ?)"
_TRIM = """
DELETE FROM robotspec_records_2 WHERE rowid IN (
    SELECT rowid FROM robotspec_records_2 WHERE origin = ? AND agent <> ''
    ORDER BY updated DESC LIMIT -1 OFFSET ?)
"""
_PURGE = """
DELETE FROM robotspec_records_2 WHERE rowid IN (
    SELECT rowid FROM robotspec_records_2 WHERE updated < ? LIMIT ?)
"""
_HOLDER = """
SELECT owner FROM robotspec_leases_1
WHERE origin = ? AND until > ? AND until <= ? AND taken <= ?
"""
_TAKE = "INSERT OR REPLACE INTO robotspec_leases_1 VALUES (?, ?, ?, ?)"
_OWNER = "SELECT owner FROM robotspec_leases_1 WHERE origin = ?"
_RELEASE = "DELETE FROM robotspec_leases_1 WHERE origin = ? AND owner = ?"
_PURGE_LEASES = """
DELETE FROM robotspec_leases_1 WHERE rowid IN (
    SELECT rowid FROM robotspec_leases_1 WHERE until < ? LIMIT ?)
"""
_QUEUE = "SELECT next, tail, written FROM robotspec_lines_1 WHERE origin = ?"
_PUT_QUEUE = "INSERT OR REPLACE INTO robotspec_lines_1 VALUES (?, ?, ?, ?)"
_PURGE_QUEUES = """
DELETE FROM robotspec_lines_1 WHERE rowid IN (
    SELECT rowid FROM robotspec_lines_1 WHERE max(next, tail) < ? OR written > ? LIMIT ?)
"""
#: Max rows that are deleted at once: other processes cannot write meanwhile.
_BATCH = 200


class SqliteStore(RecordStore):
    """Keeps records in the file *path*, readable for its owner only.

    *timeout* is how long a call waits for another process (seconds). The first call opens the file.
    Records unchanged for ``KEPT`` seconds are deleted after it, a batch with each call. The first
    call after a failure opens it again, as does one after a file was deleted: processes that began
    before and later would each have files of their own.
    """

    def __init__(self, path: str, timeout: float = 5.0) -> None:
        self.name = os.path.abspath(path)
        self._timeout = timeout
        self._connection: sqlite3.Connection | None = None
        self._inodes: tuple[int, ...] = ()
        """Those of the open files."""
        self._purges: tuple[str, ...] = (_PURGE_LEASES, _PURGE_QUEUES, _PURGE)
        """Tables with old rows, as far as is known."""

    def get(
        self, origin: Origin, agent: str = "", known: float | None = None
    ) -> RobotsRecord | None:
        with self._connected() as connection:
            record = _find(connection, origin, agent)
            return None if record is not None and record.updated_at == known else record

    def claim(
        self,
        origin: Origin,
        owner: str,
        now: float,
        seconds: float,
        known: float | None,
        agent: str = "",
    ) -> Claim:
        with self._transaction() as connection:
            record = _find(connection, origin, agent)
            if record is not None and record.updated_at != known:
                return Claim(False, record)
            limits = now, now + LONGEST_LEASE, now + SKEW
            row = connection.execute(_HOLDER, (str(origin), *limits)).fetchone()
            if row is not None and row[0] != owner:
                return Claim(False)
            connection.execute(_TAKE, (str(origin), owner, now, now + seconds))
            return Claim(True)

    def put(self, record: RobotsRecord, owner: str, known: float | None) -> None:
        origin, agent = str(record.origin), record.agent or ""
        with self._transaction() as connection:
            row = connection.execute(_OWNER, (origin,)).fetchone()
            stored = _find(connection, record.origin, agent)
            if may_put(record, stored, known, has_lease=row == (owner,)):
                connection.execute(_PUT, (origin, agent, record.updated_at, record.to_bytes()))
                connection.execute(_TRIM, (origin, MAX_AGENTS))
            connection.execute(_RELEASE, (origin, owner))

    def release(self, origin: Origin, owner: str) -> None:
        with self._connected() as connection:
            connection.execute(_RELEASE, (str(origin), owner))

    def reserve(self, origin: Origin, asked: SlotRequest) -> Reservation:
        with self._transaction() as connection:
            row = connection.execute(_QUEUE, (str(origin),)).fetchone()
            queue, reply = reserve(
                None if row is None else SlotQueue(*row), time.monotonic(), asked
            )
            connection.execute(_PUT_QUEUE, (str(origin), *queue))
            return reply

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """The connection with the write lock, so that no other process writes in between."""
        with self._connected() as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """The connection. Any exception closes it, which ends a transaction, too."""
        try:
            if self._connection is not None and self._find_inodes() != self._inodes:
                self.close()
            connection = self._connection or self._connect()
            yield connection
            self._purge(connection)
        except BaseException:
            self.close()
            raise

    def _connect(self) -> sqlite3.Connection:
        _create_private(self.name)
        self._connection = connection = sqlite3.connect(
            self.name,
            timeout=self._timeout,
            isolation_level=None,  # every statement commits itself
            check_same_thread=False,  # one thread calls at a time
        )
        # Another process may be switching the file over at this moment: then it is done.
        with suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA journal_mode = WAL")
        # After a loss of power the last writes may be gone; they were only a cache.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.executescript(_TABLES)
        self._inodes = self._find_inodes()
        return connection

    def _purge(self, connection: sqlite3.Connection) -> None:
        """Delete a batch of old rows of each table, unless another process writes."""
        for statement in self._purges:
            now = time.monotonic()
            # Others reserve slots while this waits for them: such queues are of a time after now.
            times = [now - QUEUE_KEPT, now + SKEW]
            if statement is not _PURGE_QUEUES:
                times = [time.time() - KEPT]
            with suppress(sqlite3.OperationalError):
                if connection.execute(statement, (*times, _BATCH)).rowcount < _BATCH:
                    self._purges = tuple(each for each in self._purges if each is not statement)

    def _find_inodes(self) -> tuple[int, ...]:
        """Those of the files that are there: the file, its log, and what its processes share."""
        found = []
        for end in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                found.append(os.stat(self.name + end).st_ino)
        return tuple(found)


def _find(connection: sqlite3.Connection, origin: Origin, agent: str) -> RobotsRecord | None:
    """The origin's record or the agent's, whichever counts.

    Damaged ones are absent, and those whose row has another time than their own.
    """
    rows = connection.execute(_GET, (str(origin), agent)).fetchall()
    read = [(RobotsRecord.from_bytes(data, origin), updated) for updated, data in rows]
    valid = [record for record, updated in read if record and record.updated_at == updated]
    return max(valid, key=attrgetter("rank"), default=None)


def _create_private(path: str) -> None:
    """Create the file, readable for its owner only: it shows which sites were crawled.

    Behind a dangling link its target is created. A file that exists is not touched: opening and
    closing it would take away the locks that other connections of this process hold on it.
    """
    with suppress(FileExistsError):
        target = os.path.realpath(path)
        os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
