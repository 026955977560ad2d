"""Content decoding that stops at a size limit.

Scrapy's own decoding raises where the limit is passed and accepts a body that was cut. A robots.txt
is read up to the limit (FMT-12), and not at all where part of it is missing (FET-14).
"""

from __future__ import annotations

import zlib
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    #: The first decoded bytes of a body, and whether it was complete.
    Unpacked = tuple[bytes, bool]

_GZIP = zlib.MAX_WBITS | 16
_RAW_DEFLATE = -zlib.MAX_WBITS

#: Bytes of plain text; encoded data contains others.
_TEXT = bytes(range(32, 127)) + b"\t\n\r"

#: Max window of a zstd frame in HTTP (log2 bytes; RFC 9659).
_MAX_WINDOW = 23

# A few bytes can encode thousands of streams, each with a cost. A body beyond these bounds, which
# usual files never reach, counts as incomplete.

#: Max layers, one within the other.
_MAX_LAYERS = 5
#: Max streams within one layer, one behind the other.
_MAX_STREAMS = 300


def decode_prefix(body: bytes, encodings: Sequence[bytes], limit: int) -> tuple[bytes, bool]:
    """The first *limit* bytes of *body* without its *encodings*.

    Returns also whether the body was complete or filled the limit. A body that is plain text is
    returned unchanged, whatever its header says; binary data that cannot be decoded is incomplete.
    """
    whole, layers = True, 0
    for encoding in reversed(encodings):
        if encoding not in _NO_ENCODING and _looks_encoded(body, encoding):
            layers += 1
            unpack = _UNPACKERS.get(encoding) if layers <= _MAX_LAYERS else None
            body, complete = unpack(body, limit) if unpack is not None else (b"", False)
            whole = whole and (complete or len(body) >= limit)
    return body[:limit], whole


def can_decode(encoding: bytes) -> bool:
    """Whether *encoding* (lower case) can be decoded up to a limit here."""
    return encoding in _UNPACKERS


def _looks_encoded(body: bytes, encoding: bytes) -> bool:
    """Whether *body* is encoded; servers send plain text under a wrong header."""
    if encoding in (b"gzip", b"x-gzip"):
        return body.startswith(b"\x1f\x8b")
    return bool(body[:64].translate(None, _TEXT))


def _gunzip(body: bytes, limit: int) -> Unpacked:
    """Decode all members of a gzip body; padding may follow them."""
    parts: list[bytes] = []
    rest: bytes | None = body
    while rest is not None and rest.startswith(b"\x1f\x8b") and limit > 0:
        if len(parts) == _MAX_STREAMS:
            return b"".join(parts), False
        decoded, rest = _member(rest, _GZIP, limit)
        parts.append(decoded)
        limit -= len(decoded)
    return b"".join(parts), rest is not None


def _inflate(body: bytes, limit: int) -> Unpacked:
    decoded, rest = _member(body, zlib.MAX_WBITS, limit)
    if not decoded and rest is None:  # servers that leave the zlib header out are many
        decoded, rest = _member(body, _RAW_DEFLATE, limit)
    return decoded, rest is not None


def _member(body: bytes, wbits: int, limit: int) -> tuple[bytes, bytes | None]:
    """The content of one stream, at most *limit* bytes, and the rest (None: incomplete)."""
    stream = zlib.decompressobj(wbits)
    try:
        decoded = stream.decompress(body, limit)
    except zlib.error:
        return b"", None
    return decoded, stream.unused_data if stream.eof else None


def _library(name: str) -> Any:
    """An optional module, or None."""
    try:
        return import_module(name)
    except ImportError:
        return None


# br and zstd are decoded if a library that can stop at a limit is installed, as with every new
# Scrapy.
_BROTLI = _library("brotli")
_ZSTD = _library("compression.zstd") or _library("backports.zstd")


def _unbrotli(body: bytes, limit: int) -> Unpacked:
    stream, decoded = _BROTLI.Decompressor(), b""
    try:
        while len(decoded) < limit and not stream.is_finished():
            more = stream.process(body, output_buffer_limit=limit - len(decoded))
            if not more and not body:
                break
            decoded, body = decoded + more, b""
    except _BROTLI.error:
        return b"", False
    return decoded, stream.is_finished()


def _unzstd(body: bytes, limit: int) -> Unpacked:
    decoded, frames = b"", 0
    try:
        while body and len(decoded) < limit and frames < _MAX_STREAMS:  # frame by frame
            frames += 1
            options = {_ZSTD.DecompressionParameter.window_log_max: _MAX_WINDOW}
            stream = _ZSTD.ZstdDecompressor(options=options)
            decoded += stream.decompress(body, limit - len(decoded))
            if not stream.eof:
                return decoded, False
            body = stream.unused_data
    except _ZSTD.ZstdError:
        return b"", False
    return decoded, not body


_UNPACKERS: dict[bytes, Callable[[bytes, int], Unpacked]] = {
    b"gzip": _gunzip,
    b"x-gzip": _gunzip,
    b"deflate": _inflate,
}
if hasattr(getattr(_BROTLI, "Decompressor", None), "can_accept_more_data"):  # from 1.2 on
    _UNPACKERS[b"br"] = _unbrotli
if _ZSTD is not None:
    _UNPACKERS[b"zstd"] = _unzstd
_NO_ENCODING = (b"", b"identity")
