"""Crawlers that crawl nothing: with settings, or with an engine and our middleware too."""

from __future__ import annotations

from typing import Any

from scrapy import Spider, version_info
from scrapy.crawler import Crawler
from scrapy.utils.reactor import install_reactor, is_reactor_installed
from scrapy.utils.test import get_crawler


def crawler_with(settings: dict[str, Any]) -> Crawler:
    """A crawler with some settings; old releases of Scrapy have none without a reactor."""
    if version_info < (2, 15) and not is_reactor_installed():
        install_reactor("twisted.internet.selectreactor.SelectReactor")
    return get_crawler(Spider, settings)


def crawler_with_engine(**settings: Any) -> Crawler:
    """Every request of it is of an origin that is not known yet."""
    crawler = crawler_with(
        {
            "ROBOTSTXT_OBEY": True,
            "ADDONS": {"scrapy_robotspec.Addon": 500},
            "USER_AGENT": "examplebot/1.0",
            "DOWNLOAD_HANDLERS": dict.fromkeys(("http", "https", "ftp", "s3")),
            **settings,
        },
    )
    crawler.spider = crawler._create_spider("example")
    crawler.engine = crawler._create_engine()
    return crawler
