"""The values of one document: those of its file and its groups."""

from __future__ import annotations

from array import array
from collections import Counter
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.bulk.crawlers import Crawlers
from scrapy_robotspec.bulk.file_rules import ROBOTS_TXT_ITSELF, FileRules, PathAnswer
from scrapy_robotspec.bulk.rule_answers import RuleAnswers
from scrapy_robotspec.protocol.paths import ROBOTS_TXT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.bulk.columns import Row
    from scrapy_robotspec.bulk.documents import Document, OutcomeName
    from scrapy_robotspec.bulk.questions import Questions
    from scrapy_robotspec.editions import Edition

_NO_LINT = (None, None, None)


class Prepared(NamedTuple):
    """Values that the questions of a run need in one edition."""

    crawlers: Crawlers
    answers: RuleAnswers


@lru_cache(maxsize=32)
def prepare(questions: Questions) -> tuple[Prepared, ...]:
    """For each edition of a run what its questions need."""
    return tuple(
        Prepared(Crawlers(questions.tokens, edition), RuleAnswers(questions.paths, edition))
        for edition in questions.editions
    )


class FileRows(NamedTuple):
    """The answers about a document in one edition."""

    file: Row
    """Values of ``columns.OF_FILE``."""
    groups: Sequence[Row]
    """Values of ``columns.OF_GROUP``."""
    places: array[int]
    """For each crawler the index of its groups."""


def file_rows(
    document: Document, edition: Edition, prepared: Prepared, questions: Questions
) -> FileRows:
    """The answers about a document in one edition."""
    outcome = document.outcome(edition)
    response = _response(document, outcome)
    if outcome != "successful":
        unread = (*response, None, None, edition.name, *_NO_LINT)
        row = _row_without_rules(document, outcome, edition, questions)
        return FileRows(unread, (row,), array("i", [0]) * len(questions.tokens))
    file = FileRules(document.body or b"", edition, prepared.answers)
    lint = _lint_counts(file) if questions.lint else _NO_LINT
    row = (*response, file.robots.truncated, file.sitemaps, edition.name, *lint)
    assigned = prepared.crawlers.assign(file.agents)
    groups = list(file.rows(assigned.followed, questions.paths))
    return FileRows(row, groups, assigned.places)


def _response(document: Document, outcome: OutcomeName) -> Row:
    body = document.body
    return (
        document.origin,
        _valid(document.url),
        _valid(document.source),
        document.status,
        outcome,
        [_valid(url) for url in document.redirects] or None,
        _valid(document.error),
        None if body is None else len(body),
        None if body is None else sha256(body).hexdigest(),
    )


def _valid(text: str | None) -> str | None:
    """Text without lone surrogates, which names of files and JSON can contain."""
    if text is None or text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode()


def _lint_counts(file: FileRules) -> tuple[int, int, int]:
    found = Counter(finding.severity for finding in file.robots.lint())
    return found["error"], found["warning"], found["advice"]


def _row_without_rules(
    document: Document, outcome: OutcomeName, edition: Edition, questions: Questions
) -> Row:
    """The values of the group where no rule was read."""
    # A redirect decides nothing by itself.
    allowed = None if outcome == "redirect" else outcome == "unavailable"
    verdict = PathAnswer(allowed, outcome)
    paths = [
        (
            path,
            *(ROBOTS_TXT_ITSELF if path == ROBOTS_TXT and edition.robots_txt_allowed else verdict),
        )
        for path in questions.paths
    ]
    kind = "unreadable" if document.error is not None and outcome == "unreachable" else "no file"
    return (None, kind, *verdict, paths, None, None)
