"""What few crawls use of Scrapy's private parts, tried on the installed Scrapy.

Each test has the name of the function of ``_compat_rare.py`` that a new Scrapy asks to change.
"""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.core.engine import ExecutionEngine
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.settings import BaseSettings, Settings
from twisted import internet
from twisted.internet.defer import Deferred, fail, succeed
from twisted.internet.task import Clock
from twisted.web.client import HTTPConnectionPool

from scrapy_robotspec import RobotSpecMiddleware
from scrapy_robotspec.plugin import _compat, _compat_rare
from scrapy_robotspec.plugin._compat import RAISED_LIMITS
from scrapy_robotspec.plugin._compat_rare import SendTimes
from tests.unit.plugin.scheduling.crawlers import (
    REQUEST,
    crawler_with_engine,
    engine_with_delay,
    slot_of,
)

LIMITS = ("CONCURRENT_REQUESTS", "CONCURRENT_REQUESTS_PER_DOMAIN")


class LaterAddon:
    """Chooses limits after ours has raised them."""

    def update_settings(self, settings: BaseSettings) -> None:
        settings.update({"CONCURRENT_REQUESTS": 4, "CONCURRENT_REQUESTS_PER_DOMAIN": 2}, "addon")


class OwnHandler:
    """A download handler that may read the limits."""

    lazy = True


@pytest.mark.parametrize(
    ("given", "expected"),
    [((8, 4), (11, 15)), ((0, 4), (0, 7)), ((8, 0), (11, 0))],
    ids=["both", "no limit in all", "no limit for a domain"],
)
def test_add_connections(given: tuple[int, int], expected: tuple[int, int]) -> None:
    """Once; no limit is none."""
    settings = Settings(dict(zip(LIMITS, given, strict=True)))
    for _ in range(2):
        _compat_rare.add_connections(settings, 3)
        assert tuple(map(settings.getint, LIMITS)) == expected


@pytest.mark.parametrize(("later", "limits"), [({}, (16, 8)), ({LaterAddon: 501}, (4, 2))])
def test_remove_connections(later: dict[Any, int], limits: tuple[int, int]) -> None:
    """Pages keep the last value that the user, or a component of theirs, has set."""
    crawler = crawler_with_engine(
        ADDONS={"scrapy_robotspec.Addon": 500, **later},
        DOWNLOAD_HANDLERS={"http": OwnHandler, **dict.fromkeys(("https", "ftp", "s3"))},
    )
    assert crawler.engine is not None
    _compat_rare.remove_connections(crawler)
    downloader = crawler.engine.downloader
    assert (downloader.total_concurrency, downloader.domain_concurrency) == limits


def test_limits_that_an_engine_does_not_have_stay_raised() -> None:
    """As in a shell whose engine is not made."""
    raised = {RAISED_LIMITS: {"CONCURRENT_REQUESTS": (8, 11)}, "CONCURRENT_REQUESTS": 11}
    crawler: Any = SimpleNamespace(engine=None, settings=Settings(raised))
    _compat_rare.remove_connections(crawler)
    assert crawler.settings.getint("CONCURRENT_REQUESTS") == 11


def test_send_wait(engine: ExecutionEngine) -> None:
    times = SendTimes(engine.crawler)
    assert times.send_wait(REQUEST) == 0.0
    slot = slot_of(engine)
    assert times.send_wait(REQUEST) == 0.0
    _compat.take_slot_turn(engine, REQUEST)
    assert 2 < times.send_wait(REQUEST) <= 7.5
    slot.lastseen = 0
    slot.transferring.update(Request(f"http://a.example/{n}") for n in range(8))
    assert times.send_wait(REQUEST) > 0


def test_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until that request is in the slot, or for a moment, no other would be sent at once."""
    now = [1000.0]
    monkeypatch.setattr(_compat_rare, "slot_clock", lambda: now[0])
    engine = engine_with_delay()
    times, slot = SendTimes(engine.crawler), slot_of(engine)
    slot.delay = 0.0
    times.let_go(REQUEST)
    assert times.send_wait(REQUEST) > 0
    slot.lastseen = now[0]
    assert times.send_wait(REQUEST) == 0.0
    now[0] += 1.0
    times.let_go(REQUEST)
    assert times.send_wait(REQUEST) > 0
    now[0] += _compat_rare._BUSY_SLOT
    assert times.send_wait(REQUEST) == 0.0


def test_a_page_at_the_end_of_its_delay_waits_for_no_longer_one(
    engine: ExecutionEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    times, slot, now = SendTimes(engine.crawler), slot_of(engine), [1000.0]
    slot.lastseen = now[0]
    monkeypatch.setattr(_compat_rare, "slot_clock", lambda: now[0])
    monkeypatch.setattr(type(slot), "download_delay", lambda _: 4.0)
    assert times.send_wait(REQUEST) == 4.0
    now[0] += 4.0
    assert times.send_wait(REQUEST) == 0.0
    assert now[0] - slot.lastseen == 7.5


@given(
    draws=st.lists(st.floats(2.5, 7.5), min_size=1, max_size=5),
    asked=st.lists(st.floats(0, 0.99), max_size=3).map(sorted),
)
def test_one_random_delay_is_drawn_for_a_page(draws: list[float], asked: list[float]) -> None:
    """DOWNLOAD_DELAY holds as it was drawn, and no later draw makes it longer."""
    engine = engine_with_delay()
    times, slot, now = SendTimes(engine.crawler), slot_of(engine), [1000.0]
    for drawn in draws:
        left = chain([drawn], repeat(7.5))
        began = slot.lastseen = now[0]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_compat_rare, "slot_clock", lambda: now[0])
            patch.setattr(type(slot), "download_delay", lambda _, left=left: next(left))
            for share in asked:
                now[0] = began + share * drawn
                assert times.send_wait(REQUEST) == pytest.approx(began + drawn - now[0])
            now[0] = began + drawn + 1e-6
            assert times.send_wait(REQUEST) == 0.0
            assert times.send_wait(REQUEST) == 0.0
        assert now[0] - slot.lastseen >= 7.5 - 1e-6  # whatever the downloader draws


def test_load_handlers() -> None:
    engine = crawler_with_engine().engine
    _compat_rare.load_handlers(engine)
    _compat_rare.load_handlers(None)


@pytest.mark.parametrize(
    ("text", "is_found"),
    [(b"0a1f" * 10, True), (b"0a", True), (b"g0", False), (b"\x0a\x00", False), (b"0", False)],
)
def test_unread_job_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: bytes, is_found: bool
) -> None:
    """A JOBDIR of an older Scrapy: its fingerprints are text."""
    seen = tmp_path / "requests.seen"
    settings = Settings({"JOBDIR": str(tmp_path)})
    assert _compat_rare.unread_job_file(settings) is None
    seen.write_bytes(text)
    for release, is_read in (((2, 18, 3), True), ((2, 19, 0), False)):
        monkeypatch.setattr(_compat_rare, "version_info", release)
        found = seen if is_found and not is_read else None
        assert _compat_rare.unread_job_file(settings) == found


class Answers:
    """A middleware that may answer requests."""

    def process_request(self, request: Request) -> None: ...


class Watches:
    """A middleware that sees responses only."""


def test_middlewares_before() -> None:
    """Those behind ours, Scrapy's own and those that answer nothing are not named."""
    http_cache = "scrapy.downloadermiddlewares.httpcache.HttpCacheMiddleware"
    settings = Settings(
        {
            "DOWNLOADER_MIDDLEWARES": {
                Answers: 10,
                Watches: 20,
                http_cache: 30,
                RobotSpecMiddleware: 550,
            }
        }
    )
    name = f"{__name__}.Answers at 10"
    assert _compat_rare.middlewares_before(settings, RobotSpecMiddleware) == [
        name,
        f"{http_cache} at 30",
    ]
    settings = Settings({"DOWNLOADER_MIDDLEWARES": {RobotSpecMiddleware: 5, Answers: 10}})
    assert _compat_rare.middlewares_before(settings, RobotSpecMiddleware) == []


def test_queue_of_scrapy_redis() -> None:
    """A queue of another scheduler has not all of its names."""
    names = dict.fromkeys(("server", "key", "push", "_encode_request", "_decode_request"))
    queue = SimpleNamespace(**names)
    assert _compat_rare.queue_of_scrapy_redis(SimpleNamespace(queue=queue)) is queue
    for name in names:
        other = SimpleNamespace(**{each: None for each in names if each != name})
        assert _compat_rare.queue_of_scrapy_redis(SimpleNamespace(queue=other)) is None
    assert _compat_rare.queue_of_scrapy_redis(object()) is None


def test_watch_scheduler() -> None:
    """Without the part nothing is watched."""
    coming, seen = iter([REQUEST, None]), list[Request | None]()
    scheduler = SimpleNamespace(next_request=lambda: next(coming))
    engine = SimpleNamespace(_slot=SimpleNamespace(scheduler=scheduler))
    assert _compat_rare.watch_scheduler(engine, seen.append) is scheduler
    assert [scheduler.next_request(), scheduler.next_request()] == seen == [REQUEST, None]
    assert _compat_rare.watch_scheduler(SimpleNamespace(), seen.append) is None


def test_handlers_leave_retries_to_scrapy() -> None:
    """Pools and sessions that send nothing again by themselves get no attribute more."""
    pool = HTTPConnectionPool(Clock())  # type: ignore[no-untyped-call]  # Twisted is untyped
    pooled, session = SimpleNamespace(_pool=pool), SimpleNamespace(_retry_connection=True)
    handlers = {
        "http": pooled,
        "https": SimpleNamespace(_session=session),
        "ftp": SimpleNamespace(_session=SimpleNamespace()),
    }
    downloader = SimpleNamespace(handlers=SimpleNamespace(_handlers=handlers), slots={})
    crawler: Any = SimpleNamespace(engine=SimpleNamespace(downloader=downloader))
    _compat_rare.SendTimes(crawler).let_go(REQUEST)
    assert (pool.retryAutomatically, session._retry_connection) == (False, False)
    assert vars(handlers["ftp"]._session) == {}
    crawler.engine = SimpleNamespace(downloader=SimpleNamespace(slots={}))
    _compat_rare.SendTimes(crawler).let_go(REQUEST)  # without the part, nothing


class Connection:
    """A connection of httpx2 or aiohttp."""

    def __init__(self, *, idle: bool) -> None:
        self.idle = idle
        self.is_closed = False
        self._connection = self
        self._expire_at = 100.0

    def is_idle(self) -> bool:
        return self.idle

    def close(self) -> None:
        self.is_closed = True


def test_close_idle_sessions() -> None:
    """Connections in use are left alone; an engine without handlers has none."""
    idle, used, aiohttp = Connection(idle=True), Connection(idle=False), Connection(idle=True)
    pool = SimpleNamespace(connections=[idle, used])
    client = SimpleNamespace(_transport=SimpleNamespace(_pool=pool))
    session = SimpleNamespace(connector=SimpleNamespace(_conns={"a": [(aiohttp, 0.0)]}))
    handlers = {
        "http": SimpleNamespace(_default_client=client),
        "https": SimpleNamespace(_session=session),
        "ftp": SimpleNamespace(),
    }
    engine = SimpleNamespace(
        downloader=SimpleNamespace(handlers=SimpleNamespace(_handlers=handlers))
    )
    _compat_rare.close_idle_sessions(engine)
    assert (idle._expire_at, used._expire_at, aiohttp.is_closed) == (0.0, 100.0, True)
    assert session.connector._conns == {"a": []}
    _compat_rare.close_idle_sessions(SimpleNamespace())


def test_a_queue_in_a_slot_is_waited_for(engine: ExecutionEngine) -> None:
    """Its delay may be over while other requests are before this one."""
    times, slot = SendTimes(engine.crawler), slot_of(engine)
    slot.queue.append((REQUEST, None))
    slot.lastseen = 0.0
    assert times.send_wait(REQUEST) > 0


def test_few_slots_are_remembered(engine: ExecutionEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory does not grow with the hosts of a crawl."""
    monkeypatch.setattr(_compat_rare, "_MAX_DRAWN", 10)
    times = SendTimes(engine.crawler)
    for number in range(25):
        request = Request(f"http://{number}.example/")
        times.send_wait(request)
        times.let_go(request)
    assert max(len(times._drawn), len(times._going)) <= 10
    assert min(len(times._drawn), len(times._going)) == 5


@pytest.mark.parametrize("outcome", [None, succeed(None), IgnoreRequest()])
@pytest.mark.parametrize("release", [(2, 13, 4), (2, 14, 0)])
def test_decide_as_scrapy(
    monkeypatch: pytest.MonkeyPatch, release: tuple[int, int, int], outcome: Any
) -> None:
    """A refusal is raised, whether the release decides in a coroutine or with a Deferred."""
    middleware: Any = SimpleNamespace(crawler=SimpleNamespace(spider="its spider"))

    def with_spider(middleware: object, request: Request, spider: object) -> Any:
        assert spider == "its spider"
        return fail(outcome) if isinstance(outcome, Exception) else outcome

    async def without_spider(middleware: object, request: Request) -> None:
        if isinstance(outcome, Exception):
            raise outcome

    decide = with_spider if release < (2, 14) else without_spider
    monkeypatch.setattr(_compat_rare, "version_info", release)
    monkeypatch.setattr(_compat_rare, "as_future", lambda outcome: outcome)
    monkeypatch.setattr(RobotsTxtMiddleware, "process_request", decide)
    refused = pytest.raises(IgnoreRequest) if isinstance(outcome, Exception) else nullcontext()
    with refused:
        asyncio.run(_compat_rare.decide_as_scrapy(middleware, REQUEST))


def test_send_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the newer of two methods."""
    monkeypatch.setattr(_compat_rare, "as_future", lambda outcome: outcome)
    sent: list[tuple[str, dict[str, Any]]] = []

    async def in_coroutine(**kwargs: Any) -> None:
        sent.append(("coroutine", kwargs))

    def with_deferred(**kwargs: Any) -> Deferred[None]:
        sent.append(("Deferred", kwargs))
        return succeed(None)

    old = {"send_catch_log_deferred": with_deferred}
    for signals in (old, {**old, "send_catch_log_async": in_coroutine}):
        crawler: Any = SimpleNamespace(signals=SimpleNamespace(**signals))
        asyncio.run(_compat_rare.send_signal(crawler, "signal", status=200))
    given = {"signal": "signal", "status": 200}
    assert sent == [("Deferred", given), ("coroutine", given)]


@pytest.mark.parametrize("is_installed", [False, True])
def test_caller_of_this_thread(monkeypatch: pytest.MonkeyPatch, is_installed: bool) -> None:
    """The import of a reactor would install one."""
    reactor = SimpleNamespace(callFromThread=print)
    monkeypatch.setattr(_compat_rare, "is_reactor_installed", lambda: is_installed)
    monkeypatch.setattr(internet, "reactor", reactor, raising=False)

    async def find() -> bool:
        loop = asyncio.get_running_loop()
        return _compat_rare.caller_of_this_thread() == (
            print if is_installed else loop.call_soon_threadsafe
        )

    assert asyncio.run(find())
