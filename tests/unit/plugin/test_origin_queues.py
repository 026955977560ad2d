"""Lanes: requests in line, none lost, none twice, none of a held origin, nobody starved."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.plugin.scheduling.gate import State

from .fakes import START, A, B, C, Gatehouse, Queue

ORIGINS = [A, B, C]


def test_without_a_gate_everything_goes() -> None:
    queue = Queue(None)
    for number in range(5):
        queue.push("slot", A, number)
    assert queue.pop_all() == [0, 1, 2, 3, 4]


def test_unknown_origin_lets_one_go_ahead() -> None:
    """The first request makes the lookup ask; the others wait until the gate has heard."""
    house = Gatehouse()
    queue = Queue(house)
    for number in range(3):
        queue.push("slot", A, number)
    first = queue.pop()
    queue.downloads.start("slot", first)
    assert queue.pop() is None
    house.gate.free(A)
    assert queue.pop_all() == [1, 2]


def test_request_that_went_ahead_and_was_dropped_is_followed_by_the_next() -> None:
    """Another middleware may drop it before it comes to the gate."""
    queue = Queue(Gatehouse())
    queue.push("slot", A, "first")
    queue.push("slot", A, "second")
    queue.downloads.start("slot", queue.pop())
    assert queue.pop() is None
    queue.downloads.end("first")
    assert queue.pop() == "second"


def test_held_origin_is_not_offered() -> None:
    house = Gatehouse()
    queue = Queue(house)
    house.known.update(ORIGINS)
    for origin in ORIGINS:
        queue.push(origin.host, origin, origin.host)
    house.gate.hold(B, math.inf)
    assert sorted(queue.pop_all()) == ["a.example", "c.example"]
    assert len(queue.queues) == 1
    house.gate.free(B)
    assert queue.pop_all() == ["b.example"]


def test_crawl_delay_lets_one_go_at_a_time() -> None:
    """EXT-01: each time the pause is over."""
    house = Gatehouse()
    house.known.add(A)
    queue = Queue(house)
    for number in range(3):
        queue.push("slot", A, number)
    gone = []
    for _ in range(3):
        request = queue.pop()
        gone.append(request)
        queue.downloads.start("slot", request)
        house.gate.hold(A, house.clock() + 2, State.DELAYED)
        assert queue.pop() is None
        house.pass_time(2.1)
    assert gone == [0, 1, 2]


def test_no_unknown_origin_while_no_place_is_free() -> None:
    """Known ones go on."""
    house = Gatehouse(places=False)
    house.known.add(B)
    queue = Queue(house)
    queue.push("a", A, "unknown")
    queue.push("b", B, "known")
    assert queue.pop_all() == ["known"]
    house.places = True
    assert queue.pop() == "unknown"


def test_requests_on_their_way_to_the_gate_are_told_of() -> None:
    """They will take places, so no more of them may go than there are."""
    house = Gatehouse()
    queue = Queue(house)
    told = []
    for number in range(4):
        queue.push(str(number), Origin("http", f"{number}.example", 80), number)
    for _ in range(4):
        queue.downloads.start("slot", queue.pop())
        told.append(house.ahead)
    assert told == [0, 1, 2, 3]
    house.gate.hold(Origin("http", "0.example", 80), math.inf)
    queue.downloads.end(3)
    queue.push("4", Origin("http", "4.example", 80), 4)
    assert queue.pop() == 4
    assert house.ahead == 2


def test_least_busy_slot_comes_first_and_slots_take_turns() -> None:
    """As in Scrapy's queue."""
    queue = Queue(None)
    for slot in "xyz":
        for number in range(2):
            queue.push(slot, A, f"{slot}{number}")
    queue.downloads.start("x", "busy")
    assert queue.pop_all() == ["y0", "z0", "y1", "z1", "x0", "x1"]


def test_choice_does_not_grow_with_the_number_of_lines() -> None:
    """Of ten thousand idle slots one is looked at, and of held ones none."""
    house = Gatehouse()
    queue = Queue(house)
    origins = [Origin("http", f"{n}.example", 80) for n in range(2000)]
    for number, origin in enumerate(origins):
        house.known.add(origin)
        queue.push(origin.host, origin, number)
    for origin in origins[::2]:
        house.gate.hold(origin, math.inf)
    queue.downloads.asked = 0
    assert len(queue.pop_all()) == 1000
    assert queue.downloads.asked <= 1001


def test_newcomers_and_old_ones_are_asked_by_turns() -> None:
    """Neither starves the other."""
    queue = Queue(Gatehouse())
    for number in range(6):
        queue.push(str(number), Origin("http", f"{number}.example", 80), number)
    assert queue.pop_all() == [5, 0, 1, 2, 4, 3]


def test_who_has_most_requests_is_asked_early() -> None:
    """A place that is scarce releases as many as can be."""
    queue = Queue(Gatehouse())
    for number in range(9):
        for page in range(5 if number == 6 else 2 if number == 3 else 1):
            queue.push(str(number), Origin("http", f"{number}.example", 80), (number, page))
    order = []
    for _ in range(8):
        request = queue.pop()
        queue.downloads.start("slot", request)
        order.append(request[0])
    assert order == [8, 6, 0, 1, 7, 3, 2, 4]


def test_who_has_most_requests_keeps_its_turn_when_its_first_was_dropped() -> None:
    """However many newcomers came after it."""
    queue = Queue(Gatehouse())
    origins = [Origin("http", f"{number}.example", 80) for number in range(30)]

    def go() -> Any:
        request = queue.pop()
        queue.downloads.start("slot", request)
        return request

    for page in range(5):
        queue.push("a", A, page)
    for origin in origins[:15]:
        queue.push(origin.host, origin, origin.host)
    assert [go() for _ in range(6)][1] == 0
    queue.downloads.end(0)
    go()
    for origin in origins[15:]:
        queue.push(origin.host, origin, origin.host)
    assert 1 in [go() for _ in range(4)]


def test_who_did_not_answer_takes_one_turn_of_four() -> None:
    """Thousands that are to be asked again keep no newcomer waiting, nor the other way round."""
    house = Gatehouse()
    queue = Queue(house)
    for number in range(9):
        origin = Origin("http", f"{number}.example", 80)
        queue.push(str(number), origin, number)
        if number < 4:
            house.gate.hold(origin, START, State.RETRY_DUE)
    assert queue.pop_all() == [8, 4, 5, 0, 7, 6, 1, 2, 3]


def test_who_did_not_answer_goes_when_no_newcomer_may() -> None:
    """And newcomers go when they may not."""
    house = Gatehouse()
    queue = Queue(house)
    house.gate.hold(A, START, State.RETRY_DUE)
    for origin in (A, B):
        queue.push(origin.host, origin, origin.host)
    house.places_again = False
    assert queue.pop_all() == [B.host]
    house.places, house.places_again = False, True
    assert queue.pop_all() == [A.host]


def test_line_with_requests_in_it_is_taken_in() -> None:
    """What comes from JOBDIR counts from the beginning."""
    house = Gatehouse()
    house.gate.hold(A, math.inf)
    queue = Queue(house)
    queue.push("slot", B, "b")
    requests = type(queue.queues.get("slot", B).requests)([1, 2, 3])  # type: ignore[union-attr]
    queue.queues.open("slot", A, requests)
    assert (len(queue.queues), queue.held, queue.queues.waiting(A)) == (4, 3, 3)
    house.gate.free(A)
    assert queue.held == 0
    assert Counter(queue.pop_all()) == Counter(["b", 1, 2, 3])


def test_empty_lane_is_dropped_once() -> None:
    """Its owner closes its files."""
    queue = Queue(None)
    queue.push("slot", A, 1)
    queue.pop_all()
    queue.push("slot", A, 2)
    queue.pop_all()
    assert [(queue.slot, queue.origin) for queue in queue.dropped] == [("slot", A)] * 2
    assert list(queue.queues) == []


class AnyOrder(RuleBasedStateMachine):
    """Requests pushed, popped, handed back, finished; origins held and let go; time passes."""

    def __init__(self) -> None:
        super().__init__()
        self.house = Gatehouse()
        self.queue = Queue(self.house)
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
        self.queue.push(slot, origin, request)

    @rule()
    def pop(self) -> None:
        request: Any = self.queue.pop()
        if request is not None:
            assert self.inside[request] == 1, "never twice"
            del self.inside[request]
            slot, origin = self.where[request]
            if origin is not None:
                assert self.house.gate.enter(origin) is not State.BLOCKED
            self.queue.downloads.start(slot, request)
            self.outside.append(request)

    @rule(back=st.booleans(), until=st.sampled_from([math.inf, 1.0, 0.0]))
    def comes_to_the_gate(self, back: bool, until: float) -> None:
        """As the middleware does: held and handed back, or let through."""
        if self.outside:
            request = self.outside.pop(0)
            slot, origin = self.where[request]
            if back and origin is not None:
                self.house.gate.hold(origin, self.house.clock() + until)
                self._push(request, slot, origin)
            elif origin is not None:
                self.house.known.add(origin)
                self.house.gate.free(origin)
            self.queue.downloads.end(request)

    @rule()
    def dropped_on_the_way(self) -> None:
        if self.outside:
            self.queue.downloads.end(self.outside.pop())

    @rule(origin=st.sampled_from(ORIGINS), then=st.sampled_from([State.UNKNOWN, State.DELAYED]))
    def hold(self, origin: Origin, then: State) -> None:
        self.house.gate.hold(origin, self.house.clock() + 2, then)

    @rule(origin=st.sampled_from(ORIGINS))
    def free(self, origin: Origin) -> None:
        self.house.gate.free(origin)

    @rule(seconds=st.sampled_from([0.5, 3.0]))
    def time_passes(self, seconds: float) -> None:
        self.house.pass_time(seconds)

    @rule(places=st.booleans())
    def places_come_and_go(self, places: bool) -> None:
        self.house.places = places

    @invariant()
    def counts_are_right(self) -> None:
        assert len(self.queue.queues) == self.inside.total()
        held = sum(
            origin is not None
            and origin in self.house.gate.states
            and self.house.gate.enter(origin) is State.BLOCKED
            for origin in (self.where[request][1] for request in self.inside)
        )
        assert self.queue.held == held
        for origin in ORIGINS:
            there = sum(self.where[request][1] == origin for request in self.inside)
            assert self.queue.queues.waiting(origin) == there

    def teardown(self) -> None:
        """When all may go and the downloader is idle, everything comes out, once."""
        self.house.places = True
        for request in self.outside:
            self.queue.downloads.end(request)
        for origin in ORIGINS:
            self.house.gate.free(origin)
        assert Counter(self.queue.pop_all()) == self.inside
        assert list(self.queue.queues) == []


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = settings(max_examples=100, stateful_step_count=50, deadline=None)
