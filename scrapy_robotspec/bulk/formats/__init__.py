"""The formats of the output: writing parts, and merging them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from scrapy_robotspec.bulk.formats.parquet import ParquetFormat
from scrapy_robotspec.bulk.formats.text import CsvFormat, JsonLinesFormat

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy_robotspec.bulk.answers import Answers


class Format(Protocol):
    """A format of the output."""

    def write_part(self, path: str, answers: Iterable[Answers]) -> None:
        """Write the answers of one part."""

    def merge(self, parts: Iterable[str], path: str) -> None:
        """Write the output from its parts, in order."""

    def is_ours(self, path: str) -> bool:
        """Whether an existing file was written by this tool."""


#: The formats by the ending of the output's name.
FORMATS: dict[str, Format] = {
    ".parquet": ParquetFormat(),
    ".csv": CsvFormat(),
    ".jsonl": JsonLinesFormat(),
}
