"""The gate: states, times, and who is told of them."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.plugin.scheduling.gate import State

from .fakes import START, A, B, Gatehouse, Told


def test_unknown_origin_enters_as_new_and_a_known_one_as_free() -> None:
    house = Gatehouse()
    house.known.add(B)
    assert (house.gate.enter(A), house.gate.enter(B)) == (State.UNKNOWN, State.READY)
    assert A in house.gate.states
    assert B not in house.gate.states


def test_state_stays_until_somebody_changes_it() -> None:
    """Also when the lookup knows by now: the gate is told, it does not ask again."""
    house = Gatehouse()
    house.gate.enter(A)
    house.known.add(A)
    assert house.gate.enter(A) is State.UNKNOWN
    house.gate.free(A)
    assert house.gate.enter(A) is State.READY


@pytest.mark.parametrize("then", [State.UNKNOWN, State.DELAYED])
def test_held_until_its_time(then: State) -> None:
    """Then the listeners hear of it and the engine is woken, once."""
    house = Gatehouse()
    told = Told(house.gate)
    house.gate.hold(A, START + 5, then)
    house.pass_time(4.9)
    assert (told.moves, house.woken) == ([(A, State.BLOCKED)], 0)
    house.pass_time(0.2)
    assert (told.moves[1:], house.woken) == ([(A, then)], 1)


def test_time_that_has_come_holds_nobody() -> None:
    house = Gatehouse()
    house.gate.hold(A, START - 1)
    assert house.gate.enter(A) is State.UNKNOWN
    assert house.time.getDelayedCalls() == []


def test_held_without_an_end_until_told() -> None:
    """While a flight is under way."""
    house = Gatehouse()
    house.gate.hold(A, math.inf)
    house.pass_time(1e6)
    assert house.gate.enter(A) is State.BLOCKED
    house.gate.free(A)
    assert A not in house.gate.states


@pytest.mark.parametrize(("first", "second"), [(5, 9), (9, 5), (5, math.inf), (math.inf, 5)])
def test_last_word_counts(first: float, second: float) -> None:
    """An origin that is held anew goes at the new time, sooner or later."""
    house = Gatehouse()
    house.gate.hold(A, START + first)
    house.gate.hold(A, START + second)
    house.pass_time(min(second, 100) - 1)
    assert house.gate.enter(A) is State.BLOCKED
    house.pass_time(2)
    assert house.gate.enter(A) is (State.BLOCKED if second == math.inf else State.UNKNOWN)


def test_freed_before_its_time_stays_free() -> None:
    house = Gatehouse()
    told = Told(house.gate)
    house.gate.hold(A, START + 5)
    house.gate.free(A)
    house.pass_time(10)
    assert told.moves == [(A, State.BLOCKED), (A, State.READY)]
    assert A not in house.gate.states


def test_one_delayed_call_for_all() -> None:
    """Ten thousand held origins cost the reactor one timer."""
    house = Gatehouse()
    for number in range(1000):
        house.gate.hold(B if number % 2 else A, START + 1000 - number)
    assert len(house.time.getDelayedCalls()) == 1
    house.pass_time(1000)
    assert house.time.getDelayedCalls() == []


@pytest.mark.parametrize("back", [3600.0, 1e9, -1e9])
def test_clock_that_is_changed_holds_nobody_for_longer(back: float) -> None:
    """An hour back at the wrong moment must not mean an hour of waiting."""
    house = Gatehouse()
    house.gate.hold(A, START + 5)
    house.gate.hold(B, START + 20)
    house.put_back = back
    house.pass_time(20)
    assert (house.gate.enter(A), house.gate.enter(B)) == (State.UNKNOWN, State.UNKNOWN)


def test_clock_that_is_changed_and_seen_again_before_anything_is_due() -> None:
    """What is held anew by the new time must not hide that all else is held by the old one."""
    house = Gatehouse()
    house.gate.hold(A, house.clock() + 5)
    house.put_back = 86_400.0
    house.gate.hold(B, house.clock() + 1)
    house.pass_time(1)
    house.gate.hold(B, house.clock() + 1)
    house.pass_time(20)
    assert (house.gate.enter(A), house.gate.enter(B)) == (State.UNKNOWN, State.UNKNOWN)


def test_clock_that_is_put_on_releases_what_is_due_by_it() -> None:
    """A delayed call does not jump with the clock."""
    house = Gatehouse()
    house.gate.hold(A, house.clock() + 86_000)
    house.put_back = -86_400.0
    house.pass_time(20)
    assert house.gate.enter(A) is State.UNKNOWN


@pytest.mark.parametrize("state", [State.UNKNOWN, State.RETRY_DUE])
def test_one_may_be_asked_while_places_are_free(state: State) -> None:
    assert Gatehouse(places=True).gate.may_ask(state)


def test_engine_is_woken_when_no_place_is_free() -> None:
    """One may come free by time alone; one delayed call, however often it is asked."""
    house = Gatehouse(places=False)
    assert not any(house.gate.may_ask(State.UNKNOWN) for _ in range(10))
    assert len(house.time.getDelayedCalls()) == 1
    house.pass_time(1)
    assert house.woken == 1
    assert not house.gate.may_ask(State.UNKNOWN)
    house.pass_time(1)
    assert house.woken == 2


def test_waiting_is_the_sum_of_all_listeners_and_none_for_the_free() -> None:
    house = Gatehouse()
    Told(house.gate, held=3)
    Told(house.gate, held=4)
    assert house.gate.waiting(A) == 0
    house.gate.hold(A, math.inf)
    assert house.gate.waiting(A) == 7


def test_closed_gate_makes_no_calls() -> None:
    house = Gatehouse()
    told = Told(house.gate)
    house.gate.hold(A, START + 5)
    house.gate.close()
    house.pass_time(10)
    house.gate.free(A)
    assert told.moves == [(A, State.BLOCKED)]
    assert house.time.getDelayedCalls() == []


steps = st.one_of(
    st.tuples(
        st.just("hold"),
        st.sampled_from([A, B]),
        st.sampled_from([-1.0, 0.0, 0.5, 3.0, math.inf]),
        st.sampled_from([State.UNKNOWN, State.DELAYED]),
    ),
    st.tuples(st.just("free"), st.sampled_from([A, B]), st.none(), st.none()),
    st.tuples(st.just("pass"), st.none(), st.sampled_from([0.1, 1.0, 4.0]), st.none()),
)


@given(st.lists(steps, max_size=40))
def test_any_order_of_events(sequence: list[tuple[str, object, float, State]]) -> None:
    """Each origin's state is that of the last word on it, and listeners have heard each change."""
    house = Gatehouse()
    told = Told(house.gate)
    word: dict[object, tuple[float, State] | None] = {A: None, B: None}
    for kind, origin, seconds, then in sequence:
        if kind == "hold":
            word[origin] = (house.clock() + seconds, then)
            house.gate.hold(origin, house.clock() + seconds, then)  # type: ignore[arg-type]
        elif kind == "free":
            word[origin] = None
            house.gate.free(origin)  # type: ignore[arg-type]
        else:
            house.pass_time(seconds)
        for each, said in word.items():
            heard = [state for moved, state in told.moves if moved == each]
            assert all(one is not other for one, other in itertools.pairwise(heard))
            if said is None:
                assert each not in house.gate.states
                assert heard[-1:] in ([], [State.READY])
            else:
                expected = State.BLOCKED if house.clock() < said[0] - 1e-6 else said[1]
                assert house.gate.enter(each) is expected  # type: ignore[arg-type]
                assert heard[-1] is expected
