"""The stores of a crawl, by ``ROBOTSPEC_CACHE``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scrapy_robotspec.plugin.fetching.crawl_runtime import _open_stores
from tests.support.records import origin, plain_record

if TYPE_CHECKING:
    from pathlib import Path

NOW = 1_800_000_000.0


@pytest.mark.parametrize("uri", ["memory://", "memory://?max=10", "sqlite:///{folder}/robots.db"])
def test_records_that_do_not_fit_into_memory_are_found_without_the_shared_store(
    uri: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A call to it takes a thread and a round trip of the request through the scheduler."""
    memory, shared = _open_stores(uri.format(folder=tmp_path))
    memory._table.max_number = 10
    for number in range(100):
        memory.put(plain_record(origin(number), NOW))
    assert len(memory._table.entries) <= 10
    assert all(memory.get(origin(number)) is not None for number in range(100))
    assert len(caplog.records) == (shared is None)
    memory.close()
    if shared is not None:
        shared.close()
