"""The formats of the output."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from pyarrow.compute import replace_substring_regex

if TYPE_CHECKING:
    from collections.abc import Iterable

#: The first character of a cell that is a formula to spreadsheets.
_FORMULA = r"\A([=+\-@\t\r])"


def write_parquet(path: str, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> int:
    """Write batches to a file; the number of their rows."""
    # Rows are sorted by no column, so smallest and greatest values would help no reader.
    with pq.ParquetWriter(
        path, schema, compression="zstd", store_schema=False, write_statistics=False
    ) as out:
        return _write_all(out, batches)


def write_csv(path: str, batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> int:
    """Write batches to a file; the number of their rows.

    Lists and objects are JSON, and no cell is a formula.
    """
    empty = [_cells(pa.nulls(0, kind)) for kind in schema.types]
    cells = pa.RecordBatch.from_arrays(empty, schema.names).schema
    rows = (
        pa.RecordBatch.from_arrays([_cells(column) for column in batch], schema=cells)
        for batch in batches
    )
    options = pa_csv.WriteOptions(quoting_style="needed")
    with pa_csv.CSVWriter(path, cells, write_options=options) as out:
        return _write_all(out, rows)


def _write_all(out: Any, batches: Iterable[pa.RecordBatch]) -> int:
    rows = 0
    for batch in batches:
        out.write_batch(batch)
        rows += len(batch)
    return rows


def _cells(column: pa.Array) -> pa.Array:
    if pa.types.is_nested(column.type):
        return pa.array([_json(column.type, value) for value in column.to_pylist()], pa.string())
    if pa.types.is_string(column.type):
        return replace_substring_regex(column, _FORMULA, r"'\1")
    return column


def _json(kind: pa.DataType, value: Any) -> str | None:
    if value is not None and pa.types.is_map(kind):
        value = dict(value)
    return None if value is None else json.dumps(value, ensure_ascii=False)


#: The formats by the ending of an output's name.
FORMATS = {"parquet": write_parquet, "csv": write_csv}
