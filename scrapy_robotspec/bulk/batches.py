"""``verdicts``: from a batch of responses to a batch of verdicts."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from scrapy_robotspec.bulk.answers import FileAnswers
from scrapy_robotspec.bulk.documents import Document, Report, known_columns, rows_of
from scrapy_robotspec.bulk.questions import (
    OF_CRAWLER,
    OF_FILE,
    OF_GROUP,
    Column,
    Crawlers,
    Questions,
)
from scrapy_robotspec.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from scrapy_robotspec.editions import Edition

_Batch = TypeVar("_Batch", pa.RecordBatch, pa.Table)

_REMEDY = "pyarrow.Table.from_pandas(frame) or pyarrow.Table.from_pydict(columns) makes one"

#: Answers become batches when they have about this size (bytes). Every row repeats the lists of its
#: file and group, and a column holds 2 GiB.
_BYTES = 256 * 1024 * 1024
#: Size of a verdict besides the lists of the file (bytes), roughly.
_VERDICT = 500


def verdicts(
    batch: _Batch,
    *,
    tokens: str | Sequence[str],
    paths: str | Sequence[str] = (),
    editions: str | Edition | Sequence[str | Edition] = "google-2019",
    lint: bool = False,
    columns: str | Sequence[str] | None = None,
    report: Report | None = None,
) -> _Batch:
    """Verdicts for a batch of robots.txt responses.

    A pure function: the same rows whatever the process. ``batch`` is a ``pyarrow.RecordBatch`` or
    ``Table`` with the columns ``url`` (text) and ``body`` (bytes or text), and if known ``status``
    (HTTP status), ``location`` (target of a redirect), ``error`` (why a body is incomplete) and
    ``source``. Other columns are ignored. The result is of the same class and has the columns of
    ``SCHEMA``, or those of them that ``columns`` names: for each row, edition and token one row,
    in this order. ``report`` is called with a line of text about each row that cannot be read, for
    which the result has no row; without it such a row raises.

    Raises ``ConfigurationError`` (a ``ValueError``) for wrong columns and questions;
    ``pyarrow.ArrowInvalid`` for rows that no ``RecordBatch`` can hold; ``TypeError`` for a batch of
    another class.
    """
    if not isinstance(batch, pa.RecordBatch | pa.Table):
        raise TypeError(
            f"give a pyarrow.Table or RecordBatch, not {type(batch).__name__}: {_REMEDY}"
        )
    questions = Questions.of(tokens, paths, editions, lint, columns)
    known = batch.select(known_columns(batch.schema))
    documents = _documents(known, report)
    found: list[pa.RecordBatch] = list(answer(documents, questions))
    if isinstance(batch, pa.Table):
        return pa.Table.from_batches(found)
    if len(found) == 1:
        return found[0]  # not copied
    return pa.concat_batches(found)


def _documents(batch: pa.RecordBatch | pa.Table, report: Report | None) -> Iterator[Document]:
    batches = batch.to_batches() if isinstance(batch, pa.Table) else [batch]
    rows = chain.from_iterable(map(rows_of, batches))
    for number, row in enumerate(rows, 1):
        try:
            yield Document.of(**row)
        except ValueError as error:  # noqa: PERF203  # the other rows are answered
            problem = f"row {number}: {error}"
            if report is None:
                raise ConfigurationError(problem) from error
            report(f"{problem}, skipped")


def answer(documents: Iterable[Document], questions: Questions) -> Iterator[pa.RecordBatch]:
    """The output rows of some documents, in batches of bounded size."""
    rows = _Rows(questions)
    fixed = _VERDICT * (1 + len(questions.paths))
    for document in documents:
        size = questions.rows * (fixed + len(document.body or b""))
        if rows.size and rows.size + size > _BYTES:
            yield from rows.batches()
            rows = _Rows(questions)
        rows.add(document)
        rows.size += size
    yield from rows.batches()


@lru_cache(maxsize=32)  # an engine asks the same about each batch
def _crawlers(questions: Questions) -> Sequence[Crawlers]:
    return [Crawlers(questions.tokens, edition) for edition in questions.editions]


class _Rows:
    """The output rows about some documents."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions
        self._crawlers = _crawlers(questions)
        self._names = _Values(OF_CRAWLER, questions)
        names = [name for crawlers in self._crawlers for name in crawlers.names]
        self._names.add(self._names.of(names), ())
        self._each_name = range(len(names))
        self._files = _Values(OF_FILE, questions)
        self._groups = _Values(OF_GROUP, questions)
        #: Size of the rows (bytes), roughly.
        self.size = 0

    def add(self, document: Document) -> None:
        """Answer the questions about a document."""
        document = document.encodable
        self._names.places += self._each_name
        for crawlers in self._crawlers:
            try:
                self._try(document, crawlers)
            except Exception as error:  # noqa: PERF203  # it is the row of that file
                cause = f"cannot be read: {type(error).__name__}: {error}"
                self._try(document._replace(body=None, status=None, error=cause), crawlers)

    def _try(self, document: Document, crawlers: Crawlers) -> None:
        file = FileAnswers(document, crawlers.edition, self._questions)
        of_file = self._files.of([file])
        groups, places = file.groups_of(crawlers) if self._groups.columns else ([], [])
        of_groups = self._groups.of(groups)
        # Nothing is kept of a file that fails above.
        self._files.add(of_file, [0] * len(crawlers.names))
        self._groups.add(of_groups, places)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows in batches of bounded size; an empty one for none."""
        parts = [each.arrays() for each in (self._names, self._files, self._groups)]
        rows = len(self._files.places)
        step = max(1, rows * _BYTES // max(self.size, _BYTES))  # several for one large file
        for start in range(0, max(rows, 1), step):
            columns = [
                column.take(places[start : start + step])
                for columns, places in parts
                for column in columns
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=self._questions.schema)


class _Values:
    """Some columns: each distinct row once, and its index for each output row."""

    def __init__(self, columns: Mapping[str, Column], questions: Questions) -> None:
        self.columns = [columns[name] for name in columns if name in questions.columns]
        self._getters = [attrgetter(attribute) for _, attribute in self.columns]
        self._rows: list[tuple[Any, ...]] = []
        self.places: list[int] = []

    def of(self, things: Iterable[Any]) -> list[tuple[Any, ...]]:
        """The values of some things."""
        return [tuple([value(each) for value in self._getters]) for each in things]

    def add(self, rows: Sequence[tuple[Any, ...]], places: Iterable[int]) -> None:
        """Add distinct rows, and the index of each output row among them."""
        first = len(self._rows)
        self._rows += rows
        self.places += [first + place for place in places]

    def arrays(self) -> tuple[list[pa.Array], pa.Array]:
        """The columns of the distinct rows, and the indices."""
        values = zip(*self._rows, strict=True) if self._rows else [()] * len(self.columns)
        pairs = zip(values, self.columns, strict=True)
        return [pa.array(each, kind) for each, (kind, _) in pairs], pa.array(
            self.places, pa.int32()
        )
