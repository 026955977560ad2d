"""Finds the records of an archive that is not compressed.

A body may contain what looks like a record, so records are found by their lengths, each from the
one before. Bodies are not read.
"""

from __future__ import annotations

import os
import re
from typing import IO, TYPE_CHECKING, NamedTuple

from scrapy_robotspec.bulk.inputs.gzip_members import MAGIC

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Bytes that are looked at for a header, and its max length behind a record that is sound.
_USUAL_HEAD = 1 << 12
_MAX_HEAD = 1 << 16
_WINDOW = 1 << 20

_BEGIN = re.compile(rb"WARC/\d\.\d+[ \t]*\r?\n(?=[!-9;-~]+:)")
_HEAD_END = re.compile(rb"\n\r?\n")
_LENGTH = re.compile(rb"\nContent-Length[ \t]*:[ \t]*([0-9]{1,18})[ \t]*\r?\n", re.IGNORECASE)
_LINE_ENDS = b"\r\n"
#: The line ends behind the body of each record.
_CLOSING = b"\r\n\r\n"


class PlainRecord(NamedTuple):
    """A record and where it ends."""

    place: int
    """Offset in the file."""
    head: bytes
    """Its header, with the blank line; empty for a damaged one."""
    end: int
    """Offset behind the last byte of its body."""
    whole: bool
    """False: its header or its length is wrong, or the file is cut."""


def plain_records(file: IO[bytes], start: int, stop: int) -> Iterator[PlainRecord]:
    """The records that begin between two offsets.

    The first one begins at ``start``. Goes on behind damage. The file's position does not matter.
    """
    walk = _Walk(file)
    place: int | None = start
    while place is not None and place < stop:
        record, place = walk.step(place)
        yield record


class _Walk:
    """Finds for each record the next one."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._size = os.fstat(file.fileno()).st_size

    def step(self, place: int) -> tuple[PlainRecord, int | None]:
        """The record at an offset, and the offset of the next one."""
        head, length = self._read_head(place, _MAX_HEAD)
        body = place + max(len(head), 1)
        if length is None:
            found = self._search(body)
            return PlainRecord(place, head, self._or_end(found), False), found
        end = body + length
        sound, found = self._next(end)
        if sound:
            return PlainRecord(place, head, end, True), found
        if self._read(end, len(_CLOSING)) == _CLOSING:
            return PlainRecord(place, head, end, True), end + len(_CLOSING)
        found = self._search(body)  # a crawl may have been killed here, and gone on
        return PlainRecord(place, head, min(end, self._or_end(found)), False), found

    def _or_end(self, place: int | None) -> int:
        return self._size if place is None else place

    def _read(self, place: int, length: int) -> bytes:
        if place >= self._size:  # a wrong length may exceed what a file system can address
            return b""
        self._file.seek(place)
        return self._file.read(length)

    def _read_head(self, place: int, limit: int) -> tuple[bytes, int | None]:
        """The header at an offset, and the length that it states."""
        data = self._read(place, _USUAL_HEAD)
        end = _HEAD_END.search(data)
        if end is None and limit > len(data):
            data += self._file.read(limit - _USUAL_HEAD)
            end = _HEAD_END.search(data)
        if end is None or not _BEGIN.match(data):
            return b"", None
        if data.find(MAGIC, 1, end.end()) > 0 and _BEGIN.search(data, 1, end.end()):
            return b"", None  # cut, and another one begins within it
        length = _LENGTH.search(data, 0, end.end())
        return data[: end.end()], int(length[1]) if length else None

    def _next(self, end: int) -> tuple[bool, int | None]:
        """Whether a record or nothing follows, and where the record begins."""
        if end > self._size:
            return False, None
        data = self._read(end, _USUAL_HEAD)
        following = data.lstrip(_LINE_ENDS)
        if following.startswith(MAGIC):
            return True, end + len(data) - len(following)
        return not following and end + len(data) == self._size, None

    def _search(self, start: int) -> int | None:
        """Offset of the next record that can be one.

        Its length leads to a further record, or to the end of the file.
        """
        while start < self._size:
            window = self._read(start, _WINDOW)
            for match in _BEGIN.finditer(window):
                place = start + match.start()
                head, length = self._read_head(place, _USUAL_HEAD)
                if length is not None and self._next(place + len(head) + length)[0]:
                    return place
            start += _WINDOW - _USUAL_HEAD
        return None
