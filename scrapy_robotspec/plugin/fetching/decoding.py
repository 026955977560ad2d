"""Content decoding that stops at a size limit.

Scrapy's own decoding gives an error where the limit is passed, and takes what was cut off for the
whole; a robots.txt is read up to the limit instead (FMT-12), and not at all where part of it is
lost (FET-14). What an answer means is not decided here.
"""

from __future__ import annotations

import zlib
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    #: The first octets that a body unpacks to, and whether it came to a proper end.
    Unpacked = tuple[bytes, bool]

_GZIP = zlib.MAX_WBITS | 16
_RAW_DEFLATE = -zlib.MAX_WBITS

#: What plain text begins with, and nothing that is packed.
_TEXT = bytes(range(32, 127)) + b"\t\n\r"

#: Frames that need a longer window are refused: it is memory that a server makes us take.
_LONGEST_WINDOW = 23

# Some octets on the wire can stand for very many streams, each with a price of its own. Past these
# bounds, which no honest file comes near, a body counts as lost.

#: Layers that are undone, one within the other.
_MOST_LAYERS = 5
#: Streams within one layer, one behind the other.
_MOST_STREAMS = 300


def decode_prefix(body: bytes, encodings: Sequence[bytes], limit: int) -> tuple[bytes, bool]:
    """The first *limit* bytes of *body* without its *encodings*.

    Also whether all there was came to a proper end or filled the limit. Text, whatever its header
    says of it, is taken as it stands; what is no text and cannot be unpacked counts as lost.
    """
    whole, layers = True, 0
    for encoding in reversed(encodings):
        if encoding not in _NO_ENCODING and _looks_encoded(body, encoding):
            layers += 1
            unpack = _UNPACKERS.get(encoding, _unreadable)
            body, redirect_error = unpack(body, limit) if layers <= _MOST_LAYERS else (b"", False)
            whole = whole and (redirect_error or len(body) >= limit)
    return body[:limit], whole


def _looks_encoded(body: bytes, encoding: bytes) -> bool:
    """Whether *body* is what its header says; many a server sends text under a wrong header."""
    if encoding in (b"gzip", b"x-gzip"):
        return body.startswith(b"\x1f\x8b")
    return bool(body[:64].translate(None, _TEXT))


def _gunzip(body: bytes, limit: int) -> Unpacked:
    """A gzip body may be several members one behind the other, and padding behind them."""
    parts: list[bytes] = []
    rest: bytes | None = body
    while rest is not None and rest.startswith(b"\x1f\x8b") and limit > 0:
        if len(parts) == _MOST_STREAMS:
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
    """What one stream holds, at most *limit* octets, and what follows it (None: it has no end)."""
    stream = zlib.decompressobj(wbits)
    try:
        decoded = stream.decompress(body, limit)
    except zlib.error:
        return b"", None
    return decoded, stream.unused_data if stream.eof else None


# Our requests ask for the two above only. Some servers send the others all the same; they are read
# if a library that can stop at a limit is there, as it is with every new Scrapy.


def _unbrotli(body: bytes, limit: int) -> Unpacked:
    brotli = _library("brotli")
    if not hasattr(getattr(brotli, "Decompressor", None), "can_accept_more_data"):  # before 1.2
        return b"", False
    stream, decoded = brotli.Decompressor(), b""
    try:
        while len(decoded) < limit and not stream.is_finished():
            more = stream.process(body, output_buffer_limit=limit - len(decoded))
            if not more and not body:
                break
            decoded, body = decoded + more, b""
    except brotli.error:
        return b"", False
    return decoded, stream.is_finished()


def _unzstd(body: bytes, limit: int) -> Unpacked:
    zstd = _library("compression.zstd") or _library("backports.zstd")
    if zstd is None:
        return b"", False
    decoded, frames = b"", 0
    try:
        while body and len(decoded) < limit and frames < _MOST_STREAMS:  # frame by frame
            frames += 1
            options = {zstd.DecompressionParameter.window_log_max: _LONGEST_WINDOW}
            stream = zstd.ZstdDecompressor(options=options)
            decoded += stream.decompress(body, limit - len(decoded))
            if not stream.eof:
                return decoded, False
            body = stream.unused_data
    except zstd.ZstdError:
        return b"", False
    return decoded, not body


def _unreadable(body: bytes, limit: int) -> Unpacked:
    return b"", False


def _library(name: str) -> Any:
    """An optional module, or None."""
    try:
        return import_module(name)
    except ImportError:
        return None


_UNPACKERS: dict[bytes, Callable[[bytes, int], Unpacked]] = {
    b"gzip": _gunzip,
    b"x-gzip": _gunzip,
    b"deflate": _inflate,
    b"br": _unbrotli,
    b"zstd": _unzstd,
}
_NO_ENCODING = (b"", b"identity")
