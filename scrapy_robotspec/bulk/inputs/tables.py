"""Parquet files with the columns of ``bulk.verdicts``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from scrapy_robotspec.bulk.batches import documents
from scrapy_robotspec.bulk.inputs.parts import PART_BYTES, FileRange, Problem
from scrapy_robotspec.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_robotspec.bulk.documents import Document
    from scrapy_robotspec.bulk.inputs.parts import Skipped

MAGIC = b"PAR1"

_COLUMNS = ("url", "body", "status", "location", "error")
_BATCH = 256


class TablePart(FileRange):
    """Some rows of a Parquet file."""

    __slots__ = ()

    def read(self) -> Iterator[Document | Problem | Skipped]:
        """The rows as documents."""
        try:
            with pq.ParquetFile(self.path) as file:
                row = 0
                for group in range(file.num_row_groups):
                    rows = file.metadata.row_group(group).num_rows
                    if row < self.stop and row + rows > self.start:
                        yield from self._read_group(file, group, row)
                    row += rows
        except (pa.ArrowException, OSError) as error:
            yield Problem(f"{self.path}: damaged Parquet file: {_first_line(error)}")

    def _read_group(
        self, file: pq.ParquetFile, group: int, row: int
    ) -> Iterator[Document | Problem]:
        names = [name for name in file.schema_arrow.names if name in _COLUMNS]
        for batch in file.iter_batches(_BATCH, row_groups=[group], columns=names):
            begin, end = max(self.start - row, 0), min(self.stop - row, len(batch))
            if begin < end:
                yield from self._read_rows(batch.slice(begin, end - begin), row + begin + 1)
            row += len(batch)

    def _read_rows(self, batch: pa.RecordBatch, first: int) -> Iterator[Document | Problem]:
        """Some rows as documents; ``first`` is the number of the first one."""
        try:
            found = list(documents(batch))
        except ConfigurationError as error:  # a value in a row, for the columns are right
            if len(batch) == 1:
                yield Problem(f"{self.path}:{first}: {error}, skipped")
                return
            for at in range(len(batch)):
                yield from self._read_rows(batch.slice(at, 1), first + at)
            return
        for number, document in enumerate(found, first):
            yield document._replace(source=f"{self.path}:{number}")


def table_parts(path: str, size: int) -> Iterator[TablePart]:
    """Parts of a Parquet file. Raises ``ConfigurationError`` for one without the columns."""
    try:
        with pq.ParquetFile(path) as file:
            rows = file.metadata.num_rows
            empty = file.schema_arrow.empty_table()
    except (pa.ArrowException, OSError) as error:
        raise ConfigurationError(f"{path}: not a Parquet file: {_first_line(error)}") from error
    try:
        list(documents(empty))
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from error
    step = max(_BATCH, round(rows * PART_BYTES / max(size, 1)))
    step = min(step, 8192)
    for start in range(0, rows, step):
        yield TablePart(path, start, min(start + step, rows))


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
