"""ExchangeArchive: archives each robots.txt request with its response or failure."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy_robotspec.access.outcome import without_user_info
from scrapy_robotspec.evidence.run_writer import new_record_id
from scrapy_robotspec.evidence.warc import (
    LOST,
    STATUS_FIELD,
    STOPPED,
    NewRecord,
    http_head,
    response_head,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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
        fields = list(_response_fields(exchange, response))
        if not url.startswith("http"):
            status = (STATUS_FIELD, str(exchange.status))
            return self._add("resource", url, time, exchange.body, (*fields, status))
        head = response_head(exchange, response.protocol or "HTTP/1.1")
        id_ = self._add("response", url, time, exchange.body, fields, head)
        sent = http_head(_request_line(url), _request_headers(request, url))
        self._add("request", url, time, b"", [("WARC-Concurrent-To", id_)], sent)
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
        fields: Iterable[tuple[str, str]] = (),
        head: bytes | None = None,
    ) -> str:
        id_ = new_record_id()
        record = NewRecord(id_, kind, url, time, payload, head=head, fields=tuple(fields))
        self._recorder.add_record(record)
        return id_


def _response_fields(exchange: Exchange, response: Response) -> Iterator[tuple[str, str]]:
    if response.ip_address is not None:
        yield "WARC-IP-Address", str(response.ip_address)
    if exchange.stopped or exchange.lost:
        yield "WARC-Truncated", STOPPED if exchange.stopped else LOST


def _request_line(url: str) -> str:
    parts = urlsplit(url)
    query = f"?{parts.query}" if parts.query else ""
    return f"GET {parts.path or '/'}{query} HTTP/1.1"


def _request_headers(request: Request, url: str) -> Iterator[tuple[str, str]]:
    if b"Host" not in request.headers:
        yield "Host", urlsplit(url).netloc
    for name, values in request.headers.items():
        if name not in _SECRET:
            for value in values:
                yield name.decode("latin-1"), value.decode("latin-1")
