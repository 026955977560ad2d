"""Downloads: sends robots.txt requests through Scrapy's downloader."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from scrapy import Request, signals
from scrapy.exceptions import StopDownload

from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.fetching.robots_request import slot_of, transfer_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.core.engine import ExecutionEngine
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_robotspec.plugin.fetching.robots_request import Transfer


class Downloads:
    """Downloads robots.txt files for one crawl.

    Each download ends after *max_size* bytes (FMT-12).
    """

    def __init__(self, crawler: Crawler, max_size: int) -> None:
        self._crawler = crawler
        self._max_size = max_size
        self._open = 0

    def open(self) -> Callable[[], None]:
        """Make room for a fetch; the result gives it back."""
        _compat.close_idle_connections(self._engine)  # many origins: none free for this one
        release_slot = _compat.extra_download_slot(self._engine)
        self._watch()

        def release() -> None:
            release_slot()
            self._unwatch()

        return release

    def take_turn(self, page_request: Request) -> float:
        """Use up the page's turn; seconds until then.

        The first request to an origin is spaced like a page. It takes no place of the page's
        download slot, so a silent robots.txt delays no other origin of that slot.
        """
        return _compat.take_slot_turn(self._engine, page_request)

    async def send(self, request: Request) -> tuple[Response, Transfer]:
        """The response to a robots.txt request, and notes about its download.

        The body is still encoded.
        """
        slot = slot_of(request)
        assert slot is not None
        with self._slots.use(slot):
            response = await _compat.as_future(_compat.download(self._engine, request))
        transfer = transfer_of(request)
        assert transfer is not None
        return response, transfer

    @property
    def _engine(self) -> ExecutionEngine:
        assert self._crawler.engine is not None
        return self._crawler.engine

    @cached_property
    def _slots(self) -> _compat.UndelayedSlots:
        """Download slots of the robots.txt requests, once the engine exists."""
        return _compat.UndelayedSlots(self._engine, slot_of)

    # --- the downloader's signals

    def _watch(self) -> None:
        """Connect to the signals only while a robots.txt is being fetched."""
        self._open += 1
        if self._open == 1:
            connect = self._crawler.signals.connect
            connect(self._begin, signals.request_reached_downloader)
            connect(self._bytes_received, signals.bytes_received)
            connect(self._response_downloaded, signals.response_downloaded)

    def _unwatch(self) -> None:
        self._open -= 1
        if self._open == 0:
            disconnect = self._crawler.signals.disconnect
            disconnect(self._begin, signals.request_reached_downloader)
            disconnect(self._bytes_received, signals.bytes_received)
            disconnect(self._response_downloaded, signals.response_downloaded)

    def _begin(self, request: Request) -> None:
        transfer = transfer_of(request)
        if transfer is not None:
            transfer.begin(request)

    def _bytes_received(self, data: bytes, request: Request) -> None:
        transfer = transfer_of(request)
        if transfer is None:
            return
        transfer.received += len(data)
        if transfer.received > self._max_size:
            transfer.stopped = True
            raise StopDownload(fail=False)

    def _response_downloaded(self, response: Response, request: Request) -> None:
        """Keep the body encoded: it is decoded up to the limit in ``access/decoding.py``."""
        transfer = transfer_of(request)
        if transfer is None:
            return
        transfer.content_encoding = response.headers.getlist("Content-Encoding")
        response.headers.pop("Content-Encoding", None)
