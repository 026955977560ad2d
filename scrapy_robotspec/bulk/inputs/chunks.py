"""Joins the chunks of an archived HTTP body (RFC 9112, section 7.1)."""

from __future__ import annotations

import re

#: The line in front of a chunk: its length in hexadecimal digits, maybe with extensions.
_SIZE = re.compile(rb"[ \t]*0*([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\n]*)?\r?\n")
#: Such a line that is cut.
_CUT_SIZE = re.compile(rb"[ \t]*[0-9A-Fa-f]+[ \t]*(?:;[^\n]*)?\r?")
_LINE_END = re.compile(rb"\r?\n")


def join_chunks(body: bytes, limit: int) -> tuple[bytes, bool]:
    """The content of a chunked body, and whether it is complete.

    Reads no further chunk once *limit* bytes are reached. A body that does not begin with a chunk
    was joined by the archive and is returned as it is.
    """
    if not _SIZE.match(body):
        return body, not _CUT_SIZE.fullmatch(body)
    pieces: list[bytes] = []
    place = length = 0
    while length < limit:
        line = _SIZE.match(body, place)
        if line is None:
            return b"".join(pieces), False
        size = int(line[1], 16)
        if size == 0:
            break
        pieces.append(body[line.end() : line.end() + size])
        length += len(pieces[-1])
        end = _LINE_END.match(body, line.end() + size)
        if end is None:
            return b"".join(pieces), False
        place = end.end()
    return b"".join(pieces), True
