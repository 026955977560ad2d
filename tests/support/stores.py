"""Writes records and takes leases as a process does that fetches."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import weakref

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.store.base import RecordStore
from scrapy_robotspec.store.sqlite import SqliteStore

NOW = 1_800_000_000.0


class SharedStore(SqliteStore):
    """A store for processes of one test, in its own file."""

    def __init__(self) -> None:
        folder = tempfile.mkdtemp()
        weakref.finalize(self, shutil.rmtree, folder)
        super().__init__(f"{folder}/robots.db")

    def close(self) -> None:
        """Keep the file readable for the test."""
        with self._lock:
            self._disconnect()


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
