"""WARC files with robots.txt responses, such as those of Common Crawl.

Damage costs the records that it touches: reading goes on with the next record behind it.
"""

from __future__ import annotations

import os
import re
import zlib
from typing import IO, TYPE_CHECKING, NamedTuple

from fastwarc import ArchiveIterator, WarcRecordType

from scrapy_robotspec.access.decoding import decode_prefix
from scrapy_robotspec.access.exchange import Exchange, is_partial
from scrapy_robotspec.bulk.documents import MAX_BODY, Document
from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.paths import is_robots_txt

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping

    from fastwarc import WarcRecord

GZIP = b"\x1f\x8b"
_MEMBER = b"\x1f\x8b\x08"
_BEGIN = re.compile(rb"WARC/\d\.\d+[ \t]*\r?\n[!-9;-~]+:")
_MAGIC = b"WARC/"
_STATUS = re.compile(rb"HTTP/[0-9.]+[ \t]+([0-9]{3})(?![0-9])")
_LINE_FEED = re.compile(rb"WARC/[^\r\n]*\n").match
_HEAD_END = re.compile(rb"\n\r?\n")
#: The line ends behind the body of each record.
_CLOSING = b"\r\n\r\n"
_WINDOW = 1 << 20
_PIECE = 1 << 16
_FORMAT = zlib.MAX_WBITS | 16  # gzip
#: Max length of the headers of a record, and of a record that is looked at again (bytes).
_MAX_HEAD = 1 << 16
_MAX_RECORD = MAX_BODY + 2 * _MAX_HEAD
#: Bytes that show that a record begins.
_MIN_HEAD = 4096
#: Bytes of a body that editions read; a body that is cut behind them misses nothing.
_READ = max(edition.parsing_limit for edition in EDITIONS.values())
_RESPONSES = (WarcRecordType.response, WarcRecordType.revisit)
_DAMAGED = "the record is damaged"

#: The line in front of a chunk: its length in hexadecimal digits, maybe with extensions.
_SIZE = re.compile(rb"[ \t]*0*([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\n]*)?\r?\n")
#: Such a line that is cut.
_CUT_SIZE = re.compile(rb"[ \t]*[0-9A-Fa-f]+[ \t]*(?:;[^\n]*)?\r?")
_LINE_END = re.compile(rb"\r?\n")


class _Record(NamedTuple):
    """A record that was begun."""

    place: int
    """Offset in the file."""
    length: int = -1
    """Stated length of its content (bytes); -1 without a valid one."""
    document: Document | None = None
    """None: not a response to a request for a robots.txt."""


class _DamageError(Exception):
    """A record contradicts itself."""


def read_warc(path: str, report: Callable[[str], None]) -> Iterator[Document]:
    """The robots.txt responses of an archive, compressed or not; damage is reported."""
    with open(path, "rb") as file:
        kind = _Members if file.read(len(GZIP)) == GZIP else _Plain
        archive = _Archive(path, kind(file), report)
        place: int | None = 0
        while place is not None:
            place = yield from archive.read_from(place)


class _Archive:
    """Reads records, and goes on behind damage."""

    def __init__(self, path: str, file: _Plain, report: Callable[[str], None]) -> None:
        self._path = path
        self._file = file
        self._report = report

    def read_from(self, place: int) -> Generator[Document, None, int | None]:
        """The documents from an offset on.

        Returns the offset of the next record behind damage, else None.
        """
        last = _Record(place)
        try:
            for record in ArchiveIterator(
                self._file.opened_at(place), parse_http=False, quirks_mode=self._file.has_line_feeds
            ):
                if last.document is not None:  # what follows shows that it is whole
                    yield last.document
                last = self._begin(record)
                content = self._read(record, last.length)
                if last.document is not None:
                    last = last._replace(document=_response(record, last.document, content))
        except (OSError, ValueError, _DamageError):
            end = self._file.end_of(last.place, last.length)
            if last.document is not None:
                cut = end is None and last.document.error is None
                yield last.document._replace(error=_DAMAGED) if cut else last.document
            return self._next(last.place, end)
        if last.document is not None:
            yield last.document
        return None

    def _begin(self, record: WarcRecord) -> _Record:
        lengths = record.headers.get_multiple("Content-Length")
        types = record.headers.get_multiple("WARC-Type")
        sound = len(types) == len(lengths) == 1  # or two records are mixed
        length = int(lengths[0]) if sound and lengths[0].isdecimal() else -1
        url = (record.headers.get("WARC-Target-URI") or "").strip("<>")  # as WARC 1.0 is read
        if record.record_type not in _RESPONSES or not is_robots_txt(url):
            return _Record(record.stream_pos, length)
        source = f"{self._path}:{record.stream_pos}"
        damaged = Document(url, None, error=_DAMAGED, source=source)  # until it is read
        return _Record(record.stream_pos, length, damaged)

    def _read(self, record: WarcRecord, length: int) -> bytes:
        if length < 0:
            raise _DamageError
        content: bytes = record.reader.read(min(length, MAX_BODY + _MAX_HEAD))
        if len(content) + record.consume() < length:
            raise _DamageError
        return content

    def _next(self, place: int, end: int | None) -> int | None:
        """Where the next record begins, behind the end of one, or behind damage."""
        found = self._file.find(place + 1 if end is None else end)
        if end is None or found != end:
            damaged = place if end is None else end
            self._report(f"{self._path}: the record at byte {damaged} is damaged")
        return found


class _Plain:
    """The places of records in an archive that is not compressed."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        #: Whether the lines of headers end so, as some writers have it.
        self.has_line_feeds = bool(_LINE_FEED(self.opened_at(0).read(_MIN_HEAD)))

    def opened_at(self, place: int) -> IO[bytes]:
        """The file, to be read from an offset on."""
        self._file.seek(place)
        return self._file

    def end_of(self, place: int, length: int) -> int | None:
        """Offset behind a record with some length; None for a malformed end."""
        head = _HEAD_END.search(self.opened_at(place).read(_MAX_HEAD))
        if head is None or not 0 <= length <= os.fstat(self._file.fileno()).st_size:
            return None
        end = place + head.end() + length
        closed = self.opened_at(end).read(len(_CLOSING)) == _CLOSING
        return end + len(_CLOSING) if closed else None

    def find(self, start: int) -> int | None:
        """Offset of the first record from an offset on."""
        while window := self.opened_at(start).read(_WINDOW):
            found = self._search(window)
            if found is not None:
                return start + found
            start += max(1, len(window) - _MIN_HEAD)
        return None

    def _search(self, window: bytes) -> int | None:
        found = _BEGIN.search(window)
        return None if found is None else found.start()


class _Members(_Plain):
    """The places of records in an archive with a gzip member for each."""

    def end_of(self, place: int, length: int) -> int | None:
        """Offset behind a record with some length; None for a malformed end."""
        file, stream, content = self.opened_at(place), zlib.decompressobj(_FORMAT), b""
        try:
            while not stream.eof and len(content) <= _MAX_RECORD:
                data = stream.unconsumed_tail or file.read(_PIECE)
                if not data:
                    return None
                content += stream.decompress(data, _WINDOW)
        except zlib.error:
            return None
        head = _HEAD_END.search(content, 0, _MAX_HEAD)
        closed = head and length >= 0 and content.startswith(_CLOSING, head.end() + length)
        return file.tell() - len(stream.unused_data) if closed else None

    def _search(self, window: bytes) -> int | None:
        found = window.find(_MEMBER)
        while found >= 0:
            try:
                begin = zlib.decompressobj(_FORMAT).decompress(window[found : found + _MIN_HEAD], 5)
            except zlib.error:
                begin = b""
            if begin == _MAGIC:
                return found
            found = window.find(_MEMBER, found + 1)
        return None


def _response(record: WarcRecord, begun: Document, content: bytes) -> Document:
    """The response that a record contains."""
    error = None
    if truncated := record.headers.get("WARC-Truncated"):
        error = f"the archive has only part of it: {truncated}"
    line = _STATUS.match(content)
    if line is None:
        return begun._replace(error="the record has no HTTP response")
    end = _HEAD_END.search(content, 0, _MAX_HEAD)
    head, body = (content[: end.start()], content[end.end() :]) if end else (content, b"")
    named = (text.partition(":") for text in head.decode("latin-1").split("\n")[1:])
    pairs = tuple((name.strip(), value.strip()) for name, _, value in named)
    status = int(line[1])
    fields = Exchange(begun.url or "", status, pairs).fields
    location = fields.get("location")
    if record.record_type == WarcRecordType.revisit:
        lost = "the body is in another record (revisit)"
        return begun._replace(status=status, location=location, error=lost)
    body, missing = _body_of(body, fields)
    encodings = fields.get("content-encoding", "")
    codings = [coding.strip().lower().encode("latin-1") for coding in encodings.split(",")]
    decoded, complete = decode_prefix(body, codings, MAX_BODY)
    undecodable = None if complete else f"cannot be decoded: {encodings}"
    partial = "the response is only a part of the file (206)"
    part = partial if is_partial(status, fields) else None
    error = error or missing or undecodable or part
    if len(decoded) > _READ:  # all that is read of it
        error = None
    return begun._replace(body=decoded, status=status, location=location, error=error)


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


def join_chunks(body: bytes, limit: int) -> tuple[bytes, bool]:
    """Content of a chunked body (RFC 9112), and whether it is complete.

    Reads no further chunk once *limit* bytes are reached. A body that does not begin with a chunk
    was joined by the archive and is returned as it is.
    """
    if not _SIZE.match(body):
        return body, not _CUT_SIZE.fullmatch(body)
    content, place = bytearray(), 0
    while len(content) < limit and (line := _SIZE.match(body, place)):
        size = int(line[1], 16)
        if size == 0:
            return bytes(content), True
        content += body[line.end() : line.end() + size]
        end = _LINE_END.match(body, line.end() + size)
        if end is None:
            return bytes(content), False
        place = end.end()
    return bytes(content), len(content) >= limit
