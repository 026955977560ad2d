"""scrapy-flaresolverr at its README's 100, with a local stand-in of FlareSolverr."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.plugins.renderers import flaresolverr, renderer
from tests.plugins.sites import RULES, need
from tests.support.account import evidenced
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


def test_its_pages_are_counted_as_of_a_middleware(server: Server, tmp_path: Path) -> None:
    """Neither sent nor not sent: the plugin saw nothing leave."""
    site = server.site("127.0.0.2", RULES)
    evidence = {"ROBOTSPEC_EVIDENCE": str(tmp_path / "evidence")}
    result, asked = run(server, [site.url("/yes"), site.url("/yes2"), site.url("/no")], **evidence)
    assert len(asked) == 2
    words = "2 let through, 1 refused (1 by a rule), 2 answered by a middleware"
    assert any(line.endswith(words) for line in result.lines(words))
    counts = evidenced(tmp_path / "evidence")
    assert (counts["answered_by_middleware"], counts["not_sent"]) == (2, 0)
