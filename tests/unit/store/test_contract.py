"""The contract of every store, proved on each of them with its real back end."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.store import open_store
from scrapy_robotspec.store.base import Claim
from tests.support.records import ORIGIN, origin, plain_record, record

if TYPE_CHECKING:
    from scrapy_robotspec.store.base import RecordStore

NOW = 1_800_000_000.0


class TestRecords:
    """Get, put and purge."""

    def test_an_unknown_origin_has_no_record(self, store: RecordStore) -> None:
        """A miss is None."""
        assert store.get(ORIGIN) is None

    def test_a_record_comes_back_as_it_was(self, store: RecordStore) -> None:
        """CAC-04: bytes, times, failures and hops."""
        store.put(record())
        assert store.get(ORIGIN) == record()

    @pytest.mark.parametrize("size", [0, 1, 255, 256, 257, 512_000])
    def test_bodies_of_any_size_and_octets(self, store: RecordStore, size: int) -> None:
        """FMT-12: up to the parsing limit, no byte changed."""
        body = (bytes(range(256)) * 2000)[:size]
        stored = RobotsRecord(ORIGIN, **_answer(), body=body)
        store.put(stored)
        assert store.get(ORIGIN) == stored

    def test_a_later_record_takes_the_place_of_an_earlier_one(self, store: RecordStore) -> None:
        """Whatever their times are: clocks may jump."""
        store.put(record(at=NOW))
        store.put(plain_record(ORIGIN, NOW - 1000))
        assert store.get(ORIGIN) == plain_record(ORIGIN, NOW - 1000)
        assert store.purge(NOW + 1) == 1

    @pytest.mark.parametrize(
        "other",
        [
            Origin("https", "example.com", 443),
            Origin("https", "example.com", 80),
            Origin("http", "example.com", 8080),
            Origin("http", "www.example.com", 80),
            Origin("http", "2001:db8::1", 80),
            Origin("ftp", "example.com", 21),
            Origin("http", "*", 80),
            Origin("http", "exampl?.com", 80),
        ],
        ids=str,
    )
    def test_origins_are_kept_apart(self, store: RecordStore, other: Origin) -> None:
        """LOC-02: by scheme, host and port."""
        store.put(record(ORIGIN))
        assert store.get(other) is None
        store.put(plain_record(other, NOW))
        assert store.get(ORIGIN) == record(ORIGIN)
        assert store.get(other) == plain_record(other, NOW)

    def test_purge_forgets_what_no_attempt_has_changed(self, store: RecordStore) -> None:
        """By the latest attempt, failed ones included: a failing origin's copy is in use."""
        for number in range(10):
            store.put(plain_record(origin(number), NOW + number))
        failing = RobotsRecord(
            ORIGIN, **_answer(), unreachable_since=NOW, failed_at=NOW + 20, next_attempt=NOW + 30
        )
        store.put(failing)
        assert store.purge(NOW + 4) == 4
        assert store.get(origin(3)) is None
        assert store.get(origin(4)) is not None
        assert store.get(ORIGIN) == failing
        assert store.purge(NOW + 4) == 0

    def test_many_records(self, store: RecordStore) -> None:
        """More than one batch of anything."""
        for number in range(1200):
            store.put(plain_record(origin(number), NOW))
        assert store.get(origin(1199)) == plain_record(origin(1199), NOW)
        assert store.purge(NOW + 1) == 1200

    def test_closing_twice_does_no_harm(self, store: RecordStore) -> None:
        """Nor does closing a store that was never used."""
        store.close()
        store.close()


class TestLeases:
    """One owner at a time, for a time, and only for its origin."""

    def test_one_owner_at_a_time(self, store: RecordStore) -> None:
        """CAC-05: across processes one fetch."""
        assert store.acquire(ORIGIN, "a", NOW, 30)
        assert not store.acquire(ORIGIN, "b", NOW + 1, 30)
        assert store.acquire(origin(1), "b", NOW + 1, 30)

    def test_an_owner_may_ask_again(self, store: RecordStore) -> None:
        """It prolongs its lease."""
        assert store.acquire(ORIGIN, "a", NOW, 30)
        assert store.acquire(ORIGIN, "a", NOW + 20, 30)
        assert not store.acquire(ORIGIN, "b", NOW + 40, 30)

    def test_release_lets_the_next_one_in(self, store: RecordStore) -> None:
        """At once."""
        assert store.acquire(ORIGIN, "a", NOW, 30)
        store.release(ORIGIN, "a")
        assert store.acquire(ORIGIN, "b", NOW, 30)

    def test_a_process_releases_its_own_lease_only(self, store: RecordStore) -> None:
        """A worker that was late must not open the door behind the next one."""
        assert store.acquire(ORIGIN, "a", NOW, 30)
        store.release(ORIGIN, "b")
        store.release(origin(1), "b")
        assert not store.acquire(ORIGIN, "c", NOW, 30)

    def test_leases_and_records_are_apart(self, store: RecordStore) -> None:
        """Neither reads, counts nor deletes the other."""
        assert store.acquire(ORIGIN, "a", NOW, 30)
        assert store.get(ORIGIN) is None
        store.put(record())
        assert store.purge(2 * NOW) == 1
        assert store.acquire(ORIGIN, "a", NOW, 30)
        assert not store.acquire(ORIGIN, "b", NOW, 30)


class TestClaims:
    """Another record or the lease, in one call; a record and the release, in one call."""

    def test_nothing_is_known_and_nothing_is_stored(self, store: RecordStore) -> None:
        assert store.claim(ORIGIN, "a", NOW, 30, None) == Claim(True)
        assert store.claim(ORIGIN, "b", NOW, 30, None) == Claim(False)

    @pytest.mark.parametrize("known", [None, NOW - 1, NOW + 1])
    def test_a_record_that_is_not_known_is_returned(
        self, store: RecordStore, known: float | None
    ) -> None:
        """And no lease is taken."""
        store.put(plain_record(ORIGIN, NOW))
        assert store.claim(ORIGIN, "a", NOW, 30, known) == Claim(False, plain_record(ORIGIN, NOW))
        assert store.acquire(ORIGIN, "b", NOW, 30)

    def test_a_known_record_may_be_fetched_again(self, store: RecordStore) -> None:
        store.put(plain_record(ORIGIN, NOW))
        assert store.claim(ORIGIN, "a", NOW, 30, NOW) == Claim(True)
        assert store.claim(ORIGIN, "b", NOW, 30, NOW) == Claim(False)

    def test_a_record_that_is_gone_is_no_news(self, store: RecordStore) -> None:
        assert store.claim(ORIGIN, "a", NOW, 30, NOW) == Claim(True)

    def test_the_next_claim_finds_what_was_stored_with_the_release(
        self, store: RecordStore
    ) -> None:
        assert store.claim(ORIGIN, "a", NOW, 30, None).granted
        store.put_and_release(record(), "a")
        assert store.claim(ORIGIN, "b", NOW, 30, None) == Claim(False, record())
        assert store.acquire(ORIGIN, "b", NOW, 30)

    def test_a_lease_of_another_owner_is_not_released(self, store: RecordStore) -> None:
        """The record is stored: its bearer was late, but the record is the newest."""
        assert store.acquire(ORIGIN, "a", NOW, 30)
        store.put_and_release(record(), "b")
        assert store.get(ORIGIN) == record()
        assert not store.acquire(ORIGIN, "c", NOW, 30)


class TestSlots:
    """Pages of an origin are a delay apart, in all processes together (EXT-01)."""

    def test_the_first_page_may_go_at_once(self, store: RecordStore) -> None:
        assert store.reserve(ORIGIN, NOW, 60.0) == 0.0

    def test_the_next_page_has_to_wait_for_the_rest_of_the_delay(self, store: RecordStore) -> None:
        """The time to ask again is on the caller's clock, whatever that says."""
        store.reserve(ORIGIN, NOW, 60.0)
        assert NOW + 55 < store.reserve(ORIGIN, NOW, 60.0) <= NOW + 60

    def test_refused_calls_do_not_move_the_slot(self, store: RecordStore) -> None:
        store.reserve(ORIGIN, NOW, 60.0)
        times = [store.reserve(ORIGIN, NOW, 60.0) for _ in range(20)]
        assert max(times) <= NOW + 60

    @pytest.mark.parametrize("now", [0.0, NOW, -NOW, 1e15])
    def test_a_refusal_names_a_later_time_however_short_the_wait(
        self, store: RecordStore, now: float
    ) -> None:
        """Epoch seconds have few digits left for it."""
        granted, refused = 0, 0
        for _ in range(2000):
            at = store.reserve(ORIGIN, now, 2e-6)
            granted, refused = granted + (at == 0.0), refused + (at > now and at != 0.0)
        assert granted + refused == 2000

    def test_each_origin_has_slots_of_its_own(self, store: RecordStore) -> None:
        assert [store.reserve(origin(n), NOW, 60.0) for n in range(20)] == [0.0] * 20

    def test_a_delay_of_zero_reports_a_page(self, store: RecordStore) -> None:
        """It always succeeds, and the next page counts from it."""
        assert [store.reserve(ORIGIN, NOW, 0.0) for _ in range(3)] == [0.0] * 3
        assert store.reserve(ORIGIN, NOW, 60.0) > NOW + 55

    def test_a_negative_delay_reports_an_earlier_page(self, store: RecordStore) -> None:
        """But never moves the slot back."""
        assert store.reserve(ORIGIN, NOW, -30.0) == 0.0
        assert NOW + 25 < store.reserve(ORIGIN, NOW, 60.0) <= NOW + 30
        assert store.reserve(ORIGIN, NOW, 0.0) == 0.0
        assert store.reserve(ORIGIN, NOW, -50.0) == 0.0
        assert store.reserve(ORIGIN, NOW, 60.0) > NOW + 55

    def test_callers_with_different_delays_each_keep_their_own(self, store: RecordStore) -> None:
        store.reserve(ORIGIN, NOW, 60.0)
        assert NOW < store.reserve(ORIGIN, NOW, 5.0) <= NOW + 5

    def test_slots_survive_a_purge_of_records(self, store: RecordStore) -> None:
        store.reserve(ORIGIN, NOW, 60.0)
        store.purge(NOW - 1000)
        assert store.reserve(ORIGIN, NOW, 60.0) > NOW

    @pytest.mark.parametrize("delay", [1e-6, 1e12, 1e300])
    def test_any_delay_is_accepted(self, store: RecordStore, delay: float) -> None:
        assert store.reserve(ORIGIN, NOW, delay) == 0.0
        assert store.reserve(origin(1), NOW, delay) == 0.0


def test_a_process_alone_is_the_first_of_one(store: RecordStore) -> None:
    fleet = store.heartbeat("me", NOW, 60.0)
    assert (fleet.rank, fleet.size) == (0, 1)


def test_processes_are_ranked_by_name_and_counted(shared_uri: str) -> None:
    """Each sees the same fleet, in the same order."""
    store = open_store(shared_uri)
    for owner in ("c", "a", "b"):
        store.heartbeat(owner, NOW, 60.0)
    seen = {owner: store.heartbeat(owner, NOW, 60.0)[:2] for owner in ("b", "c", "a")}
    store.close()
    assert seen == {"a": (0, 3), "b": (1, 3), "c": (2, 3)}


def test_a_process_without_a_heartbeat_is_counted_until_its_time_is_over(shared_uri: str) -> None:
    store = open_store(shared_uri)
    store.heartbeat("dead", NOW, 0.3)
    assert store.heartbeat("alive", NOW, 60.0).size == 2
    time.sleep(0.35)
    assert store.heartbeat("alive", NOW, 60.0).size == 1
    store.close()


def test_clocks_of_callers_do_not_move_the_slots(shared_uri: str) -> None:
    """EXT-01 in a fleet: one caller is hours ahead, another one hours behind."""
    store = open_store(shared_uri)
    assert store.reserve(ORIGIN, NOW, 60.0) == 0.0
    for skew in (-5 * 3600, 5 * 3600):
        assert NOW + skew < store.reserve(ORIGIN, NOW + skew, 60.0) <= NOW + skew + 60
    store.close()


def test_the_clock_of_the_store_does_not_depend_on_the_caller(shared_uri: str) -> None:
    store = open_store(shared_uri)
    early, late = (store.heartbeat("me", NOW + skew, 60.0).clock for skew in (0.0, 3600.0))
    store.close()
    assert 0 <= late - early < 60


def test_a_slot_that_was_refused_is_granted_at_the_time_named(shared_uri: str) -> None:
    """No caller has to ask twice for a slot that no other one took."""
    store = open_store(shared_uri)
    for n in range(5):
        store.reserve(origin(n), 0.0, 0.0)
        wait = store.reserve(origin(n), 0.0, 0.2)
        assert wait > 0
        time.sleep(wait)
        assert store.reserve(origin(n), 0.0, 0.2) == 0.0
    store.close()


def test_threads_get_one_lease_between_them(shared_uri: str) -> None:
    """Atomic: slow stores are called from threads."""
    store = open_store(shared_uri)
    start = threading.Barrier(8)

    def take(number: int) -> list[bool]:
        start.wait()
        return [store.acquire(origin(n), f"owner {number}", NOW, 30) for n in range(40)]

    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(take, range(8)))
    store.close()
    assert [sum(each) for each in zip(*taken, strict=True)] == [1] * 40


def test_two_stores_on_one_back_end_see_each_other(shared_uri: str) -> None:
    """CAC-04."""
    one, other = open_store(shared_uri), open_store(shared_uri)
    one.put(record())
    assert other.get(ORIGIN) == record()
    assert one.acquire(ORIGIN, "one", NOW, 30)
    assert not other.acquire(ORIGIN, "other", NOW, 30)
    assert other.purge(2 * NOW) == 1
    assert one.get(ORIGIN) is None
    one.close()
    assert other.get(ORIGIN) is None
    other.close()


def test_records_outlive_the_store(shared_uri: str) -> None:
    """CAC-04: a second run asks nothing again."""
    first = open_store(shared_uri)
    first.put(record())
    first.close()
    second = open_store(shared_uri)
    assert second.get(ORIGIN) == record()
    second.close()


def _answer() -> dict[str, Any]:
    answered = plain_record(ORIGIN, NOW)
    return {
        name: getattr(answered, name) for name in ("meaning", "status", "fetched_at", "expires_at")
    }
