"""Gate, queues and lookup together: every request that waits goes on, whatever happens.

Requests come, servers answer or are silent, time passes, clocks jump, the machine is slow. The
engine looks into the queues only when it is woken: a lost wake-up leaves a request behind.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, cast

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from twisted.internet.defer import Deferred

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import FetchResult
from scrapy_robotspec.lookup import FetchDone, Lookup, Pending
from scrapy_robotspec.lookup.live_origins import LiveOrigins
from scrapy_robotspec.plugin.scheduling.gate import Gate
from scrapy_robotspec.plugin.scheduling.origin_queues import OriginQueues
from tests.unit.lookup.fakes import DEAD, DOWN, FILE, MISSING, A, B, C, LookupHarness

from .fakes import ActiveRequests, RequestQueue

HOLD = 10.0
origins = st.sampled_from([A, B, C])
results = st.sampled_from([FILE, MISSING, DOWN, DOWN, DEAD])
#: Seconds from one look at the clock to the next.
steps = st.sampled_from([0.0, 0.0, 0.01, 1.0, 4.0])


class Page(NamedTuple):
    """A request for a page."""

    number: int
    origin: Origin


class Crawl(LookupHarness):
    """An engine with one queue for each origin, on a lookup with servers."""

    def __init__(self) -> None:
        super().__init__(hold_timeout=HOLD, retry_max_delay=8.0)
        self.live = LiveOrigins()
        self.lookup = Lookup(self, self.memory, 1)
        self.lookup.followers.append(self)
        self.downloads = ActiveRequests()
        self.engine = self.progress = self
        self.is_active = self.downloads.is_active
        self.gate = Gate(cast("Any", self))
        self.waiting = 0
        self.queues: OriginQueues = OriginQueues(self.gate, cast("Any", self.downloads))
        self.woken = False
        self.pages = self.waits = 0
        self.errors: list[object] = []
        self.done: list[Page] = []

    def wake(self) -> None:
        self.woken = True

    def waiting_changed(self, change: int) -> None:
        self.waiting += change

    def on_fetch_done(self, done: FetchDone) -> None:
        """As the middleware does."""
        self.gate.update(done.found.origin)

    def add(self, origin: Origin) -> None:
        self.pages += 1
        page = Page(self.pages, origin)
        queue = self.queues.queue_of("slot", origin)
        if queue is None:
            self.queues.add_queue("slot", origin, RequestQueue([page]))
        else:
            self.queues.add_request(queue, page)  # type: ignore[arg-type]
        self.woken = True

    def run(self) -> None:
        """Send requests until the engine is not woken any more."""
        while self.woken:
            self.woken = False
            popped: list[Any] = []
            while (page := self.queues.pop()) is not None:
                self.downloads.start("slot", page)
                popped.append(page)
            for page in popped:  # the middleware sees them in the next turn of the event loop
                ended = Deferred.fromCoroutine(self._process(page))
                ended.addErrback(self.errors.append)

    async def _process(self, page: Page) -> None:
        """As the middleware does."""
        request = str(page.number)
        if isinstance(self.lookup.ask(page.origin, self.clock(), request), Pending):
            self.waits += 1
            with self.gate.hold(page.origin, page):  # type: ignore[arg-type]
                await self.lookup.wait(page.origin, request)
            self.waits -= 1
        else:
            self.gate.goes_on(page.origin, page)  # type: ignore[arg-type]
        self.downloads.end(page)
        self.done.append(page)
        self.woken = True


class WaitingHistories(RuleBasedStateMachine):
    """What may happen, and what holds after each step."""

    def __init__(self) -> None:
        super().__init__()
        self.crawl = Crawl()

    @rule(origin=origins, number=st.integers(1, 3))
    def requests_come(self, origin: Origin, number: int) -> None:
        for _ in range(number):
            self.crawl.add(origin)
        self.crawl.run()

    @rule(result=results, step=steps, data=st.data())
    def server_answers(self, result: FetchResult, step: float, data: st.DataObject) -> None:
        if self.crawl.fetching:
            origin = data.draw(st.sampled_from(sorted(self.crawl.fetching, key=str)))
            self.crawl.step = step
            self.crawl.answer(result, origin)
            self.crawl.step = 0.0
            self.crawl.run()

    @rule(step=st.sampled_from([0.01, 1.0]), data=st.data())
    def server_fails_as_the_hold_ends(self, step: float, data: st.DataObject) -> None:
        """The hold ends between two looks at the clock."""
        crawl = self.crawl
        ends = {origin: self._hold_end(origin) for origin in crawl.fetching}
        now = crawl.clock()
        failing = [origin for origin, end in ends.items() if 2 * step < end - now <= HOLD]
        if failing:
            origin = data.draw(st.sampled_from(sorted(failing, key=str)))
            crawl.pass_time(ends[origin] - now - 1.5 * step)
            crawl.step = step
            crawl.answer(DOWN, origin)
            crawl.step = 0.0
            crawl.run()

    def _hold_end(self, origin: Origin) -> float:
        record = self.crawl.memory.get(origin)
        since = None if record is None else record.unreachable_since
        return -math.inf if since is None else since + HOLD

    @rule(seconds=st.sampled_from([0.005, 0.3, 1.0, 4.0, 9.0, 70.0]), step=steps)
    def time_passes(self, seconds: float, step: float) -> None:
        self.crawl.step = step / 10
        self.crawl.pass_time(seconds)
        self.crawl.step = 0.0
        self.crawl.run()

    @rule(seconds=st.sampled_from([-86_400.0, -0.1, 0.5, 70.0, 86_400.0]))
    def clock_jumps(self, seconds: float) -> None:
        """Not by some seconds back: clocks may differ by them, so they would only be waited for."""
        self.crawl.ahead += seconds

    @invariant()
    def no_request_is_lost_or_counted_twice(self) -> None:
        crawl = self.crawl
        left = crawl.queues.size + crawl.waits
        assert len(set(crawl.done)) == len(crawl.done) == crawl.pages - left
        assert 0 <= crawl.waiting <= crawl.queues.size
        assert crawl.errors == []

    def teardown(self) -> None:
        """Each request ends within the hold, although no server gives an answer."""
        crawl = self.crawl
        for _ in range(round(4 * (HOLD + 15))):  # a clock that is set forward is noticed in 10 s
            for origin in list(crawl.fetching):
                crawl.answer(DOWN, origin)
            crawl.run()
            crawl.pass_time(0.25)
            crawl.run()
        assert len(crawl.done) == crawl.pages
        assert (crawl.waiting, crawl.waits, len(crawl.live)) == (0, 0, 0)


TestWaitingHistories = WaitingHistories.TestCase
TestWaitingHistories.settings = settings(max_examples=60, stateful_step_count=40)
