"""The lookup's clock is the one that the rest of a crawl reads."""

from __future__ import annotations

import time

import pytest

from scrapy_robotspec.plugin.fetching.crawl_runtime import CrawlRuntime


def test_a_clock_that_a_test_replaces_is_replaced_everywhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With two clocks a request that waits asks again and again, without a pause."""
    monkeypatch.setattr(time, "time", lambda: 5.0)
    assert CrawlRuntime.__new__(CrawlRuntime).clock() == time.time()
