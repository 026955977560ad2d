"""WARC files: responses to requests for a robots.txt.

The files that Common Crawl publishes are among them. A compressed file is read from any place on,
because each record is a gzip member of its own. A file that is not compressed is cut between two
records.
"""

from __future__ import annotations

import gzip
from io import BytesIO
from typing import IO, TYPE_CHECKING, NamedTuple

from warcio.limitreader import LimitReader

from scrapy_robotspec.bulk.documents import Document
from scrapy_robotspec.bulk.inputs.captures import Captures
from scrapy_robotspec.bulk.inputs.gzip_members import is_one_stream, read_member, read_members
from scrapy_robotspec.bulk.inputs.parts import PART_BYTES, FileRange, Problem, Skipped, ranges
from scrapy_robotspec.bulk.inputs.plain_records import PlainRecord, plain_records
from scrapy_robotspec.bulk.inputs.warc_records import (
    DAMAGE,
    MAX_RECORD,
    Record,
    is_robots_txt,
    load_record,
    read_records,
    read_response,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Read = Document | Problem | Skipped

#: Max responses whose places are kept; redirects are followed among these.
MAX_CAPTURES = 100_000

#: Bytes of one part of an archive that is not compressed: as much work as a compressed one.
PLAIN_PART_BYTES = 4 * PART_BYTES

_DAMAGED = "the record is damaged"


class Found(NamedTuple):
    """A record of an archive."""

    place: int
    """Offset in the archive."""
    record: Record | None
    """None: it has no response."""
    whole: bool = True


class _SeekablePart(FileRange):
    """Records of an archive that can be read from any of them on."""

    __slots__ = ()

    def read(self) -> Iterator[Read]:
        """The robots.txt responses as documents, redirects last."""
        try:
            with open(self.path, "rb") as file, open(self.path, "rb") as again:
                reader = _Reader(self.path, lambda place: self._record_at(again, place))
                yield from reader.read(self._records(file))
        except OSError as error:
            yield Problem(f"cannot read {self.path}: {error.strerror}")

    def _records(self, file: IO[bytes]) -> Iterator[Found | Problem]:
        """The records of the part. Nothing else may move the file's position."""
        raise NotImplementedError

    def _record_at(self, file: IO[bytes], place: int) -> Found:
        """The record at an offset."""
        raise NotImplementedError


class WarcPart(_SeekablePart):
    """The records of a compressed archive that begin between two offsets."""

    __slots__ = ()

    def _records(self, file: IO[bytes]) -> Iterator[Found | Problem]:
        for member in read_members(file, self.start, self.stop, MAX_RECORD):
            found = _of_member(*member)
            if not found.whole:
                yield _damage(self.path, found.place)
            yield found

    def _record_at(self, file: IO[bytes], place: int) -> Found:
        return _of_member(*read_member(file, place, MAX_RECORD))


class PlainWarcPart(_SeekablePart):
    """Records of an archive that is not compressed.

    The first one begins at ``start``.
    """

    __slots__ = ()

    def _records(self, file: IO[bytes]) -> Iterator[Found | Problem]:
        for record in plain_records(file, self.start, self.stop):
            if not record.whole:
                yield _damage(self.path, record.place)
            yield _of_plain(file, record)

    def _record_at(self, file: IO[bytes], place: int) -> Found:
        return _of_plain(file, next(plain_records(file, place, place + 1)))


class WholeWarcPart(FileRange):
    """An archive in one gzip stream, to be read from its beginning.

    Follows no redirects.
    """

    __slots__ = ()

    def read(self) -> Iterator[Read]:
        """The robots.txt responses as documents."""
        try:
            with gzip.open(self.path) as file:
                yield from _Reader(self.path, None).read(_all_records(self.path, file))
        except OSError as error:
            yield Problem(f"cannot read {self.path}: {error.strerror}")


WarcParts = WarcPart | PlainWarcPart | WholeWarcPart


def warc_parts(path: str, size: int, *, compressed: bool) -> Iterator[WarcParts]:
    """Parts of an archive."""
    if not compressed:
        yield from (PlainWarcPart(path, *each) for each in _plain_ranges(path, size))
    elif is_one_stream(path):
        yield WholeWarcPart(path, 0, size)
    else:
        yield from (WarcPart(path, *each) for each in ranges(size))


def _plain_ranges(path: str, size: int) -> Iterator[tuple[int, int]]:
    """Start and stop of each part, between two records."""
    start = 0
    with open(path, "rb") as file:
        for record in plain_records(file, 0, size):
            if record.place - start >= PLAIN_PART_BYTES:
                yield start, record.place
                start = record.place
    yield start, size


def _of_member(place: int, content: bytes, whole: bool) -> Found:
    stream = BytesIO(content)
    record = load_record(content, stream)
    if record is not None and record.loaded.length is not None:
        behind = content[stream.tell() + record.loaded.length :]
        whole = whole and not behind.strip(b"\r\n")  # or its length is wrong
    return Found(place, record, whole)


def _of_plain(file: IO[bytes], record: PlainRecord) -> Found:
    file.seek(record.place)
    content = LimitReader(file, record.end - record.place)
    return Found(record.place, load_record(record.head, content), record.whole)


def _damage(path: str, place: int) -> Problem:
    return Problem(f"{path}: the record at byte {place} is damaged")


def _all_records(path: str, file: gzip.GzipFile) -> Iterator[Found | Problem]:
    """The records of a file from its beginning, up to damage."""
    place = 0
    try:
        for place, record in read_records(file):
            yield Found(place, record)
    except DAMAGE:
        yield Problem(f"{path}: damaged behind byte {place} of its records, read so far")


class _Reader:
    """Reads records, then follows the redirects among them."""

    def __init__(self, path: str, find: Callable[[int], Found] | None) -> None:
        self._path = path
        self._find = find
        """Finds the record at an offset once more; None where that takes too long."""
        self._captures = Captures()
        self._redirects: list[int] = []
        """Places of the redirects with a target."""

    def read(self, records: Iterable[Found | Problem]) -> Iterator[Read]:
        for found in records:
            if isinstance(found, Problem):
                yield found
                continue
            place, record, whole = found
            if record is not None:
                if len(self._captures) >= MAX_CAPTURES:
                    yield from self._follow()
                self._captures.add(record.url, place)
            if record is None or not is_robots_txt(record.url):
                yield Skipped()
            elif (document := self._response(record, place, whole)).target and self._find:
                self._redirects.append(place)
            else:
                yield document
        yield from self._follow()

    def _follow(self) -> Iterator[Document]:
        """The redirects, each with the response that it leads to."""
        for place in self._redirects:
            yield self._captures.follow(self._response_at(place), place, self._response_at)
        self._captures = Captures()
        self._redirects = []

    def _response_at(self, place: int) -> Document:
        assert self._find is not None  # or there are no redirects to follow
        _, record, whole = self._find(place)
        assert record is not None  # it was one before
        return self._response(record, place, whole)

    def _response(self, record: Record, place: int, whole: bool) -> Document:
        source = f"{self._path}:{place}"
        try:
            document = read_response(record, source)
        except DAMAGE:
            return Document(record.url, None, error=_DAMAGED, source=source)
        return document if whole or document.error else document._replace(error=_DAMAGED)
