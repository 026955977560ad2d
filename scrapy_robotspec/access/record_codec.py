"""The envelope of a stored record: version, checksum, header, body.

It packs bytes and plain values; ``record.py`` gives them their meaning. A store may hold anything:
torn, foreign and other versions' data read as None.
"""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any, NoReturn

#: Raise this with every change that an older reader would misunderstand.
VERSION = 2

_MAGIC = b"RSPC"
#: Magic, version, CRC-32 of all that follows it, length of the JSON header, length of the body.
_FRAME = struct.Struct(">4sBIII")
_CHECKED = struct.Struct(">II")

#: Longer bodies are compressed (bytes).
_COMPRESS_ABOVE = 256
#: Longer bodies are garbage, and would be a trap for our memory (bytes).
_MAX_BODY = 2**26


def pack(header: dict[str, Any], body: bytes) -> bytes:
    """*header* (plain JSON values) and *body* as one bytes object."""
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode("ascii")
    stored = zlib.compress(body) if len(body) > _COMPRESS_ABOVE else body
    rest = _CHECKED.pack(len(text), len(body)) + text + stored
    checksum = zlib.crc32(rest)
    return struct.pack(">4sBI", _MAGIC, VERSION, checksum) + rest


def unpack(data: bytes) -> tuple[dict[str, Any], bytes] | None:
    """The header and body in *data*; None if it is invalid."""
    if len(data) < _FRAME.size:
        return None
    magic, version, checksum, text_length, body_length = _FRAME.unpack_from(data)
    if (magic, version) != (_MAGIC, VERSION) or zlib.crc32(data[9:]) != checksum:
        return None
    text = data[_FRAME.size : _FRAME.size + text_length]
    try:
        header = _decode(text.decode("ascii"))
        body = _body(data[_FRAME.size + text_length :], body_length)
    except (ValueError, zlib.error, RecursionError):
        return None
    return (header, body) if isinstance(header, dict) and body is not None else None


def _body(stored: bytes, length: int) -> bytes | None:
    if length > _MAX_BODY:
        return None
    if length > _COMPRESS_ABOVE:
        stored = zlib.decompressobj().decompress(stored, length + 1)
    return stored if len(stored) == length else None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"invalid number: {constant}")


_decode = json.JSONDecoder(parse_constant=_refuse).decode  # json.loads() would make one each time
