"""OriginQueues: no request lost, none twice, none of a blocked origin, no origin starved."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.plugin.scheduling.gate import Event, State

from .fakes import START, A, B, C, GateHarness, QueuesHarness, RequestQueue

ORIGINS = [A, B, C]


def numbered(number: int) -> Origin:
    return Origin("http", f"{number}.example", 80)


def block(harness: GateHarness, origin: Origin) -> None:
    harness.gate.block(origin, math.inf, Event.FETCH_ALLOWED)


def test_without_a_gate_every_request_goes() -> None:
    queues = QueuesHarness(None)
    for number in range(5):
        queues.push("slot", A, number)
    assert queues.pop_all() == [0, 1, 2, 3, 4]


def test_one_request_of_an_unknown_origin_goes_ahead() -> None:
    """It makes the lookup fetch; the others stay until the gate has seen it."""
    harness = GateHarness()
    queues = QueuesHarness(harness)
    for number in range(3):
        queues.push("slot", A, number)
    queues.send()
    assert queues.pop() is None
    harness.gate.release(A)
    assert queues.pop_all() == [1, 2]


def test_next_request_goes_when_the_one_ahead_was_dropped() -> None:
    """Another middleware may drop it before the gate sees it."""
    queues = QueuesHarness(GateHarness())
    queues.push("slot", A, "first")
    queues.push("slot", A, "second")
    queues.send()
    assert not queues.queues.may_go()
    assert queues.pop() is None
    queues.downloads.end("first")
    assert queues.queues.may_go()
    assert queues.pop() == "second"


def test_blocked_origin_is_not_offered() -> None:
    harness = GateHarness()
    queues = QueuesHarness(harness)
    harness.known.update(ORIGINS)
    for origin in ORIGINS:
        queues.push(origin.host, origin, origin.host)
    block(harness, B)
    assert sorted(queues.pop_all()) == ["a.example", "c.example"]
    assert (len(queues.queues), queues.queues.may_go()) == (1, False)
    harness.gate.release(B)
    assert queues.pop_all() == ["b.example"]


def test_crawl_delay_lets_one_request_go_at_a_time() -> None:
    """EXT-01: the next goes when the delay has passed."""
    harness = GateHarness()
    harness.known.add(A)
    queues = QueuesHarness(harness)
    for number in range(3):
        queues.push("slot", A, number)
    gone = []
    for _ in range(3):
        gone.append(queues.send())
        harness.gate.block(A, harness.clock() + 2, Event.DELAY_PASSED)
        assert queues.pop() is None
        harness.time.advance(2.1)
    assert gone == [0, 1, 2]


def test_known_origins_go_on_while_no_fetch_slot_is_free() -> None:
    harness = GateHarness(fetch_slots=False)
    harness.known.add(B)
    queues = QueuesHarness(harness)
    queues.push("a", A, "unknown")
    queues.push("b", B, "known")
    assert queues.pop_all() == ["known"]
    harness.fetch_slots = True
    assert queues.pop() == "unknown"


def test_requests_ahead_are_counted_as_fetches_that_begin() -> None:
    """No more of them may go than fetch slots are free."""
    harness = GateHarness()
    queues = QueuesHarness(harness)
    ahead = []
    for number in range(4):
        queues.push(str(number), numbered(number), number)
    for _ in range(4):
        queues.send()
        ahead.append(harness.ahead)
    assert ahead == [0, 1, 2, 3]
    block(harness, numbered(0))
    queues.downloads.end(3)
    queues.push("4", numbered(4), 4)
    assert queues.pop() == 4
    assert harness.ahead == 2


def test_least_busy_slot_comes_first_and_slots_take_turns() -> None:
    """As in Scrapy's queue."""
    queues = QueuesHarness(None)
    for slot in "xyz":
        for number in range(2):
            queues.push(slot, A, f"{slot}{number}")
    queues.downloads.start("x", "busy")
    assert queues.pop_all() == ["y0", "z0", "y1", "z1", "x0", "x1"]


def test_origins_of_one_slot_take_turns() -> None:
    queues = QueuesHarness(None)
    for origin in ORIGINS:
        for number in range(2):
            queues.push("slot", origin, f"{origin.host[0]}{number}")
    assert queues.pop_all() == ["a0", "b0", "c0", "a1", "b1", "c1"]


@pytest.mark.parametrize("slots", [1, 2000])
def test_choice_does_not_grow_with_the_number_of_queues(slots: int) -> None:
    """Of many idle slots one is looked at, and of blocked origins none."""
    harness = GateHarness()
    queues = QueuesHarness(harness)
    origins = [numbered(number) for number in range(2000)]
    for number, origin in enumerate(origins):
        harness.known.add(origin)
        queues.push(str(number % slots), origin, number)
    for origin in origins[::2]:
        block(harness, origin)
    queues.downloads.looked_at = 0
    assert len(queues.pop_all()) == 1000
    assert queues.downloads.looked_at <= 1001


def test_newest_and_oldest_unknown_origin_are_fetched_alternately() -> None:
    queues = QueuesHarness(GateHarness())
    for number in range(6):
        queues.push(str(number), numbered(number), number)
    assert queues.pop_all() == [0, 5, 1, 4, 2, 3]


def test_site_among_thousands_of_new_ones_is_fetched_when_its_next_request_comes() -> None:
    queues = QueuesHarness(GateHarness())
    for number in range(5000):
        queues.push(str(number), numbered(number), number)
    queues.push("2500", numbered(2500), "more")
    assert 2500 in [queues.send() for _ in range(2)]


@pytest.mark.parametrize(("new", "silent"), [(10, 10), (10_000, 100), (100, 10_000)])
def test_silent_origins_get_one_fetch_of_four(new: int, silent: int) -> None:
    """Neither thousands of new nor thousands of silent origins keep the others waiting."""
    harness = GateHarness()
    queues = QueuesHarness(harness)
    for number in range(new + silent):
        queues.push(str(number), numbered(number), number)
        if number < silent:
            harness.gate.block(numbered(number), START, Event.RETRY_ALLOWED)
    first = [queues.send() for _ in range(12)]
    assert sum(number < silent for number in first) == 3


def test_failed_attempts_to_choose_change_no_turn() -> None:
    """Else a rhythm of free fetch slots could keep an origin waiting for ever."""
    harness = GateHarness()
    queues = QueuesHarness(harness)
    for number in range(8):
        queues.push(str(number), numbered(number), number)
        if number < 2:
            harness.gate.block(numbered(number), START, Event.RETRY_ALLOWED)
    order = []
    for _ in range(8):
        harness.fetch_slots = harness.retry_slots = True
        order.append(queues.send())
        harness.fetch_slots = harness.retry_slots = False
        for _ in range(3):
            assert queues.pop() is None
    assert {0, 1} & set(order[:5])
    assert sorted(order) == list(range(8))


def test_silent_and_new_origins_go_without_each_other() -> None:
    harness = GateHarness()
    queues = QueuesHarness(harness)
    harness.gate.block(A, START, Event.RETRY_ALLOWED)
    for origin in (A, B):
        queues.push(origin.host, origin, origin.host)
    harness.retry_slots = False
    assert queues.pop_all() == [B.host]
    harness.fetch_slots, harness.retry_slots = False, True
    assert queues.pop_all() == [A.host]


def test_queue_with_requests_is_taken_over() -> None:
    """Those of a JOBDIR count from the beginning."""
    harness = GateHarness()
    block(harness, A)
    queues = QueuesHarness(harness)
    queues.push("slot", B, "b")
    queues.queues.open("slot", A, RequestQueue([1, 2, 3]))
    assert (len(queues.queues), queues.waiting, queues.queues.count(A)) == (4, 3, 3)
    harness.gate.release(A)
    assert queues.waiting == 0
    assert Counter(queues.pop_all()) == Counter(["b", 1, 2, 3])


def test_empty_queue_is_reported_each_time() -> None:
    """Its owner removes its files."""
    queues = QueuesHarness(None)
    queues.push("slot", A, 1)
    queues.pop_all()
    queues.push("slot", A, 2)
    queues.pop_all()
    assert [(queue.slot, queue.origin) for queue in queues.emptied] == [("slot", A)] * 2
    assert list(queues.queues) == []


class Damaged(RequestQueue):
    """Files that contain fewer requests than they say."""

    def pop(self) -> Any:  # type: ignore[override]
        return None


def test_queue_that_cannot_be_read_ends_in_an_error_line(caplog: pytest.LogCaptureFixture) -> None:
    """A crawl must not wait for its requests for ever."""
    queues = QueuesHarness(None)
    queues.queues.open("slot", A, Damaged([1, 2]))
    queues.push("slot", B, "b")
    assert queues.pop_all() == ["b"]
    assert len(queues.queues) == 0
    assert "2 requests of http://a.example cannot be read" in caplog.text


class Failing(RequestQueue):
    """A queue whose first request cannot be deserialised."""

    def pop(self) -> Any:  # type: ignore[override]
        if self[0] == "bad":
            self.popleft()
            raise ValueError
        return super().pop()


def test_request_that_cannot_be_deserialised_leaves_the_count_right() -> None:
    queues = QueuesHarness(None)
    queues.queues.open("slot", A, Failing(["bad", "good"]))
    with pytest.raises(ValueError):  # noqa: PT011
        queues.pop()
    assert len(queues.queues) == 1
    assert queues.pop_all() == ["good"]
    assert len(queues.queues) == 0


class AnyOrder(RuleBasedStateMachine):
    """Requests pushed, popped, requeued, finished; origins blocked and released; time passes."""

    def __init__(self) -> None:
        super().__init__()
        self.harness = GateHarness()
        self.queues = QueuesHarness(self.harness)
        self.inside: Counter[int] = Counter()
        self.where: dict[int, tuple[str, Origin | None]] = {}
        self.outside: list[int] = []
        self.number = 0

    @rule(
        slot=st.sampled_from(["x", "y"]),
        origin=st.sampled_from([A, B, C, None]),
        times=st.integers(1, 3),
    )
    def push(self, slot: str, origin: Origin | None, times: int) -> None:
        for _ in range(times):
            self._push(self.number, slot, origin)
            self.number += 1

    def _push(self, request: int, slot: str, origin: Origin | None) -> None:
        self.where[request] = (slot, origin)
        self.inside[request] += 1
        self.queues.push(slot, origin, request)

    @rule()
    def pop(self) -> None:
        may_go = self.queues.queues.may_go()
        request: Any = self.queues.pop()
        assert may_go is (request is not None)
        if request is not None:
            assert self.inside[request] == 1, "never twice"
            del self.inside[request]
            slot, origin = self.where[request]
            if origin is not None:
                assert self.harness.gate.enter(origin) is not State.BLOCKED
            self.queues.downloads.start(slot, request)
            self.outside.append(request)

    @rule(back=st.booleans(), until=st.sampled_from([math.inf, 1.0, 0.0]))
    def reaches_the_gate(self, back: bool, until: float) -> None:
        """As the middleware does: blocked and requeued, or passed on."""
        if self.outside:
            request = self.outside.pop(0)
            slot, origin = self.where[request]
            if back and origin is not None:
                self.harness.gate.block(origin, self.harness.clock() + until, Event.FETCH_ALLOWED)
                self._push(request, slot, origin)
            elif origin is not None:
                self.harness.known.add(origin)
                self.harness.gate.release(origin)
            self.queues.downloads.end(request)

    @rule()
    def dropped_on_the_way(self) -> None:
        if self.outside:
            self.queues.downloads.end(self.outside.pop())

    @rule(
        origin=st.sampled_from(ORIGINS),
        then=st.sampled_from([Event.FETCH_ALLOWED, Event.DELAY_PASSED]),
    )
    def block(self, origin: Origin, then: Event) -> None:
        self.harness.gate.block(origin, self.harness.clock() + 2, then)

    @rule(origin=st.sampled_from(ORIGINS))
    def release(self, origin: Origin) -> None:
        self.harness.gate.release(origin)

    @rule(seconds=st.sampled_from([0.5, 3.0]))
    def time_passes(self, seconds: float) -> None:
        self.harness.time.advance(seconds)

    @rule(free=st.booleans())
    def fetch_slots_come_and_go(self, free: bool) -> None:
        self.harness.fetch_slots = free

    @invariant()
    def counts_are_right(self) -> None:
        assert len(self.queues.queues) == self.inside.total()
        held = sum(
            origin is not None
            and origin in self.harness.gate.states
            and self.harness.gate.enter(origin) is State.BLOCKED
            for origin in (self.where[request][1] for request in self.inside)
        )
        assert self.queues.waiting == held
        for origin in ORIGINS:
            there = sum(self.where[request][1] == origin for request in self.inside)
            assert self.queues.queues.count(origin) == there

    def teardown(self) -> None:
        """When all may go and the downloader is idle, everything comes out, once."""
        self.harness.fetch_slots = True
        for request in self.outside:
            self.queues.downloads.end(request)
        for origin in ORIGINS:
            self.harness.gate.release(origin)
        assert Counter(self.queues.pop_all()) == self.inside
        assert list(self.queues.queues) == []


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = settings(max_examples=100, stateful_step_count=50)
