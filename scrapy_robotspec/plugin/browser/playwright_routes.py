"""PlaywrightRoutes: checks requests of browsers other than Chromium.

Playwright calls no route for the redirects of a request, so only the first URL of each is checked
before it is sent. The final URL of a page is checked by the middleware.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from scrapy_robotspec.plugin.browser.guard import BrowserGuard, Visit

_T = TypeVar("_T")


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
    """Asks *guard* about requests; *every*: also about others than navigations.

    *visits* are those of the pages that Scrapy has opened.
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
