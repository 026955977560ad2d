"""What differs between Scrapy 2.13 and the newest: every probe of Scrapy's version or insides.

Each function says from or until which release it is needed. Nothing here knows robots.txt, and no
other file of this package asks what Scrapy can do.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy import signals as scrapy_signals
from scrapy.utils.defer import deferred_from_coro, maybe_deferred_to_future
from twisted.internet.defer import Deferred

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from concurrent.futures import Future
    from typing import Protocol

    from scrapy import Request
    from scrapy.core.engine import ExecutionEngine
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    class Later(Protocol):
        """A call that was put off; cancelling one that was made already does nothing."""

        def cancel(self) -> None: ...


_T = TypeVar("_T")

#: From 2.18 a signal of Scrapy's own; before, an object nobody can be connected to by accident.
robots_parsed: object = getattr(scrapy_signals, "robots_parsed", None) or object()


class _ReactorLater:
    """A reactor's delayed call whose ``cancel`` may come too late."""

    def __init__(self, call: Any) -> None:
        self._call = call

    def cancel(self) -> None:
        if self._call.active():
            self._call.cancel()


def _reactor_call_later(delay: float, call: Callable[..., Any], *args: Any) -> Later:
    from twisted.internet import reactor  # noqa: TID251  (only here is there surely one)

    later: Any = reactor
    return _ReactorLater(later.callLater(delay, call, *args))


try:
    from scrapy.utils.asyncio import call_later as _call_later
except ImportError:  # before 2.14
    _call_later = _reactor_call_later  # type: ignore[assignment]


def call_later(delay: float, call: Callable[..., Any], *args: Any) -> Later:
    """Call ``call(*args)`` in *delay* seconds, with a reactor or without one."""
    return _call_later(max(0.0, delay), call, *args)


def download(engine: ExecutionEngine, request: Request) -> Deferred[Response]:
    """Download *request* past the scheduler (``download_async``: from 2.14)."""
    if hasattr(engine, "download_async"):
        return deferred_from_coro(engine.download_async(request))
    return engine.download(request)


async def send_signal(crawler: Crawler, signal: object, **kwargs: Any) -> None:
    """Send *signal* and wait for handlers that are coroutines (``send_catch_log_async``: 2.14)."""
    manager = crawler.signals
    if hasattr(manager, "send_catch_log_async"):
        await manager.send_catch_log_async(signal=signal, **kwargs)
    else:
        await maybe_deferred_to_future(manager.send_catch_log_deferred(signal=signal, **kwargs))


def deferred(coroutine: Coroutine[Any, Any, _T]) -> Deferred[_T]:
    """Run *coroutine*, which may await Deferreds of Scrapy's, and give its outcome."""
    return deferred_from_coro(coroutine)


def as_future(waiting: Deferred[_T]) -> Any:
    """What a coroutine that Scrapy runs may await to wait for *waiting*."""
    return maybe_deferred_to_future(waiting)


def is_closing(engine: ExecutionEngine | None) -> bool:
    """Whether the spider is being closed. No signal says so: ``_slot.closing`` is private."""
    slot = getattr(engine, "_slot", None)
    return engine is None or not engine.running or slot is None or slot.closing is not None


def wake(engine: ExecutionEngine | None) -> None:
    """Let the engine look into the scheduler now, not at its heartbeat (every 5 s)."""
    slot = getattr(engine, "_slot", None)
    if slot is not None and slot.closing is None:
        slot.nextcall.schedule()


def extra_download_slot(engine: ExecutionEngine) -> Callable[[], None]:
    """Make room for one more request in the downloader; the result takes the room back.

    A total concurrency of 0 is no limit and stays so.
    """
    downloader = engine.downloader
    if not downloader.total_concurrency:
        return lambda: None
    downloader.total_concurrency += 1

    def release_slot() -> None:
        downloader.total_concurrency -= 1

    return release_slot


def slot_is_idle(engine: ExecutionEngine, request: Request) -> bool:
    """Whether nothing is being downloaded in *request*'s download slot."""
    downloader = engine.downloader
    slot = downloader.slots.get(downloader.get_slot_key(request))
    return slot is None or not slot.active


def handles_ftp(crawler: Crawler) -> bool:
    """Whether Scrapy can download FTP: not without a reactor (from 2.15), nor if switched off."""
    settings = crawler.settings
    handlers = settings.getwithbase("DOWNLOAD_HANDLERS")
    return settings.getbool("TWISTED_REACTOR_ENABLED", True) and handlers.get("ftp") is not None


class Threads:
    """Blocking calls outside the reactor's thread, at most two at once, reactor or not."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(2, thread_name_prefix="robotspec")

    def __call__(self, call: Callable[..., _T], *args: Any) -> Deferred[_T]:
        """The outcome of ``call(*args)``, fired in the thread that asks."""
        outcome: Deferred[_T] = Deferred()
        to_here = _caller_of_this_thread()
        job = self._executor.submit(call, *args)
        job.add_done_callback(lambda done: to_here(_fire, outcome, done))
        return outcome

    def close(self) -> None:
        """Take no more calls; those begun are finished, those queued too."""
        self._executor.shutdown(wait=False)


def _caller_of_this_thread() -> Callable[..., Any]:
    """A function that calls a function in this thread from another one."""
    try:
        from twisted.internet import reactor  # noqa: TID251
    except ImportError:  # without a reactor (from 2.15) there is a running loop
        import asyncio

        return asyncio.get_running_loop().call_soon_threadsafe
    here: Callable[..., Any] = reactor.callFromThread
    return here


def _fire(outcome: Deferred[_T], done: Future[_T]) -> None:
    if outcome.called:  # cancelled while the thread was at work
        return
    error = done.exception()
    if error is None:
        outcome.callback(done.result())
    else:
        outcome.errback(error)
