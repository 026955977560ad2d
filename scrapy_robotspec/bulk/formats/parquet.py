"""Parquet output; parts are Arrow streams with dictionary-encoded text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from scrapy_robotspec.bulk.columns import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy_robotspec.bulk.answers import Answers

#: Found in each Parquet file that this tool writes.
MARK = b"scrapy_robotspec.bulk"

#: Rows and bytes of one row group, which readers hold in memory.
_GROUP_ROWS = 128 * 1024
_GROUP_BYTES = 64 * 1024 * 1024


class ParquetFormat:
    """Parquet; parts are Arrow files, in which repeated text is stored once."""

    def write_part(self, path: str, answers: Iterable[Answers]) -> None:
        """Write the answers of one part."""
        schema = _encoded_schema()
        options = pa.ipc.IpcWriteOptions(compression="lz4", unify_dictionaries=False)
        with pa.OSFile(path, "wb") as sink, pa.ipc.new_stream(sink, schema, options=options) as out:
            for each in answers:
                for batch in each.batches(encode=True):
                    out.write_batch(batch.cast(schema) if batch.schema != schema else batch)

    def merge(self, parts: Iterable[str], path: str) -> None:
        """Write the output from its parts, in order."""
        # Rows are sorted by no column, so smallest and greatest values would help no reader.
        with pq.ParquetWriter(
            path,
            _encoded_schema(),
            compression="zstd",
            store_schema=False,
            write_statistics=False,
        ) as out:
            out.add_key_value_metadata({MARK.decode(): "1"})
            for table in _grouped(batch for part in parts for batch in _read_part(part)):
                out.write_table(table, row_group_size=len(table))

    def is_ours(self, path: str) -> bool:
        """Whether an existing file was written by this tool."""
        try:
            return MARK in (pq.read_metadata(path).metadata or {})
        except (pa.ArrowException, OSError):
            return False


def _encoded_schema() -> pa.Schema:
    return pa.schema([field.with_type(_encoded_type(field.type)) for field in SCHEMA])


def _encoded_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_string(kind):
        return pa.dictionary(pa.int32(), kind)
    if pa.types.is_list(kind) and pa.types.is_string(kind.value_type):
        return pa.list_(pa.field("element", _encoded_type(kind.value_type)))
    return kind


def _read_part(path: str) -> Iterator[pa.RecordBatch]:
    with pa.memory_map(path) as source, pa.ipc.open_stream(source) as reader:
        yield from reader


def _grouped(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Batches as tables of the size of a row group."""
    kept: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        kept.append(batch)
        rows += len(batch)
        size += batch.nbytes
        if rows >= _GROUP_ROWS or size >= _GROUP_BYTES:
            yield pa.Table.from_batches(kept).unify_dictionaries()
            kept, rows, size = [], 0, 0
    if kept:
        yield pa.Table.from_batches(kept).unify_dictionaries()
