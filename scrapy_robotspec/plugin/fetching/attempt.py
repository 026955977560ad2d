"""Attempt: one robots.txt with its redirects, over one route."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy.exceptions import IgnoreRequest
from twisted.internet.defer import CancelledError, Deferred
from twisted.python.failure import Failure

from scrapy_robotspec.access.exchange import product_name, result_of
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import NOT_FROM_THE_SITE, SERVER_ERRORS, SUCCESS, FetchResult
from scrapy_robotspec.access.redirects import RedirectChain
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.fetching.robots_request import (
    META_KEY,
    Transfer,
    exchange_of,
    robots_request,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.statscollectors import StatsCollector

    from scrapy_robotspec.access.exchange import Exchange
    from scrapy_robotspec.access.redirects import RedirectLimits
    from scrapy_robotspec.plugin.evidence.exchange_archive import ExchangeArchive
    from scrapy_robotspec.plugin.fetching.robots_request import Downloads
    from scrapy_robotspec.plugin.fetching.routes import Route, Routes
    from scrapy_robotspec.plugin.settings.settings import Settings

_T = TypeVar("_T")

#: Seconds between two probes of one origin, and max origins that are remembered.
_INTERVAL = 86400.0
_MAX_ORIGINS = 10_000

#: A cancelled coroutine ends with one or the other, depending on the reactor.
_CANCELLED = (CancelledError, asyncio.CancelledError)


class Probes:
    """Allows one probe per origin and day; none unless *enabled*."""

    def __init__(self, *, enabled: bool) -> None:
        self._enabled = enabled
        self._probed_at: dict[Origin, float] = {}

    def take(self, origin: Origin, now: float) -> bool:
        """Whether to probe *origin* at *now* (epoch seconds); counts it."""
        if not self._enabled or now < self._probed_at.get(origin, 0.0) + _INTERVAL:
            return False
        if len(self._probed_at) >= _MAX_ORIGINS:
            self._probed_at.pop(next(iter(self._probed_at)))
        self._probed_at[origin] = now
        return True


@dataclass(slots=True, kw_only=True)
class FetchContext:
    """Shared by all attempts of one crawl."""

    settings: Settings
    redirect_limits: RedirectLimits
    downloads: Downloads
    routes: Routes
    probes: Probes
    stats: StatsCollector
    clock: Callable[[], float]
    use_http_cache: bool
    archive: ExchangeArchive | None = None
    """Archives requests and responses; None: no evidence is kept."""


class Attempt:
    """Fetches the robots.txt of *origin* because of *page_request*, over *route*."""

    def __init__(
        self, context: FetchContext, origin: Origin, page_request: Request, route: Route
    ) -> None:
        self._context = context
        self._settings = context.settings
        self._routes = context.routes
        self._origin = origin
        self._page_request = page_request
        self._route = route
        self._request: Request | None = None
        archive = context.archive
        self._archive = None if archive is None else archive.fetch(origin, context.clock())
        self._chain = RedirectChain(origin, context.redirect_limits)

    async def run(self) -> FetchResult:
        """The result; only cancelling it from outside raises."""
        fetching = _compat.deferred(self._follow())
        limited = with_time_limit(fetching, self._settings.fetch_timeout, _compat.call_later)
        try:
            result: FetchResult = await _compat.as_future(limited)
        except _CANCELLED:
            self._archive_failure("cancelled")  # the request may have left
            raise
        except TimeLimitError:
            result = self._timed_out()
        except Exception as error:
            result = self._failed(error)
        self._note_route(result)
        return result

    async def _follow(self) -> FetchResult:
        chain = self._chain
        while chain.follow(response := await self._download(chain.url)):
            pass
        error = chain.error
        if response.status in SERVER_ERRORS and await self._has_misplaced_errors():
            error = "server errors for missing pages"
        result = result_of(response, chain.hops, error, self._settings.max_size)
        local = self._may_be_the_proxys(response.status)
        return replace(result, local=local, agent=self._agent, records=self._records)

    async def _download(self, url: str) -> Exchange:
        context = self._context
        self._request = request = robots_request(
            url,
            self._origin,
            route=self._route,
            user_agent=self._page_request.headers.get(b"User-Agent"),
            timeout=self._settings.fetch_timeout,
            use_http_cache=context.use_http_cache,
        )
        response, transfer = await context.downloads.send(request)
        host = Origin.of(url)
        if host is not None and not self._may_be_the_proxys(response.status):
            self._routes.worked(self._proxy, host.host, context.clock())
        exchange = exchange_of(url, response, transfer)
        if self._archive is not None:
            sent = transfer.sent or request
            self._archive.add_response(exchange, sent, response, context.clock())
        return exchange

    async def _has_misplaced_errors(self) -> bool:
        """FET-15: a page that surely is missing answers 5xx, while ``/`` answers 2xx."""
        if not self._context.probes.take(self._origin, self._context.clock()):
            return False
        base = self._origin.robots_url.removesuffix("robots.txt")
        missing = await self._download(f"{base}{secrets.token_hex(16)}")
        if missing.status not in SERVER_ERRORS:
            return False
        root = await self._download(base)
        return root.status in SUCCESS

    # --- failures

    def _timed_out(self) -> FetchResult:
        self._context.stats.inc_value("robotstxt/exception_count/timeout")
        error = f"no answer within {self._settings.fetch_timeout:g} s"
        return self._failure(error, self._is_unproven)

    def _failed(self, error: Exception) -> FetchResult:
        from scrapy_robotspec.plugin.fetching.failures import in_one_line, is_local

        if not isinstance(error, IgnoreRequest):
            self._context.stats.inc_value(f"robotstxt/exception_count/{type(error)}")
        local = is_local(error, self._proxy, self._routes, self._context.clock())
        return self._failure(in_one_line(error), local)

    def _failure(self, error: str, local: bool) -> FetchResult:
        if self._is_unproven:
            error += " through a proxy"
        self._archive_failure(error)
        hops = tuple(self._chain.hops)
        return FetchResult(error=error, hops=hops, local=local, records=self._records)

    def _archive_failure(self, error: str) -> None:
        if self._archive is not None:
            url = self._chain.url if self._request is None else self._request.url
            self._archive.add_failure(url, error, self._context.clock())

    @property
    def _records(self) -> tuple[str, ...]:
        """Ids of the archive's records of this attempt."""
        return () if self._archive is None else tuple(self._archive.records)

    # --- the route

    @property
    def _proxy(self) -> str | None:
        """The proxy of the last request, also one from the environment or another middleware."""
        if self._request is None:
            return None
        transfer: Transfer = self._request.meta[META_KEY]
        return (transfer.sent or self._request).meta.get("proxy") or None

    @property
    def _agent(self) -> str:
        """Product name of the User-Agent that was sent last."""
        assert self._request is not None
        transfer: Transfer = self._request.meta[META_KEY]
        return product_name((transfer.sent or self._request).headers.get(b"User-Agent"))

    @property
    def _is_unproven(self) -> bool:
        """Whether the last request went through a proxy that may never have worked."""
        proxy = self._proxy
        return proxy is not None and not self._routes.is_proven(proxy, self._context.clock())

    def _may_be_the_proxys(self, status: int) -> bool:
        """Whether a proxy, and not the site, may have given the response.

        Until a proxy has brought another response, its server errors may be its own.
        """
        if status in NOT_FROM_THE_SITE:
            return True
        return status >= 500 and self._is_unproven

    def _note_route(self, result: FetchResult) -> None:
        self._routes.used(self._route, self._proxy)
        if result.status is None or result.local or result.status >= 500:
            self._routes.failed(self._origin, self._route)
        else:
            self._routes.forget(self._origin)


class TimeLimitError(Exception):
    """The work took too long."""


def with_time_limit(
    work: Deferred[_T], seconds: float, call_later: Callable[..., Any]
) -> Deferred[_T]:
    """The outcome of *work*, or :class:`TimeLimitError` after *seconds*.

    Then *work* is cancelled and its own outcome is dropped, so that work which ignores being
    cancelled delays nothing. Cancelling the result cancels *work* in the same way; nothing else
    makes it fail with ``CancelledError``.
    """
    is_over = False

    def stop(outcome: Deferred[_T]) -> None:
        nonlocal is_over
        is_over = True
        work.cancel()

    def expire() -> None:
        stop(outcome)
        outcome.errback(TimeLimitError())

    def pass_on(result: Any) -> None:
        if is_over:
            return
        if isinstance(result, Failure) and isinstance(result.value, CancelledError):
            outcome.errback(IgnoreRequest("another component has cancelled it"))
        else:
            outcome.callback(result)

    def end(result: _T | Failure) -> _T | Failure:
        timer.cancel()
        return result

    outcome: Deferred[_T] = Deferred(stop)
    timer = call_later(seconds, expire)
    outcome.addBoth(end)
    work.addBoth(pass_on)
    return outcome
