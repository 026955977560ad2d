"""WARC files: responses to requests for a robots.txt.

Those that Common Crawl publishes among them. A compressed file is read from any place on, because
each record is a gzip member of its own.
"""

from __future__ import annotations

import gzip
from typing import IO, TYPE_CHECKING, Any

from scrapy_robotspec.bulk.documents import Document
from scrapy_robotspec.bulk.inputs.captures import Captures
from scrapy_robotspec.bulk.inputs.gzip_members import GZIP, find_member, is_one_stream
from scrapy_robotspec.bulk.inputs.parts import FileRange, Problem, Skipped, ranges
from scrapy_robotspec.bulk.inputs.warc_records import (
    DAMAGE,
    is_robots_txt,
    read_records,
    read_response,
    response_url,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    Read = Document | Problem | Skipped

#: Max responses whose places are kept; beyond, redirects are followed among these only.
MAX_CAPTURES = 100_000


class WarcPart(FileRange):
    """The records of an archive that begin between two offsets."""

    __slots__ = ()

    def read(self) -> Iterator[Read]:
        """The robots.txt responses as documents, redirects last."""
        try:
            with open(self.path, "rb") as file:
                yield from _PartReader(self.path, file, self.stop).read(self.start)
        except OSError as error:
            yield Problem(f"cannot read {self.path}: {error.strerror}")


class WholeWarcPart(FileRange):
    """An archive in one gzip stream, to be read from its beginning.

    Follows no redirects.
    """

    __slots__ = ()

    def read(self) -> Iterator[Read]:
        """The robots.txt responses as documents."""
        place = 0
        try:
            with gzip.open(self.path) as file:
                for record, place in read_records(file):
                    url = response_url(record)
                    if url is None or not is_robots_txt(url):
                        yield Skipped()
                    else:
                        yield read_response(record, url, f"{self.path}:{place}")
        except DAMAGE:
            yield Problem(f"{self.path}: damaged behind byte {place} of its contents, read so far")


def warc_parts(path: str, size: int, *, compressed: bool) -> Iterator[WarcPart | WholeWarcPart]:
    """Parts of an archive."""
    if not compressed:
        yield WarcPart(path, 0, size)
    elif is_one_stream(path):
        yield WholeWarcPart(path, 0, size)
    else:
        yield from (WarcPart(path, *each) for each in ranges(size))


class _PartReader:
    """Reads the records of one part, then follows the redirects among them."""

    def __init__(self, path: str, file: IO[bytes], stop: int) -> None:
        self._path = path
        self._file = file
        self._stop = stop
        self._compressed = file.read(len(GZIP)) == GZIP
        self._captures = Captures()
        self._redirects: list[int] = []
        """Places of the redirects with a target."""
        self._damaged = False
        """Whether damage was named and nothing was read since."""

    def read(self, start: int) -> Iterator[Read]:
        begin = find_member(self._file, start, self._stop) if start else 0
        while begin is not None:
            begin = yield from self._read_from(begin)
        yield from self._follow()

    def _read_from(self, begin: int) -> Generator[Read, None, int | None]:
        """Read records; where to go on, or None at the end."""
        place = begin
        self._file.seek(begin)
        try:
            for record, place in read_records(self._file):
                if place >= self._stop:
                    return None
                if len(self._captures) >= MAX_CAPTURES:
                    yield from self._follow()
                    return place
                yield from self._take(record, place)
                self._damaged = False
        except DAMAGE:
            if not self._damaged:
                yield Problem(f"{self._path}: damaged behind byte {place}: records are missing")
            self._damaged = True
            return find_member(self._file, place + 1, self._stop) if self._compressed else None
        return None

    def _take(self, record: Any, place: int) -> Iterator[Read]:
        url = response_url(record)
        if url is not None:
            self._captures.add(url, place)
        if url is None or not is_robots_txt(url):
            yield Skipped()
            return
        document = read_response(record, url, f"{self._path}:{place}")
        if document.target is None:
            yield document
        else:
            self._redirects.append(place)

    def _follow(self) -> Iterator[Document]:
        """The redirects, each with the response that it leads to."""
        for place in self._redirects:
            yield self._captures.follow(self._response_at(place), place, self._response_at)
        self._captures = Captures()
        self._redirects = []

    def _response_at(self, place: int) -> Document:
        """The response of a record that was found before."""
        self._file.seek(place)
        try:
            record, _ = next(read_records(self._file))
            return read_response(record, response_url(record) or "", f"{self._path}:{place}")
        except (StopIteration, *DAMAGE):
            return Document(None, None, error="the record is damaged")
