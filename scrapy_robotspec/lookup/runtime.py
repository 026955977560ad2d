"""Runtime: clock, timers, fetches and handlers that the lookup needs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from twisted.internet.defer import Deferred

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.outcome import FetchResult
    from scrapy_robotspec.access.policy import AccessPolicy
    from scrapy_robotspec.lookup.results import FetchDone, Resolved
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt

_Request = TypeVar("_Request", contravariant=True)

#: No pause is shorter (seconds).
MIN_PAUSE = 0.02


class Runtime(Protocol[_Request]):
    """Implemented by the plugin (``CrawlRuntime``)."""

    def policy(self, origin: Origin) -> AccessPolicy:
        """The access policy for *origin*."""

    def clock(self) -> float:
        """The time (epoch seconds)."""

    def random(self) -> float:
        """A number in [0, 1) that spreads retries."""

    def call_later(self, delay: float, call: Callable[..., Any], *args: Any) -> Any:
        """Call *call* in *delay* seconds; the result has ``cancel()``."""

    def agent(self, request: _Request) -> str:
        """Product name of the User-Agent that the robots.txt request for *request* has."""

    def take_turn(self, origin: Origin, request: _Request) -> float:
        """Use up the turn of *request* to *origin*; seconds until then."""

    def fetch(self, origin: Origin, request: _Request) -> Deferred[FetchResult]:
        """Fetch the robots.txt of *origin*, with its redirects, because of *request*."""

    def on_rules(
        self, found: Resolved, request: _Request, replaced: RobotsTxt | None
    ) -> Deferred[None]:
        """Handle new rules before any request uses them."""

    def on_fetch_done(self, done: FetchDone) -> None:
        """Handle the end of a fetch."""


async def pause(
    runtime: Runtime[Any], seconds: float, waiter: Deferred[None] | None = None
) -> None:
    """Return after *seconds* (inf: never), or when *waiter* is fired before."""
    waiter = Deferred() if waiter is None else waiter
    later = None
    if math.isfinite(seconds) and not waiter.called:
        later = runtime.call_later(max(seconds, MIN_PAUSE), fire, waiter)
    try:
        await waiter
    finally:
        if later is not None:
            later.cancel()


def fire(waiter: Deferred[None]) -> None:
    """Fire *waiter*, unless it has fired."""
    if not waiter.called:
        waiter.callback(None)
