"""Reads the gzip members of an archive, one for each record."""

from __future__ import annotations

import zlib
from typing import IO, TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Begins a WARC record.
MAGIC = b"WARC/"
GZIP = b"\x1f\x8b"

_MEMBER = b"\x1f\x8b\x08"
_WINDOW = 1 << 20
_PIECE = 1 << 16
#: Bytes of a member that are looked at.
_HEAD = 4096
_FORMAT = zlib.MAX_WBITS | 16  # gzip


class Member(NamedTuple):
    """A gzip member."""

    place: int
    """Offset in the file."""
    content: bytes
    """Decompressed, up to a limit."""
    whole: bool
    """False: damaged, or cut by the end of the file."""


def read_members(file: IO[bytes], start: int, stop: int, limit: int) -> Iterator[Member]:
    """The members of records that begin between two offsets.

    ``limit``: max length of a content (bytes). Goes on behind damage. Nothing else may move the
    file's position.
    """
    place = find_member(file, start, stop) if start else 0
    while place is not None and place < stop:
        file.seek(place)
        left = b""
        while left or (left := file.read(_PIECE)):
            content, left, whole = _read_member(file, left, limit)
            yield Member(place, content, whole)
            if not whole:
                break
            place = file.tell() - len(left)
            if place >= stop:
                return
        else:
            return
        place = find_member(file, place + 1, stop)


def read_member(file: IO[bytes], place: int, limit: int) -> Member:
    """The member at an offset."""
    file.seek(place)
    content, _, whole = _read_member(file, b"", limit)
    return Member(place, content, whole)


def _read_member(file: IO[bytes], data: bytes, limit: int) -> tuple[bytes, bytes, bool]:
    """Content of a member, the data behind it, and whether it is whole."""
    stream = zlib.decompressobj(_FORMAT)
    content = bytearray()
    try:
        while not stream.eof:
            data = data or file.read(_PIECE)
            if not data:
                return bytes(content), b"", False
            piece = stream.decompress(data, _WINDOW)
            content += piece[: limit - len(content)]
            data = stream.unconsumed_tail
    except zlib.error:
        return bytes(content), b"", False
    return bytes(content), stream.unused_data, True


def find_member(file: IO[bytes], start: int, stop: int) -> int | None:
    """Offset of the first gzip member of a record in a range."""
    while start < stop:
        file.seek(start)
        window = file.read(_WINDOW)
        at = window.find(_MEMBER)
        while at >= 0 and start + at < stop:
            if _begins_record(window[at : at + _HEAD]):
                return start + at
            at = window.find(_MEMBER, at + 1)
        start += max(1, len(window) - _HEAD) if len(window) == _WINDOW else _WINDOW
    return None


def _begins_record(data: bytes) -> bool:
    try:
        return zlib.decompressobj(_FORMAT).decompress(data, 16).startswith(MAGIC)
    except zlib.error:
        return False


def is_one_stream(path: str) -> bool:
    """Whether the first gzip member contains more than the first record."""
    with open(path, "rb") as file:
        stream = zlib.decompressobj(_FORMAT)
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
