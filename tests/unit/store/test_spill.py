"""The temporary file behind the memory store, as the store uses it."""

from __future__ import annotations

import pytest

from scrapy_robotspec.store.memory import MemoryStore
from scrapy_robotspec.store.spill import Spill
from tests.support.records import origin, plain_record, record
from tests.support.stores import run_program

NOW = 1_800_000_000.0


def held(store: MemoryStore, number: int) -> int:
    """How many of the first *number* origins have a record in *store*."""
    return sum(store.get(origin(each)) is not None for each in range(number))


def test_the_records_written_last_stay() -> None:
    """A record that is written again takes the place of its older one and counts once."""
    spill = Spill(3)
    for names in (["a", "b", "c"], ["a"], ["d", "e"]):
        spill.put((name, name.encode()) for name in names)
    assert [spill.get(name) for name in "abcde"] == [b"a", None, None, b"d", b"e"]
    spill.put([("a", b"again")])
    assert spill.get("a") == b"again"
    spill.close()
    assert spill.get("a") is None
    spill.put([("f", b"f")])
    assert spill.get("f") is None


def test_a_record_in_the_temporary_file_comes_back_as_it_was() -> None:
    """And the one that replaces it is the one that comes back afterwards."""
    store = MemoryStore(1, 100)
    for number in range(50):
        store.put(record(origin(number)))
    assert [store.get(origin(number)) for number in range(50)] == [
        record(origin(number)) for number in range(50)
    ]
    for number in range(50):
        store.put(plain_record(origin(number), NOW + 1))
    assert [store.get(origin(number)) for number in range(50)] == [
        plain_record(origin(number), NOW + 1) for number in range(50)
    ]
    store.close()


def test_the_temporary_file_ends_with_the_store() -> None:
    """Records in memory stay readable, and nothing is written any more."""
    store = MemoryStore(10)
    for number in range(100):
        store.put(plain_record(origin(number), NOW))
    store.close()
    store.close()
    assert held(store, 100) == 10
    store.put(plain_record(origin(200), NOW))
    assert held(store, 201) == 10


def test_a_temporary_file_that_fails_costs_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    """A real limit on the size of files stands for a full disk."""
    program = (
        "import logging, os, resource, signal\n"
        "logging.basicConfig()\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "from scrapy_robotspec.store.memory import MemoryStore\n"
        "from tests.support.records import origin, record\n"
        "store = MemoryStore(10, 100_000)\n"
        "for n in range(2000): store.put(record(origin(n), body=os.urandom(3000)))\n"
        "print(sum(store.get(origin(n)) is not None for n in range(2000)))\n"
    )
    done = run_program(program)
    assert done.stdout == "10\n"
    assert done.stderr.count("temporary file of the robots.txt store memory:// fails") == 1
