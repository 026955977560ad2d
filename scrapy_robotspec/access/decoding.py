"""Content decoding that stops at a size limit.

Scrapy's own decoding raises where the limit is passed and accepts a body that was cut. A robots.txt
is read up to the limit (FMT-12), and not at all where part of it is missing (FET-14).
"""

from __future__ import annotations

import zlib
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.access.codings import BROTLI, GZIP_CODINGS, ZSTD

if TYPE_CHECKING:
    from collections.abc import Callable

    #: The first decoded bytes of a body, and whether it was complete.
    Unpacked = tuple[bytes, bool]

#: First bytes of a gzip member.
_GZIP = b"\x1f\x8b"

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


def decode_prefix(body: bytes, encodings: str, limit: int) -> tuple[bytes, bool]:
    """The first *limit* bytes of *body* without its *encodings*.

    *encodings*: the value of ``Content-Encoding``, decoded as Latin-1.

    Returns also whether the body was complete or filled the limit. A body that is plain text is
    returned unchanged, whatever its header says; binary data that cannot be decoded is incomplete.
    """
    whole, layers = True, 0
    named = encodings.lower().encode("latin-1").split(b",")
    for encoding in map(bytes.strip, reversed(named)):
        if encoding not in _NO_ENCODING and _looks_encoded(body, encoding):
            layers += 1
            unpack = _UNPACKERS.get(encoding) if layers <= _MAX_LAYERS else None
            body, complete = unpack(body, limit) if unpack is not None else (b"", False)
            whole = whole and (complete or len(body) >= limit)
    return body[:limit], whole


def _looks_encoded(body: bytes, encoding: bytes) -> bool:
    """Whether *body* is encoded; servers send plain text under a wrong header."""
    if encoding in GZIP_CODINGS:
        return body.startswith(_GZIP)
    return bool(body[:64].translate(None, _TEXT))


def _unbrotli(body: bytes, limit: int) -> Unpacked:
    stream, decoded = BROTLI.Decompressor(), b""
    try:
        while len(decoded) < limit and not stream.is_finished():
            more = stream.process(body, output_buffer_limit=limit - len(decoded))
            if not more and not body:
                break
            decoded, body = decoded + more, b""
    except BROTLI.error:
        return b"", False
    return decoded, stream.is_finished()


def _decode(
    new_stream: Callable[[], Any], followers: tuple[bytes, ...], body: bytes, limit: int
) -> Unpacked:
    """Decode the streams of *body*, one behind the other; anything else may follow them.

    *followers*: beginnings of a further stream.
    """
    decoded = b""
    for _ in range(_MAX_STREAMS):
        stream = new_stream()
        try:
            decoded += stream.decompress(body, limit - len(decoded))
        except _ERRORS:
            break
        body = stream.unused_data
        if not stream.eof:
            break
        if len(decoded) >= limit or not body or not body.startswith(followers):
            return decoded, True
    return decoded, False


def _inflate(body: bytes, limit: int) -> Unpacked:
    decoded, complete = _decode(zlib.decompressobj, (), body, limit)
    if decoded or complete:
        return decoded, complete
    # Servers that leave the zlib header out are many.
    return _decode(partial(zlib.decompressobj, -zlib.MAX_WBITS), (), body, limit)


_UNPACKERS: dict[bytes, Callable[[bytes, int], Unpacked]] = {
    **dict.fromkeys(
        GZIP_CODINGS,
        partial(_decode, partial(zlib.decompressobj, zlib.MAX_WBITS | 16), (_GZIP,)),
    ),
    b"deflate": _inflate,
}
_ERRORS: tuple[type[Exception], ...] = (zlib.error,)
if BROTLI is not None:
    _UNPACKERS[b"br"] = _unbrotli
if ZSTD is not None:
    _ERRORS += (ZSTD.ZstdError,)
    _WINDOW = {ZSTD.DecompressionParameter.window_log_max: _MAX_WINDOW}
    _new_stream = partial(ZSTD.ZstdDecompressor, options=_WINDOW)
    _UNPACKERS[b"zstd"] = partial(_decode, _new_stream, (b"",))
_NO_ENCODING = (b"", b"identity")
