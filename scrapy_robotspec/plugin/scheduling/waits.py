"""Waits for a robots.txt or a crawl delay, until the spider closes.

Requests in ``process_request``, final URLs, navigations of browsers and questions of spiders wait
by the same code. A wait takes no place of ``CONCURRENT_REQUESTS``. Scrapy sends no signal when a
spider begins to close, so this is polled while anything waits or is fetched.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest
from twisted.internet.defer import CancelledError, Deferred

from scrapy_robotspec.plugin import _compat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.lookup import Lookup, Resolved
    from scrapy_robotspec.lookup.live_origins import LiveOrigins
    from scrapy_robotspec.plugin.crawl_origin import CrawlOrigin

#: Pause between two looks for a spider that closes (seconds).
_POLL = 0.2


class Waits:
    """Waits of one crawler; set ``lookup`` before the first.

    *on_wait* is called with an origin and 1 when a wait for its robots.txt begins, and with -1 when
    that wait ends.
    """

    lookup: Lookup[Request]

    def __init__(
        self,
        crawler: Crawler,
        live: LiveOrigins[CrawlOrigin],
        on_wait: Callable[[Origin, int], None],
    ) -> None:
        self._crawler = crawler
        self._live = live
        self._on_wait = on_wait
        self._polling = False
        self._delayed: set[Deferred[bool]] = set()

    def count(self, origin: Origin) -> int:
        """Number of waits for the robots.txt of *origin*."""
        live = self._live.get(origin)
        return 0 if live is None else live.waits

    async def wait(self, origin: Origin, request: Request) -> Resolved:
        """Wait until *origin* is resolved, at most until it is given up.

        Raises ``IgnoreRequest`` when the spider closes first.
        """
        try:
            with self._extra_slot(), self._counted(origin):
                waiting = Deferred.fromCoroutine(self.lookup.wait(origin, request))
                found: Resolved = await _compat.as_future(waiting)
            return found
        except CancelledError:
            raise IgnoreRequest(
                f"the spider was closed before the robots.txt of {origin} was known"
            ) from None

    async def until(self, turn: Deferred[bool]) -> bool:
        """The result of *turn*. Raises ``IgnoreRequest`` when the spider closes first."""
        self._delayed.add(turn)
        try:
            with self._extra_slot():
                has_slot: bool = await _compat.as_future(turn)
            return has_slot
        except CancelledError:
            raise IgnoreRequest("the spider was closed before a crawl-delay had passed") from None
        finally:
            self._delayed.discard(turn)

    @contextmanager
    def _extra_slot(self) -> Iterator[None]:
        """Take no place of other requests."""
        assert self._crawler.engine is not None
        release_slot = _compat.extra_download_slot(self._crawler.engine)
        _compat.wake(self._crawler.engine)
        self.watch()
        try:
            yield
        finally:
            release_slot()

    @contextmanager
    def _counted(self, origin: Origin) -> Iterator[None]:
        """Count a wait for *origin*."""
        live = self._live.use(origin)
        live.waits += 1
        self._on_wait(origin, 1)
        try:
            yield
        finally:
            live.waits -= 1
            self._on_wait(origin, -1)
            self._live.settle(live)

    # --- closing

    def watch(self) -> None:
        """Poll for a spider that closes while anything waits or is fetched."""
        if not self._polling:
            self._polling = True
            _compat.call_later(_POLL, self._poll)

    def _poll(self) -> None:
        self._polling = False
        if _compat.is_closing(self._crawler.engine):
            self.lookup.stop()
            for turn in list(self._delayed):
                turn.cancel()
        elif self.lookup.busy or self._delayed:
            self.watch()
