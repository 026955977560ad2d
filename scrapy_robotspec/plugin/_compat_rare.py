"""Private parts of Scrapy that few crawls use.

``_compat.py`` has those that all use.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request, version_info
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.utils.conf import build_component_list
from scrapy.utils.defer import maybe_deferred_to_future as as_future
from scrapy.utils.python import global_object_name
from scrapy.utils.reactor import is_reactor_installed

from scrapy_robotspec.plugin._compat import (
    RAISED_LIMITS,
    DownloadSlots,
    download_slot,
    idle_connections,
    loaded,
    longest_delay,
    merged_middlewares,
    part,
    set_by_addon,
    slot_clock,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

#: Max slots whose delay is remembered.
_MAX_DRAWN = 10_000
#: Names that scrapy-redis's queues have.
_OF_SCRAPY_REDIS = ("server", "key", "push", "_encode_request", "_decode_request")
#: Setting of a limit -> the part of the engine that keeps it.
_LIMITS = {
    "CONCURRENT_REQUESTS": "total_concurrency",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "domain_concurrency",
}
#: A download slot with waiting requests is looked at again after this time (seconds).
_BUSY_SLOT = 0.1


# --- crawl delays


class SendTimes:
    """When the downloader of *crawler* would send requests."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._drawn: dict[int, tuple[float, float]] = {}
        """Last use of a download slot and the delay drawn after it (seconds), by its id."""
        self._going: dict[int, float] = {}
        """When a request was let go to a download slot, by its id."""

    def slot_key(self, request: Request) -> str:
        """The key of a download slot. Uses: ``downloader.get_slot_key`` (2.13 on)."""
        return DownloadSlots(self._crawler.engine).key(request)

    def let_go(self, request: Request) -> None:
        """*request* goes to its download slot now."""
        _leave_retries_to_scrapy(self._crawler.engine)
        slot = download_slot(self._crawler.engine, request)
        if slot is not None:
            if len(self._going) >= _MAX_DRAWN:
                self._going.clear()
            self._going[id(slot)] = slot_clock()

    def send_wait(self, request: Request) -> float:
        """Seconds until the downloader would send *request*.

        One random delay is drawn after each page, and the downloader then draws no longer one.
        Uses: ``Slot.queue``, ``Slot.free_transfer_slots``, ``Slot.lastseen``,
        ``Slot.download_delay`` (2.13 on).
        """
        slot = download_slot(self._crawler.engine, request)
        if slot is None:
            return 0.0
        going = self._going.get(id(slot), 0.0)  # perhaps not there yet
        is_awaited = slot.lastseen < going and slot_clock() < going + _BUSY_SLOT
        if is_awaited or slot.queue or slot.free_transfer_slots() <= 0:
            return _BUSY_SLOT
        used, delay = self._drawn.get(id(slot), (None, 0.0))
        if used != slot.lastseen:
            if len(self._drawn) >= _MAX_DRAWN:
                self._drawn.clear()
            delay = float(slot.download_delay())
            self._drawn[id(slot)] = slot.lastseen, delay
        passed = slot_clock() - float(slot.lastseen)
        if passed < 0:
            return delay
        if passed >= delay:
            slot.lastseen -= max(0.0, longest_delay(slot) - passed)
        return max(0.0, delay - passed)


def _leave_retries_to_scrapy(engine: Any) -> None:
    """Let no handler send a request again, at once, where a kept connection has ended.

    Uses: Twisted's ``HTTPConnectionPool.retryAutomatically``, ``downloader.handlers._handlers``
    (2.13 on); ``AiohttpDownloadHandler._session`` and aiohttp's
    ``ClientSession._retry_connection`` (2.19 on).
    """
    for pool in idle_connections(engine):
        pool.retryAutomatically = False
    for handler in (part(engine, "downloader.handlers._handlers") or {}).values():
        session: Any = getattr(handler, "_session", None)
        if hasattr(session, "_retry_connection"):
            session._retry_connection = False


def load_handlers(engine: Any) -> None:
    """Load the HTTP handlers now, not with the first request.

    Uses: ``downloader.handlers._get_handler`` (2.13 on).
    """
    get_handler = part(engine, "downloader.handlers._get_handler")
    if get_handler is not None:
        for scheme in ("http", "https"):
            get_handler(scheme)


# --- handlers with few connections


def add_connections(settings: BaseSettings, number: int) -> None:
    """Allow *number* more connections, once.

    Handlers without Twisted open no more than ``CONCURRENT_REQUESTS``, so silent robots.txt files
    would stop the pages. Some open no more than ``CONCURRENT_REQUESTS_PER_DOMAIN`` to a host, so
    its pages would stop its robots.txt: they get as many as pages and robots.txt files together.
    Uses: Scrapy's handlers for httpx (2.15 on) and aiohttp (2.19 on).
    """
    if settings.get(RAISED_LIMITS):
        return
    total, of_domain = map(settings.getint, _LIMITS)
    limits = zip(_LIMITS, (total, of_domain), (number, total + number), strict=True)
    raised = {name: (limit, limit + more) for name, limit, more in limits if limit}
    set_by_addon(settings, RAISED_LIMITS, raised)
    for name, (_, limit) in raised.items():
        set_by_addon(settings, name, limit)


def remove_connections(crawler: Crawler) -> None:
    """Keep pages to the limits that the add-on has raised for connections.

    Uses: ``downloader.total_concurrency``, ``downloader.domain_concurrency`` (2.13 on).
    """
    engine: Any = crawler.engine
    for name, (limit, raised) in crawler.settings[RAISED_LIMITS].items():
        found = part(engine, f"downloader.{_LIMITS[name]}")
        if found and crawler.settings.getint(name) == raised:  # else another component's
            setattr(engine.downloader, _LIMITS[name], found - raised + limit)


# --- other schedulers, the dry run, a ``JOBDIR``


def watch_scheduler(engine: Any, on_request: Callable[[Request | None], object]) -> Any:
    """Call *on_request* with what the scheduler gives, a request or None.

    Returns the scheduler; None where it cannot be watched. Uses:
    ``engine._slot.scheduler.next_request`` (2.13 on).
    """
    next_request = part(engine, "_slot.scheduler.next_request")
    if next_request is None:
        return None
    scheduler: Any = engine._slot.scheduler

    def watched() -> Request | None:
        request: Request | None = next_request()
        on_request(request)
        return request

    scheduler.next_request = watched
    return scheduler


def queue_of_scrapy_redis(scheduler: Any) -> Any:
    """The queue of scrapy-redis's *scheduler*; None for another one.

    Uses: ``queue`` of scrapy-redis's ``Scheduler`` (2.13 on).
    """
    queue = getattr(scheduler, "queue", None)
    return queue if all(hasattr(queue, name) for name in _OF_SCRAPY_REDIS) else None


async def decide_as_scrapy(middleware: RobotsTxtMiddleware, request: Request) -> None:
    """Return if Scrapy's own middleware lets *request* through, else raise.

    Uses: ``RobotsTxtMiddleware.process_request`` with a spider (2.13), or without (2.14 on).
    """
    decide: Any = RobotsTxtMiddleware.process_request
    if version_info >= (2, 14):
        await decide(middleware, request)
    elif (outcome := decide(middleware, request, middleware.crawler.spider)) is not None:
        await as_future(outcome)


def unread_job_file(settings: BaseSettings) -> Path | None:
    """The fingerprints in ``JOBDIR`` that this Scrapy cannot read.

    Uses: ``requests.seen``, text (2.13 to 2.18) or bytes (2.19 on).
    """
    seen = Path(settings["JOBDIR"], "requests.seen")
    if version_info < (2, 19) or not seen.is_file():
        return None
    with seen.open("rb") as file:
        beginning = file.read(2)
    return seen if len(beginning) == 2 and set(beginning) <= set(b"0123456789abcdef") else None


# --- signals, middlewares, connections, threads


async def send_signal(crawler: Crawler, signal: object, **kwargs: Any) -> None:
    """Send *signal* and wait for handlers that are coroutines.

    Uses: ``SignalManager.send_catch_log_async`` (2.14 on).
    """
    manager = crawler.signals
    if hasattr(manager, "send_catch_log_async"):
        await manager.send_catch_log_async(signal=signal, **kwargs)
    else:
        await as_future(manager.send_catch_log_deferred(signal=signal, **kwargs))


def middlewares_before(settings: BaseSettings, component: type) -> list[str]:
    """Name and number of each middleware before *component* that may answer requests.

    Of Scrapy's own only ``HttpCacheMiddleware`` does. Uses: ``process_request`` of a middleware
    (2.13 on).
    """
    merged, found = merged_middlewares(settings), []
    for key in build_component_list(merged):
        name = key if isinstance(key, str) else global_object_name(key)
        if loaded(key) is component:
            break
        if hasattr(loaded(key), "process_request") and (
            not name.startswith("scrapy.") or "httpcache" in name
        ):
            found.append(f"{name} at {merged[key]:g}")
    return found


def close_idle_sessions(engine: Any) -> None:
    """Close the idle connections of handlers without a Twisted pool.

    Uses: ``downloader.handlers._handlers`` (2.13 on), ``AiohttpDownloadHandler._session`` (2.19
    on), and of aiohttp ``ClientSession.connector`` and ``TCPConnector._conns``;
    ``HttpxDownloadHandler._default_client`` (2.19 on), and of httpx2 ``AsyncClient._transport``,
    ``AsyncHTTPTransport._pool``, ``AsyncConnectionPool.connections``,
    ``AsyncHTTPConnection._connection`` and ``AsyncHTTP11Connection._expire_at``.
    """
    handlers = part(engine, "downloader.handlers._handlers") or {}
    for handler in handlers.values():
        connector = getattr(getattr(handler, "_session", None), "connector", None)
        for connections in list(getattr(connector, "_conns", {}).values()):
            for protocol, _ in connections:
                protocol.close()
            connections.clear()
        transport = getattr(getattr(handler, "_default_client", None), "_transport", None)
        for connection in getattr(getattr(transport, "_pool", None), "connections", ()):
            if connection.is_idle():  # its pool closes it before the next request
                connection._connection._expire_at = 0.0


def caller_of_this_thread() -> Callable[..., Any]:
    """A function that calls a function in this thread from another one.

    Uses: an event loop without a reactor (2.15 on).
    """
    if not is_reactor_installed():  # the import would install one that never runs
        return asyncio.get_running_loop().call_soon_threadsafe
    from twisted.internet import reactor  # noqa: TID251

    own: Any = reactor
    return own.callFromThread  # type: ignore[no-any-return]


def with_url(request: Request, url: str) -> Request:
    """A plain request for another URL, with all else of *request*.

    Its class may be made of other values. Uses: ``Request.attributes`` (2.13 on).
    """
    return Request(**{**{name: getattr(request, name) for name in Request.attributes}, "url": url})
