"""scrapy-zyte-api: pages and robots.txt are downloaded by (a local stand-in of) Zyte API."""

from __future__ import annotations

from typing import Any

from scrapy_robotspec.plugin.fetching.failures import is_local
from tests.plugins.renderers import renderer, zyte
from tests.plugins.sites import QUICK, RULES, Sites, check_silent_sites, need
from tests.support.crawl import Result, crawl
from tests.support.responses import redirect
from tests.support.server import Server

need("scrapy_zyte_api", "scrapy-zyte-api")

#: The User-Agent stays Scrapy's own: Zyte API chooses one.
SETTINGS = {
    **QUICK,
    "ADDONS": {"scrapy_zyte_api.Addon": 500, "scrapy_robotspec.Addon": 1000},
    "ZYTE_API_KEY": "a key",
    "USER_AGENT": "",
    "ROBOTSPEC_USER_AGENT_TOKEN": "examplebot",
}


def run(server: Server, urls: list[str], **settings: Any) -> tuple[Result, list[dict[str, Any]]]:
    """Crawl *urls* through the API; also what it was asked."""
    asked: list[dict[str, Any]] = []
    api = server.site("127.0.8.1", page=renderer(zyte, asked))
    result = crawl(urls, {**SETTINGS, "ZYTE_API_URL": api.url("/v1/"), **settings})
    return result, asked


def test_robots_txt_is_obeyed_and_fetched_through_the_api(server: Server) -> None:
    sites = Sites(server, unreachable=False)
    result, asked = run(server, sites.urls)
    sites.check(result)
    fetched = {request["url"] for request in asked if request["url"].endswith("/robots.txt")}
    assert len(fetched) == len(sites.by_name)


def test_robots_txt_requests_carry_nothing_that_could_cause_a_ban(server: Server) -> None:
    """The same parameters as those of Scrapy's own middleware; no header of ours."""
    site = server.site("127.0.0.2", RULES)
    result, ours = run(server, [site.url("/yes")])
    _, scrapys = run(server, [site.url("/yes")], ADDONS={"scrapy_zyte_api.Addon": 500})
    assert [request for request in ours if "robots" in request["url"]] == [
        {"url": site.url("/robots.txt"), "httpResponseBody": True, "httpResponseHeaders": True}
    ]
    assert ours == scrapys
    assert not result.lines("ban-sensitive")


def test_sessions_wait_for_robots_txt_and_robots_txt_for_no_session(server: Server) -> None:
    """The first request of a new session is for a page; its robots.txt comes without a session."""
    site = server.site("127.0.0.2", RULES)
    sessions = {"ZYTE_API_SESSION_ENABLED": True, "ZYTE_API_SESSION_POOL_SIZE": 1}
    params = {"ZYTE_API_SESSION_PARAMS": {"url": site.url("/begin"), "httpResponseBody": True}}
    urls = [site.url("/yes"), site.url("/no")]
    result, asked = run(server, urls, **sessions, **params)
    assert result.ended_once(urls)
    assert [request["url"] for request in asked] == [
        *map(site.url, ("/robots.txt", "/begin", "/yes"))
    ]
    assert ["session" in request for request in asked] == [False, True, True]


def test_a_redirect_that_the_api_follows_is_checked(server: Server) -> None:
    site = server.site("127.0.0.2", RULES, pages={"/yes": redirect("/no")})
    result, _ = run(server, [site.url("/yes")])
    assert site.pages_asked == ["/yes", "/no"]
    assert [error["type"] for error in result.errors.values()] == ["ForbiddenByRobots"]


def test_silent_sites_take_no_connections_from_pages(server: Server) -> None:
    """The plugin opens ``CONCURRENT_REQUESTS`` connections to the API."""
    api = server.site("127.0.8.1", page=renderer(zyte, []))
    check_silent_sites(server, {**SETTINGS, "ZYTE_API_URL": api.url("/v1/")})


def test_an_api_that_this_machine_cannot_resolve_says_nothing_about_the_site() -> None:
    from aiohttp import ClientConnectorDNSError

    error = ClientConnectorDNSError(None, OSError(-2, "unknown"))  # type: ignore[arg-type]
    assert is_local(error, resolves=False)
