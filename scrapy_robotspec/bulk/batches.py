"""``verdicts``: from a batch of responses to a batch of verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from scrapy_robotspec.bulk.answers import Answers
from scrapy_robotspec.bulk.columns import SCHEMA
from scrapy_robotspec.bulk.documents import MAX_BODY, MAX_STATUS, Document
from scrapy_robotspec.bulk.questions import Questions
from scrapy_robotspec.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.editions import Edition

_Batch = TypeVar("_Batch", pa.RecordBatch, pa.Table)

_REMEDY = "pyarrow.Table.from_pandas(frame) or pyarrow.Table.from_pydict(columns) makes one"
_INT = "an integer"
_TEXT = "text"
_BODY = "bytes or text"


def verdicts(
    batch: _Batch,
    *,
    tokens: str | Sequence[str],
    paths: str | Sequence[str] = (),
    editions: str | Edition | Sequence[str | Edition] = "google-2019",
    lint: bool = False,
) -> _Batch:
    """Verdicts for a batch of robots.txt responses.

    A pure function: the same rows whatever the process. ``batch`` is a ``pyarrow.RecordBatch`` or
    ``Table`` with the columns ``url`` (text) and ``body`` (bytes or text), and if known ``status``
    (HTTP status), ``location`` (target of a redirect), ``error`` (why a body is incomplete) and
    ``source``. Other columns are ignored. The result is of the same class and has the columns of
    ``SCHEMA``: for each row, edition and token one row, in this order.

    Raises ``ConfigurationError`` (a ``ValueError``) for wrong columns and questions, and for rows
    that no ``RecordBatch`` can hold; ``TypeError`` for a batch of another class.
    """
    if not isinstance(batch, pa.RecordBatch | pa.Table):
        given = type(batch).__name__
        raise TypeError(f"give a pyarrow.Table or RecordBatch, not {given}: {_REMEDY}")
    answers = Answers(Questions.of(tokens, paths, editions, lint))
    for document in documents(batch):
        answers.add(document)
    found = list(answers.batches())
    if isinstance(batch, pa.Table):
        return pa.Table.from_batches(found, schema=SCHEMA)
    return found[0] if len(found) == 1 else _joined(found)


def _joined(found: list[pa.RecordBatch]) -> pa.RecordBatch:
    try:
        return pa.concat_batches(found)
    except pa.ArrowInvalid as error:
        raise ConfigurationError(
            f"the verdicts of this RecordBatch have more text than a column can hold, 2 GiB: give a"
            f" pyarrow.Table or fewer files ({error})"
        ) from error


def documents(batch: pa.RecordBatch | pa.Table) -> Iterator[Document]:
    """The rows of a batch as documents. Raises ``ConfigurationError`` for wrong columns."""
    columns = (
        _column(batch, "url", _TEXT, needed=True),
        _column(batch, "body", _BODY, needed=True),
        _column(batch, "status", _INT),
        _column(batch, "location", _TEXT),
        _column(batch, "error", _TEXT),
        _column(batch, "source", _TEXT),
    )
    for url, body, status, *others in zip(*columns, strict=True):
        yield Document(url, as_body(body), _status(status), *others)


def _status(value: float | None) -> int | None:
    """A status; a float where a table with missing values has made one of it."""
    if value is None or value != value:  # NaN
        return None
    if not (0 <= value <= MAX_STATUS and value == int(value)):
        raise ConfigurationError(f"the column 'status' contains {value}: give an HTTP status")
    return int(value)


def as_body(value: bytes | str | None) -> bytes | None:
    """A body as bytes, at most ``MAX_BODY``; text is UTF-8."""
    if isinstance(value, str):
        value = value.encode("utf-8", "surrogatepass")
    return None if value is None else value[:MAX_BODY]


def _column(
    batch: pa.RecordBatch | pa.Table, name: str, wanted: str, *, needed: bool = False
) -> list[Any]:
    found = batch.schema.get_all_field_indices(name)
    if not found:
        if needed:
            names = ", ".join(batch.schema.names) or "none"
            raise ConfigurationError(
                f"the column {name!r} ({wanted}) is missing; the columns are: {names}"
            )
        return [None] * batch.num_rows
    if len(found) > 1:
        raise ConfigurationError(f"{len(found)} columns are named {name!r}: keep one")
    column = batch.column(found[0])
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not (_KINDS[wanted](kind) or pa.types.is_null(kind)):
        raise ConfigurationError(f"the column {name!r} must contain {wanted}, not {column.type}")
    values: list[Any] = column.to_pylist()
    return values


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _is_body(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(
        _is_text(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_binary_view(kind)
        or types.is_fixed_size_binary(kind)
    )


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


_KINDS = {_TEXT: _is_text, _BODY: _is_body, _INT: _is_number}
