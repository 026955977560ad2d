"""scrapy-splash: pages are downloaded by (a local stand-in of) Splash, robots.txt by Scrapy."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import version_info

from tests.plugins.renderers import renderer, splash
from tests.plugins.sites import QUICK, RULES, Sites, need
from tests.support.crawl import crawl
from tests.support.responses import redirect, reply
from tests.support.server import Server

need("scrapy_splash", "scrapy-splash")

SETTINGS = {
    **QUICK,
    "DOWNLOADER_MIDDLEWARES": {
        "scrapy_splash.SplashCookiesMiddleware": 723,
        "scrapy_splash.SplashMiddleware": 725,
        "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": 810,
    },
    "SPLASH_SLOT_POLICY": "scrapy_default",
}
before_2_16 = pytest.mark.skipif(
    version_info >= (2, 16), reason="scrapy-splash 0.11.1 cannot be imported with Scrapy 2.16"
)


def through_splash(url: str) -> dict[str, Any]:
    return {"url": url, "meta": {"splash": {"endpoint": "render.json", "args": {"html": 1}}}}


def splash_url(server: Server, asked: list[Any]) -> str:
    """The URL of a Splash whose own robots.txt forbids everything, which is never asked for."""
    site = server.site("127.0.8.1", "User-agent: *\nDisallow: /", page=renderer(splash, asked))
    return site.url("/")


@pytest.mark.skipif(version_info < (2, 16), reason="it can be imported")
def test_the_plugin_cannot_be_imported() -> None:
    """When this fails, the page has to say which Scrapy it works with."""
    with pytest.raises(ImportError, match="canonicalize_url"):
        __import__("scrapy_splash")


@before_2_16
def test_robots_txt_is_obeyed_and_not_fetched_through_splash(server: Server) -> None:
    sites = Sites(server)
    asked: list[Any] = []
    settings = {**SETTINGS, "SPLASH_URL": splash_url(server, asked)}
    result = crawl([through_splash(url) for url in sites.urls], settings)
    sites.check_pages()
    assert not [request for request in asked if request["url"].endswith("/robots.txt")]
    assert len(result.of("response")) + len(result.of("error")) == len(sites.urls)


@before_2_16
def test_a_redirect_that_splash_follows_is_checked(server: Server) -> None:
    """Unless the page's own request has opted out (APP-01)."""
    pages = {"/yes": redirect("/no"), "/fine": reply("<p>fine</p>")}
    site = server.site("127.0.0.2", RULES, pages=pages)
    entries = [through_splash(site.url(path)) for path in ("/yes", "/fine")]
    opted_out = through_splash(site.url("/no/opted-out"))
    opted_out["meta"]["dont_obey_robotstxt"] = True
    settings = {**SETTINGS, "SPLASH_URL": splash_url(server, [])}
    result = crawl([*entries, opted_out], settings)
    assert [error["type"] for error in result.of("error")] == ["ForbiddenByRobots"]
    assert sorted(event["final"] for event in result.of("response")) == [
        site.url("/fine"),
        site.url("/no/opted-out"),
    ]
