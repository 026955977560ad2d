"""Settings as public projects have them: nothing is refused that Scrapy starts with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.settings import Settings

from scrapy_robotspec import Addon

ODD: list[dict[str, Any]] = [
    {"FEEDS": {None: {"format": "json"}}},
    {"FEEDS": {Path("items.jl"): {"format": "jsonlines"}}},
    {"FEEDS": {"s3://bucket/%(name)s.json": {"format": "json"}, "-": {"format": "csv"}}},
    {"FEEDS": '{"items.json": {"format": "json"}}'},
    {"FEED_URI": None},
    {"FEED_URI": "", "FEED_FORMAT": "json"},
    {"USER_AGENT": None},
    {"USER_AGENT": ""},
    {"USER_AGENT": ("Mozilla/5.0 ", "shop")},
    {"DOWNLOADER_MIDDLEWARES": {RetryMiddleware: 543, "no.such.Middleware": None}},
    {"DOWNLOADER_MIDDLEWARES": '{"scrapy.downloadermiddlewares.retry.RetryMiddleware": 1}'},
    {"DOWNLOADER_MIDDLEWARES": {}},
    {"DOWNLOAD_HANDLERS": {"s3": None, "https": None}},
    {"JOBDIR": None},
    {"JOBDIR": Path("job")},
    {"LOGSTATS_INTERVAL": 0},
    {"CONCURRENT_REQUESTS_PER_IP": 8},
    {"DOWNLOAD_DELAY": "0.25", "RANDOMIZE_DOWNLOAD_DELAY": "False"},
    {"DOWNLOAD_SLOTS": {"shop.example": {"concurrency": 1, "delay": 2}}},
    {"ROBOTSTXT_USER_AGENT": None},
    {"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue"},
]


@pytest.mark.parametrize("given", ODD, ids=str)
@pytest.mark.parametrize("report", [None, "robots.jsonl"])
def test_nothing_is_refused_that_scrapy_starts_with(
    given: dict[str, Any], report: str | None
) -> None:
    """All checks run, with a setting of ours and without."""
    settings = Settings({"ROBOTSTXT_OBEY": True, **given})
    if report is not None:
        settings.set("ROBOTSPEC_REPORT", report)
    Addon().update_settings(settings)
    active = settings.getwithbase("DOWNLOADER_MIDDLEWARES")
    assert any("RobotSpecMiddleware" in str(name) for name in active)
