"""Verdicts for many robots.txt files, as Arrow batches (extra ``bulk``).

:func:`verdicts` is a pure function of a batch, for one process or a distributed engine.
:func:`documents` reads an archive or a table. ``robotspec bulk`` does both for many files.
"""

from __future__ import annotations

try:
    import fastwarc  # noqa: F401
    import pyarrow  # noqa: F401  # everything here needs them
except ImportError as error:
    raise ImportError(
        "scrapy_robotspec.bulk needs pyarrow and FastWARC: pip install 'scrapy-robotspec[bulk]'"
    ) from error

from scrapy_robotspec.bulk.batches import verdicts
from scrapy_robotspec.bulk.documents import Document
from scrapy_robotspec.bulk.inputs import documents
from scrapy_robotspec.bulk.questions import SCHEMA, Questions

__all__ = ["SCHEMA", "Document", "Questions", "documents", "verdicts"]
