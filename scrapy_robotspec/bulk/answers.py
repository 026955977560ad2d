"""Collects the answers about documents, and makes Arrow batches of them."""

from __future__ import annotations

from array import array
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow.compute import add, take

from scrapy_robotspec.bulk.columns import OF_FILE, OF_GROUP, SCHEMA
from scrapy_robotspec.bulk.file_rows import file_rows, prepare

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.bulk.columns import Row
    from scrapy_robotspec.bulk.documents import Document
    from scrapy_robotspec.bulk.questions import Questions

#: Max size of the rows of one batch (bytes), roughly: every row repeats the lists of its file and
#: group, and a column holds at most 2 GiB of text.
_MAX_BATCH = 64 * 1024 * 1024
#: Size of a row without lists, and of a list's element besides its text (bytes), roughly.
_ROW = 256
_ELEMENT = 16


class Answers:
    """The answers about some documents: each distinct value once, with its places."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions
        self._prepared = prepare(questions)
        self.files: list[Row] = []  # for each document and edition
        self.groups: list[Row] = []
        #: For each output row the index of its file.
        self.file_places = array("i")
        # The index of the file's first groups, and how far behind them the row's own groups are:
        self._first_groups = array("i")
        self._group_offsets = array("i")
        self._starts = [0]  # the first output row of each batch
        self._room = _MAX_BATCH  # of the last batch (bytes)
        self.documents = 0
        #: Size of what is held (bytes), roughly.
        self.size = 0

    def __len__(self) -> int:
        """The number of output rows."""
        return len(self.file_places)

    def add(self, document: Document) -> None:
        """Answer the questions about a document."""
        self.documents += 1
        self.size += len(document.body or b"")
        for edition, prepared in zip(self._questions.editions, self._prepared, strict=True):
            file, groups, places = file_rows(document, edition, prepared, self._questions)
            self.file_places += array("i", [len(self.files)]) * len(places)
            self._first_groups += array("i", [len(self.groups)]) * len(places)
            self._group_offsets += places
            self.files.append(file)
            self.groups += groups
            sizes = [_size(group[_PATHS]) for group in groups] if self._questions.paths else ()
            self.size += sum(sizes)
            self._divide(len(places), max(_ROW, _size(file[_SITEMAPS]), *sizes))

    def _divide(self, rows: int, size: int) -> None:
        """Divide the last rows, each of some size, into batches."""
        end = len(self)
        while rows:
            fitting = self._room // size
            if not fitting and self._room < _MAX_BATCH:
                self._starts.append(end - rows)
                self._room = _MAX_BATCH
                continue
            some = min(rows, fitting or 1)
            rows -= some
            self._room -= min(self._room, some * size)

    @property
    def group_places(self) -> pa.Int32Array:
        """For each output row the index of its groups."""
        return add(_indices(self._first_groups), _indices(self._group_offsets))

    def batches(self, *, encode: bool = False) -> Iterator[pa.RecordBatch]:
        """The output rows in order, in batches of bounded size.

        ``encode``: repeated text is stored once (dictionary-encoded), for writing to a file.
        """
        crawlers = self._repeated_crawlers()
        files, groups = _columns(self.files, OF_FILE), _columns(self.groups, OF_GROUP)
        if encode:
            crawlers, files, groups = (
                [_encoded(column) for column in columns] for columns in (crawlers, files, groups)
            )
        file_places, group_places = _indices(self.file_places), self.group_places
        for start, end in pairwise([*self._starts, len(self)]):
            some = slice(start, end)
            columns = [column[some] for column in crawlers]
            columns += [_repeated(column, file_places[some]) for column in files]
            columns += [_repeated(column, group_places[some]) for column in groups]
            if encode:
                yield pa.RecordBatch.from_arrays(columns, names=SCHEMA.names)
            else:
                yield pa.RecordBatch.from_arrays(columns, schema=SCHEMA)

    def _repeated_crawlers(self) -> list[pa.Array]:
        columns = [pa.array(column, pa.string()) for column in zip(*self.crawlers(), strict=True)]
        return [pa.concat_arrays([column[:0], *[column] * self.documents]) for column in columns]

    def crawlers(self) -> list[tuple[str, str | None]]:
        """The values of the crawlers' columns, for each edition in order."""
        return [
            (token, product_token)
            for prepared in self._prepared
            for token, product_token in zip(
                self._questions.tokens, prepared.crawlers.product_tokens, strict=True
            )
        ]


_SITEMAPS = [field.name for field in OF_FILE].index("sitemaps")
_PATHS = [field.name for field in OF_GROUP].index("paths")


def _size(value: object) -> int:
    """Size of text, or of lists and tuples of it (bytes), roughly."""
    if isinstance(value, str):
        return len(value)
    return _ELEMENT + sum(map(_size, value)) if isinstance(value, list | tuple) else 0


def _columns(rows: Sequence[Row], fields: Sequence[pa.Field]) -> list[pa.Array]:
    columns: Sequence[Sequence[Any]] = list(zip(*rows, strict=True)) or [()] * len(fields)
    return [pa.array(column, field.type) for column, field in zip(columns, fields, strict=True)]


def _indices(places: array[int]) -> pa.Array:
    return pa.Array.from_buffers(pa.int32(), len(places), [None, pa.py_buffer(places)])


def _repeated(column: pa.Array, places: pa.Array) -> pa.Array:
    """The values of a column at some places."""
    if column.null_count == len(column):  # as several columns mostly are
        return pa.nulls(len(places), column.type)
    return take(column, places, boundscheck=False)


def _encoded(column: pa.Array) -> pa.Array:
    """A column of text, or of lists of text, with each text once."""
    if pa.types.is_string(column.type):
        return column.dictionary_encode()
    if pa.types.is_list(column.type) and pa.types.is_string(column.type.value_type):
        values = column.values.dictionary_encode()
        return pa.ListArray.from_arrays(column.offsets, values, mask=column.is_null())
    return column
