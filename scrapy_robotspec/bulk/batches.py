"""``verdicts``: from a batch of responses to a batch of verdicts."""

from __future__ import annotations

from array import array
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
from pyarrow.compute import add, take

from scrapy_robotspec.bulk.columns import OF_CRAWLER, OF_FILE, OF_GROUP, SCHEMA
from scrapy_robotspec.bulk.crawlers import Crawlers
from scrapy_robotspec.bulk.documents import Document
from scrapy_robotspec.bulk.file_answers import FILE_VALUES, GROUP_VALUES, FileAnswers
from scrapy_robotspec.bulk.questions import Questions
from scrapy_robotspec.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from scrapy_robotspec.bulk.columns import Row

    #: Makes an array of the distinct values of a column.
    Shape = Callable[[pa.Field, Sequence[Any]], pa.Array]
    #: The values of a file, those of its groups, and for each crawler the index of its groups.
    _Answered = tuple[Row, Sequence[Row], array[int]]
    from scrapy_robotspec.editions import Edition

_Batch = TypeVar("_Batch", pa.RecordBatch, pa.Table)

_REMEDY = "pyarrow.Table.from_pandas(frame) or pyarrow.Table.from_pydict(columns) makes one"
_COLUMNS = ("url", "body", "status", "location", "error", "source")

#: Answers become batches when they have this number of rows, or their bodies or lists about this
#: size (bytes). Every row repeats the lists of its file and group, and a column holds 2 GiB.
_ROWS = 64 * 1024
_BYTES = 64 * 1024 * 1024
#: Size of a list's element besides its text (bytes), roughly.
_ELEMENT = 16


def to_array(field: pa.Field, values: Sequence[Any]) -> pa.Array:
    """The values of a column as the schema has them."""
    return pa.array(values, field.type)


def verdicts(
    batch: _Batch,
    *,
    tokens: str | Sequence[str],
    paths: str | Sequence[str] = (),
    editions: str | Edition | Sequence[str | Edition] = "google-2019",
    lint: bool = False,
    columns: str | Sequence[str] | None = None,
) -> _Batch:
    """Verdicts for a batch of robots.txt responses.

    A pure function: the same rows whatever the process. ``batch`` is a ``pyarrow.RecordBatch`` or
    ``Table`` with the columns ``url`` (text) and ``body`` (bytes or text), and if known ``status``
    (HTTP status), ``location`` (target of a redirect), ``error`` (why a body is incomplete) and
    ``source``. Other columns are ignored. The result is of the same class and has the columns of
    ``SCHEMA``, or those of them that ``columns`` names: for each row, edition and token one row,
    in this order.

    Raises ``ConfigurationError`` (a ``ValueError``) for wrong columns and questions, and for rows
    that no ``RecordBatch`` can hold; ``TypeError`` for a batch of another class.
    """
    if not isinstance(batch, pa.RecordBatch | pa.Table):
        given = type(batch).__name__
        raise TypeError(f"give a pyarrow.Table or RecordBatch, not {given}: {_REMEDY}")
    questions = Questions.of(tokens, paths, editions, lint, columns)
    schema = schema_of(questions)
    found: list[pa.RecordBatch] = list(answer(documents(batch), questions))
    if isinstance(batch, pa.Table):
        return pa.Table.from_batches(found, schema=schema)
    if len(found) == 1:
        return found[0]
    try:
        return pa.concat_batches([pa.RecordBatch.from_pylist([], schema=schema), *found])
    except pa.ArrowInvalid as error:
        raise ConfigurationError(
            f"the verdicts of this RecordBatch have more text than a column can hold, 2 GiB: give a"
            f" pyarrow.Table or fewer files ({error})"
        ) from error


def schema_of(questions: Questions, shape: Shape = to_array) -> pa.Schema:
    """The schema of the answers to some questions."""
    return pa.schema([(name, shape(SCHEMA.field(name), ()).type) for name in questions.columns])


def documents(batch: pa.RecordBatch | pa.Table) -> list[Document]:
    """The rows of a batch as documents.

    Raises ``ConfigurationError`` for missing columns and wrong values.
    """
    names = batch.schema.names
    for name in _COLUMNS:
        if names.count(name) > 1:
            raise ConfigurationError(f"{names.count(name)} columns are named {name!r}: keep one")
    if missing := [name for name in ("url", "body") if name not in names]:
        given = ", ".join(names) or "none"
        raise ConfigurationError(f"the column {missing[0]!r} is missing; the columns are: {given}")
    values = [
        batch.column(name).to_pylist() if name in names else [None] * len(batch)
        for name in _COLUMNS
    ]
    try:
        return [Document.of(*row) for row in zip(*values, strict=True)]
    except ValueError as error:
        raise ConfigurationError(str(error)) from error


def answer(
    documents: Iterable[Document], questions: Questions, shape: Shape = to_array
) -> Iterator[pa.RecordBatch]:
    """The output rows of some documents, in batches of bounded size."""
    rows = _Rows(questions)
    for document in documents:
        rows.add(document)
        if rows.is_full:
            yield from rows.batches(shape)
            rows = _Rows(questions)
    yield from rows.batches(shape)


@lru_cache(maxsize=32)
def _crawlers(questions: Questions) -> tuple[Crawlers, ...]:
    return tuple(Crawlers(questions.tokens, edition) for edition in questions.editions)


class _Rows:
    """The output rows about some documents."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions
        self._crawlers = _crawlers(questions)
        self._tokens = _Columns(OF_CRAWLER, questions)
        self._files = _Columns(OF_FILE, questions)
        self._groups = _Columns(OF_GROUP, questions)
        self._file_values = [attrgetter(FILE_VALUES[name]) for name in self._files.names]
        self._group_values = [attrgetter(GROUP_VALUES[name]) for name in self._groups.names]
        self._all_tokens = array("i", range(len(questions.tokens)))
        self._one_file = array("i", [0]) * len(questions.tokens)
        self._bodies = self._lists = self._widest = 0
        for crawlers in self._crawlers:
            for row in zip(questions.tokens, crawlers.product_tokens, strict=True):
                values = dict(zip(("token", "product_token"), row, strict=True))
                self._tokens.rows.append([values[name] for name in self._tokens.names])

    @property
    def is_full(self) -> bool:
        """Whether the rows are enough for some batches."""
        return len(self._files) >= _ROWS or max(self._bodies, self._lists) >= _BYTES

    def add(self, document: Document) -> None:
        """Answer the questions about a document."""
        document = document.encodable
        self._bodies += len(document.body or b"")
        for at, crawlers in enumerate(self._crawlers):
            edition = self._questions.editions[at]
            file, groups, places = self._answer(document, edition, crawlers)
            self._tokens.repeat(at * len(places), self._all_tokens)
            self._files.repeat(len(self._files.rows), self._one_file)
            self._groups.repeat(len(self._groups.rows), places)
            self._files.rows.append(file)
            self._groups.rows += groups
            size = max(self._files.size(file), *map(self._groups.size, groups))
            self._lists += size * len(places)
            self._widest = max(self._widest, size)

    def _answer(self, document: Document, edition: Edition, crawlers: Crawlers) -> _Answered:
        try:
            return self._values(FileAnswers(document, edition, crawlers, self._questions))
        except Exception as error:  # an error in one file is that file's row
            cause = f"{type(error).__name__}: {error}"
            failed = document._replace(body=None, status=None, error=f"cannot be read: {cause}")
            return self._values(FileAnswers(failed, edition, crawlers, self._questions))

    def _values(self, file: FileAnswers) -> _Answered:
        return (
            tuple([value(file) for value in self._file_values]),
            [tuple([value(group) for value in self._group_values]) for group in file.groups],
            file.places,
        )

    def batches(self, shape: Shape) -> Iterator[pa.RecordBatch]:
        """The rows in order, in batches of bounded size."""
        tables = (self._tokens, self._files, self._groups)
        parts = [(table.indices, table.arrays(shape)) for table in tables]
        step = len(self._files) or 1
        if self._lists > 2 * _BYTES:  # lists of one file
            step = max(1, _BYTES // self._widest)
        for start in range(0, len(self._files), step):
            columns = [
                _repeated(column, places)
                for indices, columns in parts
                for places in (indices[start : start + step],)
                for column in columns
            ]
            yield pa.RecordBatch.from_arrays(columns, names=self._questions.columns)


class _Columns:
    """Some columns: each distinct row once, and its index for each output row."""

    def __init__(self, fields: Sequence[pa.Field], questions: Questions) -> None:
        self._fields = [field for field in fields if field.name in questions.columns]
        self.names = [field.name for field in self._fields]
        long = ("sitemaps", "paths") if questions.paths else ("sitemaps",)
        self._long = [at for at, name in enumerate(self.names) if name in long]
        self.rows: list[Row] = []
        # For each output row the index of its row, as a sum:
        self._firsts, self._offsets = array("i"), array("i")

    def __len__(self) -> int:
        """The number of output rows."""
        return len(self._offsets)

    def size(self, row: Row) -> int:
        """Size of the long lists of a row (bytes), roughly."""
        return sum([_size(row[at]) for at in self._long])

    def repeat(self, first: int, places: array[int]) -> None:
        """Repeat the rows at some places behind the first one."""
        self._firsts += array("i", [first]) * len(places)
        self._offsets += places

    @property
    def indices(self) -> pa.Array:
        """The indices as an Arrow array."""
        firsts, offsets = (
            pa.Array.from_buffers(pa.int32(), len(each), [None, pa.py_buffer(each)])
            for each in (self._firsts, self._offsets)
        )
        return add(firsts, offsets)

    def arrays(self, shape: Shape) -> list[pa.Array]:
        """The rows as columns."""
        values = zip(*self.rows, strict=True) if self.rows else [()] * len(self._fields)
        return [shape(field, column) for column, field in zip(values, self._fields, strict=True)]


def _size(value: object) -> int:
    """Size of text, or of lists and tuples of it (bytes), roughly."""
    if isinstance(value, str):
        return len(value)
    return _ELEMENT + sum(map(_size, value)) if isinstance(value, list | tuple) else 0


def _repeated(column: pa.Array, places: pa.Array) -> pa.Array:
    """The values of a column at some places."""
    if column.null_count == len(column):  # as several columns mostly are
        return pa.nulls(len(places), column.type)
    return take(column, places, boundscheck=False)
