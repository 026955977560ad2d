"""StalledBody: the status of a response whose body does not end.

Any status but a 2xx decides without its body (FET-03, FET-08), but Scrapy gives no status before
the body has ended, and its signal for headers contains none. If the body takes long, the URL is
therefore requested a second time, and that download ends with the headers. Its status counts if the
headers resemble those of the first response: a server that sends a slow file may refuse a second
connection, and a 429 would then allow what the file disallows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from twisted.internet.defer import Deferred

from scrapy_robotspec.access.outcome import SUCCESS
from scrapy_robotspec.plugin.fetching.robots_request import (
    Transfer,
    status_request,
    transfer_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.http import Response

    from scrapy_robotspec.plugin._compat import Later


class StalledBody:
    """Downloads a robots.txt *request*; *download* sends a request.

    *body_timeout*: seconds from the headers to the end of the body. After it any status but a 2xx
    is the response. The body of a 2xx is the file and is awaited further.
    """

    def __init__(
        self,
        request: Request,
        download: Callable[[Request], Deferred[Response]],
        call_later: Callable[..., Later],
        body_timeout: float,
    ) -> None:
        self.outcome: Deferred[tuple[Response, Transfer]] = Deferred(self._stop)
        """The response and the notes about its download."""
        self._request = request
        self._download = download
        self._call_later = call_later
        self._body_timeout = body_timeout
        self._timer: Later | None = None
        self._is_over = False
        self._downloads: list[Deferred[Response]] = []
        transfer = transfer_of(request)
        assert transfer is not None
        self._transfer = transfer
        transfer.on_headers, transfer.on_body = self._wait_for_body, self._stop_timer
        self._send(request).addCallbacks(self._end, self._fail, callbackArgs=(transfer,))

    def _send(self, request: Request) -> Deferred[Response]:
        downloading = self._download(request)
        self._downloads.append(downloading)
        return downloading

    def _wait_for_body(self) -> None:
        self._stop_timer()
        if not self._is_over:
            self._timer = self._call_later(0.8 * self._body_timeout, self._wait_longer)

    def _wait_longer(self) -> None:
        """The body may have arrived while the process was busy: let it be read first."""
        self._timer = self._call_later(0.2 * self._body_timeout, self._ask_status)

    def _ask_status(self) -> None:
        request = status_request(self._request)
        self._send(request).addCallbacks(
            self._take_status, lambda failure: None, callbackArgs=(transfer_of(request),)
        )

    def _take_status(self, response: Response, transfer: Transfer) -> None:
        if response.status not in SUCCESS and transfer.resembles(self._transfer):
            self._end(response, transfer)

    def _end(self, response: Response, transfer: Transfer) -> None:
        if not self._is_over:
            self._stop()
            self.outcome.callback((response, transfer))

    def _fail(self, failure: Any) -> None:
        if not self._is_over:
            self._stop()
            self.outcome.errback(failure)

    def _stop(self, outcome: object = None) -> None:
        self._is_over = True  # a cancelled download may fail at once
        self._stop_timer()
        for downloading in self._downloads:
            downloading.cancel()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
