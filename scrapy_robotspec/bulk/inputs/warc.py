"""WARC files: responses to requests for a robots.txt.

Those that Common Crawl publishes among them. A compressed file is read from any place on, because
each record is a gzip member of its own.
"""

from __future__ import annotations

import gzip
import zlib
from io import BytesIO
from typing import IO, TYPE_CHECKING, Any

from warcio.archiveiterator import ArchiveIterator
from warcio.bufferedreaders import ChunkedDataReader
from warcio.exceptions import ArchiveLoadFailed
from warcio.statusandheaders import StatusAndHeadersParser, StatusAndHeadersParserException

from scrapy_robotspec.access.decoding import decode_prefix
from scrapy_robotspec.bulk.documents import MAX_BODY, Document
from scrapy_robotspec.bulk.inputs.parts import FileRange, Problem, Skipped, ranges

if TYPE_CHECKING:
    from collections.abc import Iterator

MAGIC = b"WARC/"
_GZIP_MEMBER = b"\x1f\x8b\x08"
_WINDOW = 1 << 20
_ROBOTS_TXT = "/robots.txt"
_RECORDS = frozenset({"response", "revisit", "resource"})
#: WARC-Truncated: the archive's own limit, which is far beyond that of any edition.
_OWN_LIMIT = "length"
#: Max length of the HTTP header (bytes).
_MAX_HEAD = 1 << 16
_HTTP = StatusAndHeadersParser(["HTTP/"], verify=True)


class WarcPart(FileRange):
    """The records of an archive that begin between two offsets."""

    __slots__ = ()

    def read(self) -> Iterator[Document | Problem | Skipped]:
        """The robots.txt responses as documents."""
        place = self.start
        try:
            with open(self.path, "rb") as file:
                first = self.start if self.start == 0 else find_member(file, self.start, self.stop)
                if first is None:
                    return
                file.seek(first)
                for record, place in _records(file):
                    if place >= self.stop:
                        return
                    yield _document(record, f"{self.path}:{place}")
        except _DAMAGE as error:
            cause = str(error).strip().partition("\n")[0]
            yield Problem(f"{self.path}: damaged from byte {place} on, read up to there: {cause}")


class WholeWarcPart(FileRange):
    """An archive in one gzip stream, to be read from its beginning."""

    __slots__ = ()

    def read(self) -> Iterator[Document | Problem | Skipped]:
        """The robots.txt responses as documents."""
        place = 0
        try:
            with gzip.open(self.path) as file:
                for record, place in _records(file):
                    yield _document(record, f"{self.path}:{place}")
        except _DAMAGE as error:
            yield Problem(f"{self.path}: damaged after byte {place} of its contents: {error}")


_DAMAGE = (ArchiveLoadFailed, OSError, EOFError, zlib.error, ValueError)


def warc_parts(path: str, size: int, *, compressed: bool) -> Iterator[WarcPart | WholeWarcPart]:
    """Parts of an archive."""
    if not compressed:
        yield WarcPart(path, 0, size)
    elif _is_one_stream(path):
        yield WholeWarcPart(path, 0, size)
    else:
        yield from (WarcPart(path, *each) for each in ranges(size))


def find_member(file: IO[bytes], start: int, stop: int) -> int | None:
    """Offset of the first gzip member of a record in a range."""
    while start < stop:
        file.seek(start)
        window = file.read(_WINDOW)
        at = window.find(_GZIP_MEMBER)
        while at >= 0 and start + at < stop:
            if _begins_record(window[at : at + 4096]):
                return start + at
            at = window.find(_GZIP_MEMBER, at + 1)
        start += max(1, len(window) - 4096) if len(window) == _WINDOW else _WINDOW
    return None


def _begins_record(data: bytes) -> bool:
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data, 16).startswith(MAGIC)
    except zlib.error:
        return False


def _is_one_stream(path: str) -> bool:
    """Whether the first gzip member contains more than the first record."""
    with open(path, "rb") as file:
        stream = zlib.decompressobj(zlib.MAX_WBITS | 16)
        begun = b""
        while not stream.eof and (data := file.read(1 << 16)):
            try:
                begun += stream.decompress(data, 1 << 20)
            except zlib.error:
                return False
            if begun.count(b"\nWARC-Record-ID:") > 1:
                return True
            if len(begun) > 1 << 22 or stream.unconsumed_tail:
                return False
    return False


def _records(file: IO[bytes] | gzip.GzipFile) -> Iterator[tuple[Any, int]]:
    """The records with their offsets. ``no_record_parse``: a bad HTTP header damages nothing."""
    iterator = ArchiveIterator(file, no_record_parse=True, check_digests=False)
    for record in iterator:
        yield record, iterator.offset  # before the record's content is read


def _document(record: Any, source: str) -> Document | Skipped:
    headers = record.rec_headers
    url = headers.get_header("WARC-Target-URI") or ""
    url = url.strip("<>")  # as WARC 1.0 is sometimes read
    if record.rec_type not in _RECORDS or not is_robots_txt(url):
        return Skipped()
    content = _read_all(record.raw_stream, MAX_BODY + _MAX_HEAD)
    error = None
    truncated = headers.get_header("WARC-Truncated")
    if truncated and truncated != _OWN_LIMIT:
        error = f"the archive has only part of it: {truncated}"
    elif len(content) < min(int(record.length), MAX_BODY):
        error = "the record is cut"
    if record.rec_type == "resource":
        return Document(url, content[:MAX_BODY], error=error, source=source)
    return _response(url, content, error, source, revisit=record.rec_type == "revisit")


def _read_all(stream: Any, limit: int) -> bytes:
    """Up to *limit* bytes; a compressed stream gives them piece by piece."""
    pieces = []
    while limit > 0 and (piece := stream.read(limit)):
        pieces.append(piece)
        limit -= len(piece)
    return b"".join(pieces)


def is_robots_txt(url: str) -> bool:
    """Whether a URL is that of a robots.txt (LOC-01)."""
    rest = url.partition("://")[2]
    return rest[rest.find("/") :] == _ROBOTS_TXT if "/" in rest else False


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
    body = _body_of(stream, head.get_header("Transfer-Encoding") or "")
    encodings = head.get_header("Content-Encoding") or ""
    codings = [coding.strip().lower().encode() for coding in encodings.split(",")]
    decoded, complete = decode_prefix(body, codings, MAX_BODY)
    if not complete and error is None:
        error = f"cannot be decoded: {encodings}"
    return Document(url, decoded, status, location, error, source)


def _body_of(stream: BytesIO, transfer_encoding: str) -> bytes:
    """The body without chunks; one that archives have joined already stays as it is."""
    if "chunked" not in transfer_encoding.lower():
        return stream.read()
    reader = ChunkedDataReader(stream, raise_exceptions=False)
    body: bytes = reader.read(MAX_BODY)
    return body
