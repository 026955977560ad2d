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
_MAX_ROWS = 8192  # of a part
#: Max parts of one row group: each of them decodes the group from its beginning.
_GROUP_PARTS = 16


class TablePart(FileRange):
    """Some rows of a Parquet file."""

    __slots__ = ()

    def read(self) -> Iterator[Document | Problem | Skipped]:
        """The rows as documents."""
        try:
            with _open(self.path) as file:
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
            if row >= self.stop:
                return
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
        with _open(path) as file:
            rows = file.metadata.num_rows
            groups = [file.metadata.row_group(at).num_rows for at in range(file.num_row_groups)]
            empty = file.schema_arrow.empty_table()
    except (pa.ArrowException, OSError) as error:
        raise ConfigurationError(f"{path}: not a Parquet file: {_first_line(error)}") from error
    try:
        list(documents(empty))
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from error
    step = min(max(_BATCH, round(rows * PART_BYTES / max(size, 1))), _MAX_ROWS)
    step = max(step, -(-max(groups, default=0) // _GROUP_PARTS))
    for start in range(0, rows, step):
        yield TablePart(path, start, min(start + step, rows))


def _open(path: str) -> pq.ParquetFile:
    """A file of which little is in memory, however large its row groups are."""
    return pq.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
