"""The columns of the output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

#: Values of some columns, in their order.
Row = Sequence[Any]

_TEXTS = pa.list_(pa.string())

#: One element for each path that was asked about.
PATH_VERDICT = pa.struct(
    [
        pa.field("path", pa.string()),
        pa.field("allowed", pa.bool_()),
        pa.field("reason", pa.string()),
        pa.field("line", pa.int32()),
        pa.field("rule", pa.string()),
    ]
)

#: Columns with one value for each crawler.
OF_CRAWLER = (pa.field("token", pa.string()), pa.field("product_token", pa.string()))

#: Columns with one value for each file in an edition.
OF_FILE = (
    pa.field("origin", pa.string()),
    pa.field("url", pa.string()),
    pa.field("source", pa.string()),
    pa.field("status", pa.int32()),
    pa.field("outcome", pa.string()),
    pa.field("redirects", _TEXTS),
    pa.field("error", pa.string()),
    pa.field("bytes", pa.int64()),
    pa.field("sha256", pa.string()),
    pa.field("truncated", pa.bool_()),
    pa.field("sitemaps", _TEXTS),
    pa.field("edition", pa.string()),
    pa.field("lint_errors", pa.int32()),
    pa.field("lint_warnings", pa.int32()),
    pa.field("lint_advice", pa.int32()),
)

#: Columns with one value for all crawlers that follow the same groups.
OF_GROUP = (
    pa.field("group", _TEXTS),
    pa.field("class", pa.string()),
    pa.field("allowed", pa.bool_()),
    pa.field("reason", pa.string()),
    pa.field("line", pa.int32()),
    pa.field("rule", pa.string()),
    pa.field("paths", pa.list_(PATH_VERDICT)),
    pa.field("crawl_delay", pa.float64()),
    pa.field("usage", pa.map_(pa.string(), pa.string())),
)

#: The columns of the output, in order; docs/bulk.md describes each.
SCHEMA = pa.schema([*OF_CRAWLER, *OF_FILE, *OF_GROUP])
