"""OffSchedulerWaits: waits of requests that did not come from the scheduler.

Requests of media pipelines and of ``engine.download``, and questions of spiders, cannot be
requeued: they await their robots.txt here. A wait takes no place of ``CONCURRENT_REQUESTS`` and
ends when the spider closes. Scrapy sends no signal when a spider begins to close, so this is
polled while anything waits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import IgnoreRequest
from twisted.internet.defer import CancelledError, Deferred

from scrapy_robotspec.plugin import _compat

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.lookup import Lookup, Resolved

#: Pause between two looks for a spider that closes (seconds).
_POLL = 0.2


class OffSchedulerWaits:
    """Waits of one crawler; set ``lookup`` before the first."""

    lookup: Lookup[Request]

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._polling = False
        self._sleepers: set[Deferred[None]] = set()

    async def answer(self, origin: Origin, request: Request) -> Resolved:
        """Wait until *origin* is resolved, at most until it is given up.

        Raises ``IgnoreRequest`` when the spider closes first.
        """
        assert self._crawler.engine is not None
        release_slot = _compat.extra_download_slot(self._crawler.engine)
        self.watch()
        try:
            waiting = Deferred.fromCoroutine(self.lookup.answer(origin, request))
            found: Resolved = await _compat.as_future(waiting)
            return found
        except CancelledError:
            raise IgnoreRequest(
                f"the spider was closed before the robots.txt of {origin} was known"
            ) from None
        finally:
            release_slot()

    async def sleep(self, seconds: float) -> None:
        """Wait *seconds*. Raises ``IgnoreRequest`` when the spider closes first."""
        pause: Deferred[None] = Deferred()
        later = _compat.call_later(seconds, pause.callback, None)
        try:
            await self.until(pause)
        finally:
            later.cancel()

    async def until(self, turn: Deferred[None]) -> None:
        """Wait for *turn*. Raises ``IgnoreRequest`` when the spider closes first."""
        assert self._crawler.engine is not None
        release_slot = _compat.extra_download_slot(self._crawler.engine)
        self._sleepers.add(turn)
        self.watch()
        try:
            await _compat.as_future(turn)
        except CancelledError:
            raise IgnoreRequest("the spider was closed before a crawl-delay had passed") from None
        finally:
            self._sleepers.discard(turn)
            release_slot()

    def watch(self) -> None:
        """Poll for a spider that closes while anything waits or is fetched."""
        if not self._polling:
            self._polling = True
            _compat.call_later(_POLL, self._poll)

    def _poll(self) -> None:
        self._polling = False
        if _compat.is_closing(self._crawler.engine):
            self.lookup.stop()
            for pause in list(self._sleepers):
                pause.cancel()
        elif self.lookup.busy or self._sleepers:
            self.watch()
