"""The contract of every store, proved on each of them with its real back end."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.store.base import (
    HORIZON,
    LONGEST_LEASE,
    Claim,
    RecordStore,
    SlotQueue,
    SlotRequest,
)
from scrapy_robotspec.store.memory import MemoryStore
from scrapy_robotspec.store.uri import open_store
from tests.support.records import ORIGIN, origin, plain_record, record
from tests.support.stores import open_shared_store, put, take, write_line

NOW = 1_800_000_000.0


class TestRecords:
    """Get, put and purge."""

    def test_a_record_comes_back_as_it_was(self, store: RecordStore) -> None:
        """CAC-04: bytes, times, failures and hops."""
        put(store, record())
        assert store.get(ORIGIN) == record()

    def test_a_record_that_is_known_is_not_read_again(self, store: RecordStore) -> None:
        """As in a claim."""
        put(store, record())
        assert store.get(ORIGIN, "", record().updated_at) is None
        assert store.get(ORIGIN, "", 1.0) == record()

    @pytest.mark.parametrize("size", [0, 1, 255, 256, 257, 512_000])
    def test_bodies_of_any_size_and_bytes(self, store: RecordStore, size: int) -> None:
        """FMT-12: up to the parsing limit, no byte changed."""
        body = (bytes(range(256)) * 2000)[:size]
        stored = RobotsRecord(ORIGIN, **_answer(), body=body)
        put(store, stored)
        assert store.get(ORIGIN) == stored

    def test_a_later_record_takes_the_place_of_an_earlier_one(self, store: RecordStore) -> None:
        """Whatever their times are: clocks may jump."""
        put(store, record(at=NOW))
        put(store, plain_record(ORIGIN, NOW - 1000))
        assert store.get(ORIGIN) == plain_record(ORIGIN, NOW - 1000)

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
            Origin("http", "exampl_.com", 80),
        ],
        ids=str,
    )
    def test_origins_are_kept_apart(self, store: RecordStore, other: Origin) -> None:
        """LOC-02: by scheme, host and port."""
        put(store, record(ORIGIN))
        assert store.get(other) is None
        put(store, plain_record(other, NOW))
        assert store.get(ORIGIN) == record(ORIGIN)
        assert store.get(other) == plain_record(other, NOW)

    def test_closing_twice_does_no_harm(self, store: RecordStore) -> None:
        """Nor does closing a store that was never used."""
        store.close()
        store.close()


class TestLeases:
    """One owner at a time, for a time, and only for its origin."""

    def test_one_owner_at_a_time(self, store: RecordStore) -> None:
        """CAC-05: across processes one fetch."""
        assert take(store, ORIGIN, "a", NOW, 30)
        assert not take(store, ORIGIN, "b", NOW + 1, 30)
        assert take(store, origin(1), "b", NOW + 1, 30)

    def test_an_owner_may_ask_again(self, store: RecordStore) -> None:
        """It prolongs its lease."""
        assert take(store, ORIGIN, "a", NOW, 30)
        assert take(store, ORIGIN, "a", NOW + 20, 30)
        assert not take(store, ORIGIN, "b", NOW + 40, 30)

    def test_release_lets_the_next_one_in(self, store: RecordStore) -> None:
        """At once."""
        assert take(store, ORIGIN, "a", NOW, 30)
        store.release(ORIGIN, "a")
        assert take(store, ORIGIN, "b", NOW, 30)

    def test_a_process_releases_its_own_lease_only(self, store: RecordStore) -> None:
        """A worker that was late must not open the door behind the next one."""
        assert take(store, ORIGIN, "a", NOW, 30)
        store.release(ORIGIN, "b")
        store.release(origin(1), "b")
        assert not take(store, ORIGIN, "c", NOW, 30)


class TestClaims:
    """Another record or the lease, in one call; a record and the release, in one call."""

    @pytest.mark.parametrize("known", [None, NOW - 1, NOW + 1])
    def test_a_record_that_is_not_known_is_returned(
        self, store: RecordStore, known: float | None
    ) -> None:
        """And no lease is taken."""
        put(store, plain_record(ORIGIN, NOW))
        assert store.claim(ORIGIN, "a", NOW, 30, known) == Claim(False, plain_record(ORIGIN, NOW))
        assert take(store, ORIGIN, "b", NOW, 30)

    def test_a_known_record_may_be_fetched_again(self, store: RecordStore) -> None:
        put(store, plain_record(ORIGIN, NOW))
        assert store.claim(ORIGIN, "a", NOW, 30, NOW) == Claim(True)
        assert store.claim(ORIGIN, "b", NOW, 30, NOW) == Claim(False)

    def test_a_record_that_is_gone_is_no_news(self, store: RecordStore) -> None:
        assert store.claim(ORIGIN, "a", NOW, 30, NOW) == Claim(True)

    def test_the_next_claim_finds_what_was_stored_with_the_release(
        self, store: RecordStore
    ) -> None:
        assert store.claim(ORIGIN, "a", NOW, 30, None).granted
        store.put(record(), "a", None)
        assert store.claim(ORIGIN, "b", NOW, 30, None) == Claim(False, record())
        assert take(store, ORIGIN, "b", NOW, 30)

    def test_a_lease_that_ends_too_late_stands_in_nobodys_way(self, store: RecordStore) -> None:
        """CAC-05: no fetch takes hours."""
        assert take(store, ORIGIN, "foreign", NOW, 2 * LONGEST_LEASE)
        assert take(store, ORIGIN, "a", NOW, 30)
        assert not take(store, ORIGIN, "b", NOW, 30)

    def test_a_lease_of_another_owner_is_not_released(self, store: RecordStore) -> None:
        """A late process stores its record where none is stored."""
        assert take(store, ORIGIN, "a", NOW, 30)
        store.put(record(), "b", None)
        assert store.get(ORIGIN) == record()
        assert not take(store, ORIGIN, "c", NOW, 30)

    def test_a_record_of_another_process_is_not_replaced_unseen(self, store: RecordStore) -> None:
        """CAC-04: without the lease a write compares."""
        put(store, plain_record(ORIGIN, NOW))
        late = plain_record(ORIGIN, NOW - 50)
        for known in (None, NOW - 100, NOW - 50):
            store.put(late, "late", known)
            assert store.get(ORIGIN) == plain_record(ORIGIN, NOW)
        store.put(late, "in time", NOW)
        assert store.get(ORIGIN) == late


class TestAgents:
    """Responses that depend on the User-Agent (CAC-04)."""

    @staticmethod
    def varying(agent: str, at: float = NOW) -> RobotsRecord:
        return replace(record(at=at), agent=agent)

    def test_only_the_same_product_name_gets_such_a_record(self, store: RecordStore) -> None:
        put(store, self.varying("abot"))
        assert store.get(ORIGIN, "abot") == self.varying("abot")
        assert store.get(ORIGIN, "bbot") is None
        assert store.claim(ORIGIN, "we", NOW, 30, None, "bbot") == Claim(True)

    def test_a_claim_returns_it(self, store: RecordStore) -> None:
        put(store, self.varying("abot"))
        assert store.claim(ORIGIN, "we", NOW, 30, None, "abot").record == self.varying("abot")

    @pytest.mark.parametrize("copied", [None, NOW - 1000], ids=["no copy", "an older copy"])
    def test_a_failure_hides_no_copy(self, store: RecordStore, copied: float | None) -> None:
        """Whichever User-Agent met it: a later failure replaces no copy of another product."""
        copy, failure = plain_record(ORIGIN, NOW), failed(NOW + 60, copied)
        put(store, replace(copy, agent="abot"))
        put(store, failure)
        for known in (None, NOW - 5, failure.updated_at):
            claim = store.claim(ORIGIN, "we", NOW + 70, 30, known, "abot")
            assert claim == Claim(False, replace(copy, agent="abot"))
        assert store.get(ORIGIN, "abot") == replace(copy, agent="abot")
        assert store.get(ORIGIN, "bbot") == failure

    @pytest.mark.parametrize("copied", [None, NOW - 1000], ids=["no copy", "an older copy"])
    def test_a_failure_replaces_no_copy_that_its_process_has_not_seen(
        self, store: RecordStore, copied: float | None
    ) -> None:
        """The lease was ours, and another process came late: its copy stays."""
        assert store.claim(ORIGIN, "we", NOW, 30, None).granted
        store.put(plain_record(ORIGIN, NOW), "late", None)
        store.put(failed(NOW + 60, copied), "we", None)
        assert store.get(ORIGIN) == plain_record(ORIGIN, NOW)
        assert take(store, ORIGIN, "next", NOW, 30)
        store.put(failed(NOW + 70, NOW), "next", NOW)
        assert store.get(ORIGIN) == failed(NOW + 70, NOW)

    def test_the_later_one_of_both_kinds_counts(self, store: RecordStore) -> None:
        put(store, self.varying("abot", NOW))
        put(store, record(at=NOW + 1))
        assert store.get(ORIGIN, "abot") == record(at=NOW + 1)
        put(store, self.varying("abot", NOW + 2))
        assert store.get(ORIGIN, "abot") == self.varying("abot", NOW + 2)
        assert store.get(ORIGIN, "bbot") == record(at=NOW + 1)

    def test_at_most_eight_lie_beside_each_other(self, store: RecordStore) -> None:
        """The oldest goes, and never the record for all."""
        put(store, record(at=NOW - 1000))
        for n in range(12):
            put(store, self.varying(f"bot{n}", NOW + n))
        kept = [
            n for n in range(12) if store.get(ORIGIN, f"bot{n}") == self.varying(f"bot{n}", NOW + n)
        ]
        assert kept == list(range(4, 12))
        assert store.get(ORIGIN) == record(at=NOW - 1000)


class TestSlots:
    """Slots of an origin are apart by their spacing, in all processes together (EXT-01)."""

    def test_the_first_slot_begins_at_once(self, store: RecordStore) -> None:
        reply = store.reserve(ORIGIN, SlotRequest(60.0))
        assert reply.granted
        assert reply.at == reply.now

    def test_further_ahead_there_are_positions_in_the_order_of_the_calls(
        self, store: RecordStore
    ) -> None:
        slot, *line = (store.reserve(ORIGIN, SlotRequest(60.0)) for _ in range(5))
        assert [reply.granted for reply in line] == [False] * 4
        assert [reply.at - slot.at for reply in line] == pytest.approx([60, 120, 180, 240])

    def test_a_position_is_kept(self, store: RecordStore) -> None:
        """Asking with it again changes nothing before its time."""
        store.reserve(ORIGIN, SlotRequest(60.0))
        first, second = (store.reserve(ORIGIN, SlotRequest(60.0)) for _ in range(2))
        for _ in range(3):
            again = store.reserve(ORIGIN, SlotRequest(60.0, position=second.at))
            assert not again.granted
            assert again.at == pytest.approx(second.at, abs=1e-6)
        assert store.reserve(ORIGIN, SlotRequest(60.0)).at == pytest.approx(first.at + 120)

    def test_a_slot_that_is_given_up_goes_to_the_caller_again(self, store: RecordStore) -> None:
        """It was not used, so the page before it is the one to keep away from."""
        first = store.reserve(ORIGIN, SlotRequest(0.4))
        late = store.reserve(ORIGIN, SlotRequest(0.4))
        again = store.reserve(ORIGIN, SlotRequest(0.4, given_up=late.at))
        assert again.granted
        assert again.at == pytest.approx(first.at + 0.4, abs=1e-6)

    def test_a_slot_is_not_taken_back_from_another_caller(self, store: RecordStore) -> None:
        store.reserve(ORIGIN, SlotRequest(0.3))
        late, other = (store.reserve(ORIGIN, SlotRequest(0.3)) for _ in range(2))
        again = store.reserve(ORIGIN, SlotRequest(0.3, given_up=late.at))
        assert again.at == pytest.approx(other.at + 0.3, abs=1e-6)

    def test_a_line_that_was_lost_grants_nothing_for_a_spacing(self, store: RecordStore) -> None:
        """Other processes may have slots, and have sent pages just now."""
        reply = store.reserve(ORIGIN, SlotRequest(60.0, seen=1.0))
        assert not reply.granted
        assert reply.at == pytest.approx(reply.now + HORIZON + 60)
        assert store.reserve(ORIGIN, SlotRequest(60.0)).at > reply.at

    def test_a_line_older_than_the_last_reply_was_lost_too(self, store: RecordStore) -> None:
        """An old copy of the data grants nothing for a spacing, once for all processes."""
        old = store.reserve(ORIGIN, SlotRequest(0.001))
        seen = store.reserve(origin(1), SlotRequest(0.001)).now
        assert old.now < seen
        reply = store.reserve(ORIGIN, SlotRequest(60.0, seen=seen))
        assert reply.at == pytest.approx(reply.now + HORIZON + 60)
        other = store.reserve(ORIGIN, SlotRequest(60.0, seen=seen))
        assert other.at == pytest.approx(reply.at + 60)

    def test_a_reply_of_a_clock_that_was_put_back_makes_no_line_old(
        self, store: RecordStore
    ) -> None:
        slot = store.reserve(ORIGIN, SlotRequest(60.0))
        next_ = store.reserve(ORIGIN, SlotRequest(60.0, seen=slot.now + 3600))
        assert next_.at == pytest.approx(slot.at + 60)

    def test_each_origin_has_a_line_of_its_own(self, store: RecordStore) -> None:
        assert all(store.reserve(origin(n), SlotRequest(60.0)).granted for n in range(20))

    @pytest.mark.parametrize("spacing", [1e-6, 1e12, 1e300])
    def test_any_spacing_is_accepted(self, store: RecordStore, spacing: float) -> None:
        assert store.reserve(ORIGIN, SlotRequest(spacing)).granted
        assert store.reserve(ORIGIN, SlotRequest(spacing)).granted == (spacing < 1)


#: Values in the place of a time, by what they are; None in a table, nothing in a text.
DAMAGE: dict[str, Any] = {
    "infinite": math.inf,
    "-infinite": -math.inf,
    "NaN": math.nan,
    "negative": -5.0,
    "a text": "soon",
    "missing": None,
    "bytes": b"\xff\0",
    "a billion seconds ahead": 1e9,
    "a number of 300 digits": 1e300,
}


class TestDamagedLines:
    """SAF-05: a line in a shared store may contain anything; it costs at most one delay."""

    @pytest.fixture(params=["memory", "sqlite", "redis"])
    def pace(
        self, request: pytest.FixtureRequest, tmp_path: Path
    ) -> Iterator[RecordStore | MemoryStore]:
        """Every store that reserves slots."""
        uri = {"memory": "memory://", "sqlite": f"sqlite:///{tmp_path}/robots.db"}.get(
            request.param
        )
        if uri is None:
            server = request.getfixturevalue("redis_server")
            uri = f"{server.uri}?prefix={tmp_path.name}"
        opened = open_store(uri)
        yield opened
        opened.close()

    @pytest.mark.parametrize("damage", DAMAGE)
    @pytest.mark.parametrize("damaged", ["next", "tail", "written"])
    def test_a_damaged_line_costs_one_delay_and_takes_no_other_with_it(
        self, pace: RecordStore | MemoryStore, damaged: str, damage: str
    ) -> None:
        now = pace.reserve(origin(1), SlotRequest(60.0)).now
        value = DAMAGE[damage]
        if isinstance(value, float) and value > 0:  # by the store's clock
            value += now
        sound = SlotQueue(next=now + 0.5, tail=0.0, written=now)
        write_line(pace, ORIGIN, sound._replace(**{damaged: value}))
        reply = pace.reserve(ORIGIN, SlotRequest(0.25))
        assert isinstance(reply.at, float)
        if (damaged, damage) == ("tail", "a billion seconds ahead"):  # the line may be that long
            assert reply.at - now == pytest.approx(1e9)
        else:
            assert reply.now <= reply.at <= reply.now + HORIZON + 0.25
        assert not pace.reserve(origin(1), SlotRequest(60.0)).granted

    @pytest.mark.parametrize("ahead", [3700.0, 1e9])
    def test_a_slot_further_ahead_than_any_delay_is_damage(
        self, pace: RecordStore | MemoryStore, ahead: float
    ) -> None:
        """The caller's own spacing is none."""
        now = pace.reserve(origin(1), SlotRequest(60.0)).now
        line = SlotQueue(next=now + ahead, tail=0.0, written=now)
        write_line(pace, ORIGIN, line)
        assert pace.reserve(ORIGIN, SlotRequest(1.0)).at < now + 10
        write_line(pace, ORIGIN, line)
        reply = pace.reserve(ORIGIN, SlotRequest(ahead))
        assert reply.at == pytest.approx(now + ahead)

    def test_a_place_in_line_that_is_wrong_ends_with_the_last_slot(
        self, pace: RecordStore | MemoryStore
    ) -> None:
        """Nobody has it: the line begins anew when no slot is reserved."""
        now = pace.reserve(origin(1), SlotRequest(60.0)).now
        write_line(pace, ORIGIN, SlotQueue(next=max(0.0, now - 1), tail=now + 1e9, written=now))
        assert pace.reserve(ORIGIN, SlotRequest(1.0)).granted

    def test_a_clock_that_was_put_back_grants_nothing_for_a_spacing(
        self, pace: RecordStore | MemoryStore
    ) -> None:
        """A page may have been sent just now."""
        now = pace.reserve(origin(1), SlotRequest(60.0)).now
        write_line(pace, ORIGIN, SlotQueue(next=now - 1, tail=0.0, written=now + 1))
        reply = pace.reserve(ORIGIN, SlotRequest(60.0))
        assert not reply.granted
        assert reply.at == pytest.approx(reply.now + HORIZON + 60)


def test_processes_get_one_lease_between_them(uri: str) -> None:
    """Atomic, in whichever order their calls come."""
    start = threading.Barrier(8)

    def take_all(number: int) -> list[bool]:
        with closing(open_shared_store(uri)) as store:
            start.wait()
            return [take(store, origin(n), f"owner {number}", NOW, 30) for n in range(40)]

    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(take_all, range(8)))
    assert [sum(each) for each in zip(*taken, strict=True)] == [1] * 40


def failed(at: float, copied: float | None) -> RobotsRecord:
    """A failure at a time, after a copy or none."""
    copy = RobotsRecord(ORIGIN) if copied is None else plain_record(ORIGIN, copied)
    return replace(copy, failed_at=at, next_attempt=at + 60, unreachable_since=at, failures=1)


def _answer() -> dict[str, Any]:
    answered = plain_record(ORIGIN, NOW)
    return {
        name: getattr(answered, name) for name in ("meaning", "status", "fetched_at", "expires_at")
    }


#: Of origins, one for each example.
_numbers = count(1000)

#: What two products bring, one after another: a copy that depends on the User-Agent or not, or a
#: failure; with the number of seconds since the event before.
EVENTS = st.tuples(
    st.sampled_from(["abot", "bbot"]),
    st.sampled_from(["varies", "for all", "fails"]),
    st.integers(1, 50),
)


@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(EVENTS, max_size=12))
def test_the_latest_copy_of_a_product_is_always_found(
    store: RecordStore, events: list[tuple[str, str, int]]
) -> None:
    """CAC-04: whatever failed since, for whichever of them."""
    own = origin(next(_numbers))
    copies, now = dict.fromkeys(("abot", "bbot"), 0.0), NOW
    for product, kind, seconds in events:
        now += seconds
        held = store.get(own, product) or RobotsRecord(own)
        new = replace(plain_record(own, now), agent=product if kind == "varies" else None)
        if kind == "fails":
            new = replace(held, failed_at=now, next_attempt=now + 9, unreachable_since=now)
        known = held.updated_at or None
        assert store.claim(own, product, now, 30, known, product) == Claim(True)
        store.put(new, product, known)
        if kind != "fails":
            copies |= {product: now} if kind == "varies" else dict.fromkeys(copies, now)
        found = {name: store.get(own, name) or RobotsRecord(own) for name in copies}
        assert {name: each.fetched_at or 0.0 for name, each in found.items()} == copies
