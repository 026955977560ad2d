"""Downloads: sends robots.txt requests through Scrapy's downloader."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from scrapy import Request, signals
from scrapy.exceptions import StopDownload

from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.fetching.robots_request import slot_of, transfer_of
from scrapy_robotspec.plugin.fetching.stalled_body import StalledBody

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.core.engine import ExecutionEngine
    from scrapy.crawler import Crawler
    from scrapy.http import Headers, Response
    from twisted.internet.defer import Deferred
    from twisted.python.failure import Failure

    from scrapy_robotspec.plugin.fetching.robots_request import Transfer

#: Part of the fetch timeout after which a body without an end counts as stalled. A slow 2xx costs
#: its site a second request from then on, and the status of another must still be in time.
_BODY_TIMEOUT = 1 / 3
#: Min time for a body (seconds): on a busy machine it may come long after the headers.
_MIN_BODY_TIMEOUT = 1.0


class Downloads:
    """Downloads robots.txt files for one crawl.

    Each download ends after *max_size* bytes (FMT-12). *timeout* is that of a fetch in seconds.
    """

    def __init__(self, crawler: Crawler, max_size: int, timeout: float) -> None:
        self._crawler = crawler
        self._max_size = max_size
        self._body_timeout = max(_MIN_BODY_TIMEOUT, _BODY_TIMEOUT * timeout)
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

    async def take_turn(self, page_request: Request) -> None:
        """Wait for the page's turn, and use it up.

        The first request to an origin is spaced like a page. It takes no place of the page's
        download slot, so a silent robots.txt delays no other origin of that slot.
        """
        pause = _compat.take_slot_turn(self._engine, page_request)
        if pause > 0:
            await _compat.sleep(pause)

    async def send(self, request: Request) -> tuple[Response, Transfer]:
        """The response to a robots.txt request, and notes about its download.

        The body is still encoded.
        """
        slot = slot_of(request)
        assert slot is not None
        with self._slots.use(slot):
            sent = StalledBody(request, self._download, _compat.call_later, self._body_timeout)
            answered: tuple[Response, Transfer] = await _compat.as_future(sent.outcome)
        return answered

    def _download(self, request: Request) -> Deferred[Response]:
        downloading = _compat.download(self._engine, request)
        transfer = transfer_of(request)
        if transfer is None or not transfer.status_only:
            return downloading
        release_slot = _compat.extra_download_slot(self._engine)  # a fetch has one place

        def end(result: Response | Failure) -> Response | Failure:
            release_slot()
            return result

        return downloading.addBoth(end)

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
            connect(self._headers_received, signals.headers_received)
            connect(self._bytes_received, signals.bytes_received)
            connect(self._response_downloaded, signals.response_downloaded)

    def _unwatch(self) -> None:
        self._open -= 1
        if self._open == 0:
            disconnect = self._crawler.signals.disconnect
            disconnect(self._begin, signals.request_reached_downloader)
            disconnect(self._headers_received, signals.headers_received)
            disconnect(self._bytes_received, signals.bytes_received)
            disconnect(self._response_downloaded, signals.response_downloaded)

    def _begin(self, request: Request) -> None:
        transfer = transfer_of(request)
        if transfer is not None:
            transfer.begin(request)

    def _headers_received(self, request: Request, headers: Headers) -> None:
        transfer = transfer_of(request)
        if transfer is None:
            return
        transfer.headers = headers
        if transfer.status_only:
            raise StopDownload(fail=False)
        if transfer.on_headers is not None:
            transfer.on_headers()

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
        if transfer.on_body is not None:
            transfer.on_body()
        transfer.content_encoding = response.headers.getlist("Content-Encoding")
        response.headers.pop("Content-Encoding", None)
