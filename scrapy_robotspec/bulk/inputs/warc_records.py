"""Reads the HTTP response of a WARC record."""

from __future__ import annotations

import logging
import re
import zlib
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed
from warcio.recordloader import ArcWarcRecordLoader
from warcio.statusandheaders import StatusAndHeadersParser, StatusAndHeadersParserException

from scrapy_robotspec.access.decoding import decode_prefix
from scrapy_robotspec.access.exchange import Exchange, is_partial
from scrapy_robotspec.bulk.documents import MAX_BODY, Document
from scrapy_robotspec.bulk.inputs.chunks import join_chunks
from scrapy_robotspec.editions import EDITIONS

if TYPE_CHECKING:
    import gzip
    from collections.abc import Iterator, Mapping

#: Errors of reading an archive that is damaged.
DAMAGE = (ArchiveLoadFailed, OSError, EOFError, zlib.error, ValueError)

# It would write URLs of an archive to the terminal as they are.
logging.getLogger("warcio").addHandler(logging.NullHandler())

_ROBOTS_TXT = "/robots.txt"
_RESPONSES = frozenset({"response", "revisit", "resource"})
#: Bytes of a body that editions read; a body that is cut behind them misses nothing.
_READ = max(edition.parsing_limit for edition in EDITIONS.values())
#: Max length of the HTTP header (bytes).
_MAX_HEAD = 1 << 16
#: Max length of a record that is read (bytes).
MAX_RECORD = MAX_BODY + 2 * _MAX_HEAD
_HTTP = StatusAndHeadersParser(["HTTP/"], verify=True)
_LOADER = ArcWarcRecordLoader()
_TYPE = re.compile(rb"\nWARC-Type:[ \t]*([a-z]+)\r?\n", re.IGNORECASE)


class Record(NamedTuple):
    """A record that has a response, which is not read yet."""

    url: str
    loaded: Any
    """The record as warcio has it."""


def load_record(head: bytes, content: Any) -> Record | None:
    """A record that has a response.

    ``head``: its header, whatever follows. ``content``: a stream of the whole record. None for one
    without a response, or whose header is damaged.
    """
    found = _TYPE.search(head, 0, head.find(b"\r\n\r\n"))
    if found and found[1].decode().lower() not in _RESPONSES:  # hot path
        return None
    try:
        return _record(_LOADER.parse_record_stream(content, no_record_parse=True))
    except DAMAGE:
        return None


def read_records(file: gzip.GzipFile) -> Iterator[tuple[int, Record | None]]:
    """The records from the file's position on, with their offsets.

    None for a record without a response. Raises any of ``DAMAGE``.
    """
    # no_record_parse: a bad HTTP header damages nothing
    iterator = ArchiveIterator(file, no_record_parse=True, check_digests=False)
    for record in iterator:
        if not (record.rec_headers.get_header("Content-Length") or "").isdigit():
            raise ArchiveLoadFailed("without its length, it would reach to the end of the file")
        yield iterator.offset, _record(record)  # before the record's content is read


def _record(loaded: Any) -> Record | None:
    if loaded.rec_type not in _RESPONSES:
        return None
    url: str = loaded.rec_headers.get_header("WARC-Target-URI") or ""
    return Record(url.strip("<>"), loaded)  # as WARC 1.0 is sometimes read


def is_robots_txt(url: str) -> bool:
    """Whether a URL is that of a robots.txt (LOC-01)."""
    rest = url.partition("://")[2]
    return rest[rest.find("/") :] == _ROBOTS_TXT if "/" in rest else False


def read_response(record: Record, source: str) -> Document:
    """The response of a record. Raises any of ``DAMAGE``."""
    url, loaded = record
    content = _read_all(loaded.raw_stream, MAX_BODY + _MAX_HEAD)
    error = None
    if truncated := loaded.rec_headers.get_header("WARC-Truncated"):
        error = f"the archive has only part of it: {truncated}"
    elif len(content) < min(int(loaded.length or 0), MAX_BODY):
        error = "the record is cut"
    if loaded.rec_type == "resource":
        body = content[:MAX_BODY]
        return Document(url, body, error=_first(body, error), source=source)
    return _response(url, content, error, source, revisit=loaded.rec_type == "revisit")


def _read_all(stream: Any, limit: int) -> bytes:
    """Up to *limit* bytes; a compressed stream gives them piece by piece."""
    pieces = []
    while limit > 0 and (piece := stream.read(limit)):
        pieces.append(piece)
        limit -= len(piece)
    return b"".join(pieces)


def _response(
    url: str, content: bytes, error: str | None, source: str, *, revisit: bool
) -> Document:
    stream = BytesIO(content)
    try:
        head = _HTTP.parse(stream)
        status = int(head.statusline.split()[1])  # behind the version
    except (StatusAndHeadersParserException, ValueError, IndexError, EOFError):
        return Document(url, None, error="the record has no HTTP response", source=source)
    location = head.get_header("Location")
    if revisit:
        lost = "the body is in another record (revisit)"
        return Document(url, None, status, location, lost, source)
    fields = Exchange(url, status, tuple(head.headers)).fields
    body, missing = _body_of(stream.read(), fields)
    encodings = fields.get("content-encoding", "")
    codings = [coding.strip().lower().encode() for coding in encodings.split(",")]
    decoded, complete = decode_prefix(body, codings, MAX_BODY)
    undecodable = None if complete else f"cannot be decoded: {encodings}"
    partial = "the response is only a part of the file (206)"
    part = partial if is_partial(status, fields) else None
    error = _first(decoded, error, missing, undecodable, part)
    return Document(url, decoded, status, location, error, source)


def _first(body: bytes, *errors: str | None) -> str | None:
    """The first error; none if the body has all that is read of it."""
    return None if len(body) > _READ else next(filter(None, errors), None)


def _body_of(content: bytes, fields: Mapping[str, str]) -> tuple[bytes, str | None]:
    """The body without chunks, and why it is incomplete.

    Archives that decode a body may keep headers that no longer fit it.
    """
    if "chunked" in fields.get("transfer-encoding", "").lower():
        body, whole = join_chunks(content, MAX_BODY)
        return body, None if whole else "its chunks are cut or broken"
    length = fields.get("content-length", "").strip()
    if "content-encoding" in fields or not re.fullmatch("[0-9]{1,18}", length):
        return content, None
    whole = len(content) >= int(length)
    return content, None if whole else f"less than its Content-Length of {length}"
