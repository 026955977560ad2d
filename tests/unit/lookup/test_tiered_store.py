"""The tiered store: records in memory, and a shared store that may fail at any time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from twisted.internet.defer import Deferred

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import Meaning
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.lookup.tiered_store import PAUSE, TieredStore
from scrapy_robotspec.store.base import Claim, RecordStore, Reservation, SlotRequest
from tests.support.stores import SharedStore, open_shared_store, put, take
from tests.support.threads import Threads, result_of

from .fakes import START, A, B, C

#: A call that adds nothing, a row, a row, a record.
CALLS: dict[str, Callable[[TieredStore, Origin], Any]] = {
    "get": lambda store, origin: Deferred.fromCoroutine(store.get_shared(origin, None, "-")),
    "claim": lambda store, origin: Deferred.fromCoroutine(store.claim(origin, START, None, "-")),
    "reserve": lambda store, origin: store.reserve(origin, SlotRequest(1.0)),
    "put": lambda store, origin: store.share(record(START, origin), None),
}


def record(at: float, origin: Origin = A) -> RobotsRecord:
    return RobotsRecord(origin, Meaning.ALLOW, 404, fetched_at=at, expires_at=at + 10)


def tiered(
    shared: RecordStore,
    threads: Threads | None = None,
    monotonic: Callable[[], float] = lambda: START,
) -> TieredStore:
    return TieredStore(shared, threads or Threads(), monotonic, owner="we", lease_seconds=10)


class Failing(SharedStore):
    """A store of which single methods fail, on nodes of a cluster."""

    def __init__(self) -> None:
        super().__init__()
        self.fails: set[str] = set()
        self.nodes: dict[Origin, str] = {}
        self.made: list[tuple[str, Origin]] = []

    def get(
        self, origin: Origin, agent: str = "", known: float | None = None
    ) -> RobotsRecord | None:
        self._begin("get", origin)
        return super().get(origin, agent, known)

    def claim(self, origin: Origin, *arguments: Any) -> Claim:
        self._begin("claim", origin)
        return super().claim(origin, *arguments)

    def put(self, record: RobotsRecord, owner: str, known: float | None) -> None:
        self._begin("put", record.origin)
        super().put(record, owner, known)

    def reserve(self, origin: Origin, asked: SlotRequest) -> Reservation:
        self._begin("reserve", origin)
        return super().reserve(origin, asked)

    def node_of(self, origin: Origin) -> str | None:
        if "node_of" in self.fails:
            raise OSError("broken")
        return self.nodes.get(origin)

    def _begin(self, name: str, origin: Origin) -> None:
        self.made.append((name, origin))
        if name in self.fails:
            raise OSError("broken")


@pytest.fixture
def levels(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    caplog.set_level("INFO")
    return lambda: [entry.levelname for entry in caplog.records]


@pytest.mark.parametrize(("known", "theirs"), [(1.0, 2.0), (2.0, 1.0), (None, 2.0)])
def test_another_record_than_the_known_one_is_returned(known: float | None, theirs: float) -> None:
    """Then a claim takes no lease."""
    shared = SharedStore()
    put(shared, record(theirs))
    both = tiered(shared)
    held = None if known is None else record(known)
    assert result_of(both.claim(A, START, held, "-")) == Claim(False, record(theirs))
    assert result_of(both.get_shared(A, held, "-")) == record(theirs)
    assert take(shared, A, "others", START, 1)


def test_the_known_record_is_not_returned() -> None:
    shared = SharedStore()
    put(shared, record(1.0))
    both = tiered(shared)
    assert result_of(both.get_shared(A, record(1.0), "-")) is None
    assert result_of(both.claim(A, START, record(1.0), "-")) == Claim(True)


def test_store_that_fails_leaves_the_memory(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The crawl goes on alone: it asks, keeps and leases as if there were no store."""
    (tmp_path / "robots.db").mkdir()
    both = tiered(open_shared_store(f"sqlite:///{tmp_path}/robots.db"))
    assert result_of(both.claim(A, START, None, "-")).granted
    both.put(record(START))
    both.share(record(START), None)
    assert result_of(both.get_shared(A, None, "-")) is None
    assert both.get(A) == record(START)
    assert both.close().called
    assert "robots.db: OperationalError: unable to open database file" in caplog.text


def test_store_without_a_name_is_named_by_its_class(caplog: pytest.LogCaptureFixture) -> None:
    shared = Failing()
    shared.name = ""
    shared.fails.add("get")
    assert result_of(tiered(shared).get_shared(A, None, "-")) is None
    assert "(Failing: OSError: broken)" in caplog.text


def test_close_waits_for_every_write_also_those_that_follow_from_others() -> None:
    """A lease that a cancelled lookup takes is released before the store is closed."""
    shared, threads = SharedStore(), Threads()
    threads.at_once = False
    both = tiered(shared, threads)
    taking = Deferred.fromCoroutine(both.claim(A, START, None, "-"))
    taking.addErrback(lambda failure: None)
    taking.cancel()
    closing = both.close()
    threads.run()
    assert closing.called
    assert take(shared, A, "others", START, 1)


def test_a_closed_store_is_not_opened_again(tmp_path: Path) -> None:
    """Late results of a crawl that ends change no file."""
    both = tiered(open_shared_store(f"sqlite:///{tmp_path}/robots.db"))
    both.share(record(START), None)
    assert both.close().called
    (tmp_path / "robots.db").unlink()
    for call in CALLS.values():
        if (late := call(both, A)) is not None:
            late.addErrback(lambda failure: None)
    assert list(tmp_path.iterdir()) == []


# --- the circuit breaker


@pytest.mark.parametrize(
    ("failed", "worked", "proves"),
    [
        ("get", "get", False),
        ("get", "claim", True),
        ("get", "put", True),
        ("claim", "get", False),
        ("claim", "reserve", True),
        ("put", "get", False),
        ("put", "claim", False),
        ("put", "put", True),
        ("node_of", "put", True),
    ],
)
def test_what_proves_that_it_works_again(
    levels: Callable[[], list[str]], failed: str, worked: str, proves: bool
) -> None:
    """A full back end still reads, and may have room for a lease."""
    clock = iter(range(0, 1000, 10))  # so every call comes after the pause
    shared = Failing()
    both = tiered(shared, monotonic=lambda: float(next(clock)))
    shared.fails, shared.nodes = {failed}, {A: "one"}
    for name in (failed, "get", failed):
        CALLS.get(name, CALLS["get"])(both, A)
    shared.fails = set()
    for _ in range(2):
        CALLS[worked](both, A)
    assert levels() == (["WARNING", "INFO"] if proves else ["WARNING"])


def test_a_node_that_fails_stops_no_calls_to_the_others(levels: Callable[[], list[str]]) -> None:
    """A cluster keeps the origins of its other nodes."""
    shared = Failing()
    both = tiered(shared)
    shared.nodes, shared.fails = {A: "one", B: "two"}, {"get"}
    CALLS["get"](both, A)
    shared.fails = set()
    for name in CALLS:
        CALLS[name](both, B)
        outcome = CALLS[name](both, A)
        if name == "reserve":
            outcome.addErrback(lambda failure: None)
    assert shared.made == [("get", A), *((name, B) for name in CALLS)]
    assert levels() == ["WARNING"]


def test_calls_that_were_queued_before_a_failure_are_not_made_after_it() -> None:
    """A server that hangs takes the time of one call, not of each in the queue."""
    threads, shared = Threads(), Failing()
    threads.at_once = False
    both = tiered(shared, threads)
    shared.fails = {"get"}
    outcomes = [CALLS["get"](both, A) for _ in range(100)]
    while threads.work():
        threads.bring()
    assert all(each.called for each in outcomes)
    assert len(shared.made) == 1


def test_calls_in_the_pause_do_not_prolong_it() -> None:
    """The store is tried again after it, however many calls there were."""
    now, shared = [0.0], Failing()
    both = tiered(shared, monotonic=lambda: now[0])
    shared.fails = {"get"}
    for part in (0.0, 0.5, 0.9):
        now[0] = part * PAUSE
        CALLS["get"](both, A)
    assert len(shared.made) == 1
    now[0] = PAUSE
    CALLS["get"](both, A)
    assert len(shared.made) == 2


def test_a_store_that_works_again_is_called_at_once(levels: Callable[[], list[str]]) -> None:
    """A call that was made before the failure was known proves it."""
    threads, shared = Threads(), Failing()
    threads.at_once = False
    both = tiered(shared, threads)
    shared.fails = {"get"}
    for name in ("get", "claim"):
        CALLS[name](both, A)
        threads.work()
    threads.run()
    assert levels() == ["WARNING", "INFO"]
    CALLS["reserve"](both, A)
    threads.run()
    assert len(shared.made) == 3


class Histories(RuleBasedStateMachine):
    """Any calls, failures and pauses, in any order, until the crawl ends."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.threads, self.shared = Threads(), Failing()
        self.threads.at_once = False
        self.shared.nodes = {A: "one", B: "two"}
        self.both = tiered(self.shared, self.threads, lambda: self.now)
        self.failed_at: dict[str | None, float] = {}
        self.outcomes: list[Any] = []
        self.ends: list[object] = []

    @rule(name=st.sampled_from(sorted(CALLS)), origin=st.sampled_from([A, B, C]))
    def call(self, name: str, origin: Origin) -> None:
        outcome = CALLS[name](self.both, origin)
        if outcome is not None:
            self.outcomes.append(outcome.addBoth(self.ends.append))

    @rule()
    def thread_works(self) -> None:
        """It makes the next call, whose result arrives."""
        before = len(self.shared.made)
        self.threads.work()
        for name, origin in self.shared.made[before:]:
            node = self.shared.nodes.get(origin)
            assert self.now >= self.failed_at.get(node, -PAUSE) + PAUSE
            if name in self.shared.fails:
                self.failed_at[node] = self.now
        self.threads.bring()

    @rule(fails=st.sets(st.sampled_from(sorted(CALLS))))
    def breaks(self, fails: set[str]) -> None:
        self.shared.fails = fails

    @rule(seconds=st.sampled_from([0.1, 1.0, PAUSE, 100.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    def teardown(self) -> None:
        """Nothing is called after the close, and each call has one end."""
        closing = self.both.close()
        self.threads.run()
        assert closing.called
        made = len(self.shared.made)
        for name in CALLS:
            self.call(name, A)
        self.threads.run()
        assert len(self.shared.made) == made
        assert len(self.ends) == len(self.outcomes)
        for end in self.ends:
            is_result = end is None or isinstance(end, RobotsRecord | Claim | Reservation)
            assert is_result or "StoreError" in str(end)


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=60, stateful_step_count=40)
