"""The columns of the output: their types, and where their values are."""

from __future__ import annotations

import pyarrow as pa

_TEXT, _TEXTS, _INTEGER, _FLAG = pa.string(), pa.list_(pa.string()), pa.int32(), pa.bool_()
_VERDICT = {"allowed": _FLAG, "reason": _TEXT, "line": _INTEGER, "rule": _TEXT}

#: A type, and the attribute that is the value.
Column = tuple[pa.DataType, str]

#: Columns with one value for each crawler: of a ``Name``.
OF_CRAWLER: dict[str, Column] = {
    "token": (_TEXT, "given"),
    "product_token": (_TEXT, "product_token"),
}
#: Columns with one value for each file in an edition: of a ``File``.
OF_FILE: dict[str, Column] = {
    "origin": (_TEXT, "document.origin"),
    "url": (_TEXT, "document.url"),
    "source": (_TEXT, "document.source"),
    "status": (_INTEGER, "document.status"),
    "outcome": (_TEXT, "outcome"),
    "redirects": (_TEXTS, "redirects"),
    "error": (_TEXT, "document.error"),
    "bytes": (pa.int64(), "size"),
    "sha256": (_TEXT, "sha256"),
    "truncated": (_FLAG, "truncated"),
    "sitemaps": (_TEXTS, "sitemaps"),
    "edition": (_TEXT, "edition.name"),
    "lint_errors": (_INTEGER, "findings.error"),
    "lint_warnings": (_INTEGER, "findings.warning"),
    "lint_advice": (_INTEGER, "findings.advice"),
}
#: Columns with one value for all crawlers that follow the same groups: of a ``Group``.
OF_GROUP: dict[str, Column] = {
    "group": (_TEXTS, "names"),
    "class": (_TEXT, "rules.extent"),
    "allowed": (_FLAG, "rules.allowed"),
    "reason": (_TEXT, "rules.root.reason"),
    "line": (_INTEGER, "rules.root.line"),
    "rule": (_TEXT, "rules.root.rule"),
    "paths": (pa.list_(pa.struct({"path": _TEXT, **_VERDICT})), "rules.paths"),
    "crawl_delay": (pa.float64(), "delay"),
    "usage": (pa.map_(_TEXT, _TEXT), "usage"),
}
COLUMNS = {**OF_CRAWLER, **OF_FILE, **OF_GROUP}
#: The columns of the output, in order; docs/bulk.md describes each.
SCHEMA = pa.schema([(name, kind) for name, (kind, _) in COLUMNS.items()])
