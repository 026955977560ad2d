"""Finds the gzip members of an archive, one for each record."""

from __future__ import annotations

import zlib
from typing import IO

#: Begins a WARC record.
MAGIC = b"WARC/"
GZIP = b"\x1f\x8b"

_MEMBER = b"\x1f\x8b\x08"
_WINDOW = 1 << 20
#: Bytes of a member that are looked at.
_HEAD = 4096
_FORMAT = zlib.MAX_WBITS | 16  # gzip


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
