"""The formats of the output."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from scrapy_robotspec.bulk.batches import to_array

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from scrapy_robotspec.bulk.batches import Shape

#: A cell that begins so is a formula to spreadsheets.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class Format(NamedTuple):
    """A format of the output."""

    shape: Shape
    write: Callable[[str, Iterable[pa.RecordBatch], pa.Schema], int]
    """Writes batches to a file; the number of their rows."""


def _write_parquet(path: str, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> int:
    # Rows are sorted by no column, so smallest and greatest values would help no reader.
    with pq.ParquetWriter(
        path, schema, compression="zstd", store_schema=False, write_statistics=False
    ) as out:
        return _write_all(out, batches)


def _write_csv(path: str, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> int:
    options = pa_csv.WriteOptions(quoting_style="needed")
    with pa_csv.CSVWriter(path, schema, write_options=options) as out:
        return _write_all(out, batches)


def _write_all(out: Any, batches: Iterable[pa.RecordBatch]) -> int:
    rows = 0
    for batch in batches:
        out.write_batch(batch)
        rows += len(batch)
    return rows


def _each_text_once(field: pa.Field, values: Sequence[Any]) -> pa.Array:
    """A column for Parquet: repeated text is stored once (dictionary-encoded)."""
    column = to_array(field, values)
    return column.dictionary_encode() if pa.types.is_string(field.type) else column


def _cells(field: pa.Field, values: Sequence[Any]) -> pa.Array:
    """A column for CSV: lists and objects are JSON, and no cell is a formula."""
    if pa.types.is_nested(field.type):
        return pa.array([_json(field.type, value) for value in values], pa.string())
    if pa.types.is_string(field.type):
        values = [f"'{text}" if text and text.startswith(_FORMULA) else text for text in values]
    return to_array(field, values)


def _json(kind: pa.DataType, value: Any) -> str | None:
    if value is not None and pa.types.is_map(kind):
        value = dict(value)
    elif value is not None and pa.types.is_struct(kind.value_type):
        names = [field.name for field in kind.value_type]
        value = [dict(zip(names, each, strict=True)) for each in value]
    return None if value is None else json.dumps(value, ensure_ascii=False)


#: The formats by the ending of an output's name.
FORMATS = {
    "parquet": Format(_each_text_once, _write_parquet),
    "csv": Format(_cells, _write_csv),
}
