"""The gate: the table at its head, and what the engine hears of it."""

from __future__ import annotations

import re
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, cast

import pytest

from scrapy_robotspec import RobotSpecMiddleware
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.lookup.live_origins import QueueState
from scrapy_robotspec.plugin.scheduling import gate as module
from scrapy_robotspec.plugin.scheduling.gate import Gate, find_gate

from .crawlers import crawler_with_engine
from .fakes import A, B, GateHarness, QueuesHarness


def in_state(state: QueueState) -> tuple[GateHarness, ExitStack]:
    """A gate with origin A in *state*, with a queued request; and its wait, if it is HELD."""
    harness, wait = GateHarness(), ExitStack()
    if state is QueueState.READY:
        harness.known.add(A)
    QueuesHarness(harness).push("slot", A, "request")
    harness.known.clear()
    if state is QueueState.HELD:
        wait.enter_context(harness.hold(A))
    return harness, wait


def queued(harness: GateHarness, wait: ExitStack) -> None:
    harness.gate.enter(A)


def leaves(harness: GateHarness, wait: ExitStack) -> None:
    harness.gate.leave(A, "request")  # type: ignore[arg-type]


def waits(harness: GateHarness, wait: ExitStack) -> None:
    wait.enter_context(harness.hold(A))


def ends_with_rules(harness: GateHarness, wait: ExitStack) -> None:
    harness.known.add(A)
    ends_without_rules(harness, wait)


def ends_without_rules(harness: GateHarness, wait: ExitStack) -> None:
    wait.close()
    harness.gate.update(A)


EVENTS = {
    "a request is queued and there are no rules": queued,
    "a request leaves alone": leaves,
    "a request begins to wait": waits,
    "there are valid rules, or no requests": ends_with_rules,
    "there are requests and no rules": ends_without_rules,
}


@pytest.mark.parametrize("state", QueueState)
@pytest.mark.parametrize("event", EVENTS)
def test_table_at_the_head_is_what_happens(event: str, state: QueueState) -> None:
    (line,) = re.findall(rf"^ +{event} +(.+)$", module.__doc__ or "", re.M)
    target = dict(zip(QueueState, line.split(), strict=True))[state]
    harness, wait = in_state(state)
    EVENTS[event](harness, wait)
    expected = state if target == "-" else QueueState[target]
    assert harness.state(A) is expected


def test_the_last_of_several_waits_lets_the_others_go() -> None:
    """The engine sends nothing meanwhile, and is woken at the end."""
    harness = GateHarness()
    harness.known.add(A)
    for queues in (QueuesHarness(harness), QueuesHarness(harness)):  # in memory and on disk
        queues.push("slot", A, "request")
    assert not harness.gate.must_wait(lambda: False)
    assert harness.gate.must_wait(lambda: True)
    for wait in [harness.hold(A), harness.hold(A)]:
        assert (harness.state(A), harness.queued(A)) == (QueueState.HELD, 2)
        assert harness.gate.must_wait(lambda: False)
        assert harness.wakes == 0
        wait.close()
    assert not harness.gate.must_wait(lambda: False)
    assert (harness.wakes, harness.live) == (1, {})


@dataclass(frozen=True)
class Page:
    """A request for a page of *origin*; None: nothing is checked."""

    origin: Origin | None


@pytest.mark.parametrize("is_live", [False, True])
@pytest.mark.parametrize("overrides", [{}, {"other.example": None}, {"a.example": None}])
@pytest.mark.parametrize("origin", [None, A])
def test_requests_that_ask_for_rules_are_queued_by_origin(
    origin: Origin | None, overrides: dict[str, None], is_live: bool
) -> None:
    """Their routes are those that a robots.txt may be asked for over."""
    harness, wait = GateHarness(), ExitStack()
    harness.settings = replace(harness.settings, overrides=cast("Any", overrides))
    if "a.example" in overrides:
        harness.replaced.add(A)
    if is_live:
        wait = harness.hold(A)
    page = Page(origin)
    expected = None if "a.example" in overrides else origin
    with wait:
        assert harness.gate.note_queued(cast("Any", page)) == expected
    assert harness.seen == ([(A, page)] if expected and is_live else [])


@pytest.mark.parametrize("parked", [0, 1])
@pytest.mark.parametrize("has_queues", [False, True])
def test_the_engine_is_woken_where_another_scheduler_had_to_wait(
    has_queues: bool, parked: int
) -> None:
    harness = GateHarness()
    harness.settings = replace(harness.settings, max_parked=1)
    harness.gate.parked = parked
    if has_queues:
        QueuesHarness(harness)
    harness.gate.goes_on(None, cast("Any", Page(None)))
    assert harness.wakes == (parked == 1 and not has_queues)


@pytest.mark.parametrize("left_for", [None, A])
@pytest.mark.parametrize("origin", [None, A, B])
def test_a_request_that_goes_on_lets_its_origin_go(
    origin: Origin | None, left_for: Origin | None
) -> None:
    """And that which it has left its queue for, if a middleware changed it on its way."""
    harness = GateHarness()
    harness.known.update((A, B))
    page = Page(left_for)
    for each in (A, B):
        harness.gate.leave(each, cast("Any", object()))
    harness.gate.popped.clear()
    if left_for is not None:
        harness.gate.popped[cast("Any", page)] = left_for
    harness.gate.goes_on(origin, cast("Any", page))
    ready = {each for each in (A, B) if harness.state(each) is QueueState.READY}
    assert ready == {origin, left_for} - {None}
    assert not harness.gate.popped


def test_a_lost_request_lets_the_others_of_its_origin_go() -> None:
    """It has left its queue, and is not in the downloader: another middleware keeps it."""
    harness = GateHarness()
    QueuesHarness(harness).push("slot", A, "request")
    for lost in (False, True):
        if not lost:
            harness.downloads.start("slot", "popped")
            harness.gate.leave(A, "popped")  # type: ignore[arg-type]
        else:
            harness.known.add(A)
            harness.downloads.end("popped")
        harness.gate.must_wait(lambda: False)
        assert harness.state(A) is (QueueState.READY if lost else QueueState.HELD)
        assert bool(harness.gate.popped) is not lost


def test_a_lost_request_of_no_origin_changes_nothing() -> None:
    harness = GateHarness()
    QueuesHarness(harness)
    harness.gate.popped[cast("Any", Page(None))] = None
    assert not harness.gate.must_wait(lambda: False)
    assert not harness.gate.popped


@pytest.mark.parametrize("held", [True, False])
def test_only_held_requests_are_shown_as_waiting(held: bool) -> None:
    harness = GateHarness()
    harness.gate.enter(A)
    harness.gate.count_queued(A, 2, held=held)
    assert (harness.queued(A), harness.waiting) == (2, 2 if held else 0)


def test_without_crawl_delays_no_request_is_spaced() -> None:
    harness = GateHarness()
    assert not Gate(cast("Any", harness)).is_spaced(A)


def test_an_origin_whose_rules_have_expired_is_unknown_though_it_was_ready() -> None:
    """It is live because of something else."""
    harness = GateHarness()
    harness.known.add(A)
    harness.live.use(A).questions = 1
    assert harness.gate.enter(A) is QueueState.READY
    harness.known.clear()
    assert harness.gate.enter(A) is QueueState.UNKNOWN


def test_an_origin_without_queued_requests_is_ready_though_it_has_no_rules() -> None:
    """The next request asks for them."""
    harness = GateHarness()
    harness.gate.enter(A)
    harness.gate.update(A)
    assert harness.state(A) is QueueState.READY


def test_queues_obey_the_gate_of_the_middleware() -> None:
    crawler = crawler_with_engine()
    middleware = crawler.get_downloader_middleware(RobotSpecMiddleware)
    assert middleware is not None
    assert find_gate(crawler) is middleware.gate
    assert find_gate(crawler_with_engine(ROBOTSTXT_OBEY=False)) is None


def test_empty_queues_are_to_be_filled() -> None:
    harness = GateHarness()
    queues = QueuesHarness(harness)
    assert not queues.queues.may_go()
    assert not harness.gate.must_wait(lambda: False)


def test_closed_gate_makes_no_calls() -> None:
    harness = GateHarness()
    queues = QueuesHarness(harness)
    queues.push("slot", A, "request")
    with harness.hold(A):
        harness.gate.close()
    assert not queues.queues.may_go()
    assert not harness.gate.must_wait(lambda: False)


@pytest.mark.parametrize(("spaced", "coming"), [(False, 1), (True, 0)])
def test_requests_on_their_way_count_among_the_fetches_that_may_begin(
    spaced: bool, coming: int
) -> None:
    """Those that will fetch; not one that leaves alone because of its crawl delay."""
    harness = GateHarness()
    harness.known.add(A)
    if spaced:
        harness.spaced.add(A)
    harness.gate.leave(A, "request")  # type: ignore[arg-type]
    asked: list[int] = []

    def may_begin(coming: int, when_free: Any) -> bool:
        asked.append(coming)
        return False

    harness.may_begin = may_begin  # type: ignore[method-assign]
    assert not harness.gate.may_fetch()
    assert asked == [coming]


@pytest.mark.parametrize(
    ("parked", "popped", "is_full"), [(0, 0, False), (1, 0, False), (1, 1, True), (0, 2, True)]
)
def test_another_scheduler_is_asked_for_no_more_than_may_wait(
    parked: int, popped: int, is_full: bool
) -> None:
    """ROBOTSPEC_MAX_PARKED counts requests that wait, and those on their way there."""
    harness = GateHarness()
    harness.settings = replace(harness.settings, max_parked=2)
    harness.gate.parked = parked
    requests = [f"request {number}" for number in range(popped)]
    for request in requests:
        harness.downloads.start("slot", request)
        harness.gate.popped[request] = None  # type: ignore[index]
    assert harness.gate.must_wait(lambda: False) is is_full
    for request in requests:
        harness.downloads.end(request)
    assert harness.gate.must_wait(lambda: False) is False, "they have left the downloader"
