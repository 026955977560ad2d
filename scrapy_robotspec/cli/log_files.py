"""LogFile: the lines of a log, plain or compressed."""

from __future__ import annotations

import gzip
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING

from scrapy_robotspec.cli.errors import MisuseError
from scrapy_robotspec.cli.inputs import standard_input

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

#: Max length of a line (bytes); the rest of a longer one is a line of its own.
_MAX_LINE = 2**20


class LogFile:
    """The lines of *name*; ``-`` is standard input.

    Raises ``MisuseError`` for a file that cannot be read.
    """

    def __init__(self, name: str) -> None:
        self.name = "standard input" if name == "-" else name
        self.size = 0
        """Bytes on the disk; 0: unknown."""
        self._raw: IO[bytes]
        if name == "-":
            self._raw = standard_input()
        else:
            try:
                self._raw = Path(name).open("rb")  # noqa: SIM115  (closed by __exit__)
                self.size = Path(name).stat().st_size
            except OSError as error:
                raise MisuseError(f"{name}: {error.strerror}") from None
        self._lines = self._read()
        self._first: list[bytes] = []

    def __enter__(self) -> LogFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.size:
            self._raw.close()

    @property
    def done(self) -> int:
        """Bytes read so far; 0 where the size is unknown."""
        return self._raw.tell() if self.size else 0

    def first_lines(self, number: int) -> list[bytes]:
        """The first lines, which are still part of the iteration."""
        if not self._first:
            self._first = list(islice(self._lines, number))
        return self._first[:number]

    def __iter__(self) -> Iterator[bytes]:
        return chain(self._first, self._lines)

    def _read(self) -> Iterator[bytes]:
        peek = getattr(self._raw, "peek", None)
        is_packed = peek is not None and peek(2)[:2] == b"\x1f\x8b"
        stream = gzip.GzipFile(fileobj=self._raw) if is_packed else self._raw
        try:
            while line := stream.readline(_MAX_LINE):
                yield line
        except (OSError, EOFError) as error:
            raise MisuseError(f"{self.name}: {error}") from None
