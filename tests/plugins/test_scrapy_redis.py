"""scrapy-redis: a spider that takes its URLs from Redis, with a scheduler in Redis.

What happens to requests that wait while a worker is killed is in ``tests/crawl``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.plugins.sites import QUICK, Sites, need
from tests.support.crawl import crawl
from tests.support.redis_server import NOT_FOUND, RedisServer, is_installed

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.server import Server

need("scrapy_redis", "scrapy-redis")


@pytest.mark.skipif(not is_installed(), reason=NOT_FOUND)
def test_urls_from_redis_obey_robots_txt(server: Server, tmp_path: Path) -> None:
    import redis

    database = RedisServer(tmp_path)
    database.start()
    try:
        sites = Sites(server)
        redis.Redis.from_url(database.uri).rpush("urls", *sites.urls)
        settings = {
            **QUICK,
            "SPIDER_MODULES": ["tests.plugins.spiders"],
            "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
            "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
            "REDIS_URL": database.uri,
        }
        sites.check(crawl([], settings, spider="from_redis"))
    finally:
        database.stop()
