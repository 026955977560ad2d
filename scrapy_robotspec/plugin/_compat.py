"""Private parts of Scrapy, and differences between its versions.

Nothing here knows robots.txt, and no other file of this package checks what Scrapy can do. No
function raises where one of ``PARTS`` is missing. Each names what it uses, with the releases of
Scrapy that have it. ``_compat_rare.py`` has what few crawls use.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Container, Coroutine, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from pydispatch import dispatcher  # type: ignore[import-untyped]
from scrapy import Request, version_info
from scrapy import signals as scrapy_signals
from scrapy.core import downloader as downloader_module
from scrapy.core.downloader.handlers import DownloadHandlers
from scrapy.downloadermiddlewares.httpcompression import ACCEPTED_ENCODINGS
from scrapy.exceptions import IgnoreRequest
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings
from scrapy.signalmanager import SignalManager
from scrapy.utils.conf import build_component_list
from scrapy.utils.defer import deferred_from_coro
from scrapy.utils.defer import maybe_deferred_to_future as as_future
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.misc import load_object
from scrapy.utils.reactor import is_reactor_installed
from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.task import deferLater
from twisted.python.failure import Failure

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response

__all__ = ["ACCEPTED_ENCODINGS", "as_future"]

_T = TypeVar("_T")

#: How the downloader calls handlers: from 2.14 on ``download_request`` is left for others.
_IS_ASYNC = hasattr(DownloadHandlers, "download_request_async")
_SEND = "download_request_async" if _IS_ASYNC else "download_request"

_UNSTOPPABLE = "of another scheduler, requests beyond ROBOTSPEC_MAX_PARKED are refused"
_DELAYED = "the robots.txt keeps the download delay of pages"

#: Parts of the engine that the plugin uses -> what is given up without them.
PARTS = {
    "_slot.closing": "requests that wait when CloseSpider ends the crawl may be lost",
    "_slot.close": "requests that wait when the spider closes wait on",
    "_slot.nextcall.schedule": "requests go on some seconds after their wait has ended",
    "_slot.scheduler.next_request": _UNSTOPPABLE,
    "downloader.needs_backout": _UNSTOPPABLE,
    "downloader.active": "requests wait in process_request as well as in the scheduler",
    "downloader.slots": "requests leave the scheduler by age, not by the load of download slots",
    "downloader.get_slot_key": _DELAYED,
    "downloader.per_slot_settings": _DELAYED,
    "downloader.total_concurrency": "a robots.txt counts among CONCURRENT_REQUESTS",
    "downloader.domain_concurrency": (
        "of handlers without Twisted, pages go beyond CONCURRENT_REQUESTS_PER_DOMAIN"
    ),
    f"downloader.handlers.{_SEND}": (
        "a page goes by the rules in force when it passed the middleware: later rules are not "
        "looked at, and it counts as answered by a middleware"
    ),
    "downloader.middleware.methods": (
        "a plugin that repeats requests after exceptions counts one whose rules have expired"
    ),
    "downloader.handlers._get_handler": "the first page is sent late, against its crawl delay",
    "downloader.handlers._handlers": "idle connections may take all files of the process",
}

_VERBATIM = "verbatim_url"

#: From 2.18 a signal of Scrapy's own; before, an object without handlers.
robots_parsed: object = getattr(scrapy_signals, "robots_parsed", None) or object()


#: Classes of parts that are not called.
_SHAPES = {
    "_slot.closing": (Deferred, type(None)),
    "downloader.middleware.methods": Mapping,
    "downloader.active": Container,
    "downloader.slots": Container,
    "downloader.per_slot_settings": Container,
    "downloader.total_concurrency": int,
    "downloader.domain_concurrency": int,
    "downloader.handlers._handlers": Container,
}
_MISSING = object()


def part(engine: Any, path: str, missing: object = None) -> Any:
    """The part *path* of *engine*; *missing* for none of its shape."""
    found: Any = engine
    for name in path.split("."):
        found = getattr(found, name, missing)
    shape: Any = _SHAPES.get(path, Callable)
    return found if isinstance(found, shape) else missing


def parts_missing_in(engine: Any) -> list[str]:
    """Parts that a running *engine* lacks, or has in another shape."""
    return [path for path in PARTS if part(engine, path, _MISSING) is _MISSING]


def _reactor_call_later(delay: float, call: Callable[..., Any], *args: Any) -> Any:
    """A reactor's delayed call whose ``cancel`` may come too late."""
    from twisted.internet import reactor  # noqa: TID251  (only here is there surely one)

    own: Any = reactor
    later = deferLater(own, delay, call, *args)
    later.addErrback(Failure.trap, CancelledError)
    return later


try:
    from scrapy.utils.asyncio import call_later as _call_later
except ImportError:
    _call_later = _reactor_call_later  # type: ignore[assignment]


def call_later(delay: float, call: Callable[..., Any], *args: Any) -> Any:
    """Call ``call(*args)`` in *delay* seconds, with a reactor or without one.

    The result has ``cancel()``, which does nothing once the call was made.

    Uses: ``scrapy.utils.asyncio.call_later`` (2.14 on).
    """
    return _call_later(max(0.0, delay), call, *args)


def when_passed_on(call: Callable[[], object]) -> None:
    """Make *call* once the request whose coroutine ends is passed on.

    Uses: the manager of middlewares, which passes it on in the same turn of the event loop (2.14
    on), or one later (2.13).
    """
    if version_info < (2, 14):
        call_later(0, call_later, 0, call)  # the first may still be made in this turn
    else:
        call()


async def download(engine: Any, request: Request) -> Response:
    """Download *request* past the scheduler.

    Uses: ``engine.download_async`` (2.14 on).
    """
    is_async = hasattr(engine, "download_async")
    response: Response = await (
        engine.download_async(request) if is_async else as_future(engine.download(request))
    )
    return response


def has_receivers(crawler: Crawler, signal: object) -> bool:
    """Whether any handler may be connected to *signal*.

    Uses: ``SignalManager.sender``, pydispatch (2.13 on).
    """
    manager = crawler.signals
    if type(manager) is not SignalManager:  # it may send in another way
        return True
    receivers = dispatcher.getAllReceivers(manager.sender, signal)
    return next(dispatcher.liveReceivers(receivers), None) is not None


def deferred(coroutine: Coroutine[Any, Any, _T]) -> Deferred[_T]:
    """The outcome of *coroutine*, which may await Deferreds of Scrapy's.

    Cancelled, it fails with Twisted's ``CancelledError``, also where it ran as an asyncio task.
    Uses: ``deferred_from_coro`` (2.13 on).
    """
    outcome: Deferred[_T] = deferred_from_coro(coroutine)
    outcome.addErrback(_twisted_cancellation)
    return outcome


def _twisted_cancellation(failure: Failure) -> Failure:
    if isinstance(failure.value, asyncio.CancelledError):
        raise CancelledError
    return failure


def when_closing(engine: Any, call: Callable[[], object]) -> None:
    """Make *call* when the spider begins to close.

    Scrapy sends no signal then.
    Uses: ``engine._slot.close`` (2.13 on).
    """
    close = part(engine, "_slot.close")

    def closing() -> Any:
        call_later(0, call)  # when ``closing`` is set
        return close()

    if close is not None:
        engine._slot.close = closing


def was_started(engine: Any) -> bool:
    """Whether *engine* was started: only then it sends ``engine_stopped``.

    Uses: ``engine.start_time`` (2.13 on).
    """
    return engine is not None and engine.start_time is not None


class Engine:
    """The engine of *crawler*, which has none until its middlewares are made."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @property
    def is_closing(self) -> bool:
        """Whether the spider is closing, or none is open.

        Uses: ``engine._slot.closing`` (2.13 on).
        """
        engine = self._crawler.engine
        if engine is None or not engine.running or getattr(engine, "_slot", None) is None:
            return True
        return part(engine, "_slot.closing") is not None

    @property
    def is_paused(self) -> bool:
        """Whether the crawl pauses.

        Uses: ``engine.paused`` (2.13 on).
        """
        return getattr(self._crawler.engine, "paused", False) is True  # a stand-in has any value

    @property
    def sees_sending(self) -> bool:
        """Whether requests are seen as they leave.

        Uses: ``downloader.handlers.download_request`` (2.13) or ``download_request_async`` (2.14
        on).
        """
        return part(self._crawler.engine, f"downloader.handlers.{_SEND}") is not None

    def wake(self) -> None:
        """Make the engine look into the scheduler now.

        Uses: ``engine._slot.nextcall.schedule`` (2.13 on).
        """
        schedule = part(self._crawler.engine, "_slot.nextcall.schedule")
        if schedule is not None and not self.is_closing:
            schedule()

    def is_active(self, request: Request) -> bool:
        """Whether *request* is in the downloader or its middlewares.

        Uses: ``downloader.active`` (2.13 on).
        """
        # hot path
        engine: Any = self._crawler.engine
        try:
            return request in engine.downloader.active
        except (AttributeError, TypeError):  # no such part
            return False


def back_out_while(engine: Any, must_wait: Callable[[Callable[[], bool]], bool]) -> bool:
    """Let the engine send nothing while *must_wait* returns true.

    Returns whether the engine can be held back. *must_wait* is passed Scrapy's own answer. The
    engine then does not ask the scheduler, so it sends no ``scheduler_empty`` while requests wait.
    Uses: ``downloader.needs_backout`` (2.13 on).
    """
    needs_backout = part(engine, "downloader.needs_backout")
    if needs_backout is None:
        return False
    engine.downloader.needs_backout = partial(must_wait, needs_backout)
    return True


class DownloadSlots:
    """The downloader's slots: which one a request belongs to, and their load.

    Uses: ``downloader.get_slot_key``, ``downloader.slots``, ``Slot.active`` (2.13 on).
    """

    def __init__(self, engine: Any) -> None:
        self.key: Callable[[Request], str] = part(engine, "downloader.get_slot_key") or (
            lambda request: urlparse_cached(request).hostname or ""
        )
        self._slots = part(engine, "downloader.slots", {})

    def active_in(self, key: str) -> int:
        """The number of requests in the slot *key*."""
        slot = self._slots.get(key)
        return 0 if slot is None else len(slot.active)


def extra_download_slot(engine: Any) -> Callable[[], None]:
    """Allow one more request in the downloader; the result takes that back.

    A total concurrency of 0 (unlimited) does not change. Uses: ``downloader.total_concurrency``
    (2.13 on).
    """
    downloader = engine.downloader
    if not part(engine, "downloader.total_concurrency"):
        return lambda: None
    downloader.total_concurrency += 1

    def release_slot() -> None:
        downloader.total_concurrency -= 1

    return release_slot


def drop_slot(engine: Any, name: str) -> None:
    """Remove an idle download slot before its minute has passed.

    Uses: ``downloader.slots``, ``Slot.active`` (2.13 on).
    """
    slots = part(engine, "downloader.slots", {})
    if name in slots and not slots[name].active:
        del slots[name]


def take_slot_turn(engine: Any, request: Request) -> float:
    """Use the next turn of a download slot; seconds until then.

    Only an idle slot has a turn to give: behind other requests it would come late, so then the
    result is 0. The slot's next request keeps its delay after the turn. Uses: ``Slot.active``,
    ``Slot.download_delay``, ``Slot.lastseen`` (2.13 on).
    """
    slot = download_slot(engine, request)
    if slot is None or slot.active:
        return 0.0
    delay = slot.download_delay()
    now = slot_clock()
    turn = max(now, slot.lastseen + delay) if delay else now
    slot.lastseen = turn
    return float(turn - now)


def download_slot(engine: Any, request: Request) -> Any:
    """The download slot of *request*, made if needed.

    None where Scrapy has no such slots. Uses: ``downloader.slots`` (2.13 on),
    ``downloader._get_slot`` with the spider (2.13) or without (2.14 on).
    """
    get_slot = part(engine, "downloader._get_slot")
    if get_slot is None or part(engine, "downloader.slots") is None:
        return None
    return (get_slot(request) if version_info >= (2, 14) else get_slot(request, engine.spider))[1]


def slot_clock() -> float:
    """The time as download slots note it.

    Uses: ``time`` (2.13 to 2.15) or ``monotonic`` (2.16 on) of the downloader's module.
    """
    clock: Any = getattr(downloader_module, "monotonic", None) or vars(downloader_module)["time"]
    return float(clock())


def name_slots(engine: Any, key: str) -> dict[str, Any]:
    """Name the download slots of requests with the meta *key*.

    The name is ``slot`` of its value. Returns the settings of slots by name. Other middlewares
    cannot change such a slot: one that puts all requests of a proxy into a slot would let a
    robots.txt wait behind pages. Uses:
    ``downloader.get_slot_key``, ``downloader.per_slot_settings`` (2.13 on).
    """
    get_slot_key = part(engine, "downloader.get_slot_key")
    per_slot: dict[str, Any] | None = part(engine, "downloader.per_slot_settings")
    if get_slot_key is None or per_slot is None:
        return {}

    def slot_key(request: Request) -> str:
        # hot path
        own = request.meta.get(key)
        return get_slot_key(request) if own is None else str(own.slot)

    engine.downloader.get_slot_key = slot_key
    return per_slot


#: Internal setting: for each limit that the add-on has raised the user's value and the new one.
RAISED_LIMITS = "_ROBOTSPEC_RAISED_LIMITS"

#: Names of handler classes; the module of one can only be imported where h2 is installed.
_TWISTED_HANDLERS = ("HTTP10DownloadHandler", "HTTP11DownloadHandler", "H2DownloadHandler")


def set_by_addon(settings: BaseSettings, name: str, value: Any) -> None:
    """Set *name*, also where the user has set it.

    Uses: ``SETTINGS_PRIORITIES`` (2.13 on).
    """
    priority = max(SETTINGS_PRIORITIES["addon"], settings.getpriority(name) or 0)
    settings.set(name, value, priority)


def uses_twisted(settings: BaseSettings) -> bool:
    """Whether all HTTP handlers are Scrapy's for Twisted, or derived from them.

    Uses: ``TWISTED_REACTOR_ENABLED`` (2.15 on), names of handler classes (2.13 on).
    """
    handlers = settings.getwithbase("DOWNLOAD_HANDLERS")
    chosen = [handlers.get(scheme) for scheme in ("http", "https")]
    if any(chosen) and not settings.getbool("TWISTED_REACTOR_ENABLED", True):
        return False
    found = [loaded(key) for key in chosen if is_importable(key, settings)]
    return all(
        any(base.__name__ in _TWISTED_HANDLERS for base in each.__mro__)
        for each in found
        if isinstance(each, type)  # Scrapy reports a handler that cannot be imported
    )


def loaded(key: Any) -> Any:
    """The component that *key* names, or None.

    Uses: ``load_object`` (2.13 on).
    """
    if not isinstance(key, str):
        return key
    try:
        return load_object(key)
    except Exception:  # Scrapy raises it where the component is enabled
        return None


def take_component(chosen: dict[Any, Any], cls: type) -> list[int | None]:
    """Remove *cls* from *chosen*, a setting of components, and return its positions."""
    return [chosen.pop(key) for key in list(chosen) if is_component(key, cls)]


def is_component(key: Any, cls: type) -> bool:
    """Whether *key* of a setting of components names *cls*."""
    if isinstance(key, str) and key.rpartition(".")[2] != cls.__name__:
        return False  # not imported: it may import a reactor before Scrapy has chosen one
    return loaded(key) is cls


def is_enabled(component: type, chosen: Mapping[Any, Any]) -> bool:
    """Whether *component* has a position in *chosen*, a setting of components."""
    return any(loaded(key) is component for key, place in chosen.items() if place is not None)


def enabled_middlewares(settings: BaseSettings) -> list[Any]:
    """The downloader middlewares that Scrapy would enable.

    Uses: what :func:`merged_middlewares` uses (2.13 on).
    """
    return [loaded(key) for key in build_component_list(merged_middlewares(settings))]


def merged_middlewares(settings: BaseSettings) -> BaseSettings:
    """The setting of downloader middlewares, as Scrapy merges it with its base.

    Uses: ``get_component_priority_dict_with_base`` (2.15 on): keys of one class in two spellings
    are one middleware then, and two before.
    """
    merged = getattr(settings, "get_component_priority_dict_with_base", settings.getwithbase)
    return merged("DOWNLOADER_MIDDLEWARES")


def is_importable(key: Any, settings: BaseSettings) -> bool:
    """Whether the component *key* can be imported now without a wrong reactor.

    Add-ons run before Scrapy installs its reactor, and a user's module may import one. Uses:
    ``TWISTED_REACTOR_ENABLED`` (2.15 on).
    """
    return (
        not isinstance(key, str)
        or key.startswith(("scrapy.", "scrapy_"))
        or is_reactor_installed()
        or not settings.getbool("TWISTED_REACTOR_ENABLED", True)
    )


def limit_pages(crawler: Crawler) -> None:
    """Keep pages to the limit of a slot.

    With asyncio, Scrapy counts a page when it has left the slot's queue for a turn of the loop: all
    pages that wait there would be sent in one turn. Uses: ``downloader._wait_for_download``,
    ``Slot.transferring`` (2.14 on).
    """
    engine: Any = crawler.engine
    send = part(engine, "downloader._wait_for_download")

    def counted(slot: Any, request: Request, waiter: Deferred[Response]) -> Any:
        slot.transferring.add(request)
        return send(slot, request, waiter)

    if send:
        engine.downloader._wait_for_download = counted


def watch_sending(
    engine: Any,
    check: Callable[[Request], _T | None],
    note: Callable[[_T, float, int | None], None] | None,
    key: str,
) -> bool:
    """Call *check* with each request that leaves its download slot.

    False: this Scrapy lacks the part for it.
    If it raises ``IgnoreRequest``, the request is not sent, and its slot sends another one at once.
    *note* is called at the end of a request that was sent, if *check* returned something: with
    that, when the request left (epoch seconds), and the status, None where there was no response.
    The value of the meta *key*, if any, gets ``sending``: a Deferred; cancelling it ends the
    request in its handler, also where that one has no connection for it yet.
    Uses: ``downloader.handlers.download_request`` (2.13) or ``download_request_async`` (2.14 on);
    handlers that keep connections by the spelling of a URL (2.19 on).
    """
    send = part(engine, f"downloader.handlers.{_SEND}")
    if send is None:
        return False
    is_spelled_anew = version_info >= (2, 19) and not uses_twisted(engine.crawler.settings)

    def checked(request: Request, spider: Any = None) -> Any:
        try:
            passed = check(request)
        except IgnoreRequest:
            _give_turn_back(engine, request)
            raise
        finish = None
        if note is not None and passed is not None:
            finish = partial(note, passed, time.time())
        sent = send(request) if _IS_ASYNC else send(request, spider)
        if is_spelled_anew:
            sent = _as_written(request, sent)
        if finish is not None:
            sending = noted(finish, sent)
        elif passed is None and (own := request.meta.get(key)) is not None:
            own.sending = deferred_from_coro(sent)
            sending = _until_cancelled(own.sending)
        else:
            return sent
        return sending if _IS_ASYNC else deferred_from_coro(sending)

    async def noted(finish: Callable[[int | None], None], sent: Any) -> Any:
        response = None
        try:
            response = await (sent if _IS_ASYNC else as_future(sent))
            return response
        finally:
            finish(None if response is None else response.status)

    setattr(engine.downloader.handlers, _SEND, checked)
    return True


def call_first(engine: Any, name: str, method: Callable[..., Any]) -> None:
    """Call *method* as that *name*, before those of all middlewares.

    Uses: ``downloader.middleware.methods`` (2.13 on).
    """
    methods = part(engine, "downloader.middleware.methods")
    if methods is not None:
        methods[name].appendleft(method)


async def _as_written(request: Request, sent: Coroutine[Any, Any, _T]) -> _T:
    """The result of *sent*, in which a handler sends the URL of *request* as it is.

    The meta key is there meanwhile only: a redirect would take it along, and caches would look for
    another page. Uses: the meta key ``verbatim_url`` (2.19 on).
    """
    if _VERBATIM in request.meta:
        return await sent
    request.meta[_VERBATIM] = True
    try:
        return await sent
    finally:
        request.meta.pop(_VERBATIM, None)


async def _until_cancelled(sending: Deferred[_T]) -> _T:
    """The result of *sending*; what its slot sees of its cancellation is an ordinary error."""
    try:
        return await as_future(sending)
    except (CancelledError, asyncio.CancelledError):
        raise IgnoreRequest("the robots.txt request was cancelled") from None


def _give_turn_back(engine: Any, request: Request) -> None:
    """Let the slot of *request* send the next one as if this one had not left it.

    Uses: ``Slot.lastseen``, ``Slot.close`` (2.13 on).
    """
    slot = download_slot(engine, request)
    if slot is not None:
        slot.lastseen = slot_clock() - longest_delay(slot)
        slot.close()  # ends the delay that has begun


def longest_delay(slot: Any) -> float:
    """The longest delay between two requests of a download slot (seconds).

    Uses: ``Slot.delay`` (2.13 on), ``Slot.randomize_delay`` (2.13 to 2.18), ``Slot.jitter`` (2.19
    on).
    """
    jitter = slot.jitter if hasattr(slot, "jitter") else 0.5 * slot.randomize_delay
    return float(slot.delay * (1 + jitter))


def idle_connections(engine: Any) -> dict[Any, int]:
    """The number of idle connections by pool.

    Scrapy's Twisted handlers keep them to every host for minutes. Each has a timeout; the table of
    connections keeps an entry for every host of the crawl. Uses:
    ``downloader.handlers._handlers``, ``HTTP11DownloadHandler._pool``, and of Twisted
    ``HTTPConnectionPool._timeouts`` and ``closeCachedConnections`` (2.13 on).
    """
    handlers = part(engine, "downloader.handlers._handlers") or {}
    return {
        pool: len(pool._timeouts)
        for handler in handlers.values()
        if hasattr(pool := getattr(handler, "_pool", handler), "closeCachedConnections")
    }


def handles_ftp(crawler: Crawler) -> bool:
    """Whether Scrapy can download FTP.

    Uses: ``TWISTED_REACTOR_ENABLED`` (2.15 on).
    """
    settings = crawler.settings
    handlers = settings.getwithbase("DOWNLOAD_HANDLERS")
    return settings.getbool("TWISTED_REACTOR_ENABLED", True) and handlers.get("ftp") is not None
