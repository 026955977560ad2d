"""WARC 1.1 records, made and read with ``warcio``, one gzip member each."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from http.client import responses
from io import BytesIO
from typing import TYPE_CHECKING, Any

from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from scrapy_robotspec.access.exchange import Exchange
from scrapy_robotspec.evidence.errors import EvidenceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: Extension field: what a server that speaks no HTTP answered, in Scrapy's numbers.
STATUS_FIELD = "Robotspec-Status"
#: ``WARC-Truncated`` for a body cut by our size limit, and for one that the connection cut.
STOPPED, LOST = "length", "disconnect"

#: Content types that ``warcio`` does not know.
_CONTENT_TYPES = {"resource": "text/plain"}
_END_OF_HEAD = b"\r\n\r\n"


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A record to be written."""

    id: str
    kind: str
    """WARC-Type."""
    url: str
    time: float
    """Epoch seconds."""
    payload: bytes
    content_type: str = ""
    """Empty: the type that belongs to the kind."""
    head: bytes | None = None
    """Start line and headers of an HTTP message, with the empty line."""
    fields: tuple[tuple[str, str], ...] = ()
    """Further WARC fields."""


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record that was read."""

    kind: str
    fields: Mapping[str, str]
    """WARC fields by lower-case name."""
    block: bytes

    @property
    def url(self) -> str:
        """WARC-Target-URI; empty for none."""
        return self.fields.get("warc-target-uri", "")

    @property
    def content_type(self) -> str:
        """Content-Type; empty for none."""
        return self.fields.get("content-type", "")

    @property
    def is_exchange(self) -> bool:
        """Whether :meth:`exchange` returns something."""
        return self.kind == "response" or STATUS_FIELD.lower() in self.fields

    def exchange(self) -> Exchange:
        """The response in the record. Raises ``EvidenceError`` for another kind."""
        truncated = self.fields.get("warc-truncated")
        stopped, lost = truncated == STOPPED, truncated == LOST
        if not self.is_exchange:
            raise EvidenceError(f"a {self.kind} record contains no response")
        if self.kind != "response":
            status = int(self.fields[STATUS_FIELD.lower()])
            return Exchange(self.url, status, (), self.block, stopped, lost)
        head, _, body = self.block.partition(_END_OF_HEAD)
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = [line.partition(": ") for line in lines]
        status = int(first.split(" ")[1])
        pairs = tuple((name, value) for name, _, value in headers)
        return Exchange(self.url, status, pairs, body, stopped, lost)


class _Head(StatusAndHeaders):  # type: ignore[misc]  # warcio has no types
    """A head whose bytes are written as they are; ``warcio`` would escape some."""

    def __init__(self, head: bytes) -> None:
        super().__init__("HTTP", [])  # not empty: warcio would look for a head in the body
        self._bytes = head

    def compute_headers_buffer(self, header_filter: Any = None) -> None:
        self.headers_buff = self._bytes


def response_head(exchange: Exchange, protocol: str) -> bytes:
    """Status line and headers of a response.

    The body is archived without its transfer coding, so the header that names one is renamed.
    """
    reason = responses.get(exchange.status, "")
    headers = (
        (f"X-Archive-Orig-{name}" if name.lower() == "transfer-encoding" else name, value)
        for name, value in exchange.headers
    )
    return http_head(f"{protocol} {exchange.status} {reason}", headers)


def http_head(first: str, headers: Iterable[tuple[str, str]]) -> bytes:
    """First line and headers of an HTTP message, with the empty line."""
    lines = (first, *(f"{name}: {value}" for name, value in headers))
    return "\r\n".join(lines).encode("latin-1", "replace") + _END_OF_HEAD


def to_member(record: NewRecord) -> bytes:
    """*record* as one gzip member, with block and payload digests."""
    buffer = BytesIO()
    writer = WARCWriter(buffer, gzip=True, warc_version="1.1")
    fields = {
        "WARC-Record-ID": record.id,
        "WARC-Date": iso_date(record.time),
        **dict(record.fields),
    }
    made = writer.create_warc_record(
        record.url,
        record.kind,
        payload=BytesIO(record.payload),
        length=len(record.payload),
        warc_content_type=record.content_type or _CONTENT_TYPES.get(record.kind, ""),
        warc_headers_dict=fields,
        http_headers=None if record.head is None else _Head(record.head),
    )
    writer.write_record(made)
    return buffer.getvalue()


def read_member(data: bytes) -> StoredRecord:
    """The record in one gzip member. Raises ``EvidenceError`` for anything else."""
    try:
        found = next(iter(ArchiveIterator(BytesIO(data), no_record_parse=True)))
        fields = {name.lower(): value for name, value in found.rec_headers.headers}
        return StoredRecord(found.rec_type, fields, found.raw_stream.read())
    except Exception as error:  # warcio and zlib raise many kinds for damaged bytes
        raise EvidenceError(f"not a WARC record ({type(error).__name__}: {error})") from error


def iso_date(time: float) -> str:
    """Epoch seconds as a WARC date with microseconds."""
    return datetime.fromtimestamp(time, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
