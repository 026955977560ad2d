"""ExchangeArchive: archives each robots.txt request with its response or failure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy_robotspec.access.exchange import leads_inside
from scrapy_robotspec.access.outcome import without_user_info
from scrapy_robotspec.access.private_hosts import is_private
from scrapy_robotspec.evidence.run_writer import record_ids
from scrapy_robotspec.evidence.warc import (
    BLANKED,
    END_OF_HEAD,
    LOST,
    STATUS_FIELD,
    STOPPED,
    NewRecord,
    blank_user_info,
    left_out,
    longest_body,
    response_head,
    to_field,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request
    from scrapy.http import Response

    from scrapy_robotspec.access.exchange import Exchange
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.evidence.recorder import Recorder

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
#: Host (with port), path and query of a URL; ``urlsplit`` takes ten times as long.
_PARTS = re.compile(r"//([^/?#]*)([^?#]*)(\?[^#]+)?")


class ExchangeArchive:
    """Makes records of what the fetcher sent and received.

    *headers*: names of further request headers whose values are archived. *max_size*: the parsing
    limit in bytes.
    """

    def __init__(self, recorder: Recorder, headers: Iterable[str], max_size: int) -> None:
        self.recorder = recorder
        self.shown = frozenset(name.lower().encode() for name in (*_SHOWN, *headers))
        self.longest_body = longest_body(max_size)
        self.ids = record_ids()

    def fetch(self, origin: Origin, time: float) -> FetchArchive:
        """The archive of a fetch that begins at *time* (epoch seconds)."""
        return FetchArchive(self, origin, time)


class FetchArchive:
    """Archives the requests of one fetch, which follow each other."""

    def __init__(self, archive: ExchangeArchive, origin: Origin, time: float) -> None:
        self.records: list[str] = []
        """Ids of the archived responses and failures."""
        self.is_left_out = False
        """Whether the body of the last response is not archived (SAF-06)."""
        self._archive = archive
        self._origin = origin
        self._began = time
        self._first_address = ""

    def add_response(
        self, exchange: Exchange, request: Request, response: Response, time: float
    ) -> None:
        """Archive a response received at *time*, and its request."""
        archive, url = self._archive, without_user_info(exchange.url)
        id_, began, self._began = next(archive.ids), self._began, time
        address = str(response.ip_address or "")
        body = exchange.body[: archive.longest_body]
        fields = to_field("WARC-IP-Address", address) if address else ""
        self.is_left_out = self._leads_inside("" if request.meta.get("proxy") else address, url)
        if self.is_left_out:
            fields, body = fields + left_out(exchange.body), b""
        elif exchange.stopped or len(body) < len(exchange.body):
            fields += to_field("WARC-Truncated", STOPPED)
        elif exchange.incomplete:
            fields += to_field("WARC-Truncated", LOST)
        self.records.append(id_)
        if url.startswith("http"):
            head = response_head(exchange, response.protocol or "HTTP/1.1")
            asked = _request_head(request, url, archive.shown)
            record = NewRecord(id_, "response", url, time, body, head, fields, began, asked)
        else:
            fields += to_field(STATUS_FIELD, str(exchange.status))
            record = NewRecord(id_, "resource", url, time, body, b"", fields, began)
        archive.recorder.add_record(record)

    def add_failure(self, url: str, error: str, time: float) -> None:
        """Archive that a request failed at *time*."""
        id_, payload = next(self._archive.ids), f"failure: {blank_user_info(error)}\r\n".encode()
        url, began = without_user_info(url), self._began
        self.records.append(id_)
        self._archive.recorder.add_record(
            NewRecord(id_, "metadata", url, time, payload, began=began)
        )

    def _leads_inside(self, address: str, url: str) -> bool:
        """Whether a public host redirected to *url*, which is inside (SAF-06).

        *address*: that of the site; empty: unknown, as behind a proxy.
        """
        if not self.records:
            self._first_address = address
            return False
        if leads_inside(self._origin, url):
            return True
        inside = is_private(self._origin.host) or is_private(self._first_address)
        return is_private(address) and not inside


def _request_head(request: Request, url: str, shown: frozenset[bytes]) -> bytes:
    """Request line and headers of *request* for *url*; only the names of those not *shown*."""
    parts = _PARTS.search(url)
    assert parts is not None
    host, path, query = parts.groups("")
    lines = [f"GET {path or '/'}{query} HTTP/1.1".encode()]
    if b"Host" not in request.headers:
        lines.append(b"Host: %b" % host.encode())
    for name, values in dict.items(request.headers):  # Headers.items looks up each name again
        for value in values:
            text = value if name.lower() in shown else BLANKED.encode()
            lines.append(b"%b: %b" % (name, text))
    return b"\r\n".join(lines) + END_OF_HEAD
