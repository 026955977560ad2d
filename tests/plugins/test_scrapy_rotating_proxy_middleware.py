"""scrapy-rotating-proxy-middleware: it repeats a request after every exception."""

from __future__ import annotations

from tests.plugins.sites import RULES, need
from tests.support.crawl import crawl
from tests.support.server import Server

need("scrapy_rotating_proxy", "scrapy-rotating-proxy-middleware")


def test_a_refused_page_counts_once(server: Server) -> None:
    """Behind it the page is refused six times; the errback is called once."""
    site = server.site("127.0.0.2", RULES)
    settings = {
        "DOWNLOADER_MIDDLEWARES": {"scrapy_rotating_proxy.RotatingProxyMiddleware": 610},
        "ROTATING_PROXY_LIST": [site.url("")],  # takes requests for any site
    }
    result = crawl([site.url("/yes"), site.url("/no")], settings)
    assert list(result.errors) == [site.url("/no")]
    assert result.stats["robotstxt/forbidden"] == 1
    assert len(result.of("refused")) == 1
    assert result.lines("1 let through, 1 refused (1 by a rule)")
