"""The memory store alone: its bounds and the room it takes."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Iterable

import pytest

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.store.base import SlotRequest
from scrapy_robotspec.store.memory import MemoryStore, SizedTable
from tests.support.records import ORIGIN, origin, plain_record, record

NOW = 1_800_000_000.0


def held(store: MemoryStore, numbers: Iterable[int]) -> list[int]:
    """The numbers of the origins whose records the store returns."""
    return [number for number in numbers if store.get(origin(number)) is not None]


def fetches_per_round(store: MemoryStore, origins: int, rounds: int) -> int:
    """Records that a crawl which visits its origins in turn has to fetch in its last round."""
    for _ in range(rounds):
        fetched = 0
        for number in range(origins):
            if store.get(origin(number)) is None:
                store.put(plain_record(origin(number), NOW))
                fetched += 1
    return fetched


def test_a_round_robin_crawl_fetches_again_in_proportion_to_what_does_not_fit() -> None:
    """One origin more than fits: the others stay. With twice as many, some stay."""
    assert fetches_per_round(MemoryStore(500, 0), 501, 10) <= 25
    assert fetches_per_round(MemoryStore(500, 0), 550, 10) <= 200
    assert fetches_per_round(MemoryStore(500, 0), 1000, 10) < 950


def test_the_temporary_file_is_bounded_too() -> None:
    """Its oldest records are deleted."""
    store = MemoryStore(10, 20)
    for number in range(1000):
        store.put(plain_record(origin(number), NOW))
    assert 25 <= len(held(store, range(1000))) <= 30
    store.close()


def test_long_bodies_are_bounded_in_bytes_too() -> None:
    """A server with half a megabyte that does not compress must not fill the memory."""
    store = MemoryStore(1000, 0)
    body = os.urandom(512_000)
    for number in range(140):
        store.put(record(origin(number), body=body))
    assert 120 < len(held(store, range(140))) < 135  # 64 MB
    assert store.get(origin(139)) is not None


def test_a_table_never_exceeds_its_bound() -> None:
    """By the size of the entry that comes next."""
    table = SizedTable[bytes](len, 100)
    for number in range(50):
        table.put(str(number), bytes(number % 7 * 10))
        assert sum(map(len, table.entries.values())) <= 100


def test_one_record_is_kept_however_long() -> None:
    """Else its origin would be asked for ever."""
    store = MemoryStore(1)
    store.put(record(body=os.urandom(512_000)))
    assert store.get(ORIGIN) is not None


def test_replacing_a_record_frees_its_bytes() -> None:
    """A store that is written over and over does not shrink."""
    store = MemoryStore(100)
    body = os.urandom(512_000)
    for _ in range(140):
        store.put(record(body=body))
    for number in range(50):
        store.put(plain_record(origin(number), NOW))
    assert len(held(store, range(50))) == 50
    assert store.get(ORIGIN) is not None


def test_an_origin_takes_less_than_four_kilobytes() -> None:
    """With a file of 6 KB, the mean of real ones: at 100,000 origins less than 400 MB."""
    file = b"".join(b"Disallow: /%d/shop/article-%d.html\n" % (n % 7, n * n) for n in range(180))
    assert len(file) > 6000
    store = MemoryStore()
    tracemalloc.start()
    for number in range(1000):
        store.put(record(Origin("https", f"www.host-{number}.example", 443), body=file))
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken / 1000 < 4096


def test_lines_of_the_past_are_forgotten() -> None:
    """SAF: memory does not grow with the origins of a crawl; lines that still count are kept."""
    now = 0.0
    store = MemoryStore(monotonic=lambda: now)
    for number in range(30_000):
        now = float(number)
        if number == 29_000:
            store.reserve(ORIGIN, SlotRequest(3000.0))
        store.reserve(Origin("http", f"{number}.example", 80), SlotRequest(1.0))
    assert len(store._queues) < 10_000
    assert store.reserve(ORIGIN, SlotRequest(3000.0)).at == 32_000


def test_the_wall_clock_moves_no_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    slot = store.reserve(ORIGIN, SlotRequest(60.0))
    monkeypatch.setattr("time.time", lambda: NOW)
    assert store.reserve(ORIGIN, SlotRequest(60.0)).at == slot.at + 60
