"""Download handlers of scrapy-playwright that obey robots.txt.

A handler checks every browser, context and page that it opens.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast
from weakref import WeakKeyDictionary, WeakSet

from scrapy.utils.misc import build_from_crawler, load_object

from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.browser.chromium import Chromium
from scrapy_robotspec.plugin.browser.guard import BrowserGuard, Visit
from scrapy_robotspec.plugin.settings.checks import is_unchecked
from scrapy_robotspec.plugin.settings.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Mapping

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from twisted.internet.defer import Deferred
    from typing_extensions import Self

    #: ``PLAYWRIGHT_ABORT_REQUEST``
    Predicate = Callable[[Any], bool | Awaitable[bool]]

logger = logging.getLogger("scrapy_robotspec")

_T = TypeVar("_T")

_ONLY_FIRST_URLS = (
    "Redirects inside the browser are not checked before they are sent (%s): only the first URL of "
    "each request is, and the final URL of a page. Chromium checks all of them."
)

#: Two sources of requests that no interface can pause: speculation rules, and service workers,
#: which may preload navigations. Callbacks of an observer run before an inserted script does.
_INIT_SCRIPT = """{
if (globalThis.ServiceWorkerContainer)
  ServiceWorkerContainer.prototype.register = () =>
    Promise.reject(new DOMException("Service workers are disabled.", "SecurityError"));
const removeRules = changes => {
  for (const {addedNodes} of changes)
    for (const node of addedNodes)
      for (const script of node.querySelectorAll ? [node, ...node.querySelectorAll("script")] : [])
        if (script.localName === "script" && /^\\s*speculationrules\\s*$/i.test(script.type)) {
          script.type = "text/plain";
          script.remove();
        }
};
const watch = page =>
  new MutationObserver(removeRules).observe(page, {childList: true, subtree: true});
watch(document);
// A window that opens empty has another document than the one that this script has seen there.
globalThis.open = new Proxy(open, {apply(open, self, values) {
  const opened = Reflect.apply(open, self, values);
  try { watch(opened.document); } catch {}  // of another site, or none
  return opened;
}});
}"""

#: A second interface for WebSockets, which playwright's routes do not know.
_NO_STREAMS = "delete globalThis.WebSocketStream"


class Once(Generic[_T]):
    """Runs a coroutine function once for each object.

    Concurrent calls for one object wait for the same result.
    """

    def __init__(self, run: Callable[[Any], Coroutine[Any, Any, _T]]) -> None:
        self._run = run
        self._results: WeakKeyDictionary[Any, asyncio.Future[_T]] = WeakKeyDictionary()

    async def __call__(self, key: Any) -> _T:
        """The result of ``run(key)``."""
        if key not in self._results:
            self._results[key] = asyncio.ensure_future(self._run(key))
        # One that is cancelled while it waits does not end the others.
        return await asyncio.shield(self._results[key])


class Browsers:
    """Checks what pages request, before it is sent.

    Browsers other than Chromium have no DevTools protocol, and playwright calls no route for the
    redirects of a request: there only the first URL of each is checked. The final URL of a page is
    checked by the middleware. *predicate* is the user's ``PLAYWRIGHT_ABORT_REQUEST``, which runs
    first. *every*: check more than navigations.
    """

    def __init__(self, guard: BrowserGuard, predicate: Predicate | None, *, every: bool) -> None:
        self._guard = guard
        self._predicate = predicate
        self._every = every
        self._visits: WeakKeyDictionary[Any, Visit] = WeakKeyDictionary()
        """Those of the pages that Scrapy has opened."""
        self._browsers: Once[Chromium | None] = Once(self._attach)
        self._contexts: Once[None] = Once(self._prepare)
        self._sockets: Once[None] = Once(self._check_web_sockets)
        self._paused: WeakSet[Any] = WeakSet()
        self._warned = False

    async def check(self, page: Any, visit: Visit) -> None:
        """Check the requests of *page*; called before the first of them."""
        self._visits[page] = visit
        chromium = await self._chromium(page.context)
        if chromium is not None:
            await chromium.add_page(page, visit)
            self._paused.add(page)
        await self._contexts(page.context)
        if self._every:
            await self._sockets(page)

    async def _chromium(self, context: Any) -> Chromium | None:
        return await self._browsers(context.browser or context)  # Android's have no browser

    async def _attach(self, browser: Any) -> Chromium | None:
        """Pause the requests of *browser*; None: it cannot do that."""
        try:
            return await Chromium.attach(browser, self._guard, every=self._every)
        except Exception as error:  # playwright's: Firefox and WebKit have no DevTools protocol
            if not self._warned:
                self._warned = True
                logger.warning(_ONLY_FIRST_URLS, str(error).partition("\n")[0])
            return None

    async def _prepare(self, context: Any) -> None:
        """Check the windows that pages of *context* open."""
        if await self._chromium(context) is None:
            # Pages that Scrapy opens are routed by scrapy-playwright, which calls aborts().
            await context.route("**", self._on_route)
        await context.add_init_script(_INIT_SCRIPT)
        if self._every:
            await self._sockets(context)

    async def _on_route(self, route: Any, request: Any) -> None:
        if await self._refuses(request):
            await route.abort()
        else:
            await route.fallback()

    async def aborts(self, request: Any) -> bool:
        """Whether playwright's *request* is aborted, by the user or by robots.txt."""
        if self._predicate is not None:
            answer = self._predicate(request)
            if inspect.isawaitable(answer):
                answer = await answer
            if answer:
                return True
        return await self._refuses(request)

    async def _refuses(self, request: Any) -> bool:
        frame = page = None
        with suppress(Exception):  # playwright's: a new window's first request, or a worker's
            frame = request.frame
            page = frame.page
        if page in self._paused:  # checked after the routes
            return False
        # Firefox's <object> and <embed> seem to navigate the page, but load no document.
        navigation = request.is_navigation_request() and request.resource_type == "document"
        main = navigation and (frame is None or frame.parent_frame is None)
        if not (main or self._every):
            return False
        visit = None if page is None else self._visits.get(page)
        navigates = main and visit is not None
        return not await self._guard.allows(request.url, visit, navigates=navigates)

    async def _check_web_sockets(self, owner: Any) -> None:
        """Check each WebSocket of *owner* (a context, a page) before it connects.

        Its URL is checked as that of the HTTP request that opens it.
        """

        async def on_socket(socket: Any) -> None:
            url = socket.url.replace("ws", "http", 1)
            if await self._guard.allows(url, self._visits.get(owner), navigates=False):
                socket.connect_to_server()
            else:
                await socket.close(code=1008, reason="Forbidden by robots.txt")

        await owner.add_init_script(_NO_STREAMS)
        await owner.route_web_socket("**", on_socket)


# --- the handlers

#: Meta key of a coroutine function that is called with a new page, before its first request.
_INIT = "playwright_page_init_callback"


def guard_browsers(settings: BaseSettings, handlers: Mapping[str, type | str]) -> None:
    """Put our subclasses in the place of *handlers*, by scheme."""
    ours = {
        scheme: _later(handler) if isinstance(handler, str) else guarded(handler)
        for scheme, handler in handlers.items()
    }
    chosen = settings.getdict("DOWNLOAD_HANDLERS")
    _compat.set_by_addon(settings, "DOWNLOAD_HANDLERS", {**chosen, **ours})


def guarded(handler: type) -> type:
    """A subclass of *handler* whose browsers obey robots.txt."""
    with_coroutine = inspect.iscoroutinefunction(getattr(handler, "download_request", None))
    base = _GuardedHandler if with_coroutine else _GuardedDeferredHandler
    return type(f"Guarded{handler.__name__}", (base, handler), {"__module__": __name__})


def _later(path: str) -> type:
    """The handler at *path*, imported when Scrapy has its reactor."""
    module, _, name = path.rpartition(".")
    return type(name, (_Later,), {"__module__": module, "_path": path})


class _Later:
    """Base of classes with the names of others."""

    lazy = False
    obeys_robots_txt = True
    _path: str

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Any:
        handler = load_object(cls._path)
        return build_from_crawler(guarded(handler) if is_unchecked(handler) else handler, crawler)


class _Guarded:
    """Base of the subclasses."""

    obeys_robots_txt = True
    _guard: BrowserGuard
    _browsers: Browsers

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        handler: Any = cast("Any", super()).from_crawler(crawler)
        handler._guard = BrowserGuard(crawler)
        every = Settings.from_scrapy(crawler.settings).browser == "all"
        handler._browsers = Browsers(handler._guard, handler.abort_request, every=every)
        handler.abort_request = handler._browsers.aborts
        return cast("Self", handler)

    async def _send(self, request: Request, send: Callable[..., Awaitable[Response]]) -> Response:
        """Send *request* by *send*, and check what its page requests, if it is for one.

        A new page is passed to our browsers, then to the user's own callback.
        """
        if not request.meta.get("playwright"):
            return await send(request)
        visit, users = self._guard.visit(request), request.meta.get(_INIT)

        async def open_page(page: Any, opened_for: Request) -> None:
            await self._browsers.check(page, visit)
            if users:
                await load_object(users)(page, opened_for)

        request.meta[_INIT] = open_page
        try:
            return await self._guard.download(visit, partial(send, request))
        finally:
            request.meta.pop(_INIT, None)
            if users is not None:
                request.meta[_INIT] = users


class _GuardedHandler(_Guarded):
    async def download_request(self, request: Request) -> Response:
        return await self._send(request, cast("Any", super()).download_request)


class _GuardedDeferredHandler(_Guarded):
    """Before Scrapy 2.14 handlers return a Deferred."""

    def download_request(self, request: Request, spider: Spider) -> Deferred[Response]:
        send = cast("Any", super()).download_request
        return _compat.deferred(
            self._send(request, lambda _: _compat.as_future(send(request, spider)))
        )
