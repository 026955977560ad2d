"""Room for robots.txt connections beside those of pages, where there is no reactor (Scrapy 2.15).

There the download handlers open no more connections than ``CONCURRENT_REQUESTS`` says, so silent
robots.txt would stop the pages. The add-on widens that setting before the handlers read it, and as
the spider opens the downloader is told the number that the user has set for pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.settings import SETTINGS_PRIORITIES

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

#: Internal setting: connections that were added to ``CONCURRENT_REQUESTS`` for fetches.
POOL_ROOM = "_ROBOTSPEC_POOL_ROOM"


def widen_pool(settings: BaseSettings, room: int) -> None:
    """Add *room* connections, unless that was done already or there is no limit."""
    pages = settings.getint("CONCURRENT_REQUESTS")
    if settings.getbool("TWISTED_REACTOR_ENABLED", True) or not pages or settings.get(POOL_ROOM):
        return
    for name, value in ((POOL_ROOM, room), ("CONCURRENT_REQUESTS", pages + room)):
        priority = max(SETTINGS_PRIORITIES["addon"], settings.getpriority(name) or 0)
        settings.set(name, value, priority)


def keep_to_pages(crawler: Crawler) -> None:
    """Take the room off again for pages."""
    room = crawler.settings.getint(POOL_ROOM)
    if room:
        assert crawler.engine is not None
        crawler.engine.downloader.total_concurrency -= room
