"""Seconds in which the event loop could read: what ends a limit, and what does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.task import Clock

from scrapy_robotspec.lookup.loop_time import LoopTime
from tests.support.timers import call_later, pass_time

TICK, STRETCH = LoopTime.TICK, LoopTime.STRETCH


class Process:
    """A process that may be starved, with one limit."""

    def __init__(self, limit: float) -> None:
        self.clock = Clock()
        self.time = LoopTime(self.clock.seconds, call_later(self.clock))
        self.ended: list[float] = []
        self.limit = self.time.call_later(limit, self._end)

    def _end(self) -> None:
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
    process.limit.cancel()  # the response was read
    pass_time(process.clock, 10.0)
    assert process.ended == []


def test_it_stands_still_and_has_no_timer_while_nothing_uses_it() -> None:
    process = Process(3.0)
    pass_time(process.clock, 1.0)
    process.limit.cancel()
    process.limit.cancel()
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
