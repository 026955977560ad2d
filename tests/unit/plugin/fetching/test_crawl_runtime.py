"""CrawlRuntime: a crawl opens the stores that ``ROBOTSPEC_CACHE`` names."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from twisted.internet.defer import Deferred

from scrapy_robotspec.lookup.live_origins import LiveOrigins
from scrapy_robotspec.lookup.tiered_store import TieredStore
from scrapy_robotspec.plugin.fetching.crawl_runtime import open_lookup
from scrapy_robotspec.plugin.settings.settings import Settings
from tests.support.records import origin, plain_record
from tests.unit.lookup.fakes import LookupHarness

NOW = 1_800_000_000.0


class Runtime(LookupHarness):
    """A runtime whose threads work at once."""

    def __init__(self) -> None:
        super().__init__()
        self.live = LiveOrigins()

    def in_thread(self, call: Any, *args: Any) -> Deferred[Any]:
        return self.threads(call, *args)


@pytest.mark.parametrize(
    "uri", ["memory://", "memory:", "memory://?max=10", "sqlite:///{folder}/robots.db"]
)
def test_records_that_do_not_fit_into_memory_are_found_without_the_shared_store(
    uri: str, tmp_path: Path
) -> None:
    """A call to it takes a thread and a round trip of the request through the scheduler."""
    settings = Settings(cache=uri.format(folder=tmp_path))
    lookup = open_lookup(cast("Any", Runtime()), settings)
    store = lookup.store
    memory = store.memory if isinstance(store, TieredStore) else store
    memory._table.max_number = 10
    for number in range(100):
        store.put(plain_record(origin(number), NOW))
    assert len(memory._table.entries) <= 10
    assert all(store.get(origin(number)) is not None for number in range(100))
    Deferred.fromCoroutine(lookup.close())
