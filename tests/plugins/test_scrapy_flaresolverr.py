"""scrapy-flaresolverr at its README's 100, with a local stand-in of FlareSolverr."""

from __future__ import annotations

from typing import Any

from tests.plugins.renderers import flaresolverr, renderer
from tests.plugins.sites import RULES, need
from tests.support.crawl import Result, crawl
from tests.support.server import Server

need("scrapy_flaresolverr", "scrapy-flaresolverr")


def run(server: Server, urls: list[str], **settings: Any) -> tuple[Result, list[dict[str, Any]]]:
    """Crawl *urls* through FlareSolverr; also what it was asked."""
    asked: list[dict[str, Any]] = []
    service = server.site("127.0.8.1", page=renderer(flaresolverr, asked))
    middleware = "scrapy_flaresolverr.FlareSolverrMiddleware"
    given = {
        "DOWNLOADER_MIDDLEWARES": {middleware: 100},
        "FLARESOLVERR_URLS": [service.url("")],
        **settings,
    }
    return crawl([{"url": url, "meta": {"flaresolverr": True}} for url in urls], given), asked


def test_refused_pages_do_not_reach_it(server: Server) -> None:
    """It has Scrapy's number, and Scrapy's own middleware stands before it."""
    site = server.site("127.0.0.2", RULES)
    urls = [site.url("/yes"), site.url("/no")]
    kinds: list[dict[str, Any]] = [{}, {"ROBOTSPEC_DRY_RUN": True}, {"ADDONS": {}}]
    for settings in kinds:
        site.log.clear()
        result, asked = run(server, urls, **settings)
        assert [request["url"] for request in asked] == urls[:1]
        assert site.pages_asked == ["/yes"]
        assert list(result.errors) == urls[1:]
