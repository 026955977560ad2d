"""The memory store alone: its bounds and the room it takes."""

from __future__ import annotations

import os
import tracemalloc

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.store.memory import MemoryStore

from .samples import ORIGIN, origin, plain_record, record

NOW = 1_800_000_000.0


def test_the_least_recently_used_goes_first() -> None:
    """Reading and writing are both use."""
    store = MemoryStore(3)
    for number in range(3):
        store.put(plain_record(origin(number), NOW))
    store.get(origin(0))
    store.put(plain_record(origin(1), NOW + 1))
    store.put(plain_record(origin(3), NOW))
    assert len(store) == 3
    assert [n for n in range(4) if store.get(origin(n)) is not None] == [0, 1, 3]


def test_long_bodies_are_bounded_in_octets_too() -> None:
    """Whoever serves half a megabyte that does not compress must not fill our memory."""
    store = MemoryStore(1000)
    body = os.urandom(512_000)
    for number in range(140):
        store.put(record(origin(number), body=body))
    assert 120 < len(store) < 135  # 64 MB
    assert store.get(origin(139)) is not None
    assert store.get(origin(0)) is None


def test_one_record_is_kept_however_long() -> None:
    """Else its origin would be asked for ever."""
    store = MemoryStore(1)
    store.put(record(body=os.urandom(512_000)))
    assert store.get(ORIGIN) is not None


def test_deleting_gives_the_octets_back() -> None:
    """A store that is written over and over does not shrink."""
    store = MemoryStore(100)
    body = os.urandom(512_000)
    for _ in range(140):
        store.put(record(body=body))
    for number in range(50):
        store.put(plain_record(origin(number), NOW))
    assert len(store) == 51


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


def test_leases_within_a_process() -> None:
    """As everywhere else, by the caller's clock, and none from the future."""
    store = MemoryStore()
    assert store.acquire(ORIGIN, "a", NOW, 30)
    assert not store.acquire(ORIGIN, "b", NOW + 29, 30)
    assert store.acquire(ORIGIN, "b", NOW + 30, 30)
    assert store.acquire(ORIGIN, "c", NOW - 3600, 30)
    store.purge(NOW)
    assert store.acquire(ORIGIN, "d", NOW - 3599, 30)
