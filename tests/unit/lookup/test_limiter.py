"""Places for fetches: how many at once, when they are lent, and who gives way to whom."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.lookup import FetchLimiter

LATER = FetchLimiter.BURST_INTERVAL
LONG = FetchLimiter.PREEMPT_AFTER


def origin(number: int) -> Origin:
    return Origin("http", f"{number}.example", 80)


def taken(limit: int, ceiling: int, times: list[float]) -> FetchLimiter:
    places = FetchLimiter(limit, ceiling)
    for number, time in enumerate(times):
        places.acquire(origin(number), time)
    return places


def is_free(places: FetchLimiter, now: float, again: bool = False) -> bool:
    return places.next_slot_at(now, again) <= now


def test_free_up_to_the_limit_at_once() -> None:
    """ROBOTSPEC_CONCURRENT_FETCHES."""
    assert is_free(taken(3, 9, [0.0, 0.0]), 0.0)
    assert not is_free(taken(3, 9, [0.0, 0.0, 0.0]), 0.0)


def test_slow_fetches_lend_their_places() -> None:
    """So that silent servers keep nobody else from being asked."""
    places = taken(2, 90, [0.0, 0.0])
    assert not is_free(places, LATER / 2)
    assert places.next_slot_at(LATER / 2) == LATER
    assert is_free(places, LATER)


def test_no_burst_by_lending() -> None:
    """In each such while no more begin than the limit says."""
    places = taken(2, 90, [0.0, 0.0])
    places.acquire(origin(2), LATER)
    assert is_free(places, LATER + 0.01)
    places.acquire(origin(3), LATER + 0.01)
    assert not is_free(places, 2 * LATER - 0.01)
    assert is_free(places, 2 * LATER)


def test_the_more_are_lent_the_more_slowly() -> None:
    """The last place is lent when the first who has one may be called back, so nobody stalls."""
    places, now, pauses = FetchLimiter(32, 256), 0.0, []
    for number in range(256):
        next_slot_at = places.next_slot_at(now)
        pauses.append(next_slot_at - now)
        now = next_slot_at
        places.acquire(origin(number), now)
    assert pauses[100:] == pytest.approx(sorted(pauses[100:]), abs=1e-6)
    assert LONG / 2 < now <= LONG + 2 * LATER
    assert max(pauses) <= LATER


def test_never_more_than_the_limit_where_no_place_may_be_lent() -> None:
    """However long they have been silent, and nobody is called back."""
    assert taken(4, 4, [0.0] * 4).next_slot_at(1e9) == math.inf


def test_at_the_ceiling_the_oldest_gives_way() -> None:
    """Ten thousand silent origins keep nobody from being asked."""
    places = taken(2, 4, [0.0, 0.5, 1.0, 1.5])
    assert places.next_slot_at(1.6) == LONG
    assert places.acquire(origin(9), LONG) == origin(0)
    assert places.next_slot_at(LONG) == LONG + 0.5
    assert len(places) == 4


def test_who_gave_way_need_not_do_so_again() -> None:
    """So every origin has its whole time once; such fetches take half of the ceiling."""
    places = FetchLimiter(1, 4)
    places.acquire(origin(0), 0.0, again=True)
    places.acquire(origin(1), 10.0, again=True)
    assert places.next_slot_at(20.0, again=True) == math.inf
    places.acquire(origin(2), 20.0)
    places.acquire(origin(3), 30.0)
    assert [places.acquire(origin(n), 40.0 + 9 * n) for n in range(4, 8)] == [
        origin(n) for n in range(2, 6)
    ]
    places.release(origin(0))
    assert is_free(places, 200.0, again=True)


def test_beyond_the_limit_one_fetch_waits_for_the_other_to_begin() -> None:
    """Those on their way take the places that are left."""
    places = taken(3, 9, [0.0])
    assert places.next_slot_at(1.0, ahead=1) == 1.0
    assert places.next_slot_at(1.0, ahead=2) == math.inf
    assert places.next_slot_at(1.0, ahead=0) == 1.0


def test_place_that_is_given_back_is_free() -> None:
    """And giving one back that nobody has does no harm."""
    places = taken(1, 1, [0.0])
    places.release(origin(5))
    assert not is_free(places, 0.0)
    places.release(origin(0))
    assert is_free(places, 0.0)


def test_clock_that_is_put_back_blocks_nobody() -> None:
    """Times ahead of now count as long past."""
    assert is_free(taken(2, 9, [1000.0, 1000.0]), 0.0)
    assert is_free(taken(2, 3, [1000.0] * 3), 0.0)


@given(
    st.integers(1, 5),
    st.integers(0, 5),
    st.lists(st.tuples(st.sampled_from(["first", "again", "give"]), st.floats(0, 30))),
)
def test_takers_who_ask_before_never_pass_the_ceiling(
    limit: int, more: int, steps: list[tuple[str, float]]
) -> None:
    """Of two who stand in line one may go within the time that a fetch may last at the ceiling."""
    places, now, number = FetchLimiter(limit, limit + more), 0.0, 0
    for step, wait in steps:
        now += wait * LATER
        if step == "give":
            places.release(origin(number - 1))
        elif is_free(places, now, step == "again"):
            places.acquire(origin(number), now, step == "again")
            number += 1
        assert len(places) <= limit + more
        if more:
            assert places.next_slot_at(now) <= now + LONG
