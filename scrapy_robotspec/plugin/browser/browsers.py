"""Browsers: checks every browser, context and page of a download handler."""

from __future__ import annotations

import asyncio
import inspect
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import WeakKeyDictionary, WeakSet

from scrapy_robotspec.plugin.browser.chromium import Chromium

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Mapping

    from scrapy_robotspec.plugin.browser.guard import BrowserGuard, Visit

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


class PlaywrightRoutes:
    """Checks requests of browsers other than Chromium, which have no DevTools protocol.

    Playwright calls no route for the redirects of a request, so only the first URL of each is
    checked before it is sent. The final URL of a page is checked by the middleware. *every*: check
    more than navigations. *visits* are those of the pages that Scrapy has opened.
    """

    def __init__(self, guard: BrowserGuard, visits: Mapping[Any, Visit], *, every: bool) -> None:
        self._guard = guard
        self._visits = visits
        self._every = every
        self.add = Once(self._route_windows)
        """Called with a context: checks the windows that its pages open."""

    async def _route_windows(self, context: Any) -> None:
        # Pages that Scrapy opens are routed by scrapy-playwright, which calls refuses().
        await context.route("**", self._on_route)

    async def _on_route(self, route: Any, request: Any) -> None:
        if await self.refuses(request):
            await route.abort()
        else:
            await route.fallback()

    async def refuses(self, request: Any) -> bool:
        """Whether playwright's *request* has to be aborted."""
        frame = None
        with suppress(Exception):  # playwright's: a new window's first request, or a worker's
            frame = request.frame
        # Firefox's <object> and <embed> seem to navigate the page, but load no document.
        navigation = request.is_navigation_request() and request.resource_type == "document"
        main = navigation and (frame is None or frame.parent_frame is None)
        if not (main or self._every):
            return False
        visit = self._visits.get(frame.page) if frame is not None else None
        navigates = main and visit is not None
        return not await self._guard.allows(request.url, visit, navigates=navigates)


class Browsers:
    """*predicate* is the user's ``PLAYWRIGHT_ABORT_REQUEST``, which runs first."""

    def __init__(self, guard: BrowserGuard, predicate: Predicate | None, *, every: bool) -> None:
        self._guard = guard
        self._predicate = predicate
        self._every = every
        self._visits: WeakKeyDictionary[Any, Visit] = WeakKeyDictionary()
        self._routes = PlaywrightRoutes(guard, self._visits, every=every)
        self._browsers: Once[Chromium | None] = Once(self._start)
        self._contexts: Once[None] = Once(self._prepare_context)
        self._pages: Once[None] = Once(self._prepare_page)
        self._paused: WeakSet[Any] = WeakSet()
        self._warned = False

    async def open(self, page: Any, visit: Visit) -> None:
        """Check the requests of *page*; called before the first of them."""
        self._visits[page] = visit
        context = page.context
        chromium = await self._browsers(context.browser or context)  # Android's have no browser
        if chromium is None:
            await self._routes.add(context)
        else:
            await chromium.add(page, visit)
            self._paused.add(page)
        await self._contexts(context)
        await self._pages(page)

    async def _start(self, browser: Any) -> Chromium | None:
        """Pause the requests of *browser*; None: it cannot do that."""
        try:
            return await Chromium.start(browser, self._guard, every=self._every)
        except Exception as error:  # playwright's: Firefox and WebKit have no DevTools protocol
            if not self._warned:
                self._warned = True
                logger.warning(_ONLY_FIRST_URLS, str(error).partition("\n")[0])
            return None

    async def _prepare_context(self, context: Any) -> None:
        await context.add_init_script(_INIT_SCRIPT)
        if self._every:  # of windows that pages open
            await _check_web_sockets(context, self._guard, lambda: None)

    async def _prepare_page(self, page: Any) -> None:
        if self._every:
            await _check_web_sockets(page, self._guard, lambda: self._visits.get(page))

    async def aborts(self, request: Any) -> bool:
        """Whether playwright's *request* is aborted, by the user or by robots.txt."""
        if self._predicate is not None:
            answer = self._predicate(request)
            if inspect.isawaitable(answer):
                answer = await answer
            if answer:
                return True
        with suppress(Exception):  # playwright's: the request has no frame
            if request.frame.page in self._paused:  # checked after the routes
                return False
        return await self._routes.refuses(request)


async def _check_web_sockets(
    owner: Any, guard: BrowserGuard, visit: Callable[[], Visit | None]
) -> None:
    """Check each WebSocket of *owner* (a context, a page) before it connects.

    Its URL is checked as that of the HTTP request that opens it. *visit* returns the visit that
    has opened it, if that is known.
    """

    async def on_socket(socket: Any) -> None:
        url = socket.url.replace("ws", "http", 1)
        if await guard.allows(url, visit(), navigates=False):
            socket.connect_to_server()
        else:
            await socket.close(code=1008, reason="Forbidden by robots.txt")

    await owner.add_init_script(_NO_STREAMS)
    await owner.route_web_socket("**", on_socket)
