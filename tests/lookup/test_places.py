"""Places for fetches: how many at once, and when slow ones lend theirs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.places import FetchPlaces

LATER = FetchPlaces.LEND_AFTER


def origin(number: int) -> Origin:
    return Origin("http", f"{number}.example", 80)


def taken(limit: int, ceiling: int, times: list[float]) -> FetchPlaces:
    places = FetchPlaces(limit, ceiling)
    for number, time in enumerate(times):
        places.take(origin(number), time)
    return places


def test_free_up_to_the_limit_at_once() -> None:
    """ROBOTSPEC_CONCURRENT_FETCHES."""
    assert taken(3, 9, [0.0, 0.0]).free(0.0)
    assert not taken(3, 9, [0.0, 0.0, 0.0]).free(0.0)


def test_slow_fetches_lend_their_places() -> None:
    """So that silent servers keep nobody else from being asked."""
    places = taken(2, 9, [0.0, 0.0])
    assert not places.free(LATER / 2)
    assert places.free(LATER)


def test_no_burst_by_lending() -> None:
    """In each such while no more begin than the limit says."""
    places = taken(2, 9, [0.0, 0.0])
    places.take(origin(2), LATER)
    assert places.free(LATER)
    places.take(origin(3), LATER)
    assert not places.free(LATER)
    assert places.free(2 * LATER)


def test_never_more_than_the_ceiling() -> None:
    """However long they have been silent."""
    assert not taken(2, 4, [0.0] * 4).free(1e9)


def test_place_that_is_given_back_is_free() -> None:
    """And giving one back that nobody has does no harm."""
    places = taken(1, 1, [0.0])
    places.give(origin(5))
    assert not places.free(0.0)
    places.give(origin(0))
    assert places.free(0.0)


def test_clock_that_is_put_back_blocks_nobody() -> None:
    """Times ahead of now count as long past."""
    assert taken(2, 9, [1000.0, 1000.0]).free(0.0)


@given(st.integers(1, 5), st.integers(0, 5), st.lists(st.tuples(st.booleans(), st.floats(0, 1))))
def test_takers_who_ask_before_never_pass_the_ceiling(
    limit: int, more: int, steps: list[tuple[bool, float]]
) -> None:
    """And within one while no more begin than the limit, unless a place was given back."""
    places, now, number = FetchPlaces(limit, limit + more), 0.0, 0
    began: list[float] = []
    for take, pause in steps:
        now += pause * LATER
        if take and places.free(now):
            places.take(origin(number), now)
            began.append(now)
            number += 1
        assert len(places) <= limit + more
        assert sum(now < time + LATER for time in began) <= limit
