"""RequestWaits: one request waits, the others of its origin stay in their queues."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy import Request, signals
from scrapy.exceptions import IgnoreRequest
from twisted.internet.defer import Deferred

from scrapy_robotspec.lookup.live_origins import QueueState
from scrapy_robotspec.plugin import _compat, _compat_rare
from scrapy_robotspec.plugin.scheduling import redis_parking, request_waits
from scrapy_robotspec.plugin.scheduling.crawl_delay import CrawlDelay
from scrapy_robotspec.plugin.scheduling.request_waits import RequestWaits, send_back
from tests.unit.plugin.obeying import RULES, URL, A, Obeying, run, turns

YES = f"{URL}/yes"


class Parking:
    """Where requests of scrapy-redis wait. *taken*: another worker has taken them over."""

    def __init__(self, *, taken: bool = False) -> None:
        self.taken = taken
        self.parked: list[Request] = []

    def park(self, request: Request) -> None:
        self.parked.append(request)

    def unpark(self, request: Request) -> bool:
        self.parked.remove(request)
        return not self.taken


def waits_of(crawl: Obeying) -> RequestWaits:
    return crawl.middleware._waits


@pytest.fixture
def crawl(monkeypatch: pytest.MonkeyPatch) -> Obeying:
    return Obeying(monkeypatch, ROBOTSPEC_MAX_PARKED=2)


def begin(crawl: Obeying, request: Request) -> asyncio.Future[Any]:
    return asyncio.ensure_future(waits_of(crawl).hold_back(A, request))


def test_the_origin_is_held_while_a_request_waits(crawl: Obeying) -> None:
    async def work() -> None:
        wait = begin(crawl, Request(YES))
        await turns()
        assert crawl.robots.live[A].state is QueueState.HELD
        assert crawl.robots.live[A].holds == 1
        crawl.end_fetches()
        answer = await wait
        assert answer.decision.allowed
        assert A not in crawl.robots.live

    run(work)


@pytest.mark.parametrize("popped", [False, True])
@pytest.mark.parametrize("taken", [False, True])
def test_requests_that_left_a_queue_are_parked(crawl: Obeying, popped: bool, taken: bool) -> None:
    """One that another worker has taken over is its own no more; others were never parked."""
    waits, parking, request = waits_of(crawl), Parking(taken=taken), Request(YES)
    waits._parking = cast("Any", parking)
    if popped:
        waits.gate.popped[request] = None

    async def work() -> None:
        wait = begin(crawl, request)
        await turns()
        assert waits.gate.parked == len(parking.parked) == popped
        crawl.end_fetches()
        if popped and taken:
            with pytest.raises(IgnoreRequest, match="another worker"):
                await wait
        else:
            assert (await wait).decision.allowed
        assert waits.gate.parked == len(parking.parked) == 0

    run(work)


def test_a_request_waits_once_more_where_redis_is_slow_and_is_parked_meanwhile(
    crawl: Obeying, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not again and again: Redis may be slow at each call."""
    waits, request, parked = waits_of(crawl), Request(YES), list[Request]()
    monkeypatch.setattr(request_waits, "_STALL", -1.0)  # each call takes longer
    parking = SimpleNamespace(park=parked.append, unpark=lambda request: True)
    waits._parking = cast("Any", parking)
    waits.gate.popped[request] = None

    async def work() -> None:
        wait = begin(crawl, request)
        await turns()
        crawl.end_fetches()
        assert (await wait).decision.allowed
        assert parked == [request, request]
        assert waits.gate.parked == 0

    run(work)


@pytest.mark.parametrize(("closing", "returned"), [(True, False), (True, True), (False, False)])
def test_a_request_goes_back_once_and_only_where_the_spider_closes(
    crawl: Obeying, closing: bool, returned: bool
) -> None:
    """It stays parked until the scheduler has it; else it ends as an ignored request."""
    waits, parking, request = waits_of(crawl), Parking(), Request(YES)
    waits._parking = cast("Any", parking)
    waits.gate.popped[request] = None
    if returned:
        waits._returned.add(request)

    async def work() -> None:
        wait = begin(crawl, request)
        await turns()
        crawl.engine.is_closing = closing
        crawl.robots.stop()
        if closing and not returned:
            assert await wait is None
            assert request.dont_filter
            assert parking.parked == [request]
            assert request in waits._returned
        else:
            with pytest.raises(IgnoreRequest, match="closed before"):
                await wait
            assert parking.parked == []
        assert waits.gate.parked == 0

    run(work)


@pytest.mark.parametrize(
    ("missing", "parked", "waits"),
    [(None, 9, True), ("part", 1, True), ("part", 2, False), ("part", 3, False)],
)
def test_a_scheduler_that_cannot_be_held_back_has_a_bounded_number_of_waits(
    crawl: Obeying, missing: str | None, parked: int, waits: bool
) -> None:
    holder = waits_of(crawl)
    holder._missing, holder.gate.parked = missing, parked

    async def work() -> None:
        wait = begin(crawl, Request(YES))
        await turns()
        assert wait.done() is not waits
        if not waits:
            with pytest.raises(IgnoreRequest, match=rf"^{parked} requests .* has no part"):
                await wait
        else:
            assert holder.gate.parked == parked + (missing is not None)
            crawl.end_fetches()
            await wait
        assert holder.gate.parked == parked

    run(work)


class Delay:
    """A crawl delay whose slots a test gives."""

    def __init__(self) -> None:
        self.asked: list[tuple[float, float]] = []
        self.slots: list[Deferred[bool]] = []

    def pace(
        self, request: Request, origin: object, delay: float, ahead: float = 0.0
    ) -> Deferred[bool]:
        self.asked.append((delay, ahead))
        self.slots.append(Deferred())
        return self.slots[-1]


def test_a_delay_in_force_is_waited_for_with_one_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    """The robots.txt counts as a page; a slot that fits no more is asked for again."""
    crawl = Obeying(monkeypatch, ROBOTSPEC_CRAWL_DELAY=True)
    waits, delay = waits_of(crawl), Delay()
    waits.crawl_delay = cast("Any", delay)
    crawl.know(RULES + b"Crawl-delay: 5\n")
    crawl.now += 2

    async def work() -> None:
        wait = begin(crawl, Request(YES))
        await turns()
        delay.slots.pop().callback(False)
        await turns()
        assert delay.asked == [(5.0, 3.0)] * 2
        delay.slots.pop().callback(True)
        assert (await wait).decision.allowed
        assert len(delay.asked) == 2
        refused = await waits.hold_back(A, Request(f"{URL}/no"))
        assert refused is not None
        assert not refused.decision.allowed
        assert len(delay.asked) == 2, "a refused request has no turn"

    run(work)


def test_a_delay_is_in_force_though_no_robots_txt_was_ever_fetched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No page has been requested, so the first may go at once."""
    crawl = Obeying(
        monkeypatch,
        ROBOTSPEC_DEFAULT_CRAWL_DELAY=5,
        ROBOTSPEC_UNREACHABLE="allow",
        ROBOTSPEC_HOLD_TIMEOUT=0,
    )
    waits, delay = waits_of(crawl), Delay()
    waits.crawl_delay = cast("Any", delay)
    crawl.know(b"", 503)

    async def work() -> None:
        wait = begin(crawl, Request(YES))
        await turns()
        ((seconds, ahead),) = delay.asked
        assert seconds == 5.0
        assert ahead < 0
        delay.slots.pop().callback(True)
        assert (await wait).decision.allowed

    run(work)


@pytest.mark.parametrize("paused", [True, False])
def test_a_request_stays_here_while_the_crawl_pauses(
    crawl: Obeying, monkeypatch: pytest.MonkeyPatch, paused: bool
) -> None:
    """Though its rules are known."""
    crawl.know()
    later: list[Any] = []
    monkeypatch.setattr(_compat, "call_later", lambda seconds, *call: later.append(call))
    monkeypatch.setattr(crawl.engine, "is_paused", paused)

    async def work() -> None:
        wait = begin(crawl, Request(YES))
        await turns()
        assert wait.done() is not paused
        if paused:
            crawl.engine.is_paused = False
            due, later[:] = list(later), []
            for call, *arguments in due:
                call(*arguments)
            await turns()
        assert (await wait).decision.allowed

    run(work)


def test_a_pause_of_the_crawl_takes_the_slot_and_the_decision(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both are asked for again: the slot has passed, and the rules may have changed."""
    crawl = Obeying(monkeypatch, ROBOTSPEC_CRAWL_DELAY=True)
    waits, delay, later = waits_of(crawl), Delay(), list[Any]()
    waits.crawl_delay = cast("Any", delay)
    crawl.know(RULES + b"Crawl-delay: 5\n")
    monkeypatch.setattr(_compat, "call_later", lambda seconds, *call: later.append(call))

    def end_pause() -> None:
        crawl.engine.is_paused = False
        due, later[:] = list(later), []
        for call, *arguments in due:
            call(*arguments)

    async def work() -> None:
        wait = begin(crawl, Request(YES))
        await turns()
        crawl.engine.is_paused = True
        delay.slots.pop().callback(True)
        await turns()
        end_pause()
        await turns()
        assert len(delay.asked) == 2
        crawl.engine.is_paused = True
        delay.slots.pop().callback(True)
        await turns()
        crawl.know(b"User-agent: *\nDisallow: /\n")
        end_pause()
        await turns()
        assert wait.done()
        assert not wait.result().decision.allowed

    run(work)


def test_a_page_that_leaves_its_download_slot_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another one may be due there."""
    left, request = list[Request](), Request(YES)
    monkeypatch.setattr(CrawlDelay, "note_left", lambda self, request: left.append(request))
    crawl = Obeying(monkeypatch, ROBOTSPEC_CRAWL_DELAY=True)
    crawl.crawler.signals.send_catch_log(
        signals.request_left_downloader, request=request, spider=None
    )
    assert left == [request]


# --- start

#: What a queue of scrapy-redis has.
OF_SCRAPY_REDIS = dict.fromkeys(("server", "key", "push", "_encode_request", "_decode_request"))


@pytest.mark.parametrize(
    ("ours", "can_back_out", "scheduler", "missing", "parks"),
    [
        (True, False, None, None, False),
        (False, True, SimpleNamespace(), None, False),
        (False, True, None, "_slot.scheduler.next_request", False),
        (False, False, SimpleNamespace(), "downloader.needs_backout", False),
        (False, True, SimpleNamespace(queue=SimpleNamespace(server=1, key="k")), None, False),
        (False, True, SimpleNamespace(queue=SimpleNamespace(**OF_SCRAPY_REDIS)), None, True),
    ],
)
def test_the_start_looks_at_the_scheduler(
    crawl: Obeying,
    monkeypatch: pytest.MonkeyPatch,
    ours: bool,
    can_back_out: bool,
    scheduler: Any,
    missing: str | None,
    parks: bool,
) -> None:
    waits = waits_of(crawl)
    monkeypatch.setattr(_compat, "back_out_while", lambda engine, must_wait: can_back_out)
    monkeypatch.setattr(_compat_rare, "watch_scheduler", lambda engine, on_request: scheduler)
    opened: list[object] = []
    parking = SimpleNamespace(open=opened.append)
    monkeypatch.setattr(redis_parking, "RedisParking", lambda queue: parking)
    if ours:
        waits.gate.queues.append(cast("Any", object()))
    waits.open()
    assert waits._missing == missing
    expected: object = parking if parks else None
    assert waits._parking is expected
    assert opened == ([crawl.crawler.signals] if parks else [])


@pytest.mark.parametrize("parks", [True, False])
@pytest.mark.parametrize("given", [Request(YES), None])
def test_a_scheduler_that_has_no_request_lets_parking_feed_the_spider(
    crawl: Obeying, given: Request | None, parks: bool
) -> None:
    """A request that it has given is on its way."""
    waits, fed = waits_of(crawl), list[object]()
    if parks:
        waits._parking = cast("Any", SimpleNamespace(feed=fed.append))
    waits._on_given(given)
    assert list(waits.gate.popped) == ([] if given is None else [given])
    assert fed == ([crawl.crawler] if parks and given is None else [])


def test_all_that_makes_calls_is_closed(crawl: Obeying) -> None:
    closed: list[str] = []
    waits = waits_of(crawl)
    for name in ("_parking", "crawl_delay"):
        setattr(waits, name, SimpleNamespace(close=lambda name=name: closed.append(name)))
    waits.close()
    assert closed == ["_parking", "crawl_delay"]


def test_a_request_sent_back_twice_keeps_the_users_dont_filter() -> None:
    request = Request(YES)
    send_back(send_back(request))
    assert request.meta == {"_robotspec_dont_filter": False}
    assert request.dont_filter


@pytest.mark.parametrize("spaced", [False, True])
def test_handlers_are_loaded_at_the_start_where_pages_are_spaced(
    monkeypatch: pytest.MonkeyPatch, spaced: bool
) -> None:
    """Else the first page would be late against its delay."""
    crawl, loaded = Obeying(monkeypatch, ROBOTSPEC_CRAWL_DELAY=spaced), list[object]()
    monkeypatch.setattr(_compat_rare, "load_handlers", loaded.append)
    waits_of(crawl).open()
    assert loaded == ([crawl.crawler.engine] if spaced else [])
    assert (waits_of(crawl).crawl_delay is not None) is spaced
    waits_of(crawl).close()
