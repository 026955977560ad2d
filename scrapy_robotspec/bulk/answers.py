"""Collects the answers about documents, and makes Arrow batches of them."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow.compute import take

from scrapy_robotspec.bulk.columns import OF_CRAWLER, SCHEMA, SHARED
from scrapy_robotspec.bulk.file_rows import file_rows, prepare

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy_robotspec.bulk.documents import Document
    from scrapy_robotspec.bulk.file_rows import Row
    from scrapy_robotspec.bulk.questions import Questions

#: Max elements of the sitemap lists of one batch: every row of a file repeats its list.
_MAX_ELEMENTS = 4_000_000


class Answers:
    """The answers about some documents: each distinct row once, with its places."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions
        self._prepared = prepare(questions)
        self.rows: list[Row] = []
        self.places = array("i")  # for each output row the index of its distinct row
        self._longest = 1  # list of sitemaps
        self.documents = 0

    def __len__(self) -> int:
        """The number of output rows."""
        return len(self.places)

    def add(self, document: Document) -> None:
        """Answer the questions about a document."""
        self.documents += 1
        for edition, prepared in zip(self._questions.editions, self._prepared, strict=True):
            rows, places = file_rows(document, edition, prepared, self._questions)
            first = len(self.rows)
            self.rows += rows
            self.places.extend([first + place for place in places])
            self._longest = max(self._longest, len(rows[0][_SITEMAPS] or ()))

    def batches(self, *, encode: bool = False) -> Iterator[pa.RecordBatch]:
        """The output rows in order, in batches of bounded size.

        ``encode``: repeated text is stored once (dictionary-encoded), for writing to a file.
        """
        columns = [*self._repeated_crawlers(), *self._shared()]
        if encode:
            columns = [_encoded(column) for column in columns]
        crawlers, shared = columns[: len(OF_CRAWLER)], columns[len(OF_CRAWLER) :]
        places = pa.Array.from_buffers(pa.int32(), len(self), [None, pa.py_buffer(self.places)])
        step = max(1, _MAX_ELEMENTS // self._longest)
        for start in range(0, max(1, len(self)), step):
            some = places.slice(start, step)
            of_crawlers = [column.slice(start, step) for column in crawlers]
            yield pa.RecordBatch.from_arrays(
                [*of_crawlers, *(take(column, some, boundscheck=False) for column in shared)],
                names=SCHEMA.names,
            )

    def _repeated_crawlers(self) -> list[pa.Array]:
        columns = [pa.array(column, pa.string()) for column in zip(*self.crawlers(), strict=True)]
        return [pa.concat_arrays([column[:0], *[column] * self.documents]) for column in columns]

    def _shared(self) -> list[pa.Array]:
        columns: Sequence[Sequence[Any]] = list(zip(*self.rows, strict=True)) or [()] * len(SHARED)
        return [pa.array(column, field.type) for column, field in zip(columns, SHARED, strict=True)]

    def crawlers(self) -> list[tuple[str, str | None]]:
        """The values of the crawlers' columns, for each edition in order."""
        return [
            (token, product_token)
            for prepared in self._prepared
            for token, product_token in zip(
                self._questions.tokens, prepared.crawlers.product_tokens, strict=True
            )
        ]


_SITEMAPS = [field.name for field in SHARED].index("sitemaps")


def _encoded(column: pa.Array) -> pa.Array:
    """A column of text, or of lists of text, with each text once."""
    if pa.types.is_string(column.type):
        return column.dictionary_encode()
    if pa.types.is_list(column.type) and pa.types.is_string(column.type.value_type):
        values = column.values.dictionary_encode()
        return pa.ListArray.from_arrays(column.offsets, values, mask=column.is_null())
    return column
