"""When pages of an origin with a crawl delay may go: alone, in a fleet, without the store."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from scrapy import Request
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.errors import StoreError
from scrapy_robotspec.lookup import TieredStore
from scrapy_robotspec.plugin.scheduling.crawl_delay import CrawlDelay
from scrapy_robotspec.plugin.scheduling.fleet_pace import LIFETIME, RECOVERY, FleetPace
from scrapy_robotspec.store.base import Fleet, ask_again_at
from scrapy_robotspec.store.memory import MemoryStore
from tests.support.timers import call_later

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

START = 1_800_000_000.0
HOLD = 30.0
A, B = Origin("http", "a.example", 80), Origin("http", "b.example", 80)
_T = TypeVar("_T")


class SharedStore(MemoryStore):
    """A store of several workers, with a clock of its own, that may fail."""

    def __init__(self, time: Clock) -> None:
        super().__init__()
        self._time = time
        self._seen: dict[str, float] = {}
        self.fails = self.is_full = False
        self.refused: set[str] = set()
        self.calls = 0

    def forget(self) -> None:
        self._last_pages.clear()
        self._seen.clear()

    def reserve(self, origin: Origin, now: float, delay: float) -> float:
        self._work()
        own = 1000.0 + float(self._time.seconds())
        before = dict(self._last_pages)
        wait = max(0.0, super().reserve(origin, own, delay) - own)
        if self.is_full and self._last_pages != before:
            self._last_pages.clear()
            self._last_pages.update(before)
            raise StoreError("full")
        return ask_again_at(now, wait)

    def heartbeat(self, owner: str, now: float, seconds: float) -> Fleet:
        self._work()
        own = 1000.0 + float(self._time.seconds())
        self._seen[owner] = own + seconds
        alive = sorted(owner for owner, until in self._seen.items() if until > own)
        return Fleet(alive.index(owner) if owner in alive else 0, len(alive), own)

    def _work(self) -> None:
        self.calls += 1
        if self.fails:
            raise StoreError("gone")


class Worker:
    """A crawl process with queued requests of origin A. *skew* is how wrong its clock is."""

    def __init__(
        self,
        time: Clock,
        shared: SharedStore | None = None,
        *,
        name: str = "worker",
        delay: float = 1.0,
        queued: int = 1000,
        skew: float = 0.0,
    ) -> None:
        self.time = time
        self.shared, self.name = shared, name
        self.delay = delay
        self.queued = queued
        self.skew = skew
        self.sent: list[float] = []
        self.send_wait = 0.0
        self.reaction = self.thread_time = 0.001
        self.connecting = 0.0
        self.arrived: list[float] = []
        store = TieredStore(MemoryStore(), shared, self._in_thread, owner=name, lease_seconds=30)
        clocks: Any = {
            "clock": self.clock,
            "monotonic": lambda: float(time.seconds()) + 5 * skew,
            "call_later": call_later(time),
        }
        self.crawl_delay = CrawlDelay(
            FleetPace(store, hold=HOLD, **clocks),
            send_wait=lambda request: self.send_wait,
            **clocks,
        )

    def clock(self) -> float:
        return START + float(self.time.seconds()) + self.skew

    def _in_thread(self, call: Callable[..., _T], *args: Any) -> Deferred[_T]:
        """A thread that takes its time, most of it after the call."""
        outcome: Deferred[_T] = Deferred()

        def work() -> None:
            try:
                if self.shared is not None and self.name in self.shared.refused:
                    raise StoreError("no way to the store")
                result = call(*args)
            except StoreError as error:
                self.time.callLater(self.thread_time, outcome.errback, error)
            else:
                self.time.callLater(self.thread_time, outcome.callback, result)

        self.time.callLater(0.0, work)
        return outcome

    # --- requests that wait

    def start(self) -> None:
        self.time.callLater(0.0, self.pop)

    def pop(self) -> None:
        """One request leaves the queue and waits for its slot."""
        if not self.queued:
            return
        self.queued -= 1
        request = Request("http://a.example/")
        turn = self.crawl_delay.wait(request, A, self.delay)
        turn.addCallbacks(lambda _: self._go(request), lambda failure: None)

    def _go(self, request: Request) -> None:
        self.send(request)
        self.time.callLater(self.reaction, self.pop)

    def send(self, request: Request) -> None:
        self.sent.append(float(self.time.seconds()))
        self.crawl_delay.pages.sent(request)
        self.arrived.append(self.sent[-1] + self.connecting)
        self.time.callLater(0.05 + self.connecting, self.crawl_delay.pages.answered, request)


def run(time: Clock, seconds: float, step: float = 0.0005) -> None:
    for _ in range(round(seconds / step)):
        time.advance(step)


def gaps(times: list[float]) -> list[float]:
    return [later - earlier for earlier, later in itertools.pairwise(sorted(times))]


def started(time: Clock, store: SharedStore, number: int, apart: float = 0.0) -> list[Worker]:
    """Started workers of one store; *apart*: seconds between their clocks."""
    workers = [Worker(time, store, name=f"{n}", skew=n * apart) for n in range(number)]
    for worker in workers:
        worker.start()
    return workers


def in_fleet(workers: list[Worker]) -> Iterator[float]:
    return itertools.chain.from_iterable(worker.sent for worker in workers)


@pytest.fixture
def time() -> Clock:
    return Clock()


def test_a_process_alone_keeps_the_delay_and_the_pace(time: Clock) -> None:
    """EXT-01: never closer than the delay, and not much further apart."""
    worker = Worker(time)
    worker.start()
    run(time, 20)
    assert min(gaps(worker.sent)) >= 1.0
    assert len(worker.sent) >= 19


def goes(worker: Worker, origin: Origin, delay: float, earliest: float = 0.0) -> list[float]:
    """When a request that waits from now on goes; empty until then."""
    gone: list[float] = []
    turn = worker.crawl_delay.wait(Request(f"{origin}/"), origin, delay, earliest)
    turn.addCallbacks(lambda _: gone.append(float(worker.time.seconds())), lambda failure: None)
    return gone


def test_robots_txt_counts_as_a_page(time: Clock) -> None:
    gone = goes(Worker(time), A, 1.0, START + 0.7)
    run(time, 1.5)
    assert gone
    assert gone[0] >= 0.7


@pytest.mark.parametrize("ahead", [1.5, 3600.0])
def test_a_robots_txt_from_the_future_delays_nothing(time: Clock, ahead: float) -> None:
    """Another machine fetched it, and its clock is wrong."""
    gone = goes(Worker(time), A, 1.0, START + ahead)
    run(time, 0.1)
    assert gone


def test_other_origins_are_not_delayed(time: Clock) -> None:
    worker = Worker(time)
    gone = [goes(worker, origin, 60.0) for origin in (A, B, A)]
    run(time, 1)
    assert [bool(each) for each in gone] == [True, True, False]


@pytest.mark.parametrize("size", [2, 6, 16])
@pytest.mark.parametrize("delay", [0.2, 2.0])
def test_a_fleet_keeps_one_pace(time: Clock, size: int, delay: float) -> None:
    """EXT-01: never closer, 95% of the pace, fair, few calls, with clocks that are hours apart."""
    store, seconds = SharedStore(time), 200 * delay
    workers = [
        Worker(time, store, name=f"{n:02}", delay=delay, skew=(n - 3) * 3600) for n in range(size)
    ]
    for worker in workers:
        worker.start()
    run(time, seconds, step=delay / 400)
    sent = list(in_fleet(workers))
    assert min(gaps(sent)) >= delay
    assert len(sent) >= 0.95 * seconds / delay
    counts = [len(worker.sent) for worker in workers]
    assert max(counts) <= 2 * min(counts)
    heartbeats = size * (seconds / 2 + 1)
    assert store.calls - heartbeats <= (3 + size / 2) * len(sent)


def test_a_worker_that_dies_costs_no_more_than_one_slot(time: Clock) -> None:
    """At once after it has reserved a page."""
    store = SharedStore(time)
    dead, alive = Worker(time, store, name="a"), Worker(time, store, name="b")
    dead.start()
    run(time, 3.5)
    dead.reaction = math.inf
    dead.time = Clock()
    alive.start()
    run(time, 10)
    assert len(alive.sent) >= 8


def test_a_page_that_is_sent_late_moves_the_next_slot(time: Clock) -> None:
    """The machine was busy between the reservation and the sending."""
    store = SharedStore(time)
    late, other = Worker(time, store, name="a"), Worker(time, store, name="b")
    late.reaction = 0.3
    for worker in (late, other):
        worker.start()
    run(time, 60)
    assert min(gaps(list(in_fleet([late, other])))) >= 1.0


def test_a_page_that_arrives_late_moves_the_next_slot(time: Clock) -> None:
    """One process has to connect for each page, the others have connections."""
    store = SharedStore(time)
    workers = started(time, store, 3)
    run(time, 20)
    workers[0].connecting = 0.3
    run(time, 3)
    workers[0].connecting = 0.0
    run(time, 20)
    arrived = [at for worker in workers for at in worker.arrived]
    assert workers[0].arrived != workers[0].sent
    assert min(gaps(arrived)) >= 1.0


def test_a_page_without_a_response_costs_one_slot(time: Clock) -> None:
    """It may still be on its way when the next slot would begin."""
    store = SharedStore(time)
    workers = started(time, store, 2)
    run(time, 10.5)
    workers[0].connecting = 0.95
    run(time, 2)
    workers[0].connecting = 0.0
    run(time, 10)
    assert min(gaps([at for worker in workers for at in worker.arrived])) >= 1.0
    assert len(list(in_fleet(workers))) >= 20


@pytest.mark.parametrize("size", [1, 2, 6])
def test_without_the_store_the_fleet_divides_the_time(time: Clock, size: int) -> None:
    """Each keeps the delay times the processes last seen alive, and none is faster than allowed."""
    store = SharedStore(time)
    workers = started(time, store, size, apart=3600.0)
    run(time, 10)
    store.fails = True
    run(time, 70)
    gone = [at for at in in_fleet(workers) if 22 < at < 80]
    store.fails = False
    run(time, 60)
    back = [at for at in in_fleet(workers) if at > 80 + RECOVERY + 2]
    assert min(gaps(list(in_fleet(workers)))) >= 1.0
    assert len(gone) >= 0.8 * 58
    assert len(back) >= 0.95 * 48
    for worker in workers:
        own = [at for at in worker.sent if 22 < at < 80]
        assert min(gaps(own)) >= size


def test_a_store_that_comes_back_empty_is_shared_by_all_before_its_processes_count(
    time: Clock,
) -> None:
    """A restarted server knows no process. The first to find it must not think it is alone."""
    store = SharedStore(time)
    workers = started(time, store, 3)
    run(time, 10)
    store.fails = True
    run(time, 30)
    store.fails, store.refused = False, {"1", "2"}
    store.forget()
    run(time, 6)
    store.refused = set()
    run(time, 30)
    assert min(gaps(list(in_fleet(workers)))) >= 1.0


def test_a_slow_call_does_not_move_the_clock_of_the_store(time: Clock) -> None:
    """A busy machine: the reply to a heartbeat comes late, and the intervals must not shift."""
    store = SharedStore(time)
    workers = started(time, store, 3)
    run(time, 3)
    workers[1].thread_time = 0.6
    run(time, 3)
    workers[1].thread_time = 0.001
    store.fails = True
    run(time, 60)
    assert min(gaps(list(in_fleet(workers)))) >= 1.0


def test_a_process_that_never_reached_the_store_holds_its_pages_for_a_time(
    time: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    """Other processes may share it. Then it keeps the delay for itself."""
    store = SharedStore(time)
    store.fails = True
    worker = Worker(time, store)
    worker.start()
    run(time, HOLD - 0.1)
    assert worker.sent == []
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "ROBOTSPEC_HOLD_TIMEOUT" in caplog.text
    run(time, 40)
    assert min(gaps(worker.sent)) >= 1.0
    assert len(worker.sent) >= 25
    assert len(caplog.records) == 2


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("full_from", [0, 10])
def test_pages_go_on_where_the_store_takes_heartbeats_but_no_pages(
    time: Clock, size: int, full_from: int
) -> None:
    """A store with little room may replace values that it has, and add none."""
    store = SharedStore(time)
    store.is_full = not full_from
    workers = started(time, store, size)
    run(time, full_from)
    store.is_full = True
    run(time, 3 * HOLD, step=0.001)
    sent = sorted(in_fleet(workers))
    assert [worker for worker in workers if not worker.sent] == []
    assert len([at for at in sent if at > full_from + 2 * HOLD]) >= 0.8 * HOLD
    for worker in workers if not full_from else []:
        assert min(gaps(worker.sent)) >= 1.0
    if full_from:
        assert min(gaps(sent)) >= 1.0


def test_a_process_started_without_the_store_joins_the_others_when_it_is_back(
    time: Clock,
) -> None:
    store = SharedStore(time)
    old = started(time, store, 2)
    run(time, 5)
    store.fails = True
    run(time, 3)
    new = Worker(time, store, name="new")
    new.start()
    run(time, 15)
    assert new.sent == []
    store.fails = False
    run(time, 40)
    assert len(new.sent) >= 7
    assert min(gaps(list(in_fleet([*old, new])))) >= 1.0


def test_a_process_that_ends_leaves_the_fleet(time: Clock) -> None:
    """Without the store the others need not keep its part of the time free."""
    store = SharedStore(time)
    workers = started(time, store, 2)
    run(time, 5)
    Deferred.fromCoroutine(workers[1].crawl_delay.close())
    run(time, 2.5)
    assert store.heartbeat("0", START, LIFETIME).size == 1
