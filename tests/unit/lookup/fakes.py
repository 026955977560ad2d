"""A crawler process for tests of the lookup: time, threads and servers move when a test says so.

The lookup, the stores and the policy are the real ones.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakSet

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import FetchResult
from scrapy_robotspec.access.policy import AccessPolicy
from scrapy_robotspec.editions import get_edition
from scrapy_robotspec.lookup import FetchDone, Lookup, Pending, Resolved
from scrapy_robotspec.lookup.live_origins import LiveOrigins
from scrapy_robotspec.lookup.loop_time import LoopTime
from scrapy_robotspec.lookup.page_answers import PageAnswers
from scrapy_robotspec.lookup.rules_cache import MAX_BYTES, RulesCache
from scrapy_robotspec.lookup.shared_lookup import SharedLookup
from scrapy_robotspec.lookup.tiered_store import TieredStore
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.store.base import CrawlStore, RecordStore
from scrapy_robotspec.store.memory import MemoryStore
from tests.support.stores import SharedStore
from tests.support.threads import Threads
from tests.support.timers import call_later, pass_time

START = 1_800_000_000.0
LEASE = 35.0
A, B, C = (Origin("http", f"{name}.example", 80) for name in "abc")

FILE = FetchResult(status=200, body=b"User-agent: *\nDisallow: /no\n")
OTHER_FILE = FetchResult(status=200, body=b"User-agent: *\nDisallow: /never\n")
MISSING = FetchResult(status=404)
DOWN = FetchResult(status=503)
DEAD = FetchResult(error="DNS lookup failed")


#: The processes of the running test.
LIVE: WeakSet[LookupHarness] = WeakSet()


class LookupHarness:
    """The runtime of one crawler process."""

    def __init__(
        self,
        shared: RecordStore | None = None,
        *,
        owner: str = "we",
        limit: int = 8,
        max_bytes: int = MAX_BYTES,
        random: float = 0.0,
        time: Clock | None = None,
        **policy: Any,
    ) -> None:
        LIVE.add(self)
        self.time = time or Clock()
        self.loop_time = LoopTime(self.time.seconds, call_later(self.time))
        self.ahead = 0.0
        self.step = 0.0
        """Seconds that pass from one look at the clock to the next: a slow machine."""
        self.threads = Threads()
        self.jitter = random
        self.access = AccessPolicy(edition=get_edition("google-2019"), **policy)
        self.memory: CrawlStore = MemoryStore()
        lookup_class = Lookup
        if shared is not None:
            lookup_class = SharedLookup
            self.memory = TieredStore(
                shared,
                self.threads,
                self.time.seconds,
                owner=owner,
                lease_seconds=LEASE,
            )
        self.live = LiveOrigins()
        self.lookup = lookup_class(self, self.memory, limit)
        self.lookup.rules = RulesCache(max_bytes)
        self.page_answered = PageAnswers(self, self.lookup).page_answered
        self.lookup.followers.append(self)
        self.limiter = self.lookup.limiter
        self.fetching: dict[Origin, Deferred[FetchResult]] = {}
        self.fetched: list[Origin] = []
        self.looks = 0
        self.ended: list[FetchDone] = []
        self.announced: list[tuple[Resolved, RobotsTxt | None]] = []
        self.handlers_running: Deferred[None] | None = None
        self.turn = 0.0
        self.failed: int | None = None
        """Status of the failure before the last fetch."""
        self.product = "-"
        self.is_paused = False

    # --- what the lookup calls

    def policy_of(self, origin: Origin) -> AccessPolicy:
        self.looks += 1
        return self.access

    def clock(self) -> float:
        self.ahead += self.step
        return START + float(self.time.seconds()) + self.ahead

    def random(self) -> float:
        return self.jitter

    def agent(self, request: str) -> str:
        return self.product

    def download_delay(self, origin: Origin, request: str) -> float:
        return self.turn

    def fetch(self, origin: Origin, request: str, failed: int | None) -> Deferred[FetchResult]:
        self.failed = failed
        assert origin not in self.fetching, f"{origin} is being fetched already"
        self.fetched.append(origin)
        fetch: Deferred[FetchResult] = Deferred()
        self.fetching[origin] = fetch

        def redirect_error(result: Any) -> Any:
            del self.fetching[origin]
            return result

        return fetch.addBoth(redirect_error)

    async def on_rules(self, found: Resolved, request: str, replaced: RobotsTxt | None) -> None:
        self.announced.append((found, replaced))
        if self.handlers_running is not None:
            await self.handlers_running

    def on_fetch_done(self, done: FetchDone) -> None:
        self.ended.append(done)

    # --- what a test does

    def ask(self, origin: Origin = A) -> Resolved | Pending:
        return self.lookup.ask(origin, self.clock(), "cause")

    def wait_for(self, origin: Origin = A, *, in_pauses: bool = True) -> Waiter:
        waiting = self.lookup.wait(origin, "cause", in_pauses=in_pauses)
        return Waiter(Deferred.fromCoroutine(waiting), origin)

    def answer(self, attempt: FetchResult, origin: Origin = A) -> None:
        """The server of *origin* answers the fetch under way."""
        self.fetching[origin].callback(attempt)

    def pass_time(self, seconds: float) -> None:
        pass_time(self.time, seconds)

    def close(self) -> bool:
        """Close the lookup; whether that came to an end."""
        closing = Deferred.fromCoroutine(self.lookup.close())
        self.threads.run()
        return bool(closing.called)


class Waiter:
    """Somebody who awaits an answer, and all that came."""

    def __init__(self, waiting: Deferred[Resolved], origin: Origin) -> None:
        self.origin = origin
        self.came: list[Any] = []
        self._waiting = waiting
        waiting.addCallbacks(self.came.append, lambda failure: self.came.append(failure.value))

    def cancel(self) -> None:
        self._waiting.cancel()

    @property
    def known(self) -> Resolved:
        """The one answer."""
        (known,) = self.came
        assert isinstance(known, Resolved)
        return known


def two_processes(**policy: Any) -> tuple[SharedStore, LookupHarness, LookupHarness]:
    """Processes with one store and one clock, and the store."""
    shared, time = SharedStore(), Clock()
    one, two = (LookupHarness(shared, owner=name, time=time, **policy) for name in ("one", "two"))
    return shared, one, two
