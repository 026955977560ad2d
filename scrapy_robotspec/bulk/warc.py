"""WARC files with robots.txt responses, such as those of Common Crawl.

Damage costs the records that it touches: reading goes on with the next record behind it. It
ends an archive that is compressed with zstd, whose records may need a dictionary at its beginning.
"""

from __future__ import annotations

import os
import re
import zlib
from contextlib import suppress
from functools import lru_cache
from typing import IO, TYPE_CHECKING, NamedTuple

from fastwarc import ArchiveIterator, WarcRecord

from scrapy_robotspec.access.decoding import decode_prefix
from scrapy_robotspec.access.exchange import Exchange, is_partial
from scrapy_robotspec.bulk.documents import MAX_BODY, REVISIT, Document, Report
from scrapy_robotspec.editions import MAX_PARSED
from scrapy_robotspec.protocol.paths import is_robots_txt

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence


GZIP = b"\x1f\x8b"
_MAGIC = b"WARC/"
#: Where a record may begin.
_MEMBER = re.compile(rb"\x1f\x8b\x08")
_BEGIN = re.compile(rb"WARC/\d\.\d+[ \t]*\r?\n[!-9;-~]+:")
_STATUS = re.compile(rb"HTTP/[0-9.]+[ \t]+([0-9]{3})(?![0-9])")
_LINE_FEED = re.compile(rb"WARC/[^\r\n]*\n").match
_HEAD_END = re.compile(rb"\n\r?\n")
#: The line ends behind the body of each record.
_CLOSING = b"\r\n\r\n"
_WINDOW = 1 << 20
_FORMAT = zlib.MAX_WBITS | 16  # gzip
#: Max length of the headers of a record, and of the content that is read (bytes).
_MAX_HEAD = 1 << 16
_MAX_CONTENT = MAX_BODY + _MAX_HEAD
#: Bytes that show that a record begins, and that are unpacked at a time.
_MIN_HEAD = 4096
#: Max size of the bodies that are kept (bytes).
_KEPT = 64 * 1024 * 1024
_RESPONSES = ("response", "revisit")
#: A length that FastWARC does not find, as some writers name it.
_LOWER_CASE = re.compile(rb"\n(?!Content-Length)(?i:content-length)[ \t]*:")
_DAMAGED = "the record is damaged"

#: The line in front of a chunk: its length in hexadecimal digits, maybe with extensions.
_SIZE = re.compile(rb"[ \t]*0*([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\n]*)?\r?\n")
#: Such a line that is cut.
_CUT_SIZE = re.compile(rb"[ \t]*[0-9A-Fa-f]+[ \t]*(?:;[^\n]*)?\r?")
_LINE_END = re.compile(rb"\r?\n")


#: A response, and the digest of its body as the archive states it.
Found = tuple[Document, str | None]


class _Record(NamedTuple):
    """A record that was begun."""

    place: int
    """Offset in the file."""
    length: int = -1
    """Stated length of its content (bytes); -1 without a valid one."""
    found: Sequence[Found] = ()
    """One, if it is the response to a request for a robots.txt."""


def read_warc(path: str, report: Report) -> Iterator[Found]:
    """The robots.txt responses of an archive, compressed or not; damage is reported."""
    with open(path, "rb") as file:
        archive = _Archive(path, file, report)
        place: int | None = 0
        while place is not None:
            place = yield from archive.read_from(place)


class _Archive:
    """Reads the records of an archive, and goes on behind damage."""

    def __init__(self, path: str, file: IO[bytes], report: Report) -> None:
        self._path = path
        self._file = file
        self._report = report
        self._is_packed = file.read(len(GZIP)) == GZIP
        """Whether it has a gzip member for each record."""
        self._is_zstd = path.lower().endswith(".zst")
        self._is_lower_case = False
        """Whether records were read whose lengths FastWARC does not find."""

    def read_from(self, place: int) -> Generator[Found, None, int | None]:
        """The responses from an offset on.

        Returns the offset of the next record behind damage, else None.
        """
        has_line_feeds = _LINE_FEED(self._unpack(place, _MIN_HEAD)[0])  # as some writers have it
        self._file.seek(place)
        last = _Record(place)
        try:
            for record in ArchiveIterator(
                self._file, parse_http=False, quirks_mode=bool(has_line_feeds)
            ):
                yield from last.found  # what follows shows that it is whole
                last = self._begin(record)
                content = self._content(record, last.length)
                read = [(_response(record, begun, content), digest) for begun, digest in last.found]
                last = last._replace(found=read)
        except (OSError, ValueError):
            end = self._end_of(last)
            for document, digest in last.found:
                is_cut = end is None and document.error is None
                yield document._replace(error=_DAMAGED) if is_cut else document, digest
            return self._next(last.place, end)
        yield from last.found
        if (cut := self._cut(last)) is not None:
            self._report(f"{self._path}: the record at byte {cut} is damaged")
        return None

    def _cut(self, last: _Record) -> int | None:
        """Offset of a record that the file ends in; FastWARC passes over one that is cut early.

        *last*: the last record that it has read, if any. In a stream of several it has no place.
        """
        end: int | None = last.place
        if self._is_zstd or not self._bytes(last.place, 1):
            return None
        if not self._is_packed:
            end = end if last.length < 0 else self._end_of(last)
            return end if end is not None and self._bytes(end, 1).strip() else None
        place = last.place
        with suppress(zlib.error):
            while end is not None and GZIP.startswith(self._bytes(end, len(GZIP)) or b"."):
                place, end = end, self._end_of_member(end)
            return place if end is None else None
        return None

    def _end_of_member(self, place: int) -> int | None:
        """Offset behind a gzip member; None for one that is cut."""
        self._file.seek(place)
        member = zlib.decompressobj(_FORMAT)
        while not member.eof and (data := member.unconsumed_tail or self._file.read(_MIN_HEAD)):
            member.decompress(data, _WINDOW)
        return self._file.tell() - len(member.unused_data) if member.eof else None

    def _begin(self, record: WarcRecord) -> _Record:
        lengths = record.headers.get_multiple("Content-Length")
        types = record.headers.get_multiple("WARC-Type")
        sound = len(types) == len(lengths) == 1  # or two records are mixed
        length = int(lengths[0]) if sound and lengths[0].isdecimal() else -1
        url = (record.headers.get("WARC-Target-URI") or "").strip("<>")  # as WARC 1.0 is read
        place = record.stream_pos
        if _kind(record) not in _RESPONSES or not is_robots_txt(url):
            return _Record(place, length)
        damaged = Document(url, None, error=_DAMAGED, source=f"{self._path}:{place}")
        digest = record.headers.get("WARC-Payload-Digest")
        return _Record(place, length, [(damaged, digest)])  # until it is read

    def _content(self, record: WarcRecord, length: int) -> bytes:
        """The beginning of a record's content. Raises ``ValueError`` if it is too short."""
        if length < 0:
            raise ValueError
        size = min(length, _MAX_CONTENT)
        content: bytes = record.reader.read(size)
        if len(content) + record.consume() >= length:
            return content
        return self._content_at(record.stream_pos, size)

    def _content_at(self, place: int, size: int) -> bytes:
        """The same where FastWARC does not find the length of a record, alone in its member."""
        head = _HEAD_END.search(self._unpack(place, _MAX_HEAD)[0])
        if head is None or not _LOWER_CASE.search(head.string, 0, head.end()):
            raise ValueError
        content = self._unpack(place, head.end() + size + _MIN_HEAD)[0][head.end() :]
        behind = content[size:]
        if not (behind == _CLOSING if self._is_packed else behind.startswith(_CLOSING)):
            raise ValueError
        self._is_lower_case = True
        return content[:size]

    def _next(self, place: int, end: int | None) -> int | None:
        """Where the next record begins, behind the end of one, or behind damage."""
        damaged, start = (place, place + 1) if end is None else (end, end)
        found = None if self._is_zstd else self._find(start)
        at_end = self._is_lower_case and not self._bytes(damaged, 1)  # of the last record
        if found != damaged and not at_end:
            rest = ": nothing is read from there on" if self._is_zstd else ""
            self._report(f"{self._path}: the record at byte {damaged} is damaged{rest}")
        return found

    def _find(self, start: int) -> int | None:
        """Offset of the first record from an offset on."""
        while window := self._bytes(start, _WINDOW):
            begins = (_MEMBER if self._is_packed else _BEGIN).finditer(window)
            for place in (start + found.start() for found in begins):
                if self._unpack(place, len(_MAGIC))[0].startswith(_MAGIC):
                    return place
            start += max(1, len(window) - _MIN_HEAD)
        return None

    def _end_of(self, record: _Record) -> int | None:
        """Offset behind a record; None for one that is malformed, or too long to look at again."""
        head = _HEAD_END.search(self._unpack(record.place, _MAX_HEAD)[0])
        if head is None or not 0 <= record.length <= _MAX_CONTENT:
            return None
        size = head.end() + record.length
        content, end = self._unpack(record.place, size + _MIN_HEAD)
        if not content.startswith(_CLOSING, size):
            return None
        return end if self._is_packed else record.place + size + len(_CLOSING)

    def _bytes(self, place: int, size: int) -> bytes:
        self._file.seek(place)
        return self._file.read(size)

    def _unpack(self, place: int, size: int) -> tuple[bytes, int | None]:
        """The beginning of a record, and the offset behind it where its gzip member says so."""
        if not self._is_packed:
            return self._bytes(place, size), None
        self._file.seek(place)
        member, content = zlib.decompressobj(_FORMAT), bytearray()
        with suppress(zlib.error):
            while not member.eof and len(content) < size and (data := self._file.read(_MIN_HEAD)):
                content += member.decompress(data, size)
        end = self._file.tell() - len(member.unused_data) if member.eof else None
        return bytes(content), end


def _kind(record: WarcRecord) -> str:
    """The type of a record; FastWARC's own knows it by one spelling of its name alone."""
    return (record.headers.get("WARC-Type") or "").lower()


def _response(record: WarcRecord, begun: Document, content: bytes) -> Document:
    """The response that a record contains."""
    is_revisit = _kind(record) == "revisit"
    line = _STATUS.match(content)
    if line is None:
        return begun._replace(error=REVISIT if is_revisit else "the record has no HTTP response")
    end = _HEAD_END.search(content, 0, _MAX_HEAD)
    head, body = (content[: end.start()], content[end.end() :]) if end else (content, b"")
    named = (text.partition(":") for text in head.decode("latin-1").split("\n")[1:])
    pairs = tuple((name.strip(), value.strip()) for name, _, value in named)
    status = int(line[1])
    fields = Exchange(begun.url or "", status, pairs).fields
    found = begun._replace(status=status, location=fields.get("location"))
    if is_revisit:
        return found._replace(error=REVISIT)
    body, missing = _body_of(body, fields)
    codings = f"{fields.get('content-encoding', '')},{fields.get('transfer-encoding', '')}"
    encodings = codings.lower().replace("chunked", "").strip(", ")
    decoded, complete = decode_prefix(body, encodings, MAX_BODY)
    truncated = record.headers.get("WARC-Truncated")
    segment = record.headers.get("WARC-Segment-Number")
    errors = {
        f"the archive has only part of it: {truncated}": truncated,
        f"the archive has only part of it: segment {segment}": segment,
        "its HTTP headers do not end within 64 KiB": end is None,
        missing: missing,
        f"cannot be decoded: {encodings}": not complete,
        "the response is only a part of the file (206)": is_partial(status, fields),
    }
    is_read = len(decoded) <= MAX_PARSED  # else all that is read of it is there
    error = next((error for error, holds in errors.items() if holds and is_read), None)
    return found._replace(body=decoded, error=error)


def _body_of(content: bytes, fields: Mapping[str, str]) -> tuple[bytes, str | None]:
    """The body without chunks, and why it is incomplete.

    Archives that decode a body may keep headers that no longer fit it.
    """
    if "chunked" in fields.get("transfer-encoding", "").lower():
        body, whole = join_chunks(content)
        return body, None if whole else "its chunks are cut or broken"
    length = fields.get("content-length", "").strip()
    if "content-encoding" in fields or not re.fullmatch("[0-9]{1,18}", length):
        return content, None
    whole = len(content) >= int(length)
    return content, None if whole else f"less than its Content-Length of {length}"


def join_chunks(body: bytes) -> tuple[bytes, bool]:
    """Content of a chunked body (RFC 9112), and whether it is complete.

    Reads no further chunk once ``MAX_BODY`` bytes are reached. A body that does not begin with a
    chunk was joined by the archive and is returned as it is.
    """
    if not _SIZE.match(body):
        return body, not _CUT_SIZE.fullmatch(body)
    content, place = bytearray(), 0
    while len(content) < MAX_BODY and (line := _SIZE.match(body, place)):
        size = int(line[1], 16)
        if size == 0:
            return bytes(content), True
        content += body[line.end() : line.end() + size]
        end = _LINE_END.match(body, line.end() + size)
        if end is None:
            break
        place = end.end()
    return bytes(content), len(content) >= MAX_BODY


# --- revisit records, whose body is in another record of some archive


class Archives:
    """Archives in which the bodies of revisit records are looked for."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = tuple(paths)
        self.searched: tuple[str, ...] = ()
        """The states of all of them where what was read depends on them."""

    def read(self, path: str, report: Report) -> Iterator[Document]:
        """The robots.txt responses of one of them; damage is reported."""
        for document, digest in read_warc(path, report):
            yield self._resolve(document, digest) if document.error == REVISIT else document

    def _resolve(self, revisit: Document, digest: str | None) -> Document:
        """The response with its body, if an archive has it (WARC 1.1, section 6.8)."""
        self.searched = self.searched or tuple(file_states(self._paths))
        original = _originals(self._paths, self.searched).get(digest)
        if original is None:
            return revisit
        status = original.status if revisit.status in (None, 304) else revisit.status
        return revisit._replace(body=original.body, status=status, error=None)


@lru_cache(maxsize=1)  # all inputs of a run ask
def _originals(paths: Iterable[str], _: Iterable[str]) -> Mapping[str | None, Document]:
    """The whole files in some archives, by the digests of their bodies."""
    found: dict[str | None, Document] = {}
    room = _KEPT
    for path in paths:
        with suppress(OSError):
            for document, digest in read_warc(path, lambda _: None):  # its own output reports
                size = len(document.body or b"")
                is_whole = document.status in range(200, 300) and document.error is None
                if is_whole and digest and digest not in found and size <= room:
                    found[digest] = document
                    room -= size
    return found


def file_states(paths: Iterable[str]) -> Iterator[str]:
    """Texts that change when the files do."""
    for path in paths:
        with suppress(OSError):
            found = os.stat(path)
            yield f"{os.path.abspath(path)} {found.st_size} {found.st_mtime_ns}\n"
