"""Log lines about a back end: one warning for a failure, one line for its end."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.errors import StoreError
from scrapy_robotspec.store.base import Claim
from scrapy_robotspec.store.circuit_breaker import CircuitBreakerStore
from tests.support.records import ORIGIN, record
from tests.support.stores import SharedStore


class Failing(SharedStore):
    """A store of which single calls fail, and in which something may happen during a put."""

    def __init__(self) -> None:
        super().__init__()
        self.fails: set[str] = set()
        self.node: str | None = None
        self.meanwhile: Callable[[], object] = lambda: None

    def get(self, origin: Origin, agent: str = "") -> RobotsRecord | None:
        self._fail("get")
        return super().get(origin, agent)

    def put(self, record: RobotsRecord, owner: str, known: float | None) -> None:
        meanwhile, self.meanwhile = self.meanwhile, lambda: None
        broken = "put" in self.fails
        meanwhile()
        if broken:
            raise StoreError("broken")
        super().put(record, owner, known)

    def claim(self, *arguments: Any, **options: Any) -> Claim:
        self._fail("claim")
        return super().claim(*arguments, **options)

    def node_of(self, origin: Origin) -> str | None:
        return self.node

    def _fail(self, name: str) -> None:
        if name in self.fails:
            raise StoreError("broken")


@pytest.fixture
def back_end() -> Failing:
    return Failing()


@pytest.fixture
def guarded(back_end: Failing) -> CircuitBreakerStore:
    """Every call comes after the pause."""
    clock = iter(range(0, 10_000, 10))
    store = CircuitBreakerStore(lambda: back_end, lambda: float(next(clock)))
    store.open()
    return store


@pytest.fixture
def levels(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    caplog.set_level("INFO")
    return lambda: [entry.levelname for entry in caplog.records]


@pytest.mark.parametrize(
    ("failed", "worked", "proves"),
    [("get", "put", True), ("put", "get", False), ("put", "claim", True)],
)
def test_what_proves_that_it_works_again(
    guarded: CircuitBreakerStore,
    back_end: Failing,
    levels: Callable[[], list[str]],
    failed: str,
    worked: str,
    proves: bool,
) -> None:
    """A full back end still reads."""
    calls: dict[str, Callable[[], object]] = {
        "get": lambda: guarded.get(ORIGIN),
        "put": lambda: guarded.put(record(), "us", None),
        "claim": lambda: guarded.claim(ORIGIN, "us", 0.0, 1.0, None),
    }
    back_end.fails = {failed}
    calls[failed]()
    calls[failed]()
    back_end.fails = set()
    calls[worked]()
    calls[worked]()
    assert levels() == (["WARNING", "INFO"] if proves else ["WARNING"])


def test_two_failures_at_once_are_logged_once(
    guarded: CircuitBreakerStore, back_end: Failing, levels: Callable[[], list[str]]
) -> None:
    """The second call fails while the first is being logged."""
    back_end.fails = {"put"}

    class Meanwhile(logging.Handler):
        def emit(self, entry: logging.LogRecord) -> None:
            guarded.put(record(), "us", None)

    handler = Meanwhile()
    logger = logging.getLogger("scrapy_robotspec.store.circuit_breaker")
    logger.addHandler(handler)
    try:
        guarded.put(record(), "us", None)
    finally:
        logger.removeHandler(handler)
    assert levels() == ["WARNING"]


def test_a_call_that_began_before_the_failure_proves_nothing(
    guarded: CircuitBreakerStore, back_end: Failing, levels: Callable[[], list[str]]
) -> None:
    """Two threads call: the slower one ends well after the other has failed."""

    def fail_meanwhile() -> None:
        back_end.fails = {"put"}
        guarded.put(record(), "us", None)

    back_end.meanwhile = fail_meanwhile
    guarded.put(record(), "us", None)
    assert levels() == ["WARNING"]
    back_end.fails = set()
    guarded.put(record(), "us", None)
    assert levels() == ["WARNING", "INFO"]


def test_a_node_that_fails_stops_no_calls_to_the_others(
    back_end: Failing, levels: Callable[[], list[str]]
) -> None:
    """A cluster keeps the origins of its other nodes."""
    store = CircuitBreakerStore(lambda: back_end, lambda: 0.0)
    store.open()
    back_end.node, back_end.fails = "one", {"claim"}
    assert store.claim(ORIGIN, "us", 0.0, 1.0, None) == Claim(True)
    back_end.fails = set()
    assert store.claim(ORIGIN, "us", 0.0, 1.0, None) == Claim(True)  # not asked
    back_end.node = "two"
    store.put(record(), "us", None)
    assert store.get(ORIGIN) == record()
    back_end.node = "one"
    assert store.get(ORIGIN) is None
    assert levels() == ["WARNING"]
