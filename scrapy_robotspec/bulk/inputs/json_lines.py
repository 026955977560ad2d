"""JSON lines with ``url`` and ``body``, optionally ``status``, ``location``, ``error``."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import IO, TYPE_CHECKING, Any

from scrapy_robotspec.bulk.batches import as_body
from scrapy_robotspec.bulk.documents import MAX_STATUS, Document
from scrapy_robotspec.bulk.inputs.parts import FileRange, Problem, ranges

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_robotspec.bulk.inputs.parts import Skipped

#: Max length of a line (bytes); a longer one is reported and skipped.
_MAX_LINE = 128 * 1024 * 1024
_TEXTS = ("url", "location", "error")


class JsonPart(FileRange):
    """The lines of a file that begin between two offsets."""

    __slots__ = ()

    def read(self) -> Iterator[Document | Problem | Skipped]:
        """The lines as documents."""
        try:
            with open(self.path, "rb") as file:
                if self.start:  # the line that is under way belongs to the part before
                    file.seek(self.start - 1)
                    _skip_line(file)
                yield from _read_lines(file, self.path, self.stop)
        except OSError as error:
            yield Problem(f"cannot read {self.path}: {error.strerror}")


class GzipJsonPart(FileRange):
    """A whole compressed file."""

    __slots__ = ()

    def read(self) -> Iterator[Document | Problem | Skipped]:
        """The lines as documents."""
        try:
            with gzip.open(self.path) as file:
                yield from _read_lines(file, self.path, None)
        except (OSError, EOFError, zlib.error) as error:
            yield Problem(f"{self.path}: damaged gzip file, read up to there: {error}")


def json_parts(path: str, size: int) -> Iterator[JsonPart]:
    """Parts of a file."""
    return (JsonPart(path, *each) for each in ranges(size))


def _skip_line(file: IO[bytes] | gzip.GzipFile) -> None:
    while (piece := file.readline(1 << 20)) and not piece.endswith(b"\n"):
        pass


def _read_lines(
    file: IO[bytes] | gzip.GzipFile, path: str, stop: int | None
) -> Iterator[Document | Problem | Skipped]:
    start = file.tell()
    while stop is None or start < stop:
        line = file.readline(_MAX_LINE)
        if not line:
            return
        place = f"{path}:byte {start}"
        if len(line) == _MAX_LINE and not line.endswith(b"\n"):
            _skip_line(file)
            yield Problem(f"{place}: the line is longer than {_MAX_LINE} bytes, skipped")
        elif line.strip():
            yield _read_line(line, place)
        start = file.tell()


def _read_line(line: bytes, place: str) -> Document | Problem:
    try:
        values = json.loads(line)
        return _document(values, place)
    except (ValueError, RecursionError) as error:
        return Problem(f"{place}: {_cause(error)}, skipped")


def _cause(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError | json.JSONDecodeError | RecursionError):
        return "not a line of JSON in UTF-8"
    return str(error)


def _document(values: Any, place: str) -> Document:
    """A line's document. Raises ``ValueError`` for wrong keys and types."""
    if not isinstance(values, dict) or not {"url", "body"} <= values.keys():
        raise ValueError("not an object with url and body")
    for name in (*_TEXTS, "body"):
        if not isinstance(values.get(name), str | None):
            raise ValueError(f"{name} is not text")
    status = values.get("status")
    if not isinstance(status, int | None) or isinstance(status, bool):
        raise ValueError("status is not an integer")
    if status is not None and not 0 <= status <= MAX_STATUS:
        raise ValueError(f"status is {status}")
    url, location, error = (values.get(name) for name in _TEXTS)
    return Document(url, as_body(values["body"]), status, location, error, place)
