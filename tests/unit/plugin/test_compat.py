"""Everything private of Scrapy that this plugin uses, tried on the installed Scrapy.

A failure here names the function of ``_compat.py`` that a new Scrapy asks to change.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import scrapy
from scrapy import Request, version_info
from scrapy.core import engine as engine_module
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.settings import Settings
from scrapy.utils.reactor import CallLaterOnce
from twisted.internet.defer import CancelledError, Deferred

from scrapy_robotspec.plugin import _compat
from tests.unit.plugin.scheduling.crawlers import crawler_with_engine

if TYPE_CHECKING:
    from scrapy.core.engine import ExecutionEngine

REQUEST = Request("http://a.example/")
SLOT = "a.example"


def changed(function: str, what: str) -> str:
    return f"Scrapy {scrapy.__version__} has changed {what}: _compat.{function} must follow"


@pytest.fixture
def engine() -> ExecutionEngine:
    engine = crawler_with_engine(DOWNLOAD_DELAY=5).engine
    assert engine is not None
    # No loop runs here that could remove slots without use.
    engine.downloader._start_slot_gc = lambda: None  # type: ignore[method-assign]
    return engine


def slot_of(engine: ExecutionEngine) -> Any:
    """The download slot of REQUEST, made as the downloader makes it."""
    _compat._slot(engine, REQUEST)
    slot = engine.downloader.slots.get(SLOT)
    assert slot is not None, changed("_slot", "Downloader._get_slot")
    return slot


def fill(engine: ExecutionEngine) -> None:
    """As many requests in the downloader as there is room for."""
    room = range(engine.downloader.total_concurrency)
    engine.downloader.active.update(Request(f"http://a.example/{n}") for n in room)


class EngineSlot:
    """The attributes of the engine's slot that ``is_closing`` and ``wake`` use."""

    def __init__(self) -> None:
        self.wakes = 0
        self.closing: Deferred[None] | None = None
        self.nextcall = self

    def schedule(self) -> None:
        self.wakes += 1


def test_engine_slot_says_whether_the_spider_closes_and_can_be_woken(
    engine: ExecutionEngine,
) -> None:
    assert hasattr(engine, "_slot"), changed("is_closing and wake", "ExecutionEngine._slot")
    source = inspect.getsource(engine_module)
    for part in ("self.closing", "self.nextcall", "_start_scheduled_requests"):
        assert part in source, changed("is_closing and wake", f"the engine's {part}")
    assert hasattr(CallLaterOnce, "schedule"), changed("wake", "CallLaterOnce.schedule")
    assert _compat.is_closing(engine), "an engine that does not run has no spider to wait for"
    slot = EngineSlot()
    engine._slot, engine.running = slot, True  # type: ignore[assignment]
    assert not _compat.is_closing(engine)
    _compat.wake(engine)
    slot.closing = Deferred()
    assert _compat.is_closing(engine)
    _compat.wake(engine)
    assert slot.wakes == 1


def test_engine_asks_the_downloader_whether_to_back_out(engine: ExecutionEngine) -> None:
    source = inspect.getsource(type(engine).needs_backout)
    assert "self.downloader.needs_backout()" in source, changed(
        "back_out_while", "ExecutionEngine.needs_backout"
    )
    waiting = False
    _compat.back_out_while(engine, lambda is_full: is_full() or waiting)
    assert not engine.downloader.needs_backout()
    waiting = True
    assert engine.downloader.needs_backout()
    waiting = False
    fill(engine)
    assert engine.downloader.needs_backout(), changed("back_out_while", "Downloader.needs_backout")


def test_download_slots_give_their_key_and_load(engine: ExecutionEngine) -> None:
    slots = _compat.DownloadSlots(engine)
    assert slots.key(REQUEST) == SLOT, changed("DownloadSlots", "Downloader.get_slot_key")
    assert slots.active_in(SLOT) == 0
    slot_of(engine).active.add(REQUEST)
    assert slots.active_in(SLOT) == 1, changed("DownloadSlots", "Slot.active")
    assert not slots.is_active(REQUEST)
    engine.downloader.active.add(REQUEST)
    assert slots.is_active(REQUEST), changed("DownloadSlots", "Downloader.active")


def test_extra_download_slot_is_given_back(engine: ExecutionEngine) -> None:
    full = changed("extra_download_slot", "Downloader.total_concurrency")
    fill(engine)
    assert engine.downloader.needs_backout(), full
    release = _compat.extra_download_slot(engine)
    assert not engine.downloader.needs_backout(), full
    release()
    assert engine.downloader.needs_backout(), full
    engine.downloader.total_concurrency = 0
    _compat.extra_download_slot(engine)()
    assert engine.downloader.total_concurrency == 0


def test_turn_of_an_idle_slot_delays_its_next_request(engine: ExecutionEngine) -> None:
    slot = slot_of(engine)
    assert _compat.take_slot_turn(engine, REQUEST) == 0.0
    assert slot.lastseen > 0, changed("take_slot_turn", "Slot.lastseen")
    second = _compat.take_slot_turn(engine, REQUEST)
    assert 2 < second < 8, changed(
        "take_slot_turn", "Slot.download_delay or the downloader's clock"
    )
    slot.active.add(REQUEST)
    assert _compat.take_slot_turn(engine, REQUEST) == 0.0


def test_slot_tells_when_it_sends_the_next_request(engine: ExecutionEngine) -> None:
    assert _compat.send_wait(engine, REQUEST) == 0.0
    slot = slot_of(engine)
    assert _compat.send_wait(engine, REQUEST) == 0.0
    _compat.take_slot_turn(engine, REQUEST)
    assert 5 < _compat.send_wait(engine, REQUEST) <= 7.5, changed("send_wait", "Slot.jitter")
    slot.lastseen = 0
    slot.transferring.update(Request(f"http://a.example/{n}") for n in range(8))
    busy = changed("send_wait", "Slot.transferring or Slot.free_transfer_slots")
    assert _compat.send_wait(engine, REQUEST) > 0, busy


def test_slot_of_a_robots_txt_is_made_without_a_delay(engine: ExecutionEngine) -> None:
    """Whatever slot another middleware has given it."""
    own = SimpleNamespace(slot="robotspec@a")
    request = Request(
        "http://a.example/robots.txt", meta={"download_slot": "of a proxy", "own": own}
    )
    slots = _compat.UndelayedSlots(engine, "own")
    assert engine.downloader.get_slot_key(REQUEST) == SLOT
    with slots.use("robotspec@a"):
        slot = _compat._slot(engine, request)
    assert slot.delay == 0.0, changed("UndelayedSlots", "Downloader.per_slot_settings")
    with slots.use("robotspec@a"):
        with slots.use("robotspec@a"):
            pass
        assert "robotspec@a" in engine.downloader.per_slot_settings
    assert "robotspec@a" not in engine.downloader.per_slot_settings


def test_handlers_can_be_loaded_before_the_first_request() -> None:
    engine = crawler_with_engine().engine
    assert engine is not None
    assert hasattr(engine.downloader.handlers, "_get_handler"), changed(
        "load_handlers", "DownloadHandlers._get_handler"
    )
    _compat.load_handlers(engine)
    _compat.load_handlers(None)


def test_cancelled_task_is_twisteds_cancelled_error() -> None:
    """An asyncio task that is cancelled raises another class."""

    async def cancelled() -> None:
        raise asyncio.CancelledError

    failures: list[Any] = []

    async def run() -> None:
        outcome = _compat.deferred(cancelled())
        outcome.addErrback(failures.append)
        await asyncio.sleep(0.01)

    asyncio.run(run())
    assert [type(failure.value) for failure in failures] == [CancelledError]


def test_scrapys_accept_encoding_is_known() -> None:
    crawler = crawler_with_engine()
    request = Request("http://a.example/")
    HttpCompressionMiddleware.from_crawler(crawler).process_request(
        request, **({} if version_info >= (2, 14) else {"spider": None})
    )
    assert request.headers["Accept-Encoding"] == b", ".join(_compat.ACCEPTED_ENCODINGS), changed(
        "ACCEPTED_ENCODINGS", "HttpCompressionMiddleware"
    )


def test_scrapys_handlers_with_twisted_need_no_more_connections() -> None:
    assert _compat._uses_twisted(Settings()), changed(
        "add_connections", "its download handlers for HTTP"
    )


def test_a_thread_may_outlive_the_loop(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A second Ctrl-C closes the loop at once; a slow store does not add a traceback."""
    loop, store_answers = asyncio.new_event_loop(), threading.Event()
    monkeypatch.setattr(_compat, "_caller_of_this_thread", lambda: loop.call_soon_threadsafe)
    threads = _compat.Threads()
    threads(store_answers.wait)
    loop.close()
    store_answers.set()
    threads._executor.shutdown(wait=True)
    assert caplog.records == []
