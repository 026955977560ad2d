"""The circuit breaker: what it calls, and one warning for a failure, one line for its end."""

from __future__ import annotations

from collections.abc import Callable
from operator import methodcaller
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule
from twisted.internet.defer import Deferred

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.errors import StoreError
from scrapy_robotspec.lookup.circuit_breaker import A_RECORD, A_ROW, PAUSE, CircuitBreaker
from tests.support.records import ORIGIN, record
from tests.support.stores import SharedStore
from tests.support.threads import Threads, result_of

from .fakes import A, B, C

GET, PUT = methodcaller("get", ORIGIN), methodcaller("put", record(), "us", None)


class Failing(SharedStore):
    """A store of which single methods fail, on the nodes named."""

    def __init__(self) -> None:
        super().__init__()
        self.fails: set[str] = set()
        self.nodes: dict[Origin, str] = {}

    def get(self, origin: Origin, agent: str = "") -> RobotsRecord | None:
        self._fail("get")
        return super().get(origin, agent)

    def put(self, record: RobotsRecord, owner: str, known: float | None) -> None:
        self._fail("put")
        super().put(record, owner, known)

    def node_of(self, origin: Origin) -> str | None:
        self._fail("node_of")
        return self.nodes.get(origin)

    def _fail(self, name: str) -> None:
        if name in self.fails:
            raise OSError("broken")


@pytest.fixture
def store() -> Failing:
    return Failing()


@pytest.fixture
def breaker(store: Failing) -> CircuitBreaker:
    """Every call comes after the pause."""
    clock = iter(range(0, 10_000, 10))
    return CircuitBreaker(store, Threads(), lambda: float(next(clock)))


@pytest.fixture
def levels(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    caplog.set_level("INFO")
    return lambda: [entry.levelname for entry in caplog.records]


def call(breaker: CircuitBreaker, work: Callable[..., Any], adds: int = 0) -> Any:
    """The result of *work*, or the error."""
    try:
        return result_of(breaker.call(ORIGIN, work, adds=adds))
    except StoreError as error:
        return error


@pytest.mark.parametrize(
    ("failed", "worked", "proves"),
    [
        (0, 0, False),
        (0, A_ROW, True),
        (A_ROW, 0, False),
        (A_ROW, A_ROW, True),
        (A_ROW, A_RECORD, True),
        (A_RECORD, A_ROW, False),
        (A_RECORD, A_RECORD, True),
    ],
)
def test_what_proves_that_it_works_again(
    breaker: CircuitBreaker,
    store: Failing,
    levels: Callable[[], list[str]],
    failed: int,
    worked: int,
    proves: bool,
) -> None:
    """A full back end still reads, and may have room for a lease."""
    store.fails = {"get"}
    for adds in (failed, 0):
        call(breaker, GET, adds)
    store.fails = set()
    for _ in range(2):
        call(breaker, GET, worked)
    assert levels() == (["WARNING", "INFO"] if proves else ["WARNING"])


def test_a_back_end_without_nodes_for_a_while_is_one_failure(
    breaker: CircuitBreaker, store: Failing, levels: Callable[[], list[str]]
) -> None:
    """A cluster names no node before it has been reached."""
    store.fails, store.nodes[ORIGIN] = {"node_of"}, "one"
    for _ in range(3):
        call(breaker, GET, A_RECORD)
    store.fails = set()
    call(breaker, PUT, A_RECORD)
    assert levels() == ["WARNING", "INFO"]


def test_a_node_that_fails_stops_no_calls_to_the_others(
    store: Failing, levels: Callable[[], list[str]]
) -> None:
    """A cluster keeps the origins of its other nodes."""
    breaker = CircuitBreaker(store, Threads(), lambda: 0.0)
    store.nodes[ORIGIN], store.fails = "one", {"get"}
    assert "broken" in str(call(breaker, GET))
    store.fails = set()
    assert "a moment ago" in str(call(breaker, GET))
    store.nodes[ORIGIN] = "two"
    assert call(breaker, PUT, A_RECORD) is None
    assert call(breaker, GET) == record()
    store.nodes[ORIGIN] = "one"
    assert "a moment ago" in str(call(breaker, GET))
    assert levels() == ["WARNING"]


def test_calls_that_were_queued_before_a_failure_are_not_made_after_it(store: Failing) -> None:
    """A server that hangs takes the time of one call, or of two, not of each in the queue."""
    threads, made = Threads(), []
    threads.at_once = False
    breaker = CircuitBreaker(store, threads, lambda: 0.0)

    def hang(opened: object) -> None:
        made.append(opened)
        raise StoreError("no answer")

    calls = [Deferred.fromCoroutine(breaker.call(ORIGIN, hang)) for _ in range(100)]
    failed: list[object] = []
    for each in calls:
        each.addErrback(failed.append)
    while threads.work():
        threads.bring()
    assert len(failed) == 100
    assert len(made) == 1


class Law(RuleBasedStateMachine):
    """Any calls, failures, pauses and delays; the end may come at any time."""

    def __init__(self) -> None:
        super().__init__()
        self.store, self.threads, self.now = Failing(), Threads(), 0.0
        self.threads.at_once = False
        self.breaker = CircuitBreaker(self.store, self.threads, lambda: self.now)
        self.store.nodes = {A: "one", B: "two"}
        self.results: list[list[object]] = []
        self.failed_at: dict[str | None, float] = {}
        """Calls that began when this was known must not be made."""
        self.is_closed = False

    @rule(origin=st.sampled_from([A, B, C]), fails=st.booleans(), adds=st.integers(0, 2))
    def call(self, origin: Origin, fails: bool, adds: int) -> None:
        known, began = dict(self.failed_at), self.now
        node = self.store.nodes.get(origin)

        def work(store: object) -> str:
            assert store is self.store
            assert not self.is_closed
            assert began >= known.get(node, -PAUSE) + PAUSE
            if fails:
                raise StoreError("broken")
            return "worked"

        results: list[object] = []
        self.results.append(results)
        calling = Deferred.fromCoroutine(self.breaker.call(origin, work, adds=adds))

        def end(result: object) -> None:
            results.append(result)
            if "broken" in str(result):
                self.failed_at[node] = self.now

        calling.addBoth(end)

    @rule()
    def thread_works(self) -> None:
        self.threads.work()

    @rule()
    def result_arrives(self) -> None:
        self.threads.bring()

    @rule(seconds=st.sampled_from([0.1, 1.0, PAUSE, 100.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @precondition(lambda self: not self.is_closed)
    @rule(queued=st.booleans())
    def close(self, queued: bool) -> None:
        closing = Deferred.fromCoroutine(self.breaker.close())
        if not queued:
            self.threads.run()
            assert closing.called
            self.is_closed = True

    def teardown(self) -> None:
        self.threads.run()
        assert all(len(results) == 1 for results in self.results)
        known = ("worked", "StoreError")
        assert all(any(word in str(each) for word in known) for (each,) in self.results)


TestLaw = Law.TestCase
TestLaw.settings = settings(max_examples=60, stateful_step_count=40)


def test_a_closed_store_is_not_opened_again(tmp_path: Path) -> None:
    """Late results of a crawl that ends change no file."""
    from scrapy_robotspec.store.sqlite import SqliteStore

    breaker = CircuitBreaker(SqliteStore(f"{tmp_path}/robots.db"), Threads(), lambda: 0.0)
    call(breaker, PUT)
    result_of(breaker.close())
    (tmp_path / "robots.db").unlink()
    assert "closed" in str(call(breaker, PUT))
    assert list(tmp_path.iterdir()) == []
