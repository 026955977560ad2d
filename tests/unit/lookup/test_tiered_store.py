"""The tiered store: records in memory, and those that other processes share."""

from __future__ import annotations

from pathlib import Path

import pytest
from twisted.internet.defer import Deferred

from scrapy_robotspec.access.outcome import Meaning
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.lookup.tiered_store import TieredStore
from scrapy_robotspec.store.base import Claim, RecordStore
from scrapy_robotspec.store.memory import MemoryStore
from scrapy_robotspec.store.uri import open_shared_store
from tests.support.stores import SharedStore, put, take
from tests.support.threads import Threads, result_of

from .fakes import START, A


def record(at: float) -> RobotsRecord:
    return RobotsRecord(A, Meaning.ALLOW, 404, fetched_at=at, expires_at=at + 10)


def tiered(shared: RecordStore, threads: Threads | None = None) -> TieredStore:
    return TieredStore(
        MemoryStore(), shared, threads or Threads(), lambda: START, owner="we", lease_seconds=10
    )


@pytest.mark.parametrize(("known", "theirs"), [(1.0, 2.0), (2.0, 1.0), (None, 2.0)])
def test_another_record_than_the_known_one_is_news(known: float | None, theirs: float) -> None:
    """A claim that returns news takes no lease."""
    shared = SharedStore()
    put(shared, record(theirs))
    both = tiered(shared)
    held = None if known is None else record(known)
    assert result_of(both.claim(A, START, held, "-")) == Claim(False, record(theirs))
    assert result_of(both.get_news(A, held, "-")) == record(theirs)
    assert take(shared, A, "others", START, 1)


def test_the_known_record_is_no_news() -> None:
    shared = SharedStore()
    put(shared, record(1.0))
    both = tiered(shared)
    assert result_of(both.get_news(A, record(1.0), "-")) is None
    assert result_of(both.claim(A, START, record(1.0), "-")) == Claim(True)


def test_store_that_fails_leaves_the_memory(tmp_path: Path) -> None:
    """The crawl goes on alone: it asks, keeps and leases as if there were no store."""
    folder = tmp_path / "gone"
    folder.mkdir()
    both = tiered(open_shared_store(f"sqlite:///{folder}/robots.db"))
    (folder / "robots.db").mkdir()
    assert result_of(both.claim(A, START, None, "-")).granted
    both.put(record(START))
    both.share(record(START), None)
    assert result_of(both.get_news(A, None, "-")) is None
    assert both.close().called


def test_close_waits_for_every_write_also_those_that_follow_from_others() -> None:
    """A lease that comes while we close is released before the store is closed."""
    shared, threads = SharedStore(), Threads()
    threads.at_once = False
    both = tiered(shared, threads)
    taking = Deferred.fromCoroutine(both.claim(A, START, None, "-"))
    taking.addErrback(lambda failure: None)
    taking.cancel()
    closing = both.close()
    threads.run()
    assert closing.called
    assert take(shared, A, "others", START, 1)
