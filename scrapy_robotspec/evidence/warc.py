"""WARC 1.1 records, one gzip member each.

They are written here, because libraries change some heads and take three times as long, and read
here: as they were written. An archive is made to be handed on: secrets in it are blanked (SAF-06).
"""

from __future__ import annotations

import gzip
import re
import zlib
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from hashlib import sha256
from http.client import responses
from struct import pack
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from scrapy_robotspec.access.exchange import Exchange
from scrapy_robotspec.access.outcome import BLANKED, blank_user_info
from scrapy_robotspec.access.redirects import redirect_target
from scrapy_robotspec.evidence.log_lines import EvidenceError, Members

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Extension field: what a server that speaks no HTTP answered, in Scrapy's numbers.
STATUS_FIELD = "Robotspec-Status"
#: ``WARC-Truncated`` for a body cut by our size limit, and for one that the connection cut.
STOPPED, LOST = "length", "disconnect"

#: Extension field of a response whose body is not archived: why.
_LEFT_OUT = "Robotspec-Left-Out"
#: Max bytes of the headers of a response, and of a body above the parsing limit, in the archive.
_MAX_HEADERS = _BODY_MARGIN = 2**20

#: Max bytes of a record besides headers and body (SAF-05).
_MAX_FIELDS = 2**16

#: Content types by kind of record.
_CONTENT_TYPES = {
    "warcinfo": "application/warc-fields",
    "response": "application/http; msgtype=response",
    "revisit": "application/http; msgtype=response",
    "request": "application/http; msgtype=request",
    "metadata": "application/warc-fields",
    "resource": "text/plain",
}
#: Kinds of records that an HTTP request precedes.
RESPONSES = ("response", "revisit")
#: Host (with port), path and query of a URL; ``urlsplit`` takes ten times as long.
_PARTS = re.compile(r"//([^/?#]*)([^?#]*)(\?[^#]+)?")
#: Level of gzip: on typical records within 1% of the best, in half the time.
_COMPRESSION = 3
#: A response refers to a body of at least this size (bytes) that its URL had before: the fields of
#: the reference take about as much.
_REFERRED = 500
#: Max URLs whose bodies are known.
_MAX_KNOWN = 10_000
#: Records up to this size (bytes) are stored in their member as they are: zlib releases the GIL, as
#: hashing 2 KB does, and waiting for it takes longer than all else that is done for a record.
_SMALL = 2000
#: Head of a gzip member, without name and time, and of its only block, which is stored.
_STORED = b"\x1f\x8b\x08" + bytes(6) + b"\xff\x01"
_VERSION = "WARC/1.1"
_SAME_BODY = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
_FORMAT = zlib.MAX_WBITS | 16  # gzip
#: The end of the head of an HTTP message or a record, and of a record.
END_OF_HEAD = _END_OF_RECORD = b"\r\n\r\n"

_COOKIES = frozenset(("set-cookie", "set-cookie2"))


@dataclass(slots=True)
class NewRecord:
    """A record to be written."""

    kind: str
    """WARC-Type."""
    url: str
    time: float
    """Epoch seconds."""
    payload: bytes
    head: bytes = b""
    """Start line and headers of an HTTP message, with the empty line."""
    fields: str = ""
    """Further WARC fields, each with its line end."""
    began: float | None = None
    """When the request was made (epoch seconds); None: there was none."""
    request: bytes = b""
    """Head of the request that a response answered; it becomes a record of its own."""
    id: str = field(default_factory=lambda: f"<{uuid4().urn}>")
    digest: str = ""
    """That of the body, where it is known already."""


def response_head(exchange: Exchange, protocol: str) -> bytes:
    """Status line and headers of a response.

    The body is archived without its transfer coding, so the header that names one is renamed.
    Values of cookies and user info in URLs are blanked.
    """
    lines = [f"{protocol} {exchange.status} {responses.get(exchange.status, '')}"]
    size = 0
    for name, value in exchange.headers:
        size += len(name) + len(value) + 4
        if size > _MAX_HEADERS:
            break
        lines.append(_header_line(exchange.url, name, value))
    return "\r\n".join(lines).encode("latin-1", "replace") + END_OF_HEAD


def _header_line(url: str, name: str, value: str) -> str:
    key = name.lower()
    if key == "transfer-encoding":
        name = f"X-Archive-Orig-{name}"
    elif key in _COOKIES:
        value = BLANKED
    elif key == "location" and "@" in value:
        value = _blank_location(url, value)
    elif key != "location":
        value = blank_user_info(value)
    return f"{name}: {value}"


def _blank_location(url: str, value: str) -> str:
    """A Location with the same target, and other user info."""
    target = redirect_target(url, value)
    if target is None:
        return f"http:///{BLANKED}"
    if target.count("@") == value.count("@"):  # none of them ends user info
        return value
    scheme, _, rest = target.partition("://")
    # A reference without a scheme keeps a backslash that an absolute URL has as a slash.
    for text in (f"{scheme}://{BLANKED}@{rest}", f"//{BLANKED}@{rest}", target):
        archived = text.encode().decode("latin-1")
        if redirect_target(url, archived) == target:
            return archived
    return value  # without a host, so without a user


def left_out(body: bytes) -> str:
    """The fields of a record whose *body* is not archived."""
    return (
        "WARC-Truncated: unspecified\r\n"
        f"{_LEFT_OUT}: a public host redirected to this private address\r\n"
        f"{_LEFT_OUT}-Length: {len(body)}\r\n{_LEFT_OUT}-Digest: {_digest(body)}\r\n"
    )


class ArchivedBodies:
    """The latest bodies in an archive, of a bounded number of URLs."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, str, float]] = {}
        """Digest, id and time of a response by its URL."""

    def refer(self, record: NewRecord) -> NewRecord:
        """*record*, or a reference to the same body (WARC 1.1, revisit)."""
        if len(record.payload) < _REFERRED or not record.head or "Truncated" in record.fields:
            return record
        digest, url = _digest(record.payload), record.url
        known, id_, time = self._known.pop(url, ("", "", 0.0))
        if known == digest:
            fields = (
                f"{record.fields}WARC-Profile: {_SAME_BODY}\r\nWARC-Refers-To: {id_}\r\n"
                f"WARC-Refers-To-Target-URI: {url}\r\nWARC-Refers-To-Date: {iso_date(time)}\r\n"
            )
            record = replace(record, kind="revisit", payload=b"", fields=fields)
        else:
            id_, time = record.id, record.time
        self._known[url] = digest, id_, time
        if len(self._known) > _MAX_KNOWN:
            del self._known[next(iter(self._known))]
        return replace(record, digest=digest)


def to_member(record: NewRecord) -> bytes:
    """*record* as one gzip member, with its digests."""
    # hot path: one text, because a crawl may meet a new origin with every page
    block, fields = record.head + record.payload, record.fields
    if record.url:
        fields += f"WARC-Target-URI: {record.url}\r\n"
    if record.digest or (record.head and record.payload):
        fields += f"WARC-Payload-Digest: {record.digest or _digest(record.payload)}\r\n"
    text = (
        f"{_VERSION}\r\nWARC-Type: {record.kind}\r\nWARC-Record-ID: {record.id}\r\n"
        f"WARC-Date: {iso_date(record.time)}\r\n{fields}"
        f"WARC-Block-Digest: {_digest(block)}\r\n"
        f"Content-Type: {_CONTENT_TYPES[record.kind]}\r\n"
        f"Content-Length: {len(block)}\r\n\r\n"
    )
    return _gzip(b"%b%b\r\n\r\n" % (text.encode(), block))


def _gzip(data: bytes) -> bytes:
    """*data* as one gzip member (RFC 1952)."""
    if len(data) > _SMALL:
        return gzip.compress(data, _COMPRESSION, mtime=0)
    size = len(data)
    length, end = pack("<HH", size, size ^ 0xFFFF), pack("<II", zlib.crc32(data), size)
    return b"%b%b%b%b" % (_STORED, length, data, end)


def _digest(data: bytes) -> str:
    return f"sha256:{sha256(data).hexdigest()}"


def request_target(url: str) -> tuple[str, str]:
    """Host with port, and request target, of an HTTP URL."""
    parts = _PARTS.search(url)
    host, path, query = ("", "", "") if parts is None else parts.groups("")
    return host, f"{path or '/'}{query}"


def longest_body(max_size: int) -> int:
    """Max bytes of an archived body, by the parsing limit *max_size*."""
    return max_size + _BODY_MARGIN


def iso_date(time: float) -> str:
    """Epoch seconds as a WARC date with microseconds."""
    moment = datetime.fromtimestamp(time, timezone.utc).isoformat(timespec="microseconds")
    return moment.replace("+00:00", "Z")


# --- reading, which trusts nothing (SAF-05)


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record that was read."""

    fields: Mapping[str, str]
    """WARC fields by name."""
    block: bytes
    rest: bytes
    """The bytes behind its gzip member."""

    @property
    def is_left_out(self) -> bool:
        """Whether the body of the response is not in the archive."""
        return _LEFT_OUT in self.fields

    def check_line(self, values: Members, max_size: int) -> bytes:
        """Check that it is the record with a line's *values*.

        Returns the head of its request, which follows it; empty without one. Raises
        ``EvidenceError``. *max_size* as in :func:`read_member`.
        """
        self._check("WARC-Record-ID", values["kind"], values["time"], values)
        if self.rest or values["kind"] in RESPONSES:
            request = read_member(self.rest, max_size)
            began = values.get("began") or values["time"]
            request._check("WARC-Concurrent-To", "request", began, values)
            if not request.block.startswith(b"GET %b " % request_target(values["url"])[1].encode()):
                raise EvidenceError("its request is for another URL")
            if request.rest:
                raise EvidenceError("bytes follow its request")
            return request.block
        return b""

    def _check(self, id_field: str, kind: str, time: Any, values: Members) -> None:
        names = (id_field, "WARC-Type", "WARC-Target-URI", "WARC-Date")
        expected = [values["id"], kind, values["url"], iso_date(time)]
        if [self.fields.get(name, "") for name in names] != expected:
            raise EvidenceError("it is another record than the line says")
        parts = {"WARC-Block-Digest": self.block}
        if kind == "response":
            parts["WARC-Payload-Digest"] = self.block.partition(END_OF_HEAD)[2]
        for name, data in parts.items():
            if self.fields.get(name, _digest(data)) != _digest(data):
                raise EvidenceError(f"its {name} does not fit")

    @property
    def original(self) -> str | None:
        """The id of the record that has its body, else None."""
        is_revisit = self.fields.get("WARC-Type") == "revisit"
        return self.fields["WARC-Refers-To"] if is_revisit else None

    def with_body_of(self, original: StoredRecord) -> StoredRecord:
        """The response that refers to the body of *original*, with this body.

        Raises ``EvidenceError`` where *original* has another URL, date or body.
        """
        body, theirs = original.block.partition(END_OF_HEAD)[2], original.fields
        found = [theirs["WARC-Type"], theirs["WARC-Target-URI"], theirs["WARC-Date"], _digest(body)]
        names = ("WARC-Target-URI", "WARC-Refers-To-Date", "WARC-Payload-Digest")
        if found != ["response", *(self.fields[name] for name in names)]:
            raise EvidenceError("the body that it refers to is another one")
        return replace(self, block=self.block + body)

    def exchange(self) -> Exchange | None:
        """The response in the record; None for another kind.

        Raises one of ``DAMAGE``.
        """
        status, headers, body = self.fields.get(STATUS_FIELD), [], self.block
        if self.fields["WARC-Type"] in RESPONSES:
            head, _, body = body.partition(END_OF_HEAD)
            first, *headers = head.decode("latin-1").split("\r\n")
            status = first.partition(" ")[2][:3]
        if status is None:
            return None
        return Exchange(
            self.fields["WARC-Target-URI"],
            int(status),
            tuple((name, value) for name, _, value in (each.partition(": ") for each in headers)),
            body,
            stopped=self.fields.get("WARC-Truncated") == STOPPED,
            incomplete=self.fields.get("WARC-Truncated") == LOST,
        )


def longest_member(max_size: int) -> int:
    """Max bytes of a record, and of its gzip member (SAF-05)."""
    return longest_body(max_size) + _MAX_HEADERS + _MAX_FIELDS


def read_member(data: bytes, max_size: int) -> StoredRecord:
    """The record in the first gzip member of *data*.

    Raises ``EvidenceError`` for anything else. *max_size*: the parsing limit of the crawl, which
    bounds what a member may unpack to.
    """
    limit = longest_member(max_size)
    try:
        unpacker = zlib.decompressobj(_FORMAT)
        plain = unpacker.decompress(data, limit)
        if not unpacker.eof:
            raise ValueError(f"incomplete, or more than {limit} bytes")
        head, _, content = plain.partition(END_OF_HEAD)
        version, *lines = head.decode().split("\r\n")
        fields = {name: value for name, _, value in (line.partition(": ") for line in lines)}
        block = content[: int(fields["Content-Length"])]
        if len(fields) < len(lines):
            raise ValueError("a field is there twice")
        if version != _VERSION or content != block + _END_OF_RECORD:
            raise ValueError(f"not {_VERSION}, or other bytes than its length says")
        return StoredRecord(fields, block, unpacker.unused_data)
    except (LookupError, ValueError, zlib.error) as error:
        raise EvidenceError(f"not a WARC record ({type(error).__name__}: {error})") from error


def begins_with(data: bytes, id_: str) -> bool:
    """Whether an archive of any tool begins with the record *id_*."""
    with suppress(zlib.error):  # it is damaged, or not compressed
        data = zlib.decompressobj(_FORMAT).decompress(data, _MAX_HEADERS)
    head = data.partition(END_OF_HEAD)[0]
    return head.startswith(_VERSION.encode()) and f"WARC-Record-ID: {id_}".encode() in head
