"""The lookup: one flight per origin, every waiter answered, no waiter's end another's."""

from __future__ import annotations

import asyncio
import gc
import math
from typing import TYPE_CHECKING

import pytest
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import FetchResult
from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.lookup import FetchLimiter, Pending, Resolved
from scrapy_robotspec.lookup.handlers import HANDLER_TIMEOUT
from scrapy_robotspec.store import open_store
from scrapy_robotspec.store.memory import MemoryStore

from .fakes import DEAD, DOWN, FILE, LEASE, MISSING, OTHER_FILE, START, A, B, C, World

if TYPE_CHECKING:
    from pathlib import Path

DAY = 86_400.0
#: A fetch may be preempted after this (seconds).
LONG = FetchLimiter.PREEMPT_AFTER


def test_first_question_starts_a_flight_and_every_other_joins_it() -> None:
    """CAC-05: one fetch, however many ask."""
    world = World()
    assert {type(world.ask()) for _ in range(5)} == {Pending}
    waiters = [world.wait_for() for _ in range(5)]
    assert world.fetched == [A]
    world.answer(FILE)
    assert isinstance(world.ask(), Resolved)
    assert {waiter.known.action for waiter in waiters} == {Action.RULES}
    assert world.fetched == [A]


def test_each_waiter_gets_the_rules() -> None:
    """The trap of one Deferred for all: the second waiter would get the first one's None."""
    world = World()
    waiters = [world.wait_for() for _ in range(20)]
    world.answer(FILE)
    for waiter in waiters:
        assert waiter.known.robots is not None
        assert not waiter.known.robots.allowed("http://a.example/no", "x")


def test_cancelling_one_waiter_hurts_nobody() -> None:
    """Neither the fetch nor another waiter."""
    world = World()
    first, second = world.wait_for(), world.wait_for()
    first.cancel()
    assert [type(came) for came in first.came] == [CancelledError]
    assert list(world.fetching) == [A]
    world.answer(FILE)
    assert second.known.robots is not None
    assert len(first.came) == 1


def test_cancelling_all_waiters_leaves_the_fetch() -> None:
    """Its answer is kept for the next request."""
    world = World()
    waiter = world.wait_for()
    waiter.cancel()
    world.answer(FILE)
    assert isinstance(world.ask(), Resolved)
    assert not world.lookup.busy


def test_answer_of_a_flight_that_fails_goes_on_until_there_is_one() -> None:
    """FET-10: a waiter outside the scheduler waits as long as requests inside are held."""
    world = World(retry_delay=1.0, hold_timeout=300.0)
    waiter = world.wait_for()
    for _ in range(3):
        world.answer(DOWN)
        assert waiter.came == []
        world.pass_time(60.0)
    world.answer(FILE)
    assert waiter.known.action is Action.RULES


def test_waiter_of_a_dead_host_is_told_when_it_is_given_up() -> None:
    """ROBOTSPEC_RETRY_TIMES: two more attempts, then refused."""
    world = World(retry_times=2, retry_delay=1.0)
    waiter = world.wait_for()
    for _ in range(3):
        assert waiter.came == []
        world.answer(DEAD)
        world.pass_time(10.0)
    assert waiter.known.action is Action.REFUSE


def test_wait_says_until_when() -> None:
    """``inf`` while a flight is under way, the next attempt afterwards."""
    world = World(retry_delay=8.0)
    found = world.ask()
    assert isinstance(found, Pending)
    assert found.until == math.inf
    world.answer(DOWN)
    found = world.ask()
    assert isinstance(found, Pending)
    assert found.until == START + 8.0
    world.pass_time(8.0)
    world.ask()
    assert world.fetched == [A, A]


def test_fresh_copy_is_refreshed_in_the_background() -> None:
    """From 80 % of the lifetime on; the copy decides meanwhile."""
    world = World()
    world.ask()
    world.answer(FILE)
    world.pass_time(0.79 * DAY)
    assert isinstance(world.ask(), Resolved)
    assert world.fetched == [A]
    world.pass_time(0.02 * DAY)
    assert isinstance(world.ask(), Resolved)
    assert world.fetched == [A, A]
    world.answer(OTHER_FILE)
    known = world.ask()
    assert isinstance(known, Resolved)
    assert known.robots is not None
    assert known.robots.allowed("http://a.example/no", "x")


def test_changed_rules_are_told_with_those_they_replace() -> None:
    """The signal gets both; the same file again is not a change."""
    world = World()
    for attempt in (FILE, FILE, OTHER_FILE):
        world.ask()
        world.answer(attempt)
        world.pass_time(2 * DAY)
    assert [replaced and replaced.body for _, replaced in world.announced] == [
        None,
        None,
        FILE.body,
    ]


def test_rules_are_told_before_anybody_is_released() -> None:
    """A handler that takes its time holds them back."""
    world = World()
    world.telling = Deferred()
    waiter = world.wait_for()
    world.answer(FILE)
    assert (len(world.announced), waiter.came) == (1, [])
    assert isinstance(world.ask(), Pending)
    world.telling.callback(None)
    assert waiter.known.robots is not None


def test_handler_that_never_ends_holds_nobody_for_ever(caplog: pytest.LogCaptureFixture) -> None:
    """It may be waiting for an answer about the same origin itself."""
    world = World()
    world.telling = Deferred()
    waiter = world.wait_for()
    world.answer(FILE)
    world.pass_time(HANDLER_TIMEOUT - 1)
    assert waiter.came == []
    world.pass_time(2)
    assert waiter.known.robots is not None
    assert "takes longer" in caplog.text
    world.telling.callback(None)
    assert world.lookup.busy is False


@pytest.mark.parametrize("word", [CancelledError, asyncio.CancelledError])
def test_stop_while_handlers_are_told(
    word: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    """They are cancelled, nobody waits for them, and the rules are kept all the same."""
    world = World()
    world.telling = Deferred(lambda telling: telling.errback(word()))
    waiter = world.wait_for()
    world.answer(FILE)
    world.lookup.stop()
    assert [type(came) for came in waiter.came] == [CancelledError]
    assert world.telling.called
    assert world.time.getDelayedCalls() == []
    assert world.lookup.record(A) is not None
    assert caplog.records == []


def test_error_in_the_fetcher_counts_as_no_answer(caplog: pytest.LogCaptureFixture) -> None:
    """It is logged, and paced like a dead host: no endless loop."""
    world = World(retry_times=0)
    waiter = world.wait_for()
    world.fetching[A].errback(ZeroDivisionError("ours"))
    assert waiter.known.action is Action.REFUSE
    assert "ZeroDivisionError" in caplog.text
    assert world.fetched == [A]


def test_error_in_the_telling_loses_no_answer(caplog: pytest.LogCaptureFixture) -> None:
    """The record is kept and the lease given back, whatever a handler does."""
    shared = MemoryStore()
    world = World(shared)
    world.telling = Deferred()
    waiter = world.wait_for()
    world.answer(FILE)
    world.telling.errback(ZeroDivisionError("theirs"))
    assert waiter.known.robots is not None
    assert "ZeroDivisionError" in caplog.text
    assert shared.acquire(A, "somebody else", world.clock(), 1)


# --- closing


def test_stop_wakes_all_and_cancels_every_fetch() -> None:
    """Ctrl-C waits for no server."""
    world = World()
    waiters = [world.wait_for(origin) for origin in (A, A, B)]
    world.lookup.stop()
    assert world.fetching == {}
    assert [[type(came) for came in waiter.came] for waiter in waiters] == [[CancelledError]] * 3
    assert not world.lookup.busy


def test_nothing_starts_after_stop() -> None:
    """Requests that still come in are told to wait, for ever."""
    world = World()
    world.lookup.stop()
    assert isinstance(world.ask(), Pending)
    assert [type(came) for came in world.wait_for().came] == [CancelledError]
    assert world.fetched == []


def test_stop_between_two_attempts() -> None:
    """Nobody is left waiting for the next one."""
    world = World(retry_delay=30.0)
    waiter = world.wait_for()
    world.answer(DOWN)
    world.lookup.stop()
    assert [type(came) for came in waiter.came] == [CancelledError]
    assert world.time.getDelayedCalls() == []


# --- slots


def test_no_more_fetches_than_slots() -> None:
    """The third origin is told that its time has come already: ask again soon."""
    world = World(limit=2)
    assert isinstance(world.ask(A), Pending)
    assert isinstance(world.ask(B), Pending)
    third = world.ask(C)
    assert isinstance(third, Pending)
    assert third.until <= world.clock()
    assert world.fetched == [A, B]
    world.answer(MISSING, A)
    world.ask(C)
    assert world.fetched == [A, B, C]


def test_a_waiter_without_a_slot_gets_one_later() -> None:
    """It looks again now and then, and nobody has to wake it."""
    world = World(limit=1)
    world.ask(A)
    waiter = world.wait_for(B)
    world.pass_time(5.0)
    assert waiter.came == []
    world.answer(FILE, A)
    world.pass_time(5.0)
    world.answer(FILE, B)
    assert waiter.known.origin == B


def test_waiters_without_a_slot_look_ever_more_rarely() -> None:
    """A thousand of them must not keep the processor busy."""
    world = crowded()
    waiters = [world.wait_for(Origin("http", f"waits{n}.example", 80)) for n in range(10)]
    before = world.looks
    for _ in range(20):
        world.pass_time(0.02)
    early = world.looks - before
    assert world.looks - before < 10 * 10
    for origin in list(world.fetching):
        world.answer(FILE, origin)
    for _ in range(100):
        world.pass_time(1.0)
        for origin in list(world.fetching):
            world.answer(MISSING, origin)
    assert early > 0
    assert all(waiter.came for waiter in waiters)


def crowded() -> World:
    """All slots are taken by silent servers, the first by A, which may be preempted by now."""
    world = World(limit=1)
    world.ask(A)
    for number in range(1, FetchLimiter.BURST_FACTOR):
        world.pass_time(FetchLimiter.SILENT_AFTER)
        world.ask(Origin("http", f"{number}.example", 80))
    assert len(world.fetching) == FetchLimiter.BURST_FACTOR
    return world


def preempted() -> World:
    """C has taken the slot of A."""
    world = crowded()
    world.pass_time(FetchLimiter.SILENT_AFTER)
    world.ask(C)
    world.pass_time(0)
    return world


def test_a_long_fetch_is_preempted_by_a_newcomer() -> None:
    """It is not a failure: the origin stays as unknown as before, and is asked again later."""
    world = preempted()
    assert A not in world.fetching
    assert C in world.fetching
    (done,) = world.ended
    assert done.found == Pending(A, world.clock(), asked_before=True, preempted=True)
    assert (done.result, done.record) == (None, None)
    assert world.lookup.record(A) is None


def test_a_fetch_is_not_preempted_before_it_has_had_some_time() -> None:
    world = crowded()
    world.pass_time(FetchLimiter.SILENT_AFTER / 2)
    world.ask(C)
    world.pass_time(0)
    assert A in world.fetching
    assert C not in world.fetching


def test_a_preempted_origin_has_all_the_time_in_its_second_fetch() -> None:
    """However many newcomers there are."""
    world = preempted()
    world.answer(MISSING, C)
    world.ask(A)
    for number in range(100, 130):
        world.pass_time(LONG)
        world.ask(Origin("http", f"{number}.example", 80))
    world.pass_time(0)
    assert A in world.fetching
    assert len(world.fetching) == FetchLimiter.BURST_FACTOR


def test_a_waiter_of_a_preempted_origin_gets_the_answer_in_the_end() -> None:
    """The waiter notices nothing of it."""
    world = crowded()
    waiter = world.wait_for(A)
    world.pass_time(FetchLimiter.SILENT_AFTER)
    world.ask(C)
    world.pass_time(0)
    assert A not in world.fetching
    world.answer(MISSING, C)
    world.pass_time(LONG)
    world.answer(FILE, A)
    assert waiter.known.robots is not None


def test_a_preempted_refresh_is_started_again() -> None:
    """The copy is used meanwhile, and its refresh is not forgotten until it expires."""
    world = World(limit=1)
    world.ask(A)
    world.answer(FILE, A)
    world.pass_time(0.9 * DAY)
    world.ask(A)
    for number in range(FetchLimiter.BURST_FACTOR):
        world.pass_time(FetchLimiter.SILENT_AFTER)
        world.ask(Origin("http", f"{number}.example", 80))
    world.pass_time(0)
    assert A not in world.fetching
    for origin in list(world.fetching):
        world.answer(MISSING, origin)
    assert isinstance(world.ask(A), Resolved)
    assert A in world.fetching


def test_a_due_refresh_without_a_slot_is_tried_again_soon() -> None:
    """The copy is used, though not for its whole life without another look."""
    world = World(limit=1)
    world.ask(A)
    world.answer(FILE, A)
    world.pass_time(0.9 * DAY)
    world.ask(B)
    found = world.ask(A)
    assert isinstance(found, Resolved)
    assert not found.is_valid(world.clock() + 1.0)
    world.answer(FILE, B)
    world.pass_time(1.0)
    world.ask(A)
    assert world.fetched == [A, B, A]


# --- stores that are shared


def test_record_of_another_process_is_taken(tmp_path: Path) -> None:
    """CAC-04: no second fetch while it is fresh."""
    uri = f"sqlite:///{tmp_path}/robots.db"
    one = World(open_store(uri), owner="one")
    one.ask()
    one.answer(FILE)
    assert one.close()
    two = World(open_store(uri), owner="two")
    waiter = two.wait_for()
    two.pass_time(1.0)
    assert waiter.known.robots is not None
    assert two.fetched == []
    assert two.close()


def test_copy_of_another_process_is_used_while_it_is_refreshed() -> None:
    """CAC-02: a fresh copy makes nobody wait, wherever it comes from; the new file counts then."""
    shared, time = MemoryStore(), Clock()
    one, two = (World(shared, owner=name, time=time) for name in ("one", "two"))
    one.ask()
    one.answer(FILE)
    time.advance(0.9 * DAY)
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
    shared, time = MemoryStore(), Clock()
    one, two = (World(shared, owner=name, time=time, hold_timeout=0.0) for name in ("one", "two"))
    one.ask()
    one.answer(DOWN)
    time.advance(61)
    waiter = two.wait_for()
    assert two.fetched == [A]
    assert not waiter.came
    two.answer(FILE)
    assert waiter.known.robots is not None


def test_of_two_processes_one_fetches(tmp_path: Path) -> None:
    """CAC-05: the other finds what the first has brought."""
    uri = f"sqlite:///{tmp_path}/robots.db"
    one = World(open_store(uri), owner="one")
    two = World(open_store(uri), owner="two", time=one.time)
    first, second = one.wait_for(), two.wait_for()
    assert (one.fetched, two.fetched) == ([A], [])
    one.pass_time(3.0)
    assert two.fetched == []
    one.answer(FILE)
    one.pass_time(3.0)
    assert first.known.robots is not None
    assert second.known.robots is not None
    assert two.fetched == []
    assert one.close()
    assert two.close()


def test_lease_of_a_process_that_died_runs_out(tmp_path: Path) -> None:
    """Then another process fetches, and nobody waits for ever."""
    uri = f"sqlite:///{tmp_path}/robots.db"
    one = World(open_store(uri), owner="one")
    two = World(open_store(uri), owner="two", time=one.time)
    one.ask()  # and is killed
    waiter = two.wait_for()
    for _ in range(12):
        two.pass_time(2.0)
    assert two.fetched == []
    for _ in range(8):
        two.pass_time(2.0)
    assert two.fetched == [A]
    two.answer(FILE)
    assert waiter.known.robots is not None


def test_process_that_only_waits_for_another_takes_no_place() -> None:
    """The places are for fetches."""
    shared = MemoryStore()
    shared.acquire(A, "somebody else", START, LEASE)
    world = World(shared, limit=1)
    world.ask(A)
    world.ask(B)
    assert world.fetched == [B]


def test_lease_is_given_back_when_a_fetch_is_cancelled() -> None:
    """Another process need not wait until it runs out."""
    shared = MemoryStore()
    world = World(shared)
    world.ask()
    assert not shared.acquire(A, "somebody else", world.clock(), 1)
    assert world.close()
    assert shared.acquire(A, "somebody else", world.clock(), 1)


@pytest.mark.parametrize("taken", [False, True], ids=["before it is taken", "after it is taken"])
def test_lease_that_comes_too_late_is_given_back(taken: bool) -> None:
    """Closing while a thread is about to take it: it must not stay."""
    shared = MemoryStore()
    world = World(shared)
    world.threads.at_once = False
    world.ask()
    if taken:
        world.threads.work()
    assert world.close()
    assert shared.acquire(A, "somebody else", world.clock(), 1)
    assert world.fetched == []


def test_record_is_written_before_the_lease_is_given_back() -> None:
    """Who gets the lease next finds the record."""
    shared = MemoryStore()
    world = World(shared)
    world.ask()
    world.threads.at_once = False
    world.answer(FILE)
    while world.threads.work() or world.threads.bring():
        if shared.acquire(A, "somebody else", world.clock(), 0):
            assert shared.get(A) is not None
    assert shared.get(A) is not None


def test_close_finishes_what_is_being_written() -> None:
    """What was fetched before the end is there for the next crawl."""
    shared = MemoryStore()
    world = World(shared)
    world.threads.at_once = False
    world.ask()
    world.threads.run()
    world.answer(FILE)
    assert world.close()
    assert shared.get(A) is not None


# --- bounds


def test_page_that_answers_is_noted_while_robots_txt_does_not() -> None:
    """FET-12; at any other time it says nothing."""
    world = World()
    world.ask()
    world.lookup.page_answered(A)
    world.answer(DOWN)
    world.lookup.page_answered(A)
    record = world.lookup.record(A)
    assert record is not None
    assert record.pages_answered_at == world.clock()


@pytest.mark.parametrize(
    ("attempt", "action"),
    [
        (FILE, Action.RULES),
        (MISSING, Action.ALLOW),
        (DEAD, Action.REFUSE),
        (DOWN, Action.REFUSE),
        (
            FetchResult(status=200, body=b"User-agent: *\nDisallow: /", complete=False),
            Action.REFUSE,
        ),
    ],
)
def test_what_is_known_after_one_answer(attempt: FetchResult, action: Action) -> None:
    """With no patience at all every answer decides at once."""
    world = World(hold_timeout=0.0, retry_times=0)
    waiter = world.wait_for()
    world.answer(attempt)
    assert waiter.known.action is action
    assert world.lookup.knows(A, world.clock())


def test_of_an_origin_few_objects_stay() -> None:
    """The garbage collector visits all that stays, in every pass of a crawl."""
    world = World()
    gc.collect()
    before = len(gc.get_objects())
    for number in range(1000):
        origin = Origin.of(f"http://{number}.example/")
        assert origin is not None
        world.ask(origin)
        world.answer(FILE, origin)
        found = world.ask(origin)
        assert isinstance(found, Resolved)
        assert found.robots is not None
        for path in ("no", "yes"):  # the second question compiles
            assert found.robots.allowed(f"http://{number}.example/{path}", "x") is (path == "yes")
    world.announced.clear()
    world.ended.clear()
    gc.collect()
    assert len(gc.get_objects()) - before < 9 * 1000
