"""Seconds in which the event loop could read: what ends a limit, and what does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import Clock
from twisted.python.failure import Failure

from scrapy_robotspec.lookup.loop_time import InterruptionError, LoopTime, TimeLimitError
from tests.support.timers import call_later, pass_time

TICK, STRETCH = LoopTime.TICK, LoopTime.STRETCH


class Process:
    """A process that may be starved, with one limit."""

    def __init__(self, limit: float) -> None:
        self.clock = Clock()
        self.time = LoopTime(self.clock.seconds, call_later(self.clock))
        self.work: Deferred[None] = Deferred()
        self.ended: list[float] = []
        self.time.limit(self.work, limit).addErrback(self._end)

    def _end(self, failure: Failure) -> None:
        assert isinstance(failure.value, TimeLimitError)
        self.ended.append(self.clock.seconds())


def test_in_a_process_that_is_not_starved_it_is_the_clock() -> None:
    process = Process(3.0)
    pass_time(process.clock, 2.95)
    assert process.time.now() == pytest.approx(2.95)
    assert process.ended == []
    pass_time(process.clock, 3 * TICK)
    assert process.ended == [pytest.approx(3.0, abs=2 * TICK)]


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 20)), min_size=1), st.floats(0.2, 30))
def test_a_late_tick_counts_once_and_the_clock_stretches_tenfold(
    stops: list[tuple[float, float]], limit: float
) -> None:
    """However it is stopped: no limit ends early, none later than ten times by the clock."""
    process = Process(limit)
    ticks = 0
    while not process.ended:
        for runs, stands in stops:
            pass_time(process.clock, runs)
            process.clock.advance(stands)
            ticks += 1
        pass_time(process.clock, 2 * TICK)
    at = process.ended[0]
    longest = max(stands for _, stands in stops)
    assert limit <= at + 1e-6
    assert at <= STRETCH * limit + 2 * (longest + TICK) + 1e-6


def test_what_has_come_while_the_process_stood_still_is_read_first() -> None:
    """A limit ends a tick after it is over: the event loop reads in between."""
    process = Process(3.0)
    process.clock.advance(1000.0)
    assert process.ended == []
    process.work.callback(None)  # the response was read
    pass_time(process.clock, 10.0)
    assert process.ended == []


def test_it_stands_still_and_has_no_timer_while_nothing_uses_it() -> None:
    process = Process(3.0)
    pass_time(process.clock, 1.0)
    process.work.callback(None)
    assert process.clock.getDelayedCalls() == []
    process.clock.advance(1000.0)
    assert process.time.now() == pytest.approx(1.0)
    process.time.add_user()
    assert process.time.late_until() <= process.time.now()
    pass_time(process.clock, 1.0)
    assert process.time.now() == pytest.approx(2.0)
    process.time.remove_user()


def test_a_process_is_starved_until_ticks_come_in_time_for_a_while() -> None:
    process = Process(30.0)
    process.clock.advance(LoopTime.LATE + 0.01)
    assert process.time.late_until() > process.time.now()
    pass_time(process.clock, LoopTime.RECOVERY / 2)
    assert process.time.late_until() > process.time.now()
    pass_time(process.clock, LoopTime.RECOVERY)
    assert process.time.late_until() <= process.time.now()


# --- work with a limit


class Limited:
    """Work with a limit of 30 s; *stubborn* work ignores that it is cancelled."""

    def __init__(self, *, stubborn: bool) -> None:
        self.clock = Clock()
        self.work: Deferred[str] = Deferred()
        if stubborn:
            self.work = Deferred(lambda cancelled: cancelled.callback(""))
            self.work.addCallback(lambda result: Deferred())
        time = LoopTime(self.clock.seconds, call_later(self.clock))
        self.result = time.limit(self.work, 30.0)
        self.came: list[Any] = []
        self.result.addBoth(self.came.append)


ENDS: list[tuple[str, Callable[[Limited], object], type[BaseException]]] = [
    ("its error", lambda it: it.work.errback(ZeroDivisionError()), ZeroDivisionError),
    ("another cancels it", lambda it: it.work.cancel(), InterruptionError),
    ("too late", lambda it: pass_time(it.clock, 30.5), TimeLimitError),
    ("cancelled", lambda it: it.result.cancel(), CancelledError),
]


@pytest.mark.parametrize("stubborn", [False, True])
@pytest.mark.parametrize(("end", "error"), [each[1:] for each in ENDS], ids=[e[0] for e in ENDS])
def test_work_fails_at_once_and_leaves_no_timer(
    end: Callable[[Limited], object], error: type[BaseException], stubborn: bool
) -> None:
    """Work that ignores being cancelled delays nothing."""
    if stubborn and error is InterruptionError:
        pytest.skip("it ignores that too")
    limited = Limited(stubborn=stubborn)
    end(limited)
    (failure,) = limited.came
    assert failure.type is error
    assert limited.clock.getDelayedCalls() == []
    if error in (TimeLimitError, CancelledError):
        assert stubborn or limited.work.called


def test_work_in_time_passes_its_result_and_leaves_no_timer() -> None:
    limited = Limited(stubborn=False)
    pass_time(limited.clock, 29.0)
    limited.work.callback("file")
    assert limited.came == ["file"]
    assert limited.clock.getDelayedCalls() == []
