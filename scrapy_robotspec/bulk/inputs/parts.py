"""Parts: pieces of the input, each read by one process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_robotspec.bulk.documents import Document

#: Bytes of a file for one part.
PART_BYTES = 8 * 1024 * 1024


class Problem(NamedTuple):
    """Something that could not be read, beside what was read."""

    message: str
    """File, place and cause, in one line."""


class Skipped(NamedTuple):
    """Records that are not a robots.txt response."""

    number: int = 1


class Part(Protocol):
    """A piece of the input; picklable."""

    @property
    def size(self) -> int:
        """Its share of the work (bytes)."""

    def read(self) -> Iterator[Document | Problem | Skipped]:
        """The documents in order, and what cannot be read."""


@dataclass(frozen=True, slots=True)
class FileRange:
    """The records of a file that begin between two offsets (bytes)."""

    path: str
    start: int
    stop: int

    @property
    def size(self) -> int:
        """Its share of the work (bytes)."""
        return self.stop - self.start


def ranges(size: int) -> Iterator[tuple[int, int]]:
    """A file's offsets in steps: start and stop of each."""
    for start in range(0, size, PART_BYTES):
        yield start, min(start + PART_BYTES, size)
