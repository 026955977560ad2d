"""Files and questions of the tests of bulk verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from scrapy_robotspec import bulk
from tests.unit.protocol import strategies as structures
from tests.unit.protocol.property import strategies

SHOP = b"""\
Sitemap: https://shop.example/sitemap.xml
User-agent: GPTBot
User-agent: CCBot
Crawl-delay: 7
Disallow: /

User-agent: *
Disallow: /cart/
Allow: /cart/help
Content-Usage: train-ai=n
"""

NAMES = ["a", "b", "a-b-c", "foo", "foo-bar", "FOO", "bar", "qux", "*", "MJ12bot", "360Spider"]

PATHS = ["/a", "/ab", "/a/b?a=b", "/robots.txt", "/%41%2a$", "/é"]

#: Bodies whose line ends are bytes, not the text ``\\n``, which is refused.
files = st.one_of(structures.bodies, strategies.wild_bodies).filter(lambda body: b"\\" not in body)


def batch(**columns: Any) -> pa.RecordBatch:
    """A batch of these columns."""
    return pa.RecordBatch.from_pydict(columns)


def rows(body: bytes | None, tokens: str | Sequence[str] = "GPTBot", **values: Any) -> list[Any]:
    """The rows about one response."""
    options = {name: values.pop(name) for name in ("paths", "editions", "lint") if name in values}
    columns = {name: [value] for name, value in values.items()}
    url = columns.pop("url", ["https://shop.example/robots.txt"])
    found = bulk.verdicts(batch(url=url, body=[body], **columns), tokens=tokens, **options)
    answers: list[Any] = found.to_pylist()
    return answers
