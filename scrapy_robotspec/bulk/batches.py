"""``verdicts``: from a batch of responses to a batch of verdicts.

The answers about a response are computed when a column asks for them.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property, lru_cache
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import pyarrow as pa

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
from scrapy_robotspec.protocol.extent import SITE, Extent, Rules
from scrapy_robotspec.protocol.file_kind import foreign_kind
from scrapy_robotspec.protocol.paths import ROBOTS_TXT, as_sent
from scrapy_robotspec.protocol.precedence import forbids
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.lines import RawRule

_Batch = TypeVar("_Batch", pa.RecordBatch, pa.Table)

_REMEDY = "pyarrow.Table.from_pandas(frame) or pyarrow.Table.from_pydict(columns) makes one"

#: Answers become batches when they have about this size (bytes). Every row repeats the lists of its
#: file and group, and a column holds 2 GiB.
_BYTES = 256 * 1024 * 1024
#: Size of a verdict besides the lists of the file (bytes), roughly.
_VERDICT = 500
#: Max length of the text of a line in the output (characters): each row and path repeats it.
MAX_TEXT = 2000
#: Max groups that are remembered, and max rules of each: thousands of files share a few.
_KNOWN = 4096
_MAX_KNOWN = 100
#: Rules that are tried first: mostly, one of them makes an exception.
_FEW = 8
#: Bytes of a value that may match ``/``.
_WIDE = b"/*$"


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


class _Rows:
    """The output rows about some documents."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions
        self._crawlers = [Crawlers(questions.tokens, each) for each in questions.editions]
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


# --- answers


class Answer(NamedTuple):
    """The verdict about a path."""

    allowed: bool | None
    """None: no rules were read, and the response decides nothing."""
    reason: str
    line: int | None = None
    """Number, from 1, of the line that decides."""
    rule: str | None = None
    """This line as written."""


#: The verdict about ``/robots.txt`` (PRE-04).
_ITSELF = Answer(True, "robots_txt_itself")


class FindingCounts(NamedTuple):
    """The numbers of findings of each severity."""

    error: int | None = None
    warning: int | None = None
    advice: int | None = None


class FileAnswers:
    """A response as an edition reads it."""

    def __init__(self, document: Document, edition: Edition, questions: Questions) -> None:
        self.document = document
        self.edition = edition
        self.questions = questions
        self.outcome = document.outcome(edition)
        self.robots: RobotsTxt | None = None  # where the response decides, not its body
        if self.outcome == "successful":
            self.robots = RobotsTxt.parse(document.body or b"", edition)

    def groups_of(
        self, crawlers: Crawlers
    ) -> tuple[Sequence[GroupAnswers | Unread], Sequence[int]]:
        """The groups that crawlers follow, and the index of each crawler's own."""
        robots = self.robots
        if robots is None:
            return [Unread(self)], [0] * len(crawlers.names)
        named = crawlers.named_by(robots.file)  # first: one index for all
        groups = [GroupAnswers(self, robots, crawlers.usual)]
        numbers = {groups[0].names: 0}
        places = [0] * len(crawlers.names)
        for at in named:
            group = GroupAnswers(self, robots, crawlers.names[at].asked)
            if group.names not in numbers:
                numbers[group.names] = len(groups)
                groups.append(group)
            places[at] = numbers[group.names]
        return groups, places

    @property
    def redirects(self) -> list[str] | None:
        """The URL that the response redirects to."""
        target = self.document.target
        return None if target is None else [target]

    @property
    def truncated(self) -> bool | None:
        """Whether the file is longer than the edition reads."""
        return None if self.robots is None else self.robots.truncated

    @property
    def sitemaps(self) -> Sequence[str] | None:
        """The absolute URLs of the sitemap lines."""
        return None if self.robots is None else self.robots.sitemaps

    @cached_property
    def findings(self) -> FindingCounts:
        """The numbers of the linter's findings, if they are asked for."""
        if self.robots is None or not self.questions.lint:
            return FindingCounts()
        found = Counter(finding.severity for finding in self.robots.lint())
        return FindingCounts(found["error"], found["warning"], found["advice"])


class GroupAnswers:
    """Statements of a file for the crawlers that follow the same groups."""

    def __init__(self, file: FileAnswers, robots: RobotsTxt, asked: tuple[str, ...]) -> None:
        self._file = file
        self._robots = robots
        self._asked = asked
        followed = robots.file.follow(asked)
        self.names = followed.names
        """The names of the groups as first written."""
        self._rules = followed.rules

    @cached_property
    def root(self) -> Answer:
        """The verdict about ``/``."""
        return self._answer("/")

    @property
    def paths(self) -> Sequence[tuple[Any, ...]]:
        """The verdicts about the other paths."""
        return [(path, *self._answer(path)) for path in self._file.questions.paths]

    @cached_property
    def _raw_rules(self) -> Sequence[RawRule]:
        return self._rules.rules

    def _answer(self, path: str) -> Answer:
        if self._file.questions.paths:
            self._rules.compile(self._raw_rules)
        verdict = self._robots.explain_served(as_sent(SITE + path), self._asked)
        if verdict.rule is None:
            return Answer(verdict.allowed, verdict.reason)
        return Answer(verdict.allowed, "rule", verdict.rule.line, verdict.rule.text[:MAX_TEXT])

    @property
    def extent(self) -> str:
        """How much of the site is open."""
        extent = extent_of(self._raw_rules, self._file.edition)
        if extent == "no rules":
            return "unreadable" if foreign_kind(self._robots.body) is not None else "allows all"
        return extent

    @property
    def delay(self) -> float | None:
        """The crawl delay in seconds (EXT-01)."""
        return self._robots.crawl_delay(self._asked)

    @property
    def usage(self) -> Sequence[tuple[str, str]] | None:
        """The usage preferences for ``/``, if that is allowed (USE-03)."""
        if not self.root.allowed:
            return None
        return sorted(self._robots.usage_rules(self._asked).find("/").preferences.items())


class Unread:
    """The answers for all crawlers where no rule was read."""

    names = delay = usage = None

    def __init__(self, file: FileAnswers) -> None:
        outcome = file.outcome
        failed = file.document.error is not None and outcome in ("unreachable", "revisit")
        self.extent = "unreadable" if failed else "no file"
        self.root = Answer(
            None if outcome in ("redirect", "revisit") else outcome == "unavailable", outcome
        )
        own = _ITSELF if file.edition.robots_txt_allowed else self.root
        self.paths = [
            (path, *(own if path == ROBOTS_TXT else self.root)) for path in file.questions.paths
        ]


# --- the class of rules


def extent_of(rules: Sequence[RawRule], edition: Edition) -> Extent:
    """How much of a site some rules leave open."""
    known = tuple((allow, value, 0) for allow, value, _ in rules)  # wherever they stand
    return (_extent_once if len(known) <= _MAX_KNOWN else _extent)(known, edition)


def _extent(rules: tuple[RawRule, ...], edition: Edition) -> Extent:
    # All that may allow a page or decide about the root is among them: if that is allowed and
    # they forbid a page, all rules do.
    few = [rule for rule in rules[_FEW:] if rule[0] or not rule[1].strip(_WIDE)]
    found = Rules([*rules[:_FEW], *few], edition)
    if found.extent == "some" and not forbids(found.root):
        return "some"
    return Rules(rules, edition).extent


_extent_once = lru_cache(_KNOWN)(_extent)
