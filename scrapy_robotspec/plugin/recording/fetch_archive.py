"""FetchArchive: archives the requests of a robots.txt with their responses or failures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.access.origin import Origin, without_user_info
from scrapy_robotspec.access.outcome import BLANKED
from scrapy_robotspec.access.private_hosts import is_private
from scrapy_robotspec.access.redirects import leads_inside
from scrapy_robotspec.evidence.warc import (
    END_OF_HEAD,
    LOST,
    STATUS_FIELD,
    STOPPED,
    NewRecord,
    left_out,
    longest_body,
    request_target,
    response_head,
)

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from scrapy_robotspec.access.exchange import Exchange
    from scrapy_robotspec.evidence.recorder import Recorder
    from scrapy_robotspec.plugin.settings.settings import Settings

#: Request headers whose values are archived; ``ROBOTSPEC_EVIDENCE_HEADERS`` names more.
_SHOWN = (
    "Accept",
    "Accept-Encoding",
    "Accept-Language",
    "Cache-Control",
    "Connection",
    "Host",
    "Pragma",
    "User-Agent",
)


@dataclass(eq=False)
class FetchArchive:
    """Archives the requests of one fetch of *origin*, which follow each other.

    *began*: when it, or the latest exchange, began (epoch seconds).
    """

    recorder: Recorder
    settings: Settings
    origin: Origin
    began: float
    records: list[str] = field(default_factory=list)
    """Ids of the archived responses and failures."""
    is_left_out: bool = False
    """Whether the body of the last response is not archived (SAF-06)."""
    _first_address: str = ""

    def add_response(
        self, exchange: Exchange, request: Request, response: Response, time: float
    ) -> None:
        """Archive a response received at *time*, and its request."""
        url, address = without_user_info(exchange.url), str(response.ip_address or "")
        body = exchange.body[: longest_body(self.settings.max_size)]
        fields = f"WARC-IP-Address: {address}\r\n" if address else ""
        self.is_left_out = self._leads_inside("" if request.meta.get("proxy") else address, url)
        if self.is_left_out:
            fields, body = fields + left_out(exchange.body), b""
        elif exchange.stopped or len(body) < len(exchange.body):
            fields += f"WARC-Truncated: {STOPPED}\r\n"
        elif exchange.incomplete:
            fields += f"WARC-Truncated: {LOST}\r\n"
        if not url.startswith("http"):
            fields += f"{STATUS_FIELD}: {exchange.status}\r\n"
            self._add("resource", url, time, body, fields=fields)
            return
        head = response_head(exchange, response.protocol or "HTTP/1.1")
        asked = _request_head(request, url, self.settings.evidence_headers)
        self._add("response", url, time, body, head=head, fields=fields, request=asked)

    def add_failure(self, url: str, error: str, time: float) -> None:
        """Archive that a request failed at *time*."""
        self._add("metadata", without_user_info(url), time, f"failure: {error}\r\n".encode())

    def _add(self, kind: str, url: str, time: float, payload: bytes, **more: Any) -> None:
        record = NewRecord(kind, url, time, payload, began=self.began, **more)
        self.began = time
        self.records.append(record.id)
        self.recorder.add_record(record)

    def _leads_inside(self, address: str, url: str) -> bool:
        """Whether a public host redirected to *url*, which is inside (SAF-06).

        *address*: that of the site; empty: unknown, as behind a proxy.
        """
        if not self.records:
            self._first_address = address
            return False
        if leads_inside(self.origin, url):
            return True
        inside = is_private(self.origin.host) or is_private(self._first_address)
        return is_private(address) and not inside


def _request_head(request: Request, url: str, shown: tuple[str, ...]) -> bytes:
    """Request line and headers of *request* for *url*.

    Values are left out but for headers that we or *shown* name.
    """
    host, target = request_target(url)
    known = {name.lower().encode() for name in (*_SHOWN, *shown)}
    lines = [f"GET {target} HTTP/1.1".encode()]
    if b"Host" not in request.headers:
        lines.append(b"Host: %b" % host.encode())
    for name, values in dict.items(request.headers):  # Headers.items looks up each name again
        for value in values:
            text = value if name.lower() in known else BLANKED.encode()
            lines.append(b"%b: %b" % (name, text))
    return b"\r\n".join(lines) + END_OF_HEAD
