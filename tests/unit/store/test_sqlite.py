"""SQLite alone: the file, what may be wrong with it, and the clock of its leases."""

from __future__ import annotations

import os
import resource
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.store import sqlite
from scrapy_robotspec.store.base import KEPT, QUEUE_KEPT, SlotRequest
from scrapy_robotspec.store.sqlite import SqliteStore
from tests.support.records import ORIGIN, origin, plain_record, record
from tests.support.stores import put, run_program, take

NOW = 1_800_000_000.0


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "robots.db")


@pytest.fixture
def store(path: str) -> Iterator[SqliteStore]:
    opened = SqliteStore(path)
    yield opened
    opened.close()


def tamper(path: str, statement: str, *values: object) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(statement, values)
    connection.close()


def test_the_file_is_its_owners_only(path: str, store: SqliteStore) -> None:
    """It tells which sites were crawled."""
    put(store, record())
    modes = {stat.S_IMODE(os.stat(path + end).st_mode) for end in ("", "-wal", "-shm")}
    assert modes == {0o600}


@pytest.mark.parametrize("depth", [1, 3])
def test_a_file_behind_a_link_that_led_nowhere_is_its_owners_only(
    tmp_path: Path, depth: int
) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "0").symlink_to("below/robots.db")
    for number in range(1, depth):
        (tmp_path / str(number)).symlink_to(str(number - 1))
    store = SqliteStore(str(tmp_path / str(depth - 1)))
    put(store, record())
    modes = {stat.S_IMODE(each.stat().st_mode) for each in (tmp_path / "below").iterdir()}
    assert modes == {0o600}
    store.close()


def test_a_closed_store_leaves_one_file(path: str, tmp_path: Path) -> None:
    """The log is written back: the file can be copied."""
    store = SqliteStore(path)
    put(store, record())
    store.close()
    assert os.listdir(tmp_path) == ["robots.db"]


@pytest.mark.parametrize(
    "found",
    [b"", b"garbage", "text", 5, plain_record(origin(1), NOW).to_bytes()],
    ids=["nothing", "garbage", "text", "number", "another origin's record"],
)
def test_whatever_else_is_in_a_row_reads_as_a_miss(
    path: str, store: SqliteStore, found: object
) -> None:
    """An unknown version too; the next record takes its place."""
    put(store, record())
    tamper(path, "UPDATE robotspec_records_2 SET record = ?", found)
    assert store.get(ORIGIN) is None
    put(store, record())
    assert store.get(ORIGIN) == record()


def test_a_row_with_another_time_than_its_record_reads_as_a_miss(
    path: str, store: SqliteStore
) -> None:
    """SAF-05: it hides no later record of the same origin."""
    put(store, record(at=NOW - 1000))
    put(store, replace(record(at=NOW), agent="abot"))
    for updated in (1e300, "soon", b"soon"):
        tamper(path, "UPDATE robotspec_records_2 SET updated = ? WHERE agent = ''", updated)
        assert store.get(ORIGIN) is None
        assert store.get(ORIGIN, "abot") == replace(record(at=NOW), agent="abot")


def test_whatever_is_raised_in_a_transaction_leaves_the_file_to_other_processes(
    path: str, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not only errors of SQLite: a transaction that stays open locks all of them out."""
    put(store, record())
    other = SqliteStore(path, timeout=0.05)
    lone = "\ud800"  # no text of a database
    with pytest.raises(UnicodeEncodeError):
        store.put(plain_record(ORIGIN, NOW), lone, None)
    put(other, plain_record(origin(1), NOW))
    monkeypatch.setattr(RobotsRecord, "to_bytes", _out_of_memory)
    with pytest.raises(MemoryError):
        store.put(plain_record(ORIGIN, NOW + 1), "us", record().updated_at)
    monkeypatch.undo()
    put(other, plain_record(origin(2), NOW))
    assert store.get(ORIGIN) == record()
    other.close()


def _out_of_memory(record: RobotsRecord) -> bytes:
    raise MemoryError


def test_tables_of_others_are_left_alone(path: str) -> None:
    """Another version's, or a database with other tables."""
    tamper(path, "CREATE TABLE robotspec_records_99 (x)")
    tamper(path, "INSERT INTO robotspec_records_99 VALUES (1)")
    store = SqliteStore(path)
    put(store, record())
    assert store.get(ORIGIN) == record()
    store.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT x FROM robotspec_records_99").fetchall() == [(1,)]
    connection.close()


def test_a_file_that_is_no_database_is_an_error(path: str) -> None:
    """And is not touched."""
    content = b"this is not a database, not at all" * 100
    with open(path, "wb") as file:
        file.write(content)
    with pytest.raises(sqlite3.DatabaseError, match="file is not a database"):
        SqliteStore(path).get(ORIGIN)
    with open(path, "rb") as file:
        assert file.read() == content


def test_a_database_with_broken_pages_is_an_error(path: str) -> None:
    """No record is made up from them."""
    store = SqliteStore(path)
    for number in range(200):
        put(store, record(origin(number), body=os.urandom(2000)))
    store.close()
    size = os.path.getsize(path)
    with open(path, "r+b") as file:
        file.seek(4096)
        file.write(os.urandom(size - 4096))
    with pytest.raises(sqlite3.Error):  # noqa: PT012
        broken = SqliteStore(path)
        for number in range(200):
            assert broken.get(origin(number)) is None


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        SqliteStore(str(tmp_path / "missing" / "robots.db")).get(ORIGIN)


def test_a_full_disk_is_an_error_and_harms_no_record(path: str) -> None:
    """A real limit on the file's size stands for the disk."""
    program = (
        "import os, resource, signal, sqlite3, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))\n"
        "from scrapy_robotspec.store.sqlite import SqliteStore\n"
        "from tests.support.records import origin, record\n"
        "store = SqliteStore(sys.argv[1])\n"
        "try:\n"
        "    for n in range(1000): \n"
        "        store.put(record(origin(n), body=os.urandom(3000)), 'me', None)\n"
        "except sqlite3.Error: print('full:', n)\n"
    )
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    answer = run_program(program, path).stdout
    assert answer.startswith("full:")
    store = SqliteStore(path)
    written = int(answer.split(":")[1])
    assert 0 < written < 1000
    assert [n for n in range(written) if store.get(origin(n)) is None] == []
    store.close()


def test_a_lost_file_is_created_again_after_the_failure(path: str) -> None:
    """A store whose file broke works again as soon as the file does."""
    store = SqliteStore(path)
    put(store, record())
    store.close()
    store = SqliteStore(path)
    assert store.get(ORIGIN) == record()
    with open(path, "r+b") as file:
        file.truncate(100)
    for end in ("-wal", "-shm"):
        os.remove(path + end)
    with pytest.raises(sqlite3.Error):
        put(store, record())
    os.remove(path)
    put(store, record())
    assert store.get(ORIGIN) == record()
    store.close()


@pytest.mark.parametrize("ends", [[""], ["", "-wal", "-shm"]], ids=["file", "all files"])
def test_processes_share_a_new_file_after_the_old_one_was_deleted(
    path: str, ends: list[str]
) -> None:
    """``rm`` leaves the old file to those that have it open: their records and pace would part."""
    running = SqliteStore(path)
    put(running, record())
    running.reserve(ORIGIN, SlotRequest(60.0))
    for end in ends:
        os.remove(path + end)
    later = SqliteStore(path)
    assert later.get(ORIGIN) is None
    put(later, plain_record(ORIGIN, NOW))
    assert running.get(ORIGIN) == plain_record(ORIGIN, NOW)
    put(running, record(origin(1)))
    assert later.get(origin(1)) == record(origin(1))
    slot = later.reserve(ORIGIN, SlotRequest(60.0))
    assert slot.granted
    second = running.reserve(ORIGIN, SlotRequest(60.0, seen=slot.now))
    assert not second.granted
    assert second.at == slot.at + 60.0
    running.close()
    later.close()


#: A process that begins later, and reserves a slot.
_LATER = """
import sys
from scrapy_robotspec.store.base import SlotRequest
from scrapy_robotspec.store.sqlite import SqliteStore
from tests.support.records import ORIGIN
store = SqliteStore(sys.argv[1])
print(repr(store.reserve(ORIGIN, SlotRequest(60.0)).at), flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize("ends", [["-shm"], ["-wal", "-shm"]], ids=["-shm", "both"])
def test_processes_keep_one_pace_after_files_beside_the_store_were_deleted(
    path: str, ends: list[str]
) -> None:
    """Those that began before and later would each lock and read files of their own."""
    running = SqliteStore(path)
    running.reserve(origin(1), SlotRequest(60.0))
    for end in ends:
        os.remove(path + end)
    words = [sys.executable, "-c", _LATER, path]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(words, env=environment, **pipes) as later:
        assert later.stdout is not None
        slot = float(later.stdout.readline())
        second = running.reserve(ORIGIN, SlotRequest(60.0))
        later.communicate("end\n")
    assert second.at == slot + 60.0
    running.close()


def test_another_process_that_writes_for_long_is_an_error(path: str) -> None:
    """A call waits as long as it may, then says so."""
    store = SqliteStore(path, timeout=0.05)
    assert store.get(ORIGIN) is None
    with sqlite3.connect(path, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            put(store, record())
        assert store.get(ORIGIN) is None  # reading goes on meanwhile
        other.execute("COMMIT")
    other.close()
    put(store, record())
    assert store.get(ORIGIN) == record()
    store.close()


@pytest.mark.parametrize(
    ("held", "free"),
    [
        pytest.param(29.9, 30, id="a dead worker's lease ends by itself"),
        pytest.param(-50, -100, id="one from the future does not last as the clock is put back"),
    ],
)
def test_a_lease_ends_by_the_callers_clock(store: SqliteStore, held: float, free: float) -> None:
    """CAC-05: no process waits for ever, and the next owner has the lease for itself."""
    assert take(store, ORIGIN, "a", NOW, 30)
    assert not take(store, ORIGIN, "b", NOW + held, 30)
    assert take(store, ORIGIN, "b", NOW + free, 30)
    assert not take(store, ORIGIN, "a", NOW + free + 1, 30)


def count(path: str, table: str) -> int:
    with sqlite3.connect(path) as connection:
        (number,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    connection.close()
    return int(number)


def test_leases_that_ended_are_deleted_as_a_store_is_opened(path: str) -> None:
    """The file does not grow with them."""
    store = SqliteStore(path)
    for number, at in enumerate((time.time() - KEPT - 60, time.time())):
        take(store, origin(number), "a", at, 30)
    store.close()
    SqliteStore(path).get(ORIGIN)
    assert count(path, "robotspec_leases_1") == 1


@pytest.mark.parametrize(
    "moved",
    [
        # The monotonic clock began again: they would stay for as long as the machine ran before.
        "next = next + 1e9, written = written + 1e9",
        f"next = next - {QUEUE_KEPT + 60}",  # they ended long ago
    ],
)
def test_old_lines_are_deleted_as_a_store_is_opened(
    path: str, moved: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file does not grow with them. The machine has run for longer than a line is kept."""
    since_start = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: since_start() + 2 * QUEUE_KEPT)
    store = SqliteStore(path)
    for number in range(2):
        store.reserve(origin(number), SlotRequest(5.0))
    store.close()
    tamper(path, f"UPDATE robotspec_lines_1 SET {moved} WHERE origin = ?", origin(1))
    SqliteStore(path).get(ORIGIN)
    assert count(path, "robotspec_lines_1") == 1


def test_purge_reads_only_the_rows_that_it_deletes(path: str) -> None:
    """A large file is purged at each start of a crawl."""
    store = SqliteStore(path)
    put(store, record())
    store.close()
    with sqlite3.connect(path) as connection:
        plan = connection.execute(f"EXPLAIN QUERY PLAN {sqlite._PURGE}", (NOW, 1)).fetchall()
    connection.close()
    assert "INDEX robotspec_updated_2" in str(plan)
    assert "SCAN robotspec_records_2" not in str(plan)


def test_old_rows_are_deleted_in_batches_after_the_first_answer(path: str) -> None:
    """No other process is locked out meanwhile."""
    store = SqliteStore(path)
    put(store, record())
    with sqlite3.connect(path) as other:
        old = ((f"http://{n}.example", "", 1.0, b"x") for n in range(450))
        other.executemany("INSERT INTO robotspec_records_2 VALUES (?, ?, ?, ?)", old)
    store.close()
    later, left = SqliteStore(path), []
    for _ in range(4):
        assert later.get(ORIGIN) == record()
        left.append(count(path, "robotspec_records_2"))
    assert left == [251, 51, 1, 1]
    other.execute("BEGIN IMMEDIATE")
    busy = SqliteStore(path, timeout=0.05)
    assert busy.get(ORIGIN) == record()
    other.rollback()
    other.close()
    busy.close()
    later.close()


def test_a_purge_that_waits_for_another_process_keeps_the_slot_reserved_meanwhile(
    path: str, store: SqliteStore
) -> None:
    """Its line is written after the time at which the purge began."""
    store.reserve(origin(1), SlotRequest(60.0))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    later = SqliteStore(path)
    purging = threading.Thread(target=later.get, args=(ORIGIN,))
    purging.start()
    time.sleep(0.1)
    now = time.monotonic()
    line = (str(ORIGIN), now + 60, 0.0, now)
    other.execute("INSERT INTO robotspec_lines_1 VALUES (?, ?, ?, ?)", line)
    other.execute("COMMIT")
    purging.join()
    assert not store.reserve(ORIGIN, SlotRequest(60.0)).granted
    other.close()
    later.close()


def test_records_that_no_attempt_has_changed_are_forgotten_as_a_store_is_opened(path: str) -> None:
    """By the latest attempt, failed ones included: a failing origin's copy is in use."""
    store, last = SqliteStore(path), time.time() - KEPT
    for number, at in enumerate((last - 9, last + 3600)):
        put(store, plain_record(origin(number), at))
    failing = replace(
        plain_record(ORIGIN, last - 9),
        unreachable_since=last,
        failed_at=last + 3600,
        next_attempt=last + 3660,
    )
    put(store, failing)
    store.close()
    store = SqliteStore(path)
    assert store.get(origin(2)) is None
    assert [store.get(origin(n)) is not None for n in range(2)] == [False, True]
    assert store.get(ORIGIN) == failing
    store.close()
