"""What the queues need of the crawl: the downloader's load and the middleware with the gate."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.core.downloader import Downloader
    from scrapy.crawler import Crawler

    from scrapy_robotspec.plugin.middleware import RobotSpecMiddleware


class DownloaderState:
    """The downloader as the lanes see it."""

    def __init__(self, downloader: Downloader) -> None:
        self._slots = downloader.slots
        self._active = downloader.active

    def active_in(self, slot: str) -> int:
        found = self._slots.get(slot)
        return 0 if found is None else len(found.active)

    def is_active(self, request: Request) -> bool:
        return request in self._active


def find_middleware(crawler: Crawler) -> RobotSpecMiddleware | None:
    from scrapy_robotspec.plugin.middleware import RobotSpecMiddleware

    with suppress(AttributeError, RuntimeError):  # no engine, or one without middlewares
        return crawler.get_downloader_middleware(RobotSpecMiddleware)
    return None
