"""The gate: the table at its head, and what the queues and the engine hear of it."""

from __future__ import annotations

import re
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.lookup.live_origins import QueueState
from scrapy_robotspec.plugin.scheduling import gate as module

from .fakes import A, B, C, GateHarness, QueuesRecorder

if TYPE_CHECKING:
    from scrapy import Request

REQUEST: Request = object()  # type: ignore[assignment]


def in_state(state: QueueState) -> tuple[GateHarness, ExitStack]:
    """A gate with origin A in *state*, with queued requests; and its wait, if it is HELD."""
    harness, wait = GateHarness(), ExitStack()
    QueuesRecorder(harness.gate, 1)
    if state is not QueueState.READY:
        harness.gate.enter(A)
    if state is QueueState.HELD:
        wait.enter_context(harness.gate.hold(A))
    return harness, wait


def queued(harness: GateHarness, wait: ExitStack) -> None:
    harness.gate.enter(A)


def leaves(harness: GateHarness, wait: ExitStack) -> None:
    harness.gate.leave(A, REQUEST)


def waits(harness: GateHarness, wait: ExitStack) -> None:
    wait.enter_context(harness.gate.hold(A))


def ends_with_rules(harness: GateHarness, wait: ExitStack) -> None:
    harness.known.add(A)
    wait.close()
    harness.gate.update(A)


def ends_without_rules(harness: GateHarness, wait: ExitStack) -> None:
    wait.close()
    harness.gate.update(A)


EVENTS = {
    "a request is queued and there are no rules": queued,
    "a request leaves alone": leaves,
    "a request begins to wait": waits,
    "there are valid rules, or no requests": ends_with_rules,
    "there are requests and no rules": ends_without_rules,
}


@pytest.mark.parametrize("state", QueueState)
@pytest.mark.parametrize("event", EVENTS)
def test_table_at_the_head_is_what_happens(event: str, state: QueueState) -> None:
    (line,) = re.findall(rf"^ +{event} +(.+)$", module.__doc__ or "", re.M)
    target = dict(zip(QueueState, line.split(), strict=True))[state]
    harness, wait = in_state(state)
    EVENTS[event](harness, wait)
    expected = state if target == "-" else QueueState[target]
    assert harness.gate.state(A) is expected


def test_origin_without_rules_enters_as_unknown_and_one_with_rules_as_ready() -> None:
    harness = GateHarness()
    harness.known.add(B)
    assert (harness.gate.enter(A), harness.gate.enter(B)) == (QueueState.UNKNOWN, QueueState.READY)
    assert harness.states() == {A: QueueState.UNKNOWN}


def test_the_last_of_several_waits_lets_the_others_go() -> None:
    """And the queues hear of each change, once; the engine is woken at the end."""
    harness = GateHarness()
    harness.known.add(A)
    recorder = QueuesRecorder(harness.gate, 1)
    first, second = harness.hold(A), harness.hold(A)
    for wait in (first, second):
        assert harness.states() == {A: QueueState.HELD}
        assert harness.wakes == 0
        wait.close()
    assert recorder.changes == [(A, QueueState.HELD), (A, QueueState.READY)]
    assert harness.wakes == 1


def test_lost_request_lets_the_next_one_go() -> None:
    """Another middleware may drop it before it arrives."""
    harness = GateHarness()
    QueuesRecorder(harness.gate, 1)
    harness.gate.enter(A)
    harness.gate.leave(A, REQUEST)
    harness.gate.return_lost(lambda request: True)
    assert harness.states() == {A: QueueState.HELD}
    harness.gate.return_lost(lambda request: False)
    assert harness.states() == {A: QueueState.UNKNOWN}


def test_count_adds_up_all_queues_and_is_zero_for_a_ready_origin() -> None:
    harness = GateHarness()
    QueuesRecorder(harness.gate, 3)
    QueuesRecorder(harness.gate, 4)
    assert harness.gate.count(A) == 0
    with harness.gate.hold(A):
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
    assert harness.gate.must_wait(lambda: False) is all_wait
    assert harness.gate.must_wait(lambda: True)


def test_closed_gate_makes_no_calls() -> None:
    harness = GateHarness()
    recorder = QueuesRecorder(harness.gate)
    with harness.gate.hold(A):
        harness.gate.close()
    assert recorder.changes == [(A, QueueState.HELD)]


@given(st.lists(st.tuples(st.sampled_from([A, B, C]), st.sampled_from("qlbek")), max_size=40))
def test_no_entry_is_left_of_an_origin_without_requests(steps: list[tuple[object, str]]) -> None:
    """In any order of events, and never does one go while another of its origin waits."""
    harness = GateHarness()
    waits: dict[object, list[ExitStack]] = {A: [], B: [], C: []}
    for origin, step in steps:
        if step == "q":
            harness.gate.enter(origin)  # type: ignore[arg-type]
        elif step == "l":
            harness.gate.leave(origin, REQUEST)  # type: ignore[arg-type]
        elif step == "b":
            stack = ExitStack()
            stack.enter_context(harness.gate.hold(origin))  # type: ignore[arg-type]
            waits[origin].append(stack)
        elif step == "k":
            harness.known.symmetric_difference_update({origin})  # type: ignore[arg-type]
        elif waits[origin]:
            waits[origin].pop().close()
        for each, stacks in waits.items():
            assert not stacks or harness.gate.state(each) is QueueState.HELD  # type: ignore[arg-type]
    for stacks in waits.values():
        for stack in stacks:
            stack.close()
    harness.gate.return_lost(lambda request: False)
    for origin in waits:
        harness.gate.update(origin)  # type: ignore[arg-type]
    assert harness.states() == {}
