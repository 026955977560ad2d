"""Processes that share a crawl delay, simulated with a given clock.

Events happen in the order of their times. A process is a real ``CrawlDelay`` with a clock of its
own. It wakes late, and reaches the store, a ``MemoryStore`` behind a real circuit breaker, after a
time.
"""

from __future__ import annotations

import heapq
import itertools
import math
import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from scrapy import Request
from twisted.internet.defer import Deferred

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.errors import StoreError
from scrapy_robotspec.lookup import Pending
from scrapy_robotspec.lookup.tiered_store import TieredStore
from scrapy_robotspec.plugin.scheduling.crawl_delay import CrawlDelay
from scrapy_robotspec.store.base import Reservation, SlotRequest
from scrapy_robotspec.store.memory import MemoryStore

ORIGIN = Origin("http", "a.example", 80)
#: Seconds for which a process that has never reached the store waits for it.
HOLD = 30.0


class Event:
    """A delayed call."""

    def __init__(self, call: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.call: Callable[..., Any] | None = call
        self.args = args

    def cancel(self) -> None:
        self.call = None


class Time:
    """A clock that jumps from event to event."""

    def __init__(self) -> None:
        self.now = 0.0
        self._events: list[tuple[float, int, Event]] = []
        self._numbers = itertools.count()

    def call_later(self, seconds: float, call: Callable[..., Any], *args: Any) -> Event:
        event = Event(call, args)
        at = self.now + max(0.0, seconds)
        heapq.heappush(self._events, (at, next(self._numbers), event))
        return event

    @property
    def pending(self) -> int:
        """Number of calls still to come."""
        return sum(event.call is not None for *_, event in self._events)

    def run(self, seconds: float) -> None:
        """Let *seconds* pass."""
        until = self.now + seconds
        while self._events and self._events[0][0] <= until:
            self.now, _, event = heapq.heappop(self._events)
            if event.call is not None:
                event.call(*event.args)
        self.now = until


class SharedStore(MemoryStore):
    """The store of a fleet. Its clock differs from all others."""

    def __init__(self, time: Time) -> None:
        self.ahead = 5000.0
        super().__init__(monotonic=lambda: time.now + self.ahead)
        self.is_gone = False
        self.hangs = 0.0
        """Seconds that a call takes to fail while the store is gone."""
        self.calls = 0

    def reserve(self, origin: Origin, asked: SlotRequest) -> Reservation:
        if self.is_gone:
            raise StoreError("gone")
        self.calls += 1
        return super().reserve(origin, asked)

    def flush(self) -> None:
        self._queues.clear()


class Fleet:
    """Processes that share a store."""

    def __init__(
        self,
        delay: float,
        *,
        seed: int = 0,
        jitter: float = 0.002,
        stalls: float = 0.0,
        away: float = 0.0005,
        early: float = 0.0,
    ) -> None:
        self.time = Time()
        self.store = SharedStore(self.time)
        self.delay = delay
        self.jitter = jitter
        self.stalls = stalls
        self.away = away
        self.early = early
        self.random = random.Random(seed)
        self.processes: list[Process] = []
        self.sent: list[tuple[float, float]] = []
        """Time and delay of each page."""

    def start(self, number: int, **options: Any) -> list[Process]:
        """Start more processes, all at about the same time."""
        started = [Process(self, **options) for _ in range(number)]
        self.processes += started
        for process in started:
            self.time.call_later(self.random.uniform(0, 0.5), process.fill)
        return started

    def run(self, seconds: float) -> None:
        self.time.run(seconds)

    def kill(self, number: int) -> None:
        for process in self.processes[:number]:
            process.is_dead = True
        del self.processes[:number]

    # --- what was sent

    def times(self, since: float = 0.0, until: float | None = None) -> list[float]:
        last = self.time.now if until is None else until
        return [at for at, _ in self.sent if since <= at <= last]

    def gaps(self, since: float = 0.0, until: float | None = None) -> list[float]:
        """Times between neighbouring pages."""
        return gaps(self.times(since, until))

    def short(self, since: float = 0.0, until: float | None = None) -> int:
        """Number of gaps shorter than the delay of the earlier page."""
        pages = [page for page in self.sent if page[0] >= since]
        return sum(
            later[0] - earlier[0] < earlier[1] for earlier, later in itertools.pairwise(pages)
        )

    def pace(self, since: float, until: float | None = None) -> float:
        """Pages as a share of what the delay allows."""
        last = self.time.now if until is None else until
        return len(self.times(since, last)) * self.delay / (last - since)


def gaps(times: list[float]) -> list[float]:
    return [later - earlier for earlier, later in itertools.pairwise(times)]


class Way:
    """The way of one process to the store of its fleet."""

    name = "the fleet's store"

    def __init__(self, process: Process) -> None:
        self._process = process

    def node_of(self, origin: Origin) -> None:
        """One node."""

    def reserve(self, origin: Origin, asked: SlotRequest) -> Reservation:
        if self._process.is_cut_off:
            raise OSError("no way to the store")
        return self._process.fleet.store.reserve(origin, asked)


class Process:
    """A crawl process. *waiting* of its requests wait at a time."""

    def __init__(self, fleet: Fleet, *, delay: float | None = None, waiting: int = 1) -> None:
        self.fleet = fleet
        self._delay = delay
        self._waiting = waiting
        self.skew = fleet.random.uniform(-1e6, 1e6)
        self.is_dead = False
        self.is_cut_off = False
        self.pages: list[float] = []
        self.let_gone: list[str] = []
        """URLs of requests that a download slot was to expect."""
        self.full_until = 0.0
        self.allowed: Callable[[Request], bool] = lambda request: True
        self.delays: dict[str, float] = {}
        """Delays of requests that have another one, by URL."""
        self.store = TieredStore(
            Way(self),  # type: ignore[arg-type]
            self._in_thread,
            self.monotonic,
            owner="",
            lease_seconds=0.0,
        )
        # All that the crawl delay asks, in one object.
        self.lookup = self.settings = self.engine = self
        self.wakes = 0
        self.policy = SimpleNamespace(delay=float)
        self.hold_timeout = HOLD
        self.crawl_delay = CrawlDelay(
            self,  # type: ignore[arg-type]
            self,  # type: ignore[arg-type]
            monotonic=self.monotonic,
            call_later=self.call_later,
        )

    @property
    def delay(self) -> float:
        return self.fleet.delay if self._delay is None else self._delay

    def send_wait(self, request: Request) -> float:
        return max(0.0, self.full_until - self.fleet.time.now)

    def slot_key(self, request: Request) -> str:
        return Origin.of(request.url).host  # type: ignore[union-attr]

    def wake(self) -> None:
        self.wakes += 1

    def let_go(self, request: Request) -> None:
        """The simulated download slot gets it at once."""
        self.let_gone.append(request.url)

    def decide_now(self, origin: Origin, request: Request, now: float) -> float | Pending:
        """The answer is the delay."""
        if not self.allowed(request):
            return Pending(origin, math.inf)
        return self.delays.get(request.url, self.delay)

    def monotonic(self) -> float:
        return self.fleet.time.now + self.skew

    def call_later(self, seconds: float, call: Callable[..., Any], *args: Any) -> Event:
        """Timers end late, or a little early."""
        wait = max(0.0, seconds - self.fleet.early) + self._late()
        return self.fleet.time.call_later(wait, self._run, call, args)

    def _run(self, call: Callable[..., Any], args: tuple[Any, ...]) -> None:
        if not self.is_dead:
            call(*args)

    def _late(self) -> float:
        fleet = self.fleet
        late = fleet.random.uniform(0, fleet.jitter)
        if fleet.random.random() < fleet.stalls:
            late += fleet.random.uniform(0.05, 0.5)
        return late

    def _in_thread(self, call: Callable[..., Any], *args: Any) -> Deferred[Any]:
        """A thread that reaches the store after a time, and back."""
        outcome: Deferred[Any] = Deferred()
        time, away = self.fleet.time, self.fleet.away

        def work() -> None:
            done = call(*args)
            back = self.fleet.random.uniform(0.5, 1.5) * away + self._late()
            if str(done[2]).endswith("gone"):  # not by the circuit breaker
                back += self.fleet.store.hangs
            time.call_later(back, self._run, outcome.callback, (done,))

        time.call_later(self.fleet.random.uniform(0.5, 1.5) * away, work)
        return outcome

    # --- the downloader

    def occupy(self, every: float, seconds: float) -> None:
        """Fill the download slot for *seconds*, again and again."""
        self.full_until = self.fleet.time.now + seconds
        self.fleet.time.call_later(
            self.fleet.random.uniform(0.5, 1.5) * every, self.occupy, every, seconds
        )

    # --- requests

    def gaps(self) -> list[float]:
        return gaps(self.pages)

    def fill(self) -> None:
        """Let requests wait."""
        for _ in range(self._waiting):
            self.ask()

    def ask(self, request: Request | None = None) -> None:
        """Let one request wait."""
        asked = request or Request("http://a.example/")
        turn = self.crawl_delay.pace(asked, ORIGIN, self.delay)
        turn.addCallback(self._end, asked)

    def _end(self, goes: bool, request: Request) -> None:
        if goes:
            now = self.fleet.time.now
            self.pages.append(now)
            self.fleet.sent.append((now, self.delay))
        if not self.is_dead:
            self.fleet.time.call_later(0.001, self.ask)
