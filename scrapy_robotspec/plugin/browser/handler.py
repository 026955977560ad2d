"""Download handlers of scrapy-playwright that obey robots.txt."""

from __future__ import annotations

import inspect
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from scrapy.utils.misc import load_object

from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.browser.browsers import Browsers
from scrapy_robotspec.plugin.browser.guard import BrowserGuard
from scrapy_robotspec.plugin.settings.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from twisted.internet.defer import Deferred
    from typing_extensions import Self


#: Meta key of a coroutine function that is called with a new page, before its first request.
_INIT = "playwright_page_init_callback"


def guard_browsers(settings: BaseSettings, handlers: Mapping[str, type]) -> None:
    """Put our subclasses in the place of *handlers*, by scheme."""
    ours = {scheme: guarded(handler) for scheme, handler in handlers.items()}
    chosen = settings.getdict("DOWNLOAD_HANDLERS")
    _compat.set_by_addon(settings, "DOWNLOAD_HANDLERS", {**chosen, **ours})


def guarded(handler: type) -> type:
    """A subclass of *handler* whose browsers obey robots.txt."""
    with_coroutine = inspect.iscoroutinefunction(getattr(handler, "download_request", None))
    base = _GuardedHandler if with_coroutine else _GuardedDeferredHandler
    return type(f"Guarded{handler.__name__}", (base, handler), {"__module__": __name__})


class _Guarded:
    """Base of the subclasses."""

    obeys_robots_txt = True

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        handler: Any = cast("Any", super()).from_crawler(crawler)
        handler._guard = guard = BrowserGuard(crawler)
        every = Settings.from_scrapy(crawler.settings).browser == "all"
        handler._browsers = browsers = Browsers(guard, handler.abort_request, every=every)
        handler.abort_request = browsers.aborts
        return cast("Self", handler)

    async def _send(self, request: Request, send: Callable[..., Awaitable[Response]]) -> Response:
        """Send *request* by *send*, and check what its page requests, if it is for one.

        A new page is passed to our browsers, then to the user's own callback.
        """
        if not request.meta.get("playwright"):
            return await send(request)
        guard: BrowserGuard = cast("Any", self)._guard
        browsers: Browsers = cast("Any", self)._browsers
        visit, users = guard.visit(request), request.meta.get(_INIT)

        async def open_page(page: Any, opened_for: Request) -> None:
            await browsers.check(page, visit)
            if users:
                await load_object(users)(page, opened_for)

        request.meta[_INIT] = open_page
        try:
            return await guard.download(visit, partial(send, request))
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
