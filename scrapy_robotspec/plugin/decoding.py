"""Content decoding that stops at a limit: a bomb costs no more than the file we would read.

Only gzip and deflate, the codings our requests ask for. Scrapy's own decoding gives an error
where the limit is passed; a robots.txt is read up to the limit instead (FMT-12).
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_GZIP = zlib.MAX_WBITS | 16
_RAW_DEFLATE = -zlib.MAX_WBITS


def decode_prefix(body: bytes, encodings: Sequence[bytes], limit: int) -> tuple[bytes, bool]:
    """The first *limit* octets of *body* after undoing *encodings*, the last applied first.

    Also whether all there was came to a proper end or filled the limit. What is not encoded at
    all, in spite of its header, is taken as it stands.
    """
    whole = True
    for encoding in reversed(encodings):
        if encoding != b"identity" and _looks_encoded(body, encoding):
            body, ended = _inflate(body, encoding, limit)
            whole = whole and (ended or len(body) >= limit)
    return body[:limit], whole


def _looks_encoded(body: bytes, encoding: bytes) -> bool:
    """Whether *body* is what its header says; many a server sends text under a wrong header."""
    if encoding == b"deflate":
        return not body[:64].isascii()
    return body.startswith(b"\x1f\x8b")


def _inflate(body: bytes, encoding: bytes, limit: int) -> tuple[bytes, bool]:
    """The first *limit* octets that *body* unpacks to, and whether it came to a proper end."""
    if encoding != b"deflate":
        return _members(body, limit)
    decoded, rest = _member(body, zlib.MAX_WBITS, limit)
    if not decoded and rest is None:  # servers that leave the zlib header out are many
        decoded, rest = _member(body, _RAW_DEFLATE, limit)
    return decoded, rest is not None


def _members(body: bytes, limit: int) -> tuple[bytes, bool]:
    """A gzip body may be several members one behind the other, and padding behind them."""
    parts: list[bytes] = []
    rest: bytes | None = body
    while rest is not None and rest.startswith(b"\x1f\x8b") and limit > 0:
        decoded, rest = _member(rest, _GZIP, limit)
        parts.append(decoded)
        limit -= len(decoded)
    return b"".join(parts), rest is not None


def _member(body: bytes, wbits: int, limit: int) -> tuple[bytes, bytes | None]:
    """What one stream holds, at most *limit* octets, and what follows it (None: it has no end)."""
    stream = zlib.decompressobj(wbits)
    try:
        decoded = stream.decompress(body, limit)
    except zlib.error:
        return b"", None
    return decoded, stream.unused_data if stream.eof else None
