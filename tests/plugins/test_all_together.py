"""All plugins that can be combined in one crawl, set up as docs/compatibility.md says."""

from __future__ import annotations

from tests.plugins.sites import QUICK, Sites, need
from tests.support.crawl import crawl
from tests.support.redis_server import RedisServer
from tests.support.server import Server

for module, project in {
    "scrapy_redis": "scrapy-redis",
    "scrapy_poet": "scrapy-poet",
    "scrapy_zyte_api": "scrapy-zyte-api",
    "scrapy_impersonate": "scrapy-impersonate",
    "rotating_proxies": "scrapy-rotating-proxies",
    "scrapy_fake_useragent": "scrapy-fake-useragent",
    "spidermon": "spidermon",
}.items():
    need(module, project)

SETTINGS = {
    **QUICK,
    "SPIDER_MODULES": ["tests.plugins.spiders"],
    "ADDONS": {
        "scrapy_poet.Addon": 300,
        "scrapy_zyte_api.Addon": 500,
        "scrapy_robotspec.Addon": 1000,
    },
    "ROBOTSPEC_USER_AGENT_TOKEN": "examplebot",
    "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
    "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
    "DOWNLOAD_HANDLERS": {"http": "scrapy_impersonate.ImpersonateDownloadHandler"},
    "DOWNLOADER_MIDDLEWARES": {
        "scrapy.downloadermiddlewares.useragent.UserAgentMiddleware": None,
        "scrapy_fake_useragent.middleware.RandomUserAgentMiddleware": 400,
        "rotating_proxies.middlewares.RotatingProxyMiddleware": 610,
        "rotating_proxies.middlewares.BanDetectionMiddleware": 620,
        "scrapy_impersonate.RandomBrowserMiddleware": 1000,
    },
    "FAKEUSERAGENT_FALLBACK": "Mozilla/5.0",
    "ROTATING_PROXY_BAN_POLICY": "tests.plugins.ban_policy.PagesOnly",
    "ZYTE_API_KEY": "a key",
    "ZYTE_API_TRANSPARENT_MODE": False,
    "EXTENSIONS": {
        "tests.support.event_log.Notes": 0,
        "spidermon.contrib.scrapy.extensions.Spidermon": 500,
    },
    "SPIDERMON_ENABLED": True,
    "SPIDERMON_SPIDER_CLOSE_EXPRESSION_MONITORS": [
        {
            "name": "robots.txt",
            "tests": [{"name": "refused", "expression": "stats['robotstxt/forbidden'] == 30"}],
        }
    ],
}


def test_robots_txt_is_obeyed_with_all_of_them(server: Server, own_redis: RedisServer) -> None:
    sites = Sites(server, unreachable=False)  # with a proxy, that is the proxy's failure at first
    settings = {
        **SETTINGS,
        "REDIS_URL": own_redis.uri,
        "ROTATING_PROXY_LIST": [f"http://127.0.9.{n}:{server.port}" for n in range(1, 5)],
    }
    result = crawl(sites.urls, settings, spider="with_page_objects")
    sites.check(result)
    assert result.stats["impersonate/response_bytes"] > 0
    assert result.lines("[Spidermon]", "refused... OK")
    agents = {
        asked.header("user-agent") or "" for site in sites.by_name.values() for asked in site.log
    }
    assert not [agent for agent in agents if "examplebot" in agent]
