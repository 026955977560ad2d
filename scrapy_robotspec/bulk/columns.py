"""The columns of the output: their types, and how each is computed."""

from __future__ import annotations

from hashlib import sha256
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_robotspec.bulk.files import File

_TEXTS = pa.list_(pa.string())
_VERDICT = {
    "allowed": pa.bool_(),
    "reason": pa.string(),
    "line": pa.int32(),
    "rule": pa.string(),
}


class Column(NamedTuple):
    """A column of the output."""

    type: pa.DataType
    value: Callable[[Any], Any]


def _redirects(file: File) -> list[str] | None:
    target = file.document.target
    return None if target is None else [target]


def _sha256(file: File) -> str | None:
    body = file.document.body
    return None if body is None else sha256(body).hexdigest()


#: Columns with one value for each crawler: computed of its name and its product token.
OF_CRAWLER = {
    "token": Column(pa.string(), itemgetter(0)),
    "product_token": Column(pa.string(), itemgetter(1)),
}
#: Columns with one value for each file in an edition: computed of a ``File``.
OF_FILE = {
    "origin": Column(pa.string(), attrgetter("document.origin")),
    "url": Column(pa.string(), attrgetter("document.url")),
    "source": Column(pa.string(), attrgetter("document.source")),
    "status": Column(pa.int32(), attrgetter("document.status")),
    "outcome": Column(pa.string(), attrgetter("outcome")),
    "redirects": Column(_TEXTS, _redirects),
    "error": Column(pa.string(), attrgetter("document.error")),
    "bytes": Column(
        pa.int64(), lambda file: None if file.document.body is None else len(file.document.body)
    ),
    "sha256": Column(pa.string(), _sha256),
    "truncated": Column(pa.bool_(), lambda file: file.robots and file.robots.truncated),
    "sitemaps": Column(_TEXTS, lambda file: file.robots and file.robots.sitemaps),
    "edition": Column(pa.string(), attrgetter("edition.name")),
    "lint_errors": Column(pa.int32(), lambda file: file.findings.get("error")),
    "lint_warnings": Column(pa.int32(), lambda file: file.findings.get("warning")),
    "lint_advice": Column(pa.int32(), lambda file: file.findings.get("advice")),
}
#: Columns with one value for all crawlers that follow the same groups: computed of a ``Group``.
OF_GROUP = {
    "group": Column(_TEXTS, attrgetter("names")),
    "class": Column(pa.string(), attrgetter("rules.extent")),
    "allowed": Column(pa.bool_(), attrgetter("rules.allowed")),
    "reason": Column(pa.string(), attrgetter("rules.root.reason")),
    "line": Column(pa.int32(), attrgetter("rules.root.line")),
    "rule": Column(pa.string(), attrgetter("rules.root.rule")),
    "paths": Column(
        pa.list_(pa.struct({"path": pa.string(), **_VERDICT})), attrgetter("rules.paths")
    ),
    "crawl_delay": Column(pa.float64(), attrgetter("delay")),
    "usage": Column(pa.map_(pa.string(), pa.string()), attrgetter("usage")),
}
COLUMNS = {**OF_CRAWLER, **OF_FILE, **OF_GROUP}
#: The columns of the output, in order; docs/bulk.md describes each.
SCHEMA = pa.schema([(name, column.type) for name, column in COLUMNS.items()])
