"""ExchangeArchive: archives each robots.txt request with its response or failure."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy_robotspec.access.outcome import without_user_info
from scrapy_robotspec.evidence.run_writer import new_record_id
from scrapy_robotspec.evidence.warc import (
    END_OF_HEAD,
    LOST,
    STATUS_FIELD,
    STOPPED,
    NewRecord,
    response_head,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy import Request
    from scrapy.http import Response

    from scrapy_robotspec.access.exchange import Exchange
    from scrapy_robotspec.evidence.recorder import Recorder

#: Headers that are left out: an archive may be handed on.
_SECRET = (b"Authorization", b"Cookie", b"Proxy-Authorization")


class ExchangeArchive:
    """Makes records of what the fetcher sent and received."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def add_response(
        self, exchange: Exchange, request: Request, response: Response, time: float
    ) -> str:
        """Archive a response received at *time*, and its request; its id."""
        url = without_user_info(exchange.url)
        fields = tuple(_response_fields(exchange, response))
        if not url.startswith("http"):
            status = (STATUS_FIELD, str(exchange.status))
            return self._add("resource", url, time, exchange.body, (*fields, status))
        head = response_head(exchange, response.protocol or "HTTP/1.1")
        id_ = self._add("response", url, time, exchange.body, fields, head)
        self._add("request", url, time, b"", (("WARC-Concurrent-To", id_),), _sent(request, url))
        return id_

    def add_failure(self, url: str, error: str, time: float) -> str:
        """Archive that a request failed at *time*; the id of the record."""
        payload = f"failure: {error}\r\n".encode()
        return self._add("metadata", without_user_info(url), time, payload)

    def _add(
        self,
        kind: str,
        url: str,
        time: float,
        payload: bytes,
        fields: tuple[tuple[str, str], ...] = (),
        head: bytes | None = None,
    ) -> str:
        id_ = new_record_id()
        self._recorder.add_record(
            NewRecord(id_, kind, url, time, payload, head=head, fields=fields)
        )
        return id_


def _response_fields(exchange: Exchange, response: Response) -> Iterator[tuple[str, str]]:
    if response.ip_address is not None:
        yield "WARC-IP-Address", str(response.ip_address)
    if exchange.stopped or exchange.lost:
        yield "WARC-Truncated", STOPPED if exchange.stopped else LOST


def _sent(request: Request, url: str) -> bytes:
    """Request line and headers of *request* for *url*."""
    parts = urlsplit(url)
    query = f"?{parts.query}" if parts.query else ""
    lines = [f"GET {parts.path or '/'}{query} HTTP/1.1".encode()]
    if b"Host" not in request.headers:
        lines.append(b"Host: %b" % parts.netloc.encode())
    for name, values in request.headers.items():
        if name not in _SECRET:
            lines += (b"%b: %b" % (name, value) for value in values)
    return b"\r\n".join(lines) + END_OF_HEAD
