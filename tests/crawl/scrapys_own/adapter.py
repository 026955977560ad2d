"""A pytest plugin that puts our parser and middleware into Scrapy's own tests.

Those tests replace the crawler by a mock and call the middleware without an engine; what they need
for that stands here, so that the package itself knows nothing of mocks. ``FAILED_ON_PURPOSE`` lists
the tests that contradict the specifications.
"""

from __future__ import annotations

from typing import Any

import pytest
import scrapy.downloadermiddlewares.robotstxt
import scrapy.robotstxt
from scrapy import Request

from scrapy_robotspec import Origin, RobotSpecMiddleware, RobotSpecParser

#: test → the statement of docs/specification.md that demands otherwise
FAILED_ON_PURPOSE = {
    "test_order_based_precedence": "PRE-01: the longest path wins, not the first",
    "test_robotstxt_error": "FET-14: no DNS is no permission",
    "test_robotstxt_immediate_error": "FET-14: no DNS is no permission",
    "test_ignore_robotstxt_request": "FET-14: a request that a middleware dropped is no answer",
}


class AdaptedMiddleware(RobotSpecMiddleware):
    """Ours, as those tests call it: with a mock for a crawler, always with ``await``."""

    def __init__(self, crawler: Any) -> None:
        crawler.engine._slot.closing = None
        crawler.engine.downloader.total_concurrency = 16
        crawler.settings.set("ROBOTSPEC_HOLD_TIMEOUT", 0)
        crawler.settings.set("ROBOTSPEC_RETRY_TIMES", 0)
        super().__init__(crawler)

    async def process_request(self, request: Request, spider: object = None) -> None:
        """Wait for the answer, and hand it to the last step that those tests look at."""
        if Origin.of(request.url) is None:
            return
        await super().process_request(request)
        self.process_request_2(None, request)

    def process_request_2(self, rp: Any, request: Request) -> None:
        """The step of Scrapy's own middleware that asks its parser."""
        if rp is not None:
            [token] = self.robots.tokens.select(request)
            rp.allowed(request.url, token)


scrapy.robotstxt.ProtegoRobotParser = RobotSpecParser  # type: ignore[misc,assignment]
scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware = AdaptedMiddleware  # type: ignore[misc,assignment]


def pytest_configure(config: pytest.Config) -> None:
    """Know the marks that Scrapy's configuration, which is left out, would declare."""
    config.addinivalue_line("markers", "only_asyncio: runs with the asyncio reactor alone")
    config.addinivalue_line("markers", "only_not_asyncio: runs with any other reactor")


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Run the one test that Scrapy leaves out for its own parser, which is ours here."""
    if collector.name == "TestProtegoRobotParser":
        del collector.obj.test_order_based_precedence  # type: ignore[attr-defined]  # the base's


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is to fail; leave out the classes that test other parsers."""
    missing = FAILED_ON_PURPOSE.keys() - {item.name for item in items}
    if missing:
        raise pytest.UsageError(f"Scrapy has no such tests any more: {sorted(missing)}")
    for item in items:
        if "Python" in item.nodeid or "Rerp" in item.nodeid:
            item.add_marker(pytest.mark.skip(reason="tests another parser than ours"))
        elif reason := FAILED_ON_PURPOSE.get(item.name):
            item.add_marker(pytest.mark.xfail(strict=True, reason=reason))
