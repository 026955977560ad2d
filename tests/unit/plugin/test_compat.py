"""Everything private of Scrapy that this plugin uses, tried on the installed Scrapy.

Each test has the name of the function of ``_compat.py`` that a new Scrapy asks to change.
"""

from __future__ import annotations

import asyncio
from collections import deque
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request, signals, version_info
from scrapy.core import downloader as downloader_module
from scrapy.core.engine import ExecutionEngine
from scrapy.downloadermiddlewares.httpcompression import HttpCompressionMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.settings import Settings
from scrapy.signalmanager import SignalManager
from twisted.internet.defer import CancelledError, Deferred, succeed

from scrapy_robotspec.plugin import _compat
from tests.support.stores import run_program
from tests.unit.plugin.scheduling.crawlers import (
    REQUEST,
    SLOT,
    crawler_with_engine,
    slot_of,
)


class OtherHandler:
    """A user's download handler."""


class Pool:
    """A pool of Twisted's with two idle connections."""

    _timeouts = ("a", "b")

    def closeCachedConnections(self) -> None: ...  # noqa: N802


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


def test_drop_slot(engine: ExecutionEngine) -> None:
    """One in use stays until the downloader removes it; an engine without slots has none."""
    slot = slot_of(engine)
    slot.active.add(REQUEST)
    _compat.drop_slot(engine, SLOT)
    assert engine.downloader.slots == {SLOT: slot}
    slot.active.clear()
    for name in ("other", SLOT):
        _compat.drop_slot(engine, name)
    assert engine.downloader.slots == {}
    _compat.drop_slot(SimpleNamespace(), SLOT)


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


@pytest.mark.parametrize("missing", ["get_slot_key", "per_slot_settings"])
def test_slots_without_a_part_keep_their_names(missing: str) -> None:
    parts: dict[str, Any] = {"get_slot_key": str, "per_slot_settings": {"a": {}}}
    parts[missing] = None
    engine = SimpleNamespace(downloader=SimpleNamespace(**parts))
    assert _compat.name_slots(engine, "own") == {}
    assert vars(engine.downloader) == parts


@pytest.mark.parametrize("parts", [{}, {"slots": {}}, {"_get_slot": lambda *_: ("a", object())}])
def test_without_download_slots_a_request_has_none(parts: dict[str, Any]) -> None:
    engine = SimpleNamespace(downloader=SimpleNamespace(**parts))
    assert _compat.download_slot(engine, REQUEST) is None
    assert _compat.take_slot_turn(engine, REQUEST) == 0.0


@pytest.mark.parametrize(
    ("slot", "longest"),
    [
        ({"randomize_delay": True}, 3.0),
        ({"randomize_delay": False}, 2.0),
        ({"jitter": 0.25}, 2.5),
    ],
)
def test_longest_delay(slot: dict[str, Any], longest: float) -> None:
    """Of an older and a newer download slot."""
    assert _compat.longest_delay(SimpleNamespace(delay=2.0, **slot)) == longest


@pytest.mark.parametrize(
    ("engine", "is_closing", "wakes"),
    [
        (None, True, 0),
        (SimpleNamespace(running=True), True, 0),
        (SimpleNamespace(running=True, _slot=None), True, 0),
        (SimpleNamespace(running=False, _slot=EngineSlot()), True, 0),
        (SimpleNamespace(running=True, _slot=SimpleNamespace(closing=None)), False, 0),
        (SimpleNamespace(running=True, _slot=EngineSlot()), False, 1),
    ],
)
def test_an_engine_may_lack_a_slot_or_its_parts(engine: Any, is_closing: bool, wakes: int) -> None:
    crawler: Any = SimpleNamespace(engine=engine)
    door = _compat.Engine(crawler)
    assert door.is_closing is is_closing
    door.wake()
    assert getattr(getattr(engine, "_slot", None), "wakes", 0) == wakes


@pytest.mark.parametrize(
    ("engine", "expected"),
    [
        (None, False),
        (SimpleNamespace(start_time=None), False),
        (SimpleNamespace(start_time=0.0), True),
    ],
)
def test_was_started(engine: Any, expected: bool) -> None:
    assert _compat.was_started(engine) is expected


def test_slots_of_another_downloader_are_named_by_hosts() -> None:
    slots = _compat.DownloadSlots(SimpleNamespace())
    assert slots.key(Request("http://a.example:8000/")) == "a.example"
    assert slots.key(Request("data:,page")) == ""
    assert slots.active_in("a.example") == 0


def test_slot_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of an older downloader, and of a newer one."""
    monkeypatch.setattr(downloader_module, "time", lambda: 5, raising=False)
    monkeypatch.setattr(downloader_module, "monotonic", None, raising=False)
    assert _compat.slot_clock() == 5.0
    monkeypatch.setattr(downloader_module, "monotonic", lambda: 7)
    assert _compat.slot_clock() == 7.0


def test_robots_parsed() -> None:
    """Scrapy's own signal, if it has it."""
    own = getattr(signals, "robots_parsed", None)
    assert (_compat.robots_parsed is own) is (version_info >= (2, 18))
    assert _compat.robots_parsed is not None


def test_when_closing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The call comes once the slot knows that it closes."""
    later: list[Any] = []
    monkeypatch.setattr(_compat, "call_later", lambda *given: later.append(given))
    engine = SimpleNamespace(_slot=SimpleNamespace(close=lambda: "closed"))
    _compat.when_closing(engine, print)
    assert later == []
    assert engine._slot.close() == "closed"
    assert later == [(0, print)]
    _compat.when_closing(SimpleNamespace(), print)


def test_when_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scrapy 2.13 passes a request on in the next turn of the loop."""
    made: list[Any] = []
    monkeypatch.setattr(_compat, "call_later", lambda *given: made.append(given))
    call = partial(made.append, "at once")
    monkeypatch.setattr(_compat, "version_info", (2, 14, 0))
    _compat.when_passed_on(call)
    assert made == ["at once"]
    monkeypatch.setattr(_compat, "version_info", (2, 13, 4))
    _compat.when_passed_on(call)
    assert made == ["at once", (0, _compat.call_later, 0, call)]


def test_download(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the newer of two methods."""
    monkeypatch.setattr(_compat, "as_future", lambda outcome: outcome)

    async def in_coroutine(request: Request) -> Response:
        return Response(request.url, status=201)

    old = {"download": lambda request: succeed(Response(request.url))}
    for engine, status in (
        (SimpleNamespace(**old), 200),
        (SimpleNamespace(**old, download_async=in_coroutine), 201),
    ):
        assert asyncio.run(_compat.download(engine, REQUEST)).status == status


def test_call_first() -> None:
    methods = {"process_exception": deque([str])}
    engine = SimpleNamespace(
        downloader=SimpleNamespace(middleware=SimpleNamespace(methods=methods))
    )
    _compat.call_first(engine, "process_exception", repr)
    assert [*methods["process_exception"]] == [repr, str]
    _compat.call_first(SimpleNamespace(), "process_exception", repr)


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


class TwistedHandler:
    """A user's handler that has the name of one of Scrapy's for Twisted as a base."""


TwistedHandler.__name__ = "HTTP11DownloadHandler"


class Derived(TwistedHandler):
    """One made of it."""


@pytest.mark.parametrize(
    ("handlers", "has_reactor", "expected"),
    [
        (None, True, True),
        (None, False, False),
        ({"http": None, "https": None}, False, True),
        ({"http": Derived, "https": None}, True, True),
        ({"http": Derived, "https": OtherHandler}, True, False),
        ({"https": f"{__name__}.OtherHandler"}, True, True),
        ({"https": "no.such.Handler"}, True, True),
    ],
)
def test_uses_twisted(
    monkeypatch: pytest.MonkeyPatch, handlers: Any, has_reactor: bool, expected: bool
) -> None:
    """A user's module is not imported before there is a reactor."""
    monkeypatch.setattr(_compat, "is_reactor_installed", lambda: False)
    settings = Settings({"TWISTED_REACTOR_ENABLED": has_reactor})
    if handlers is not None:
        settings.set("DOWNLOAD_HANDLERS", handlers)
    assert _compat.uses_twisted(settings) is expected


@pytest.mark.parametrize(
    ("ftp", "has_reactor", "expected"),
    [(OtherHandler, True, True), (OtherHandler, False, False), (None, True, False)],
)
def test_handles_ftp(ftp: Any, has_reactor: bool, expected: bool) -> None:
    settings = {"DOWNLOAD_HANDLERS": {"ftp": ftp}, "TWISTED_REACTOR_ENABLED": has_reactor}
    crawler: Any = SimpleNamespace(settings=Settings(settings))
    assert _compat.handles_ftp(crawler) is expected


@pytest.mark.parametrize(
    ("key", "is_installed", "has_reactor", "expected"),
    [
        (OtherHandler, False, True, True),
        ("scrapy.core.downloader.handlers.s3.S3DownloadHandler", False, True, True),
        ("scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler", False, True, True),
        ("own.Handler", False, True, False),
        ("own.Handler", True, True, True),
        ("own.Handler", False, False, True),
    ],
)
def test_is_importable(
    monkeypatch: pytest.MonkeyPatch,
    key: Any,
    is_installed: bool,
    has_reactor: bool,
    expected: bool,
) -> None:
    monkeypatch.setattr(_compat, "is_reactor_installed", lambda: is_installed)
    settings = Settings({"TWISTED_REACTOR_ENABLED": has_reactor})
    assert _compat.is_importable(key, settings) is expected


@pytest.mark.parametrize(
    ("key", "component"),
    [
        (OtherHandler, OtherHandler),
        (f"{__name__}.OtherHandler", OtherHandler),
        ("no.such.Handler", None),
        ("nothing", None),
    ],
)
def test_loaded(key: Any, component: type | None) -> None:
    assert _compat.loaded(key) is component


@pytest.mark.parametrize(
    ("key", "is_it"),
    [
        (OtherHandler, True),
        (Derived, False),
        (f"{__name__}.OtherHandler", True),
        ("no.such.OtherHandler", False),
    ],
)
def test_components_are_known_in_each_spelling(key: Any, is_it: bool) -> None:
    assert _compat.is_component(key, OtherHandler) is is_it
    chosen = {key: 5, "other.Component": None}
    assert _compat.take_component(chosen, OtherHandler) == [5] * is_it
    assert chosen == {**({} if is_it else {key: 5}), "other.Component": None}
    assert _compat.is_enabled(OtherHandler, {key: 5}) is is_it
    assert not _compat.is_enabled(OtherHandler, {key: None})


def test_a_component_of_another_name_is_not_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(_compat, "loaded", asked.append)
    assert not _compat.is_component(f"{__name__}.Derived", OtherHandler)
    assert asked == []


def test_idle_connections() -> None:
    """Of handlers with a pool of Twisted's."""
    pool = Pool()
    handlers = {"http": SimpleNamespace(_pool=pool), "ftp": SimpleNamespace()}
    engine = SimpleNamespace(
        downloader=SimpleNamespace(handlers=SimpleNamespace(_handlers=handlers))
    )

    assert _compat.idle_connections(engine) == {pool: 2}
    assert _compat.idle_connections(SimpleNamespace()) == {}


class Sending:
    """An engine whose handlers respond to REQUEST."""

    def __init__(self, outcome: Exception | None = None, **settings: Any) -> None:
        self.outcome = outcome
        self.crawler = SimpleNamespace(settings=Settings(settings))
        self.handlers = SimpleNamespace(**{_compat._SEND: self._send})
        self.downloader = SimpleNamespace(handlers=self.handlers)
        self.metas: list[dict[str, Any]] = []
        """Meta of each request while it is sent."""
        self.noted: list[tuple[str, int | None]] = []

    async def _send(self, request: Request) -> Response:
        self.metas.append(dict(request.meta))
        if self.outcome is not None:
            raise self.outcome
        return Response(request.url, status=404)

    def note(self, passed: str, left: float, status: int | None) -> None:
        assert left > 1e9
        self.noted.append((passed, status))

    def send(
        self, check: Any, meta: dict[str, Any] | None = None, *, has_note: bool = True
    ) -> Response:
        note = self.note if has_note else None
        assert _compat.watch_sending(self, check, note, "own")
        request = Request("http://a.example/", meta=meta)

        async def sending() -> Response:
            sent: Response = await getattr(self.handlers, _compat._SEND)(request)
            assert request.meta == (meta or {})
            return sent

        return asyncio.run(sending())


in_coroutines = pytest.mark.skipif(version_info < (2, 14), reason="Deferreds before Scrapy 2.14")


@in_coroutines
@pytest.mark.parametrize(
    ("passed", "has_note", "has_own", "is_noted", "is_cancellable"),
    [
        ("it", True, False, True, False),
        ("it", True, True, True, False),
        ("it", False, False, False, False),
        ("it", False, True, False, False),
        (None, True, False, False, False),
        (None, True, True, False, True),
        (None, False, True, False, True),
    ],
)
def test_watch_sending(
    passed: str | None, has_note: bool, has_own: bool, is_noted: bool, is_cancellable: bool
) -> None:
    """A page is noted at its end; a robots.txt request gets what cancels it."""
    engine, own = Sending(), SimpleNamespace(sending=None)
    meta = {"own": own} if has_own else {}
    response = engine.send(lambda request: passed, meta, has_note=has_note)
    assert response.status == 404
    assert engine.noted == ([("it", 404)] if is_noted else [])
    assert (own.sending is not None) is is_cancellable


@in_coroutines
def test_a_request_that_fails_is_noted_without_a_status() -> None:
    engine = Sending(OSError("refused"))
    with pytest.raises(OSError, match="refused"):
        engine.send(lambda request: "it")
    assert engine.noted == [("it", None)]


@in_coroutines
def test_a_refused_request_is_not_sent() -> None:
    """Whether or not its slot can be given its turn back."""

    def refuse(request: Request) -> None:
        raise IgnoreRequest

    engine = Sending()
    with pytest.raises(IgnoreRequest):
        engine.send(refuse)
    assert (engine.metas, engine.noted) == ([], [])


@in_coroutines
@pytest.mark.parametrize("meta", [{}, {"verbatim_url": False}, {"verbatim_url": True}])
@pytest.mark.parametrize("has_reactor", [True, False])
@pytest.mark.parametrize("release", [(2, 18, 3), (2, 19, 0)])
def test_the_url_is_sent_as_it_is_where_a_handler_would_spell_it_anew(
    monkeypatch: pytest.MonkeyPatch,
    release: tuple[int, int, int],
    has_reactor: bool,
    meta: dict[str, Any],
) -> None:
    """The meta key is there meanwhile only, unless it is the user's."""
    monkeypatch.setattr(_compat, "version_info", release)
    engine = Sending(TWISTED_REACTOR_ENABLED=has_reactor)
    engine.send(lambda request: None, dict(meta))
    is_spelled_anew = release >= (2, 19) and not has_reactor
    assert engine.metas == [{"verbatim_url": True, **meta} if is_spelled_anew else meta]


def test_handlers_without_the_part_are_not_watched() -> None:
    assert not _compat.watch_sending(SimpleNamespace(), print, None, "own")


def test_requests_are_sent_by_the_method_of_the_release() -> None:
    is_async = version_info >= (2, 14)
    expected = "download_request_async" if is_async else "download_request"
    assert expected == _compat._SEND


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
