"""scrapy-redis: a spider that takes its URLs from Redis, with a scheduler in Redis.

What happens to requests that wait while a worker is killed is in ``tests/crawl``.
"""

from __future__ import annotations

from tests.plugins.sites import QUICK, RULES, Sites, need
from tests.support.crawl import Running, crawl
from tests.support.redis_server import RedisServer
from tests.support.responses import reply, silence
from tests.support.server import Server

need("scrapy_redis", "scrapy-redis")

SETTINGS = {
    **QUICK,
    "SPIDER_MODULES": ["tests.plugins.spiders"],
    "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
    "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
}


def test_urls_from_redis_obey_robots_txt(server: Server, own_redis: RedisServer) -> None:
    import redis

    sites = Sites(server)
    redis.Redis.from_url(own_redis.uri).rpush("urls", *sites.urls)
    sites.check(crawl([], {**SETTINGS, "REDIS_URL": own_redis.uri}, spider="from_redis"))


def test_a_site_that_waits_keeps_no_urls_in_redis(server: Server, own_redis: RedisServer) -> None:
    """The spider takes the next ones when it is idle, and it is not while a request waits."""
    import redis

    fast = server.site("127.0.0.2", RULES)
    down = server.site("127.0.0.3", reply("", 503))
    silent = server.site("127.0.0.4", silence())
    urls = [down.url("/"), silent.url("/"), *(fast.url(f"/{n}") for n in range(12))]
    redis.Redis.from_url(own_redis.uri).rpush("urls", *urls)
    limits = {"CONCURRENT_REQUESTS": 2, "ROBOTSPEC_FETCH_TIMEOUT": 30}
    with Running(
        [], {**SETTINGS, "REDIS_URL": own_redis.uri, **limits}, spider="from_redis"
    ) as running:
        running.wait_until(lambda: len(fast.pages_asked) == 12, 20)
