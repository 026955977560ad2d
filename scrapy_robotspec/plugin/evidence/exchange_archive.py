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
        id_, url, body = new_record_id(), without_user_info(exchange.url), exchange.body
        fields = tuple(_response_fields(exchange, response))
        if not url.startswith("http"):
            fields += ((STATUS_FIELD, str(exchange.status)),)
            self._recorder.add_record(NewRecord(id_, "resource", url, time, body, fields=fields))
            return id_
        head = response_head(exchange, response.protocol or "HTTP/1.1")
        received = NewRecord(id_, "response", url, time, body, head=head, fields=fields)
        self._recorder.add_record(received, _sent(id_, request, url, time))
        return id_

    def add_failure(self, url: str, error: str, time: float) -> str:
        """Archive that a request failed at *time*; the id of the record."""
        id_, payload = new_record_id(), f"failure: {error}\r\n".encode()
        url = without_user_info(url)
        self._recorder.add_record(NewRecord(id_, "metadata", url, time, payload))
        return id_


def _sent(response_id: str, request: Request, url: str, time: float) -> NewRecord:
    """The record of the request for *url* that the response *response_id* answers."""
    head, fields = _request_head(request, url), (("WARC-Concurrent-To", response_id),)
    return NewRecord(new_record_id(), "request", url, time, b"", head=head, fields=fields)


def _response_fields(exchange: Exchange, response: Response) -> Iterator[tuple[str, str]]:
    if response.ip_address is not None:
        yield "WARC-IP-Address", str(response.ip_address)
    if exchange.stopped or exchange.lost:
        yield "WARC-Truncated", STOPPED if exchange.stopped else LOST


def _request_head(request: Request, url: str) -> bytes:
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
