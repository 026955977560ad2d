"""Lines of the decision log: JSON objects in a chain of hashes.

A hash is the SHA-256 of the hash before it (64 zeros for the first line) and of the line's own text
up to its hash. So no line can be changed, removed, added or moved without a trace.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy_robotspec.evidence.errors import EvidenceError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: The hash before the first line.
NO_HASH = "0" * 64

_BEFORE_HASH, _AFTER_HASH = b',"hash":"', b'"}'
_HASH_LENGTH = len(_BEFORE_HASH) + len(NO_HASH) + len(_AFTER_HASH)

dumps = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def seal(text: str, before: str) -> tuple[bytes, str]:
    """The line for a JSON object that follows *before*, and its hash."""
    start = text[:-1].encode("ascii")
    digest = _digest(before, start)
    return b"%b%b%b%b\n" % (start, _BEFORE_HASH, digest.encode("ascii"), _AFTER_HASH), digest


def _digest(before: str, start: bytes) -> str:
    return sha256(before.encode("ascii") + start).hexdigest()


class Line(NamedTuple):
    """One line that is as it was written."""

    number: int
    """From 1."""
    values: dict[str, Any]
    hash: str
    size: int
    """Bytes."""


def read_lines(path: Path, before: str) -> Iterator[Line]:
    """The lines of one file, which follow the hash *before*.

    A last line that is incomplete, as a killed process leaves it, ends the file. Raises
    ``EvidenceError`` at the first line that is not as it was written.
    """
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            read = _read(line, before)
            if read is None:
                if is_torn(line):
                    return
                raise EvidenceError(f"line {number} is not as it was written")
            before = read[1]
            yield Line(number, *read, len(line))


def is_torn(line: bytes) -> bool:
    """Whether the writing of *line* may have been interrupted."""
    return not line.endswith(b"\n") and _AFTER_HASH not in line[line.rfind(_BEFORE_HASH) :]


def _read(line: bytes, before: str) -> tuple[dict[str, Any], str] | None:
    """Values and hash of a line; None: it does not follow."""
    text = line.removesuffix(b"\n")
    start, tail = text[:-_HASH_LENGTH], text[-_HASH_LENGTH:]
    digest = _digest(before, start)
    if tail != b"%b%b%b" % (_BEFORE_HASH, digest.encode("ascii"), _AFTER_HASH):
        return None
    values: dict[str, Any] = json.loads(start + b"}")
    return values, digest
