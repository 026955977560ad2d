"""WARC 1.1 records, one gzip member each.

They are written here, because ``warcio`` changes some heads and takes three times as long, and read
with ``warcio``.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from datetime import datetime, timezone
from hashlib import sha256
from http.client import responses
from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple

from warcio.archiveiterator import ArchiveIterator

from scrapy_robotspec.access.exchange import Exchange
from scrapy_robotspec.evidence.errors import EvidenceError

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Extension field: what a server that speaks no HTTP answered, in Scrapy's numbers.
STATUS_FIELD = "Robotspec-Status"
#: ``WARC-Truncated`` for a body cut by our size limit, and for one that the connection cut.
STOPPED, LOST = "length", "disconnect"

#: Content types by kind of record.
_CONTENT_TYPES = {
    "warcinfo": "application/warc-fields",
    "response": "application/http; msgtype=response",
    "request": "application/http; msgtype=request",
    "metadata": "application/warc-fields",
    "resource": "text/plain",
}
#: Level of gzip: on typical records within 1% of the best, in half the time.
_COMPRESSION = 3
#: Records up to this size (bytes) get a window of the same size: zlib then allocates 30 KB instead
#: of 270 KB, which takes longer than the compression.
_SMALL = 2**12
#: The end of the head of an HTTP message.
END_OF_HEAD = b"\r\n\r\n"


class NewRecord(NamedTuple):
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
        head, _, body = self.block.partition(END_OF_HEAD)
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = [line.partition(": ") for line in lines]
        status = int(first.split(" ")[1])
        pairs = tuple((name, value) for name, _, value in headers)
        return Exchange(self.url, status, pairs, body, stopped, lost)


def response_head(exchange: Exchange, protocol: str) -> bytes:
    """Status line and headers of a response.

    The body is archived without its transfer coding, so the header that names one is renamed.
    """
    lines = [f"{protocol} {exchange.status} {responses.get(exchange.status, '')}"]
    for name, value in exchange.headers:
        renamed = f"X-Archive-Orig-{name}" if name.lower() == "transfer-encoding" else name
        lines.append(f"{renamed}: {value}")
    return "\r\n".join(lines).encode("latin-1", "replace") + END_OF_HEAD


def to_member(record: NewRecord) -> bytes:
    """*record* as one gzip member, with its digests."""
    # hot path: one text, because a crawl may meet a new origin with every page
    block, fields = record.payload, [f"{name}: {value}\r\n" for name, value in record.fields]
    if record.url:
        fields.append(f"WARC-Target-URI: {record.url}\r\n")
    if record.head is not None:
        fields.append(f"WARC-Payload-Digest: {_digest(record.payload)}\r\n")
        block = record.head + record.payload
    text = (
        f"WARC/1.1\r\nWARC-Type: {record.kind}\r\nWARC-Record-ID: {record.id}\r\n"
        f"WARC-Date: {iso_date(record.time)}\r\n{''.join(fields)}"
        f"WARC-Block-Digest: {_digest(block)}\r\n"
        f"Content-Type: {record.content_type or _CONTENT_TYPES[record.kind]}\r\n"
        f"Content-Length: {len(block)}\r\n\r\n"
    )
    return _gzip(b"%b%b\r\n\r\n" % (text.encode(), block))


def _gzip(data: bytes) -> bytes:
    """*data* as one gzip member."""
    window, memory = (12, 6) if len(data) <= _SMALL else (zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL)
    compressor = zlib.compressobj(_COMPRESSION, wbits=16 + window, memLevel=memory)
    return compressor.compress(data) + compressor.flush()


def _digest(data: bytes) -> str:
    return f"sha256:{sha256(data).hexdigest()}"


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
    moment = datetime.fromtimestamp(time, timezone.utc).replace(tzinfo=None)
    return f"{moment.isoformat(timespec='microseconds')}Z"
