"""OriginQueues: no request lost, none twice, none of a held origin, Scrapy's order."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from typing import Any, cast

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.lookup.live_origins import QueueState

from .fakes import A, B, C, GateHarness, QueuesHarness, RequestQueue

ORIGINS = [A, B, C]


def numbered(number: int) -> Origin:
    return Origin("http", f"{number}.example", 80)


def test_next_request_leaves_when_the_first_was_dropped() -> None:
    """Another middleware may drop it before it waits."""
    queues = QueuesHarness(GateHarness())
    queues.push("slot", A, "first")
    queues.push("slot", A, "second")
    queues.send()
    assert not queues.queues.may_go()
    assert queues.pop() is None
    queues.downloads.end("first")
    assert queues.queues.may_go()
    assert queues.pop() == "second"


def test_one_request_at_a_time_leaves_where_a_crawl_delay_is_in_force() -> None:
    """EXT-01: the next leaves when the first has had its slot."""
    harness = GateHarness()
    harness.known.add(A)
    harness.spaced.add(A)
    queues = QueuesHarness(harness)
    for number in range(3):
        queues.push("slot", A, number)
    gone = []
    for _ in range(3):
        gone.append(queues.send())
        assert queues.pop() is None
        with harness.gate.hold(A, gone[-1]):
            assert queues.pop() is None
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


@pytest.mark.parametrize("known", [True, False])
def test_no_fetch_slot_is_looked_for_where_a_known_origin_has_requests(known: bool) -> None:
    """The engine would be woken when one is free."""
    harness, asked = GateHarness(), list[int]()
    harness.known.update([B] * known)
    harness.may_begin = lambda coming, when_free: not asked.append(coming)  # type: ignore
    queues = QueuesHarness(harness)
    for origin in (A, B):
        queues.push("slot", origin, "request")
    assert queues.queues.may_go()
    assert len(asked) == (not known)


# --- Scrapy's order


def test_least_busy_slot_comes_first_and_slots_take_turns() -> None:
    queues = QueuesHarness()
    for slot in "xyz":
        for number in range(2):
            queues.push(slot, A, f"{slot}{number}")
    queues.downloads.start("x", "busy")
    assert queues.pop_all() == ["y0", "z0", "y1", "z1", "x0", "x1"]


def test_origins_of_one_slot_with_equal_priority_take_turns() -> None:
    queues = QueuesHarness()
    for origin in ORIGINS:
        for number in range(2):
            queues.push("slot", origin, f"{origin.host[0]}{number}")
    assert queues.pop_all() == ["a0", "b0", "c0", "a1", "b1", "c1"]


@pytest.mark.parametrize("unknown", [set(), {B}, {A, C}, {A, B, C}])
def test_best_priority_of_all_origins_of_a_slot_comes_first(unknown: set[Origin]) -> None:
    """Whether their rules are known or not; of equal ones those that need a fetch."""
    harness = GateHarness()
    harness.known.update(set(ORIGINS) - unknown)
    queues = QueuesHarness(harness)
    for origin, rank in ((A, 0), (B, -100), (C, 7)):
        queues.push("slot", origin, origin.host[0], rank)
    assert queues.pop_all() == ["b", "a", "c"]


def test_priority_of_a_later_request_moves_its_queue() -> None:
    queues = QueuesHarness()
    queues.push("slot", A, "a", 0)
    queues.push("slot", B, "b", 5)
    queue = queues.queues.queue_of("slot", B)
    assert queue is not None
    queue.requests.curprio = -1
    queues.push("slot", B, "better")
    assert queues.pop() == "b"


class Falling(RequestQueue):
    """The priority of each next request is worse."""

    def pop(self) -> Any:  # type: ignore[override]
        self.curprio = (self.curprio or 0) + 2
        return super().pop()


def test_the_priority_of_the_next_request_places_its_queue() -> None:
    queues = QueuesHarness()
    queues.push("slot", B, "b", rank=1)
    queues.queues.add_queue("slot", A, Falling(["a0", "a2", "a4"]))
    queues.push("slot", C, "c", rank=3)
    assert queues.pop_all() == ["a0", "b", "a2", "c", "a4"]


def test_of_equally_busy_slots_the_one_served_longest_ago_comes_first() -> None:
    queues = QueuesHarness()
    for slot in "xy":
        queues.downloads.start(slot, f"busy {slot}")
        queues.push(slot, A, f"{slot}0")
        queues.push(slot, A, f"{slot}1")
    assert queues.pop_all() == ["x0", "y0", "x1", "y1"]


@pytest.mark.parametrize("known", [True, False])
def test_nothing_goes_to_a_download_slot_where_a_page_is_due(known: bool) -> None:
    """Neither a page nor the first request of an unknown origin; other slots go on."""
    harness = GateHarness()
    harness.known.update((A, B) if known else ())
    queues = QueuesHarness(harness)
    for slot, origin in (("x", A), ("y", B)):
        queues.push(slot, origin, slot)
    harness.due_slots.add("x")
    assert queues.pop_all() == ["y"]
    assert not queues.queues.may_go()
    assert harness.gate.must_wait(lambda: False)
    harness.due_slots.clear()
    assert not harness.gate.must_wait(lambda: False)
    assert queues.pop_all() == ["x"]


@pytest.mark.parametrize("slots", [1, 2000])
def test_choice_does_not_grow_with_the_number_of_queues(slots: int) -> None:
    """Of many idle slots one is looked at, and of held origins none."""
    harness = GateHarness()
    queues = QueuesHarness(harness)
    origins = [numbered(number) for number in range(2000)]
    for number, origin in enumerate(origins):
        harness.known.add(origin)
        queues.push(str(number % slots), origin, number)
    waits = [harness.hold(origin) for origin in origins[::2]]
    queues.downloads.looked_at = 0
    assert len(queues.pop_all()) == len(waits)
    assert queues.downloads.looked_at <= 1001


@pytest.mark.parametrize("slots", [1, 6])
def test_newest_and_oldest_unknown_origin_are_fetched_alternately(slots: int) -> None:
    queues = QueuesHarness(GateHarness())
    for number in range(6):
        queues.push(str(number % slots), numbered(number), number)
    assert queues.pop_all() == [0, 5, 1, 4, 2, 3]


@pytest.mark.parametrize("slots", [1, 5000])
def test_site_among_thousands_of_new_ones_is_fetched_when_its_next_request_comes(
    slots: int,
) -> None:
    queues = QueuesHarness(GateHarness())
    for number in range(5000):
        queues.push(str(number % slots), numbered(number), number)
    queues.push(str(2500 % slots), numbered(2500), "more")
    assert 2500 in [queues.send() for _ in range(2)]


# --- queues


class Damaged(RequestQueue):
    """Files that contain fewer requests than they say."""

    def pop(self) -> Any:  # type: ignore[override]
        return None


@pytest.mark.parametrize(("origin", "shown"), [(A, "http://a.example"), (None, "slot")])
@pytest.mark.parametrize("priority", [0, None])
def test_queue_that_cannot_be_read_ends_in_an_error_line(
    caplog: pytest.LogCaptureFixture, origin: Origin | None, shown: str, priority: int | None
) -> None:
    """A crawl must not wait for its requests for ever. Scrapy may know no priority of theirs."""
    queues, requests = QueuesHarness(), Damaged([1, 2])
    requests.curprio = priority
    queues.queues.add_queue("slot", origin, requests)
    queues.push("slot", B, "b")
    assert queues.pop_all() == ["b"]
    assert queues.queues.size == 0
    assert f"2 requests of {shown} cannot be read" in caplog.text


class Failing(RequestQueue):
    """A queue whose first request cannot be deserialised."""

    def pop(self) -> Any:  # type: ignore[override]
        if self[0] == "bad":
            self.popleft()
            raise ValueError
        return super().pop()


def test_request_that_cannot_be_deserialised_leaves_the_count_right() -> None:
    queues = QueuesHarness()
    queues.queues.add_queue("slot", A, Failing(["bad", "good"]))
    with pytest.raises(ValueError):  # noqa: PT011
        queues.pop()
    assert queues.queues.size == 1
    assert queues.pop_all() == ["good"]
    assert queues.queues.size == 0


def test_one_request_of_all_slots_leaves_when_rules_have_expired() -> None:
    """The queue of one slot was filled while there were rules, that of another after."""
    harness = GateHarness()
    queues = QueuesHarness(harness)
    harness.known.add(A)
    queues.push("x", A, "before")
    harness.known.clear()
    queues.push("y", A, "after")
    assert harness.queued(A) == 2
    request: Any = queues.pop()
    queues.downloads.start("x", request)
    assert not queues.queues.may_go()


class AnyOrder(RuleBasedStateMachine):
    """Requests are pushed, popped, wait, are dropped or go on; fetch slots come and go."""

    def __init__(self) -> None:
        super().__init__()
        self.harness = GateHarness()
        self.queues = QueuesHarness(self.harness)
        self.inside: Counter[int] = Counter()
        self.where: dict[int, tuple[str, Origin | None]] = {}
        self.outside: list[int] = []
        self.waits: dict[int, ExitStack] = {}
        self.number = 0

    @rule(
        slot=st.sampled_from(["x", "y"]),
        origin=st.sampled_from([A, B, C, None]),
        rank=st.integers(-1, 1),
        times=st.integers(1, 3),
    )
    def push(self, slot: str, origin: Origin | None, rank: int, times: int) -> None:
        for _ in range(times):
            self.where[self.number] = (slot, origin)
            self.inside[self.number] += 1
            self.queues.push(slot, origin, self.number, rank)
            self.number += 1

    @rule()
    def pop(self) -> None:
        may_go = self.queues.queues.may_go()
        request: Any = self.queues.pop()
        assert may_go is (request is not None)
        if request is not None:
            assert self.inside[request] == 1, "never twice"
            del self.inside[request]
            slot, origin = self.where[request]
            assert origin not in {self.where[waiting][1] for waiting in self.waits} or not origin
            self.queues.downloads.start(slot, request)
            self.outside.append(request)

    @rule(wait=st.booleans())
    def arrives(self, wait: bool) -> None:
        """As in the middleware: it waits, or passes on."""
        if self.outside:
            request = self.outside.pop(0)
            origin = self.where[request][1]
            if origin is not None and wait:
                stack = self.waits[request] = ExitStack()
                stack.enter_context(self.harness.gate.hold(origin, cast("Any", request)))
            elif origin is not None:
                self.harness.gate.goes_on(origin, cast("Any", request))
                self.queues.downloads.end(request)

    @rule(known=st.booleans())
    def wait_ends(self, known: bool) -> None:
        if self.waits:
            request = next(iter(self.waits))
            origin = self.where[request][1]
            if known and origin is not None:
                self.harness.known.add(origin)
            self.waits.pop(request).close()
            self.queues.downloads.end(request)

    @rule()
    def dropped_on_the_way(self) -> None:
        if self.outside:
            self.queues.downloads.end(self.outside.pop())

    @rule(origin=st.sampled_from(ORIGINS))
    def crawl_delay_begins_or_ends(self, origin: Origin) -> None:
        self.harness.spaced.symmetric_difference_update({origin})

    @rule(origin=st.sampled_from(ORIGINS))
    def rules_expire(self, origin: Origin) -> None:
        self.harness.known.discard(origin)

    @rule(free=st.booleans())
    def fetch_slots_come_and_go(self, free: bool) -> None:
        self.harness.fetch_slots = free

    @invariant()
    def counts_are_right(self) -> None:
        assert self.queues.queues.size == self.inside.total()
        origins = [self.where[request][1] for request in self.inside]
        held = sum(self._is_held(each) for each in origins if each is not None)
        assert self.harness.waiting == held
        for origin in ORIGINS:
            is_ready = self.harness.state(origin) is QueueState.READY
            assert self.harness.queued(origin) == (0 if is_ready else origins.count(origin))

    def _is_held(self, origin: Origin) -> bool:
        return self.harness.state(origin) is QueueState.HELD

    def teardown(self) -> None:
        """When all may go and the downloader is idle, everything comes out, once."""
        self.harness.fetch_slots = True
        self.harness.known.update(ORIGINS)
        self.harness.spaced.clear()
        for stack in self.waits.values():
            stack.close()
        for request in [*self.outside, *self.waits]:
            self.queues.downloads.end(request)
        left = Counter[int]()
        while (request := self.queues.pop()) is not None:
            left[request] += 1
        assert left == self.inside
        assert self.queues.queues._queues == {}
        assert self.harness.waiting == 0
        self.harness.gate.return_lost()
        assert self.harness.live == {}, "no entry of an origin without requests is left"


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = settings(max_examples=100, stateful_step_count=50)
