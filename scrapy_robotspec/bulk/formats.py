"""The formats of the output."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Iterable

#: A cell that begins so is a formula to spreadsheets.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


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
    options = pa_csv.WriteOptions(quoting_style="needed")
    nested = [pa.types.is_nested(kind) for kind in schema.types]
    kinds = [pa.string() if each else kind for each, kind in zip(nested, schema.types, strict=True)]
    cells = pa.schema(zip(schema.names, kinds, strict=True))
    rows = (
        pa.RecordBatch.from_arrays([_cells(column) for column in batch], schema=cells)
        for batch in batches
    )
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
        texts = column.to_pylist()
        return pa.array(
            [f"'{text}" if text and text.startswith(_FORMULA) else text for text in texts],
            pa.string(),
        )
    return column


def _json(kind: pa.DataType, value: Any) -> str | None:
    if value is not None and pa.types.is_map(kind):
        value = dict(value)
    return None if value is None else json.dumps(value, ensure_ascii=False)


#: The formats by the ending of an output's name.
FORMATS = {"parquet": write_parquet, "csv": write_csv}
