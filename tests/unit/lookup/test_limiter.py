"""Admission of fetches: how many run at once, which one another preempts, and who comes next."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.lookup.limiter import FetchLimiter
from scrapy_robotspec.lookup.loop_time import LoopTime
from tests.support.timers import call_later, pass_time

SILENT = FetchLimiter.SILENT_AFTER
PREEMPT = FetchLimiter.PREEMPT_AFTER
BURST = FetchLimiter.BURST_FACTOR


def origin(number: int) -> Origin:
    return Origin("http", f"{number}.example", 80)


class Fetches:
    """A limiter whose time a test lets pass."""

    def __init__(self, limit: int) -> None:
        self.clock = Clock()
        call = call_later(self.clock)
        self.limiter = FetchLimiter(limit, LoopTime(self.clock.seconds, call))

    def begin(self, *numbers: int, asked_before: bool = False) -> list[Origin | None]:
        """Begin a fetch of each; what each preempts."""
        return [self.limiter.begin(origin(number), asked_before) for number in numbers]

    def pass_time(self, seconds: float) -> None:
        pass_time(self.clock, seconds)

    def starve(self, seconds: float) -> None:
        """The process does nothing for *seconds*."""
        self.clock.advance(seconds)


def test_a_silent_fetch_does_not_count_towards_the_limit() -> None:
    """ROBOTSPEC_CONCURRENT_FETCHES."""
    fetches = Fetches(2)
    fetches.begin(0)
    fetches.pass_time(0.1)
    fetches.begin(1)
    fetches.pass_time(0.1)
    assert fetches.limiter.slot_in() == pytest.approx(SILENT - 0.2)
    fetches.pass_time(SILENT - 0.2)
    assert fetches.limiter.slot_in() == 0
    fetches.begin(2)
    assert fetches.limiter.slot_in() == pytest.approx(0.1)


def test_at_the_burst_limit_the_oldest_fetch_is_preempted_after_a_while() -> None:
    fetches = Fetches(1)
    for number in range(BURST):
        fetches.begin(number)
        fetches.pass_time(0.1)
    assert fetches.limiter.slot_in() == pytest.approx(PREEMPT - BURST / 10)
    fetches.pass_time(PREEMPT - BURST / 10)
    assert fetches.begin(9) == [origin(0)]
    assert fetches.limiter.slot_in() == pytest.approx(SILENT)


def test_origins_asked_before_are_not_preempted_and_get_half_of_the_burst() -> None:
    """So every origin has its whole time once, and others always have capacity."""
    fetches = Fetches(1)
    for number in range(BURST // 2):
        fetches.begin(number, asked_before=True)
        fetches.pass_time(SILENT)
    assert fetches.limiter.slot_in(asked_before=True) == math.inf
    preempted = []
    for number in range(100, 100 + BURST):
        preempted += fetches.begin(number)
        fetches.pass_time(PREEMPT)
    assert preempted == [None] * (BURST // 2) + [origin(100 + n) for n in range(BURST // 2)]
    fetches.limiter.end(origin(0))
    assert fetches.limiter.slot_in(asked_before=True) == 0


@pytest.mark.parametrize("stop", [0.6, 6.0, 60.0])
def test_a_starved_process_begins_no_more_than_the_limit_and_preempts_none(stop: float) -> None:
    """It cannot tell silent servers from those whose answers it has not read."""
    fetches = Fetches(2)
    fetches.begin(0, 1)
    for _ in range(5):
        fetches.starve(stop)
        assert fetches.limiter.slot_in() > 0
    fetches.limiter.end(origin(0))
    assert fetches.limiter.slot_in() == 0
    fetches.begin(2)
    fetches.pass_time(LoopTime.RECOVERY + 0.01)
    assert fetches.limiter.slot_in() == 0  # both were silent for long enough since


def test_a_starved_process_at_the_burst_limit_preempts_none() -> None:
    fetches = Fetches(1)
    fetches.begin(*range(BURST))
    fetches.starve(PREEMPT + 1)
    assert fetches.limiter.slot_in() > 0
    fetches.pass_time(PREEMPT)
    assert fetches.limiter.slot_in() == 0


@example(1, [("first", 0.0), *[("first", 7.0)] * 7, ("first", 1.0)])
@given(
    st.integers(1, 5),
    st.lists(st.tuples(st.sampled_from(["first", "again", "release", "starve"]), st.floats(0, 30))),
)
def test_callers_that_ask_first_never_exceed_a_limit(
    limit: int, steps: list[tuple[str, float]]
) -> None:
    """A newcomer gets a slot within the time after which a fetch may be preempted."""
    fetches, number = Fetches(limit), 0
    limiter, time = fetches.limiter, fetches.limiter._time
    young: list[tuple[float, Origin]] = []
    for step, wait in steps:
        (fetches.starve if step == "starve" else fetches.pass_time)(wait / 10)
        now = time.now()
        young = [(start, each) for start, each in young if now < start + SILENT]
        if step == "release":
            limiter.end(origin(number - 1))
            young = [(start, each) for start, each in young if each != origin(number - 1)]
        elif step != "starve" and not limiter.slot_in(step == "again"):
            (preempted,) = fetches.begin(number, asked_before=step == "again")
            young = [(start, each) for start, each in young if each != preempted]
            young.append((now, origin(number)))
            number += 1
        assert len(young) <= limit
        assert len(limiter) <= limit * BURST
        assert limiter.slot_in() <= max(PREEMPT, LoopTime.RECOVERY)


# --- waits for a slot


class Waiting:
    """Waits that begin a fetch, of an origin of its own, when they end.

    Servers are silent, or respond after ``ANSWER`` seconds. A preempted fetch waits again.
    """

    ANSWER = 0.05

    def __init__(self, limit: int) -> None:
        fetches = Fetches(limit)
        self.time, self.limiter = fetches.clock, fetches.limiter
        self.began: list[int] = []
        self.starts: list[float] = []
        self.answered: dict[int, float] = {}

    def add(self, number: int, asked_before: bool = False, answers: bool = False) -> Deferred[None]:
        waiter = self.limiter.wait_for_slot(asked_before)
        return waiter.addCallback(lambda _: self.begin(number, asked_before, answers))

    def begin(self, number: int, asked_before: bool = False, answers: bool = False) -> None:
        preempted = self.limiter.begin(origin(number), asked_before)
        self.began.append(number)
        self.starts.append(self.time.seconds())
        if answers:
            self.time.callLater(self.ANSWER, self.answer, number)
        if preempted is not None:
            self.add(int(preempted.host.partition(".")[0]), asked_before=True)

    def answer(self, number: int) -> None:
        self.limiter.end(origin(number))
        self.answered[number] = self.time.seconds()

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds / 0.01)):
            self.time.advance(0.01)


def test_waits_end_as_slots_become_free_by_time_or_by_release() -> None:
    crawl = Waiting(2)
    for number in range(4):
        crawl.add(number)
    crawl.run(0.1)
    assert len(crawl.began) == 2
    crawl.limiter.end(origin(crawl.began[0]))
    crawl.limiter.end(origin(99))  # it has no slot
    crawl.run(0.1)
    assert len(crawl.began) == 3
    crawl.run(SILENT)
    assert sorted(crawl.began) == [0, 1, 2, 3]


@pytest.mark.parametrize(("new", "silent"), [(10, 10), (2000, 100), (100, 2000)])
def test_origins_asked_before_get_one_slot_of_four(new: int, silent: int) -> None:
    """Neither thousands of new nor thousands of silent origins keep the others waiting."""
    crawl = Waiting(4)
    for number in range(new + silent):
        crawl.add(number, asked_before=number < silent)
    crawl.run(2 * SILENT + 0.1)
    assert sum(number < silent for number in crawl.began[:12]) == 3


def test_newest_and_oldest_alternate_in_each_kind() -> None:
    """An origin asked before gets its next attempt while others begin to wait without end."""
    crawl = Waiting(1)
    for number in range(200):
        crawl.add(number, asked_before=number < 100, answers=True)
    crawl.run(16 * SILENT + 0.1)
    assert [number for number in crawl.began[:16] if number < 100] == [99, 0, 98, 1]
    assert [number for number in crawl.began[:8] if number >= 100] == [100, 199, 101, 198, 102, 197]


def test_newcomer_keeps_the_ratio_too() -> None:
    """It is asked for when it is its turn, and no wait overtakes it."""
    crawl = Waiting(1)
    for number in range(100):
        crawl.add(number, asked_before=True)
    called: list[float] = []
    for number in range(100, 106):
        while not crawl.limiter.may_begin(0, lambda: called.append(crawl.time.seconds())):
            crawl.run(0.01)
        crawl.begin(number)
    assert called
    assert [number >= 100 for number in crawl.began] == [True, True, True, False, True, True, True]


def test_newcomers_on_their_way_count_as_fetches_that_have_begun() -> None:
    fetches = Fetches(3)
    fetches.begin(0)
    called: list[bool] = []
    assert fetches.limiter.may_begin(1, lambda: called.append(True))
    assert not fetches.limiter.may_begin(2, lambda: called.append(True))
    fetches.begin(1, 2)
    assert not fetches.limiter.may_begin(0, lambda: called.append(True))
    assert not called
    fetches.pass_time(SILENT)
    assert called
    assert fetches.limiter.may_begin(2, lambda: called.append(True))


def test_discarded_wait_gets_no_slot() -> None:
    crawl = Waiting(1)
    crawl.begin(0)
    gone, kept = crawl.add(1), crawl.add(2)
    crawl.limiter.discard(gone)
    crawl.run(1)
    assert crawl.began == [0, 2]
    assert (gone.called, kept.called) == (False, True)


@pytest.mark.parametrize("silent", [24, 10_000])
def test_silent_origins_delay_no_others_and_no_newcomer(silent: int) -> None:
    crawl = Waiting(32)
    for number in range(silent):
        crawl.add(number)
    for newcomer in range(100_000, 100_020):
        crawl.add(newcomer, answers=True)
        began = crawl.time.seconds()
        crawl.run(2.0)
        assert crawl.answered[newcomer] - began < 2 * SILENT + 2 * Waiting.ANSWER


def test_silent_origins_are_all_asked_at_a_steady_rate() -> None:
    """No pause in which none is asked, and no herd of them at once."""
    crawl = Waiting(32)
    for number in range(2000):
        crawl.add(number)
    crawl.run(2000 / (32 * BURST / 2 / PREEMPT) + 10)
    assert set(crawl.began) == set(range(2000))
    assert max(later - earlier for earlier, later in itertools.pairwise(crawl.starts)) < 2 * SILENT
    for number, start in enumerate(crawl.starts):
        soon = crawl.starts[number : number + 65]
        assert sum(at < start + SILENT for at in soon) <= 2 * 32
