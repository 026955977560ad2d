"""Several real processes on one SQLite file or one Redis server (CAC-05)."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scrapy_robotspec.store.base import SlotRequest
from tests.support.records import origin
from tests.support.stores import open_shared_store

from .worker import DELAY, NOW, ORIGINS, SECONDS, body

ROOT = Path(__file__).parents[3]


def start(uri: str, job: str, number: int) -> subprocess.Popen[str]:
    """A process that is ready and waits for :func:`go`."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.robustness.store.worker", uri, job, str(number)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def outcome(process: subprocess.Popen[str]) -> Any:
    with process:
        assert process.stdout is not None
        return json.loads(process.stdout.readline())


def test_of_several_processes_one_gets_each_lease(uri: str) -> None:
    """CAC-05: they start at the same moment on a store that none of them has opened yet."""
    processes = [start(uri, "take_leases", number) for number in range(3)]
    for process in processes:
        go(process)
    taken = [n for process in processes for n in outcome(process)]
    assert sorted(taken) == list(range(ORIGINS))


def test_processes_that_race_keep_one_pace(uri: str) -> None:
    """EXT-01: no two slots closer than the delay."""
    processes = [start(uri, "take_slots", number) for number in range(4)]
    for process in processes:
        go(process)
    slots = sorted(slot for process in processes for slot in outcome(process))
    gaps = [later - earlier for earlier, later in itertools.pairwise(slots)]
    assert min(gaps) >= DELAY - 1e-5  # their times are rounded
    assert len(slots) > 0.5 * SECONDS / DELAY


def test_a_process_that_is_killed_costs_no_more_than_one_slot(uri: str) -> None:
    """Whatever it was doing: the others go on at once."""
    killed = start(uri, "take_slots_for_ever", 0)
    go(killed)
    assert killed.stdout is not None
    killed.stdout.readline()
    killed.kill()
    killed.communicate()
    store = open_shared_store(uri)
    reply = store.reserve(origin(0), SlotRequest(DELAY))
    store.close()
    assert reply.granted
    assert reply.at <= reply.now + 2 * DELAY


@pytest.mark.parametrize("written", [1, 150])
def test_kill_9_while_writing_leaves_whole_records(tmp_path: Path, written: int) -> None:
    """The file opens, every reported record is there, and every record is whole."""
    uri = f"sqlite:///{tmp_path}/robots.db"
    writer = start(uri, "write_for_ever", 0)
    go(writer)
    assert writer.stdout is not None
    for _ in range(written):
        last = int(writer.stdout.readline())
    writer.kill()  # SIGKILL, in the middle of the next write or between two
    writer.communicate()
    store = open_shared_store(uri)
    found = [store.get(origin(n)) for n in range(1000)]
    kept = [(n, record) for n, record in enumerate(found) if record is not None]
    assert [(record.fetched_at, record.body) for n, record in kept] == [
        (NOW + n, body(n)) for n, _ in kept
    ]
    assert len(kept) > last
    store.close()
