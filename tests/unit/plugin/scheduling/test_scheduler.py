"""The scheduler that parks requests of waiting origins."""

from __future__ import annotations

import pytest
from scrapy import Spider

from scrapy_robotspec.plugin.scheduling.scheduler import gated_scheduler
from tests.unit.plugin.scheduling.crawlers import crawler_with_engine


class BrokenScheduler:
    """Fails to open, as one whose server is down."""

    closed = False

    def open(self, spider: Spider) -> None:
        raise ConnectionError("the server is down")

    def has_pending_requests(self) -> bool:
        return False

    def close(self, reason: str) -> None:
        self.closed = True


def test_a_scheduler_that_failed_to_open_closes_without_a_second_error() -> None:
    scheduler = gated_scheduler(BrokenScheduler).from_crawler(crawler_with_engine())  # type: ignore[attr-defined]
    with pytest.raises(ConnectionError):
        scheduler.open(Spider("example"))
    scheduler.close("shutdown")
    assert scheduler.closed
