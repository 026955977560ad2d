"""The lookup: one fetch per origin at a time, every waiter answered, no waiter's end another's."""

from __future__ import annotations

import gc
import math
from typing import Any

import pytest
from twisted.internet.defer import CancelledError, Deferred

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import FetchResult
from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.lookup import Pending, Resolved
from scrapy_robotspec.lookup.limiter import FetchLimiter
from scrapy_robotspec.lookup.live_origins import MIN_PAUSE, fire
from tests.support.stores import SharedStore, take

from .fakes import (
    DOWN,
    FILE,
    LEASE,
    MISSING,
    OTHER_FILE,
    START,
    A,
    B,
    C,
    LookupHarness,
    two_processes,
)

DAY = 86_400.0
#: A fetch may be preempted after this (seconds).
LONG = FetchLimiter.PREEMPT_AFTER


@pytest.mark.parametrize("step", [0.0, 0.00001, 0.01, 0.4])
def test_an_attempt_due_as_the_one_before_ends_is_made_at_once(step: float) -> None:
    """FET-11: the hold ends while a failure is noted, so the last attempt is due already."""
    harness = LookupHarness(hold_timeout=10.0, retry_delay=9.0, retry_max_delay=9.0)
    harness.ask()
    harness.answer(DOWN)
    harness.pass_time(9.0)
    harness.ask()
    harness.pass_time(1.0 - 1.5 * step)
    harness.step = step  # it fails one step later, before the hold ends; what follows comes later
    harness.answer(DOWN)
    harness.step = 0.0
    while isinstance(found := harness.ended[-1].found, Pending):
        harness.pass_time(found.until - harness.clock())
        harness.ask()
        harness.answer(DOWN)
    assert found.action is Action.REFUSE
    assert harness.clock() < START + 12.0


def test_wait_says_until_when() -> None:
    """``inf`` while a fetch is in progress, the next attempt afterwards."""
    harness = LookupHarness(retry_delay=8.0)
    found = harness.ask()
    assert isinstance(found, Pending)
    assert found.until == math.inf
    harness.answer(DOWN)
    found = harness.ask()
    assert isinstance(found, Pending)
    assert found.until == START + 8.0
    harness.pass_time(8.0)
    harness.ask()
    assert harness.fetched == [A, A]


def test_changed_rules_are_told_with_those_they_replace() -> None:
    """The signal gets both; the same file again is not a change."""
    harness = LookupHarness()
    for attempt in (FILE, FILE, OTHER_FILE):
        harness.ask()
        harness.answer(attempt)
        harness.pass_time(2 * DAY)
    assert [replaced and replaced.body for _, replaced in harness.announced] == [
        None,
        None,
        FILE.body,
    ]


def test_stop_while_handlers_are_told(caplog: pytest.LogCaptureFixture) -> None:
    """They are cancelled and not awaited, and the rules are kept all the same."""
    harness = LookupHarness()
    harness.handlers_running = Deferred()
    waiter = harness.wait_for()
    harness.answer(FILE)
    harness.lookup.stop()
    assert [type(came) for came in waiter.came] == [CancelledError]
    assert harness.handlers_running.called
    assert harness.time.getDelayedCalls() == []
    assert harness.lookup.store.get(A) is not None
    assert caplog.records == []


def test_error_in_the_fetcher_counts_as_no_answer(caplog: pytest.LogCaptureFixture) -> None:
    """It is logged, and paced like a dead host: no endless loop."""
    harness = LookupHarness(retry_times=0)
    waiter = harness.wait_for()
    harness.fetching[A].errback(ZeroDivisionError("ours"))
    assert waiter.known.action is Action.REFUSE
    assert "ZeroDivisionError" in caplog.text
    assert harness.fetched == [A]


def test_error_in_the_telling_loses_no_answer(caplog: pytest.LogCaptureFixture) -> None:
    """The record is kept and the lease given back, whatever a handler does."""
    shared = SharedStore()
    harness = LookupHarness(shared)
    harness.handlers_running = Deferred()
    waiter = harness.wait_for()
    harness.answer(FILE)
    harness.handlers_running.errback(ZeroDivisionError("theirs"))
    assert waiter.known.robots is not None
    assert "ZeroDivisionError" in caplog.text
    assert take(shared, A, "somebody else", harness.clock(), 1)


# --- closing


def test_error_in_counting_a_fetch_loses_no_answer(caplog: pytest.LogCaptureFixture) -> None:
    harness = LookupHarness()
    harness.ended = None  # type: ignore[assignment]
    waiter = harness.wait_for()
    harness.answer(FILE)
    assert waiter.known.action is Action.RULES
    assert "Error after the robots.txt of http://a.example was looked up" in caplog.text


def test_stop_wakes_all_and_cancels_every_fetch() -> None:
    """Ctrl-C waits for no server."""
    harness = LookupHarness()
    waiters = [harness.wait_for(origin) for origin in (A, A, B)]
    harness.lookup.stop()
    assert harness.fetching == {}
    assert [[type(came) for came in waiter.came] for waiter in waiters] == [[CancelledError]] * 3
    assert not harness.lookup._live


def test_nothing_starts_after_stop() -> None:
    """Later requests wait without an end."""
    harness = LookupHarness()
    harness.lookup.stop()
    assert isinstance(harness.ask(), Pending)
    assert [type(came) for came in harness.wait_for().came] == [CancelledError]
    assert harness.fetched == []


# --- slots


def test_waiters_without_a_slot_do_not_poll() -> None:
    """While no slot is free nothing runs, and each waiter is resolved in the end."""
    harness = crowded()
    waiters = [harness.wait_for(Origin("http", f"waits{n}.example", 80)) for n in range(10)]
    looks = harness.looks
    for _ in range(40):
        harness.pass_time(0.01)
    assert harness.looks == looks
    assert len(harness.time.getDelayedCalls()) == 2  # for the next slot, and for the next tick
    for _ in range(200):
        for origin in list(harness.fetching):
            harness.answer(FILE, origin)
        harness.pass_time(0.5)
    assert all(waiter.came for waiter in waiters)


def crowded() -> LookupHarness:
    """All slots are taken by silent servers, the first by A, which may be preempted by now."""
    harness = LookupHarness(limit=1)
    harness.wait_for(A)
    for number in range(1, FetchLimiter.BURST_FACTOR):
        harness.pass_time(FetchLimiter.SILENT_AFTER)
        harness.ask(Origin("http", f"{number}.example", 80))
    assert len(harness.fetching) == FetchLimiter.BURST_FACTOR
    return harness


def test_a_long_fetch_is_preempted_by_a_newcomer() -> None:
    """It is not a failure: the origin stays as unknown as before, and is asked again later."""
    harness = crowded()
    harness.pass_time(FetchLimiter.SILENT_AFTER)
    harness.ask(C)
    harness.pass_time(0)
    assert A not in harness.fetching
    assert C in harness.fetching
    (done,) = harness.ended
    assert done.found == Pending(A, harness.clock(), preempted=True)
    assert (done.result, done.record) == (None, None)
    assert harness.lookup.store.get(A) is None


def test_a_waiter_of_a_preempted_origin_gets_the_answer_in_the_end() -> None:
    """The waiter notices nothing of it."""
    harness = crowded()
    waiter = harness.wait_for(A)
    harness.pass_time(FetchLimiter.SILENT_AFTER)
    harness.ask(C)
    harness.pass_time(0)
    assert A not in harness.fetching
    harness.answer(MISSING, C)
    harness.pass_time(LONG)
    harness.answer(FILE, A)
    assert waiter.known.robots is not None


def test_a_preempted_refresh_is_started_again() -> None:
    """The copy is used meanwhile, and its refresh is not forgotten until it expires."""
    harness = LookupHarness(limit=1)
    harness.ask(A)
    harness.answer(FILE, A)
    harness.pass_time(0.9 * DAY)
    harness.ask(A)
    for number in range(FetchLimiter.BURST_FACTOR):
        harness.pass_time(FetchLimiter.SILENT_AFTER + 0.01)
        harness.ask(Origin("http", f"{number}.example", 80))
    harness.pass_time(0)
    assert A not in harness.fetching
    for origin in list(harness.fetching):
        harness.answer(MISSING, origin)
    assert isinstance(harness.ask(A), Resolved)
    assert A in harness.fetching


def test_a_due_refresh_without_a_slot_is_tried_again_soon() -> None:
    """The copy is used, though not for its whole life without another look."""
    harness = LookupHarness(limit=1)
    harness.ask(A)
    harness.answer(FILE, A)
    harness.pass_time(0.9 * DAY)
    harness.ask(B)
    found = harness.ask(A)
    assert isinstance(found, Resolved)
    assert found.valid_until <= harness.clock() + 1.0
    harness.answer(FILE, B)
    harness.pass_time(1.0)
    harness.ask(A)
    assert harness.fetched == [A, B, A]


# --- stores that are shared


def test_copy_of_another_process_is_used_while_it_is_refreshed() -> None:
    """CAC-02: a fresh copy from any store makes no request wait; the new file applies later."""
    _, one, two = two_processes()
    one.ask()
    one.answer(FILE)
    one.time.advance(0.9 * DAY)
    assert isinstance(two.ask(), Pending)  # until the record has come
    assert isinstance(two.ask(), Resolved)
    assert two.fetched == [A]
    assert two.ask() == two.ask()
    two.answer(OTHER_FILE)
    found = two.ask()
    assert isinstance(found, Resolved)
    assert found.robots is not None
    assert found.robots.body == OTHER_FILE.body
    assert two.fetched == [A]
    assert [replaced is not None for _, replaced in two.announced] == [False, True]


def test_origin_that_another_process_gave_up_is_asked_before_anybody_is_refused() -> None:
    """A crawl that is started again finds out for itself."""
    _, one, two = two_processes(hold_timeout=0.0)
    one.ask()
    one.answer(DOWN)
    one.time.advance(61)
    waiter = two.wait_for()
    assert two.fetched == [A]
    assert not waiter.came
    two.answer(FILE)
    assert waiter.known.robots is not None


def test_process_that_only_waits_for_another_takes_no_place() -> None:
    """The places are for fetches."""
    shared = SharedStore()
    take(shared, A, "somebody else", START, LEASE)
    harness = LookupHarness(shared, limit=1)
    harness.ask(A)
    harness.ask(B)
    assert harness.fetched == [B]


def test_record_is_written_before_the_lease_is_given_back() -> None:
    """Who gets the lease next finds the record."""
    shared = SharedStore()
    harness = LookupHarness(shared)
    harness.ask()
    harness.threads.at_once = False
    harness.answer(FILE)
    while harness.threads.work() or harness.threads.bring():
        if take(shared, A, "somebody else", harness.clock(), 0):
            assert shared.get(A) is not None
    assert shared.get(A) is not None


class EndsLate(LookupHarness):
    """Its fetches end some time after they were cancelled, as asyncio tasks do."""

    def __init__(self) -> None:
        super().__init__()
        self.fetch_ends: Deferred[FetchResult] = Deferred()

    def fetch(self, origin: Origin, request: str, failed: int | None) -> Deferred[FetchResult]:
        fetch: Deferred[Any] = Deferred(lambda cancelled: cancelled.callback(None))
        return fetch.addCallback(lambda _: self.fetch_ends)


def test_close_waits_for_cancelled_fetches() -> None:
    """Each writes evidence of the request that it has sent."""
    harness = EndsLate()
    harness.ask()
    closing = Deferred.fromCoroutine(harness.lookup.close())
    assert not closing.called
    harness.fetch_ends.errback(CancelledError())
    assert closing.called


# --- bounds


def test_an_origin_is_known_while_a_refresh_is_due() -> None:
    """Its requests need no free slot: the fresh copy decides about them."""
    harness = LookupHarness(ttl=100.0)
    harness.ask()
    harness.answer(FILE)
    harness.pass_time(81.0)
    assert harness.lookup.knows(A)
    assert isinstance(harness.ask(), Resolved)
    harness.pass_time(20.0)
    assert not harness.lookup.knows(A)


def test_of_an_origin_few_objects_stay() -> None:
    """The garbage collector visits all that stays, in every pass of a crawl."""
    harness = LookupHarness()
    gc.collect()
    before = len(gc.get_objects())
    for number in range(1000):
        origin = Origin.of(f"http://{number}.example/")
        assert origin is not None
        harness.ask(origin)
        harness.answer(FILE, origin)
        found = harness.ask(origin)
        assert isinstance(found, Resolved)
        assert found.robots is not None
        for path in ("no", "yes"):  # the second question compiles
            assert found.robots.allowed(f"http://{number}.example/{path}", "x") is (path == "yes")
    harness.announced.clear()
    harness.ended.clear()
    gc.collect()
    assert len(gc.get_objects()) - before < 11 * 1000


# --- pauses


@pytest.mark.parametrize("seconds", [0.0, 5.0, math.inf])
def test_a_pause_ends_with_its_time_or_its_waiter_and_leaves_no_timer(seconds: float) -> None:
    harness, waiters, ends = LookupHarness(), [Deferred[None]() for _ in range(3)], list[object]()
    for waiter in waiters:
        pausing = Deferred.fromCoroutine(harness.lookup._sleep(seconds, waiter))
        pausing.addBoth(lambda result: ends.append(getattr(result, "type", result)))
    fire(waiters[0])
    fire(waiters[0])
    waiters[1].cancel()
    assert ends == [None, CancelledError]
    harness.time.advance(max(MIN_PAUSE, min(seconds, 1e9)))
    assert len(ends) == (2 if seconds == math.inf else 3)
    assert harness.time.getDelayedCalls() == []


def test_an_origin_that_was_preempted_is_asked_before_until_a_fetch_ends() -> None:
    """It is not preempted again, and then it is an origin like any other."""
    harness = LookupHarness()
    live = harness.live.use(A)
    live.holds, live.was_preempted = 1, True
    harness.ask()
    assert live.was_preempted
    harness.answer(FILE)
    assert not live.was_preempted
