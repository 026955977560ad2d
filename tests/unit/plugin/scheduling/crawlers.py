"""Crawlers that crawl nothing: with settings, or with an engine and our middleware too."""

from __future__ import annotations

from typing import Any

from scrapy import Request, Spider, version_info
from scrapy.core.engine import ExecutionEngine
from scrapy.crawler import Crawler
from scrapy.utils.reactor import install_reactor, is_reactor_installed
from scrapy.utils.test import get_crawler

from scrapy_robotspec.plugin import _compat

REQUEST = Request("http://a.example/")
SLOT = "a.example"


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


def engine_with_delay() -> ExecutionEngine:
    """An engine with a download delay of 5 s at random."""
    engine = crawler_with_engine(DOWNLOAD_DELAY=5).engine
    assert engine is not None
    # No loop runs here that could remove slots without use.
    engine.downloader._start_slot_gc = lambda: None  # type: ignore[method-assign]
    return engine


def slot_of(engine: ExecutionEngine) -> Any:
    """The download slot of REQUEST, made as the downloader makes it."""
    _compat.download_slot(engine, REQUEST)
    slot = engine.downloader.slots.get(SLOT)
    assert slot is not None
    return slot
