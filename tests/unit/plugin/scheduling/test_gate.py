"""The gate: the transition table, and which queues hear of a change."""

from __future__ import annotations

import inspect
import itertools
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.plugin.scheduling import gate as gate_module
from scrapy_robotspec.plugin.scheduling.gate import TRANSITIONS, Event, State

from .fakes import START, A, B, GateHarness, QueuesRecorder


def test_the_printed_table_is_the_one_that_is_used() -> None:
    text = inspect.getdoc(gate_module) or ""
    header, rows = re.findall(r"^    event +(.*)\n    -+\n((?:    [A-Z_]+ .*\n)+)", text, re.M)[0]
    states = [State[name] for name in header.split()]
    printed = {}
    for row in rows.splitlines():
        event, *targets = row.split()
        printed[Event[event]] = [
            state if target == "-" else State[target]
            for state, target in zip(states, targets, strict=True)
        ]
    used = {event: [TRANSITIONS[event].get(state, state) for state in states] for event in Event}
    assert printed == used


def test_origin_without_rules_enters_as_unknown_and_one_with_rules_as_ready() -> None:
    harness = GateHarness()
    harness.known.add(B)
    assert (harness.gate.enter(A), harness.gate.enter(B)) == (State.UNKNOWN, State.READY)
    assert A in harness.gate.states
    assert B not in harness.gate.states


def test_unknown_origin_stays_unknown_until_it_is_released() -> None:
    """Also where the lookup has rules by now: only events change a state."""
    harness = GateHarness()
    harness.gate.enter(A)
    harness.known.add(A)
    assert harness.gate.enter(A) is State.UNKNOWN
    harness.gate.release(A)
    assert harness.gate.enter(A) is State.READY


@pytest.mark.parametrize(
    ("then", "state"),
    [
        (Event.FETCH_ALLOWED, State.UNKNOWN),
        (Event.RETRY_ALLOWED, State.RETRY_DUE),
        (Event.DELAY_PASSED, State.DELAYED),
    ],
)
def test_block_ends_at_its_time(then: Event, state: State) -> None:
    """Then the queues hear of it and the engine is woken, once."""
    harness = GateHarness()
    recorder = QueuesRecorder(harness.gate)
    harness.gate.block(A, START + 5, then)
    harness.time.advance(4.9)
    assert (recorder.changes, harness.wakes) == ([(A, State.BLOCKED)], 0)
    harness.time.advance(0.2)
    assert (recorder.changes[1:], harness.wakes) == ([(A, state)], 1)


def test_block_until_a_past_time_blocks_nothing() -> None:
    harness = GateHarness()
    recorder = QueuesRecorder(harness.gate)
    harness.gate.block(A, START - 1, Event.FETCH_ALLOWED)
    assert recorder.changes == [(A, State.UNKNOWN)]
    assert harness.time.getDelayedCalls() == []


def test_block_without_an_end_lasts_until_the_release() -> None:
    """While a fetch is under way."""
    harness = GateHarness()
    harness.gate.block(A, math.inf, Event.FETCH_ALLOWED)
    harness.time.advance(1e6)
    assert harness.gate.enter(A) is State.BLOCKED
    harness.gate.release(A)
    assert A not in harness.gate.states


@pytest.mark.parametrize(("first", "second"), [(5, 9), (9, 5), (5, math.inf), (math.inf, 5)])
def test_second_block_replaces_the_first(first: float, second: float) -> None:
    harness = GateHarness()
    harness.gate.block(A, START + first, Event.DELAY_PASSED)
    harness.gate.block(A, START + second, Event.FETCH_ALLOWED)
    harness.time.advance(min(second, 100) - 1)
    assert harness.gate.enter(A) is State.BLOCKED
    harness.time.advance(2)
    expected = State.BLOCKED if second == math.inf else State.UNKNOWN
    assert harness.gate.enter(A) is expected


def test_origin_released_before_its_time_stays_ready() -> None:
    harness = GateHarness()
    recorder = QueuesRecorder(harness.gate)
    harness.gate.block(A, START + 5, Event.FETCH_ALLOWED)
    harness.gate.release(A)
    harness.time.advance(10)
    assert recorder.changes == [(A, State.BLOCKED), (A, State.READY)]
    assert A not in harness.gate.states


@pytest.mark.parametrize("state", [State.UNKNOWN, State.RETRY_DUE])
def test_fetch_may_begin_while_a_fetch_slot_is_free(state: State) -> None:
    assert GateHarness().gate.may_fetch(state)
    assert not GateHarness(fetch_slots=False).gate.may_fetch(state)


def test_engine_is_woken_again_while_no_fetch_slot_is_free() -> None:
    """One may become free by time alone; there is one delayed call however often it is asked."""
    harness = GateHarness(fetch_slots=False)
    assert not any(harness.gate.may_fetch(State.UNKNOWN) for _ in range(10))
    assert len(harness.time.getDelayedCalls()) == 1
    harness.time.advance(1)
    assert harness.wakes == 1
    assert not harness.gate.may_fetch(State.UNKNOWN)
    harness.time.advance(1)
    assert harness.wakes == 2


def test_count_adds_up_all_queues_and_is_zero_for_a_ready_origin() -> None:
    harness = GateHarness()
    QueuesRecorder(harness.gate, 3)
    QueuesRecorder(harness.gate, 4)
    assert harness.gate.count(A) == 0
    harness.gate.block(A, math.inf, Event.FETCH_ALLOWED)
    assert harness.gate.count(A) == 7


@pytest.mark.parametrize(
    ("queues", "all_wait"),
    [
        ([], False),
        ([(0, False)], False),
        ([(3, False)], True),
        ([(3, True)], False),
        ([(3, False), (0, False)], True),
        ([(3, False), (2, True)], False),
    ],
)
def test_all_wait_when_there_are_requests_and_none_may_go(
    queues: list[tuple[int, bool]], all_wait: bool
) -> None:
    harness = GateHarness()
    for size, may_go in queues:
        QueuesRecorder(harness.gate, size, may_go=may_go)
    assert harness.gate.all_wait() is all_wait


def test_closed_gate_makes_no_calls() -> None:
    harness = GateHarness()
    recorder = QueuesRecorder(harness.gate)
    harness.gate.block(A, START + 5, Event.FETCH_ALLOWED)
    harness.gate.close()
    harness.time.advance(10)
    harness.gate.release(A)
    assert recorder.changes == [(A, State.BLOCKED)]
    assert harness.time.getDelayedCalls() == []


ENDS = {Event.FETCH_ALLOWED: State.UNKNOWN, Event.DELAY_PASSED: State.DELAYED}
blocks = st.tuples(
    st.sampled_from([A, B]),
    st.sampled_from([-1.0, 0.0, 0.5, 3.0, math.inf]),
    st.sampled_from(sorted(ENDS, key=str)),
)
steps = st.one_of(blocks, st.sampled_from([A, B]), st.sampled_from([0.1, 1.0, 4.0]))


@given(st.lists(steps, max_size=40))
def test_last_event_decides_in_any_order_of_events(sequence: list[object]) -> None:
    """And the queues hear of each change, and of nothing else."""
    harness = GateHarness()
    recorder = QueuesRecorder(harness.gate)
    last: dict[object, tuple[float, Event] | None] = {A: None, B: None}
    for step in sequence:
        if isinstance(step, tuple) and isinstance(step[1], float):
            origin, seconds, then = step
            last[origin] = (harness.clock() + seconds, then)
            harness.gate.block(origin, harness.clock() + seconds, then)
        elif isinstance(step, float):
            harness.time.advance(step)
        else:
            last[step] = None
            harness.gate.release(step)  # type: ignore[arg-type]
        for origin, block in last.items():
            heard = [state for changed, state in recorder.changes if changed == origin]
            assert all(one is not other for one, other in itertools.pairwise(heard))
            if block is None:
                assert origin not in harness.gate.states
                assert heard[-1:] in ([], [State.READY])
            elif abs(harness.clock() - block[0]) > 1e-6:  # a float of this size is no more exact
                passed = harness.clock() >= block[0]
                expected = ENDS[block[1]] if passed else State.BLOCKED
                assert harness.gate.enter(origin) is expected  # type: ignore[arg-type]
                assert heard[-1] is expected
