"""Writes records and takes leases as a process does that fetches."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import weakref

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.store.base import RecordStore, SlotQueue
from scrapy_robotspec.store.memory import MemoryStore
from scrapy_robotspec.store.redis import RedisStore
from scrapy_robotspec.store.sqlite import SqliteStore
from scrapy_robotspec.store.uri import open_store

NOW = 1_800_000_000.0


class SharedStore(SqliteStore):
    """A store for processes of one test, in its own file."""

    def __init__(self) -> None:
        folder = tempfile.mkdtemp()
        weakref.finalize(self, shutil.rmtree, folder)
        super().__init__(f"{folder}/robots.db")


def take(store: RecordStore, origin: Origin, owner: str, now: float, seconds: float) -> bool:
    """Take the lease on *origin*, whatever is stored."""
    stored = store.get(origin)
    known = None if stored is None else stored.updated_at
    claim = store.claim(origin, owner, now, seconds, known)
    assert claim.record is None
    return claim.granted


def put(store: RecordStore, record: RobotsRecord) -> None:
    """Store *record* in place of any other one."""
    stored = store.get(record.origin, record.agent or "")
    store.put(record, "a test", None if stored is None else stored.updated_at)


def run_program(
    program: str, *words: str, check: bool = True, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run *program* in another process, which finds the modules of this one."""
    return subprocess.run(
        [sys.executable, "-c", program, *words],
        capture_output=True,
        text=True,
        check=check,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
    )


def write_line(store: RecordStore | MemoryStore, origin: Origin, line: SlotQueue) -> None:
    """Write *line* past *store*, whatever it contains."""
    if isinstance(store, MemoryStore):
        store._queues[origin] = line
    elif isinstance(store, SqliteStore):
        with sqlite3.connect(store.name) as connection:
            # Without the types and constraints of ours.
            connection.executescript(
                "CREATE TABLE other AS SELECT * FROM robotspec_lines_1;"
                "DROP TABLE robotspec_lines_1;"
                "CREATE TABLE robotspec_lines_1 (origin TEXT PRIMARY KEY, next, tail, written);"
                "INSERT INTO robotspec_lines_1 SELECT * FROM other; DROP TABLE other;"
            )
            connection.execute(
                "INSERT OR REPLACE INTO robotspec_lines_1 VALUES (?, ?, ?, ?)", (origin, *line)
            )
        connection.close()
    else:
        assert isinstance(store, RedisStore)
        values = (f"{each * 1e6:.0f}" if isinstance(each, float) else str(each) for each in line)
        store._client.set(store._keys(origin, "line")[0], " ".join(values))


def open_shared_store(uri: str) -> RecordStore:
    """The store that *uri* names, which several processes can share."""
    store = open_store(uri)
    assert isinstance(store, RecordStore)
    return store
