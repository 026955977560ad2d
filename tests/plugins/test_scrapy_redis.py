"""scrapy-redis: a spider that takes its URLs from Redis, with a scheduler in Redis.

What happens to requests that wait while a worker is killed is in ``tests/crawl``.
"""

from __future__ import annotations

from tests.plugins.sites import QUICK, Sites, need
from tests.support.crawl import crawl
from tests.support.redis_server import RedisServer
from tests.support.server import Server

need("scrapy_redis", "scrapy-redis")


def test_urls_from_redis_obey_robots_txt(server: Server, own_redis: RedisServer) -> None:
    import redis

    sites = Sites(server)
    redis.Redis.from_url(own_redis.uri).rpush("urls", *sites.urls)
    settings = {
        **QUICK,
        "SPIDER_MODULES": ["tests.plugins.spiders"],
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "REDIS_URL": own_redis.uri,
    }
    sites.check(crawl([], settings, spider="from_redis"))
