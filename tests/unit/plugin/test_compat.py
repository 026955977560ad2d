"""Everything private of Scrapy that this plugin uses, tried on the installed Scrapy.

Each test has the name of the function of ``_compat.py`` that a new Scrapy asks to change.
"""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request, version_info
from scrapy.core.engine import ExecutionEngine
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.settings import Settings
from scrapy.signalmanager import SignalManager
from twisted.internet.defer import CancelledError, Deferred

from scrapy_robotspec.plugin import _compat
from tests.support.stores import run_program
from tests.unit.plugin.scheduling.crawlers import (
    REQUEST,
    SLOT,
    crawler_with_engine,
    slot_of,
)


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


def door_to(engine: ExecutionEngine) -> _compat.Engine:
    """The engine as the plugin sees it."""
    door = _compat.Engine(engine.crawler)
    door._crawler.engine = engine
    return door


def test_is_closing_and_wake(engine: ExecutionEngine) -> None:
    door = door_to(engine)
    assert door.is_closing, "an engine that does not run has no spider to wait for"
    slot = EngineSlot()
    engine._slot, engine.running = slot, True  # type: ignore[assignment]
    assert not door.is_closing
    door.wake()
    slot.closing = Deferred()
    assert door.is_closing
    door.wake()
    assert slot.wakes == 1


def test_back_out_while(engine: ExecutionEngine) -> None:
    waiting = False
    _compat.back_out_while(engine, lambda is_full: is_full() or waiting)
    assert not engine.downloader.needs_backout()
    waiting = True
    assert engine.downloader.needs_backout()
    waiting = False
    fill(engine)
    assert engine.downloader.needs_backout()


def test_download_slots(engine: ExecutionEngine) -> None:
    slots = _compat.DownloadSlots(engine)
    assert slots.key(REQUEST) == SLOT
    assert slots.active_in(SLOT) == 0
    slot_of(engine).active.add(REQUEST)
    assert slots.active_in(SLOT) == 1
    door = door_to(engine)
    assert not door.is_active(REQUEST)
    engine.downloader.active.add(REQUEST)
    assert door.is_active(REQUEST)


def test_extra_download_slot(engine: ExecutionEngine) -> None:
    fill(engine)
    assert engine.downloader.needs_backout()
    release = _compat.extra_download_slot(engine)
    assert not engine.downloader.needs_backout()
    release()
    assert engine.downloader.needs_backout()
    engine.downloader.total_concurrency = 0
    _compat.extra_download_slot(engine)()
    assert engine.downloader.total_concurrency == 0


def test_take_slot_turn(engine: ExecutionEngine) -> None:
    slot = slot_of(engine)
    assert _compat.take_slot_turn(engine, REQUEST) == 0.0
    assert slot.lastseen > 0
    second = _compat.take_slot_turn(engine, REQUEST)
    assert 2 < second < 8
    slot.active.add(REQUEST)
    assert _compat.take_slot_turn(engine, REQUEST) == 0.0


def test_name_slots(engine: ExecutionEngine) -> None:
    """Whatever slot another middleware has given it."""
    own = SimpleNamespace(slot="robotspec@a")
    request = Request(
        "http://a.example/robots.txt", meta={"download_slot": "of a proxy", "own": own}
    )
    settings = _compat.name_slots(engine, "own")
    assert engine.downloader.get_slot_key(REQUEST) == SLOT
    settings["robotspec@a"] = {"delay": 0.0}
    assert _compat.download_slot(engine, request).delay == 0.0
    assert "robotspec@a" in engine.downloader.slots


class OtherSignals(SignalManager):
    """Sends without pydispatch, as a project's own manager may."""


def test_another_signal_manager_is_always_asked_to_send() -> None:
    signal = object()
    crawler: Any = SimpleNamespace(signals=SignalManager())
    assert not _compat.has_receivers(crawler, signal)
    crawler.signals = OtherSignals()
    assert _compat.has_receivers(crawler, signal)


def test_a_handler_counts_while_it_lives() -> None:
    signal, crawler = object(), SimpleNamespace(signals=SignalManager())

    def handle() -> None: ...

    crawler.signals.connect(handle, signal)
    assert _compat.has_receivers(crawler, signal)  # type: ignore[arg-type]
    del handle
    assert not _compat.has_receivers(crawler, signal)  # type: ignore[arg-type]


def test_deferred() -> None:
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


def test_accepted_encodings() -> None:
    crawler = crawler_with_engine()
    request = Request("http://a.example/")
    HttpCompressionMiddleware.from_crawler(crawler).process_request(
        request, **({} if version_info >= (2, 14) else {"spider": None})
    )
    assert request.headers["Accept-Encoding"] == b", ".join(_compat.ACCEPTED_ENCODINGS)


def test_uses_twisted() -> None:
    assert _compat.uses_twisted(Settings())


@pytest.mark.skipif(version_info < (2, 14), reason="Scrapy before 2.14 counts pages at once")
def test_limit_pages() -> None:
    """A page counts in its slot before the next turn of the loop."""
    crawler, counted = crawler_with_engine(), []
    downloader: Any = crawler.engine and crawler.engine.downloader
    downloader._wait_for_download = lambda slot, *_: counted.append(set(slot.transferring))
    _compat.limit_pages(crawler)
    downloader._wait_for_download(SimpleNamespace(transferring=set()), REQUEST, Deferred())
    assert counted == [{REQUEST}]


def test_a_part_of_another_shape_is_missing(engine: ExecutionEngine) -> None:
    """A number in the place of a function, a function in the place of a table."""
    engine.downloader.total_concurrency = str  # type: ignore[assignment]
    engine.downloader.active = 5  # type: ignore[assignment]
    engine.downloader.needs_backout = True  # type: ignore[assignment,method-assign]
    expected = {"downloader.total_concurrency", "downloader.active", "downloader.needs_backout"}
    assert expected <= set(_compat.parts_missing_in(engine))


def test_a_call_of_a_reactor_may_be_cancelled_at_any_time() -> None:
    """As before Scrapy 2.14: cancelling it after it was made, or twice, does nothing."""
    program = (
        "from twisted.internet import reactor\n"
        "from scrapy_robotspec.plugin._compat import _reactor_call_later\n"
        "made = _reactor_call_later(0, print, 'made')\n"
        "cancelled = _reactor_call_later(0.05, print, 'cancelled')\n"
        "reactor.callLater(0.02, lambda: [c.cancel() for c in (made, cancelled, cancelled)])\n"
        "reactor.callLater(0.1, reactor.stop)\n"
        "reactor.run()\n"
    )
    ended = run_program(program)
    assert (ended.stdout, ended.stderr) == ("made\n", "")
