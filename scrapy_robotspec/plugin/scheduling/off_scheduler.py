"""Patience: those who cannot go back to the scheduler, and the end of all waiting at shutdown.

Requests of media pipelines and of ``engine.download``, and spiders that ask, await their answer
here. None of them holds a place in the downloader, and none outlives the spider: Scrapy has no
signal for a spider that begins to close, so it is looked for while anything is under way.
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

#: How often a shutdown is looked for (seconds).
_LOOK_EVERY = 0.2


class OffSchedulerWaits:
    """Waits for one crawler. ``lookup`` is set once it is there."""

    lookup: Lookup[Request]

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._looking = False
        self._sleepers: set[Deferred[None]] = set()

    async def answer(self, origin: Origin, request: Request) -> Resolved:
        """What is known of *origin*, once it is; the wait is as long as the hold lets it be.

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
        """Let *seconds* pass. Raises ``IgnoreRequest`` when the spider closes first."""
        pause: Deferred[None] = Deferred()
        later = _compat.call_later(seconds, pause.callback, None)
        self._sleepers.add(pause)
        self.watch()
        try:
            await _compat.as_future(pause)
        except CancelledError:
            raise IgnoreRequest("the spider was closed before a crawl-delay had passed") from None
        finally:
            later.cancel()
            self._sleepers.discard(pause)

    def watch(self) -> None:
        """Look for a shutdown as long as anything is under way."""
        if not self._looking:
            self._looking = True
            _compat.call_later(_LOOK_EVERY, self._look)

    def _look(self) -> None:
        self._looking = False
        if _compat.is_closing(self._crawler.engine):
            self.lookup.stop()
            for pause in list(self._sleepers):
                pause.cancel()
        elif self.lookup.busy or self._sleepers:
            self.watch()
