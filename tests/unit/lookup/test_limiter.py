"""Admission of fetches: how many run at once, and which one another preempts."""

from __future__ import annotations

import heapq
import math
from collections import deque
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from twisted.internet.task import Clock

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.lookup import FetchLimiter
from scrapy_robotspec.lookup.limiter import SlotWaits

if TYPE_CHECKING:
    from twisted.internet.defer import Deferred

SILENT = FetchLimiter.SILENT_AFTER
PREEMPT = FetchLimiter.PREEMPT_AFTER
BURST = FetchLimiter.BURST_FACTOR


def origin(number: int) -> Origin:
    return Origin("http", f"{number}.example", 80)


def started(limit: int, times: list[float]) -> FetchLimiter:
    """A limiter with fetches of the origins 0, 1, … that started at *times*."""
    limiter = FetchLimiter(limit)
    for number, time in enumerate(times):
        limiter.acquire(origin(number), time)
    return limiter


def is_free(limiter: FetchLimiter, now: float, asked_before: bool = False) -> bool:
    return limiter.next_slot_at(now, asked_before) <= now


def test_fetches_up_to_the_limit_start_at_once() -> None:
    """ROBOTSPEC_CONCURRENT_FETCHES."""
    assert is_free(started(3, [0.0, 0.0]), 0.0)
    assert not is_free(started(3, [0.0, 0.0, 0.0]), 0.0)


def test_a_fetch_that_ends_frees_its_slot() -> None:
    """And releasing an origin without a slot is harmless."""
    limiter = started(1, [0.0])
    limiter.release(origin(5))
    assert not is_free(limiter, 0.0)
    limiter.release(origin(0))
    assert is_free(limiter, 0.0)
    assert len(limiter) == 0


def test_a_silent_fetch_does_not_count_towards_the_limit() -> None:
    limiter = started(2, [0.0, 0.1])
    assert limiter.next_slot_at(0.2) == SILENT
    assert is_free(limiter, SILENT)
    limiter.acquire(origin(2), SILENT)
    assert limiter.next_slot_at(SILENT) == SILENT + 0.1


def test_all_fetches_together_are_bounded() -> None:
    limiter = started(2, [n * SILENT for n in range(2 * BURST)])
    assert len(limiter) == 2 * BURST
    last = (2 * BURST - 1) * SILENT
    assert limiter.acquire(origin(99), last) == origin(0)
    assert len(limiter) == 2 * BURST


def test_at_the_burst_limit_the_oldest_fetch_is_preempted_after_a_while() -> None:
    limiter = started(1, [100 + n / 10 for n in range(BURST)])
    now = 102.0
    assert limiter.next_slot_at(now) == 100 + PREEMPT
    assert limiter.acquire(origin(9), 100 + PREEMPT) == origin(0)
    assert limiter.next_slot_at(100 + PREEMPT) == pytest.approx(100 + PREEMPT + SILENT)


def test_a_fetch_that_preempts_another_waits_for_the_limit_too() -> None:
    """Else two start within the time in which one may."""
    limiter = started(1, [n * 0.7 for n in range(BURST)])
    assert limiter.next_slot_at(5.0) == pytest.approx(0.7 * (BURST - 1) + SILENT)


def test_origins_asked_before_are_not_preempted_and_get_half_of_the_burst() -> None:
    """So every origin has its whole time once, and others always have room."""
    limiter = FetchLimiter(1)
    for number in range(BURST // 2):
        limiter.acquire(origin(number), number * SILENT, asked_before=True)
    now = 1000.0
    assert limiter.next_slot_at(now, asked_before=True) == math.inf
    preempted = [limiter.acquire(origin(100 + n), now + n * PREEMPT) for n in range(BURST)]
    assert preempted == [None] * (BURST // 2) + [origin(100 + n) for n in range(BURST // 2)]
    limiter.release(origin(0))
    assert is_free(limiter, now + BURST * PREEMPT, asked_before=True)


def test_a_clock_put_back_blocks_no_fetch() -> None:
    """Starts in the future count as long past."""
    assert is_free(started(2, [1000.0, 1000.0]), 0.0)
    assert is_free(started(1, [1000.0] * BURST), 0.0)


# --- waits for a slot


class Waiting:
    """A limiter with waits that begin a fetch, of an origin of its own, when they end."""

    def __init__(self, limit: int) -> None:
        self.time = Clock()
        self.limiter = FetchLimiter(limit)
        self.waits = SlotWaits(
            self.limiter, clock=self.time.seconds, call_later=self.time.callLater
        )
        self.began: list[int] = []

    def add(self, number: int, asked_before: bool = False) -> Deferred[None]:
        waiter = self.waits.add(asked_before)
        return waiter.addCallback(lambda _: self.begin(number, asked_before))

    def begin(self, number: int, asked_before: bool = False) -> None:
        self.limiter.acquire(origin(number), self.time.seconds(), asked_before)
        self.began.append(number)

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds / 0.01)):
            self.time.advance(0.01)


def test_waits_end_as_slots_become_free_by_time_or_by_release() -> None:
    crawl = Waiting(2)
    for number in range(4):
        crawl.add(number)
    crawl.run(0.1)
    assert len(crawl.began) == 2
    crawl.limiter.release(origin(crawl.began[0]))
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


def test_newcomer_keeps_the_ratio_too() -> None:
    """It is asked for when it is its turn, and no wait overtakes it."""
    crawl = Waiting(1)
    for number in range(100):
        crawl.add(number, asked_before=True)
    called: list[float] = []
    for number in range(100, 106):
        while not crawl.waits.may_begin(lambda: called.append(crawl.time.seconds())):
            crawl.run(0.01)
        crawl.begin(number)
    assert called
    assert [number >= 100 for number in crawl.began] == [True, True, True, False, True, True, True]


def test_discarded_wait_gets_no_slot() -> None:
    crawl = Waiting(1)
    crawl.begin(0)
    gone, kept = crawl.add(1), crawl.add(2)
    crawl.waits.discard(gone)
    crawl.run(1)
    assert crawl.began == [0, 2]
    assert (gone.called, kept.called) == (False, True)


# --- promises


class Crawl:
    """A queue of origins in front of the limiter: silent ones, and ones that answer at once.

    A preempted origin, and one that timed out, is asked again after all others.
    """

    TIMEOUT = 30.0
    ANSWER = 0.05

    def __init__(self, limit: int, waiting: list[bool]) -> None:
        self.limiter = FetchLimiter(limit)
        self.first = deque(enumerate(waiting))
        self.again: deque[int] = deque()
        self.ends: list[tuple[float, int, bool]] = []
        self.preempted: set[int] = set()
        self.running: set[int] = set()
        self.starts: list[float] = []
        self.answered: dict[int, float] = {}
        self.now = 0.0

    def run(self, until: float) -> None:
        while self.now < until:
            self._end_fetches()
            # Every fourth turn is for an origin asked before, as in the scheduler's queues.
            turn = len(self.starts) % 4 == 3
            if not (self._start(turn) or self._start(not turn)):
                slot = self.limiter.next_slot_at(self.now)
                end = self.ends[0][0] if self.ends else math.inf
                self.now = max(self.now + 0.001, min(slot, end, self.now + 1.0))

    def _start(self, asked_before: bool) -> bool:
        queue = self.again if asked_before else self.first
        if not queue or not is_free(self.limiter, self.now, asked_before):
            return False
        number, silent = (self.again.popleft(), True) if asked_before else self.first.popleft()
        victim = self.limiter.acquire(origin(number), self.now, asked_before)
        if victim is not None:
            lost = int(victim.host.partition(".")[0])
            self.running.discard(lost)
            self.again.append(lost)
        self.running.add(number)
        self.starts.append(self.now)
        end = self.now + (self.TIMEOUT if silent else self.ANSWER)
        heapq.heappush(self.ends, (end, number, silent))
        return True

    def _end_fetches(self) -> None:
        while self.ends and self.ends[0][0] <= self.now:
            end, number, silent = heapq.heappop(self.ends)
            if number in self.running and not (silent and number in self.again):
                self.running.discard(number)
                self.limiter.release(origin(number))
                if silent:
                    self.again.append(number)
                else:
                    self.answered[number] = end


@pytest.mark.parametrize("silent", [24, 10_000])
def test_origins_that_answer_are_not_delayed_by_silent_ones_behind_them(silent: int) -> None:
    crawl = Crawl(32, [False] * 100 + [True] * silent)
    crawl.run(10.0)
    assert len(crawl.answered) == 100
    assert max(crawl.answered.values()) < 1.0


def test_origins_that_answer_are_not_delayed_by_twenty_four_silent_ones_before_them() -> None:
    crawl = Crawl(32, [True] * 24 + [False] * 1000)
    crawl.run(20.0)
    assert len(crawl.answered) == 1000
    assert max(crawl.answered.values()) < 1000 / 32 * Crawl.ANSWER + 5


def test_ten_thousand_silent_origins_do_not_keep_a_newcomer_waiting() -> None:
    """Whenever one comes, a slot is free for it within the pause between two steps."""
    crawl = Crawl(32, [True] * 10_000)
    for at in range(10, 400, 5):
        crawl.run(float(at))
        newcomer = 100_000 + at
        crawl.first.appendleft((newcomer, False))
        crawl.run(at + 2.0)
        assert crawl.answered[newcomer] - at < 2 * SILENT + Crawl.ANSWER


def test_ten_thousand_silent_origins_are_all_asked_at_a_steady_rate() -> None:
    """No pause in which none is asked, and no herd of them at once."""
    crawl = Crawl(32, [True] * 10_000)
    while crawl.first:
        crawl.run(crawl.now + 1.0)
    assert crawl.now < 10_000 / (32 * BURST / 2 / PREEMPT) + 10
    gaps = [later - earlier for earlier, later in zip(crawl.starts, crawl.starts[1:], strict=False)]
    assert max(gaps) < 2 * SILENT
    starts = crawl.starts
    at_once = max(
        sum(t <= s < t + SILENT for s in starts[n : n + 200]) for n, t in enumerate(starts)
    )
    assert at_once <= 2 * 32


@example(1, [("first", 0.0), *[("first", 7.0)] * 7, ("first", 1.0)])
@given(
    st.integers(1, 5),
    st.lists(st.tuples(st.sampled_from(["first", "again", "release"]), st.floats(0, 30))),
)
def test_callers_that_ask_first_never_exceed_a_limit(
    limit: int, steps: list[tuple[str, float]]
) -> None:
    """A newcomer gets a slot within the time after which a fetch may be preempted."""
    limiter, now, number = FetchLimiter(limit), 0.0, 0
    young: list[tuple[float, Origin]] = []
    for step, wait in steps:
        now += wait / 10
        young = [(start, each) for start, each in young if now < start + SILENT]
        if step == "release":
            limiter.release(origin(number - 1))
            young = [(start, each) for start, each in young if each != origin(number - 1)]
        elif is_free(limiter, now, step == "again"):
            preempted = limiter.acquire(origin(number), now, step == "again")
            young = [(start, each) for start, each in young if each != preempted]
            young.append((now, origin(number)))
            number += 1
        assert len(young) <= limit
        assert len(limiter) <= limit * BURST
        assert limiter.next_slot_at(now) <= now + PREEMPT
