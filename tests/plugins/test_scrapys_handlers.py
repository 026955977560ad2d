"""Scrapy's download handlers beside the one for HTTP/1.1: HTTP/2, httpx and aiohttp."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from scrapy import version_info

from tests.plugins.http2_server import Http2Server
from tests.plugins.sites import (
    QUICK,
    RULES,
    TOO_LONG,
    Sites,
    check_breaks,
    check_busy_site,
    check_pages_at_once,
    check_silent_sites,
)
from tests.support.crawl import crawl
from tests.support.responses import in_turn, redirect, reply
from tests.support.server import Server
from tests.support.tls import write_certificate

HANDLERS = "scrapy.core.downloader.handlers"
HTTP2 = f"{HANDLERS}.http2.H2DownloadHandler"


def missing(module: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(
        find_spec(module) is None, reason=f"{module} is not installed: tox -e plugins runs this"
    )


@pytest.fixture(
    params=[
        pytest.param("_httpx.HttpxDownloadHandler", id="httpx", marks=missing("httpx2")),
        pytest.param("_aiohttp.AiohttpDownloadHandler", id="aiohttp"),
    ]
)
def settings(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Settings with another handler, which Scrapy 2.19 has."""
    if version_info < (2, 19):
        pytest.skip("this Scrapy has no handlers for httpx2 and aiohttp")
    return {**QUICK, "DOWNLOAD_HANDLERS": {"http": f"{HANDLERS}.{request.param}"}}


@pytest.mark.parametrize("mode", ["asyncio", "none"])
def test_robots_txt_is_obeyed(server: Server, settings: dict[str, Any], mode: str) -> None:
    sites = Sites(server)
    sites.check(crawl(sites.urls, settings, mode=mode))


def test_silent_sites_take_no_connections_from_pages(
    server: Server, settings: dict[str, Any]
) -> None:
    """The handlers open ``CONCURRENT_REQUESTS`` connections."""
    check_silent_sites(server, settings)


@pytest.mark.parametrize("mode", ["asyncio", "none"])
def test_pages_of_a_site_take_no_connections_from_its_robots_txt(
    server: Server, settings: dict[str, Any], mode: str
) -> None:
    """The handler for aiohttp opens ``CONCURRENT_REQUESTS_PER_DOMAIN`` to each host and port."""
    check_busy_site(server, settings, mode)


def test_responses_that_break_http_count_as_the_page_says(
    server: Server, settings: dict[str, Any]
) -> None:
    name = settings["DOWNLOAD_HANDLERS"]["http"]
    check_breaks(server, settings, "httpx" if "httpx" in name else "aiohttp")


def test_the_status_of_responses_that_break_http_decides(server: Server) -> None:
    """With Scrapy's handler for HTTP/1.1."""
    check_breaks(server, QUICK, "HTTP/1.1")


@pytest.mark.parametrize("mode", ["asyncio", "none"])
def test_fet19_a_421_is_asked_again_over_a_new_connection(
    server: Server, settings: dict[str, Any], mode: str
) -> None:
    site = server.site("127.0.0.2", in_turn(reply("", 421), reply("", 503), reply(RULES)))
    crawl([site.url("/yes1"), site.url("/no1")], settings, mode=mode)
    assert site.pages_asked == ["/yes1"]
    first, second, third = (asked.port_from for asked in site.robots_asked)
    assert first != second == third


def test_pages_keep_their_limit_for_a_site(server: Server, settings: dict[str, Any]) -> None:
    check_pages_at_once(server, settings)


def test_a_page_is_requested_as_it_was_judged(server: Server) -> None:
    """The handler for aiohttp would send ``/b@`` for ``/b%40``; a redirect is as without us."""
    if version_info < (2, 19):
        pytest.skip("this Scrapy has no handler for aiohttp")
    settings = {"DOWNLOAD_HANDLERS": {"http": f"{HANDLERS}._aiohttp.AiohttpDownloadHandler"}}
    rules = "User-agent: *\nDisallow: /*?x=%2F\nDisallow: /b@\n"
    paths = ["/b%40", "/it%27s%21", "/q?y=%2F", "/%7Eme"]
    site = server.site("127.0.2.1", rules, pages={"/moved": redirect("/th ere")})
    urls = [site.url(path) for path in paths]
    result = crawl([*urls, site.url("/moved"), site.url("/q?x=%2F")], settings)
    assert sorted(site.pages_asked) == sorted([*paths, "/moved", "/th%20ere"])
    assert list(result.errors) == [site.url("/q?x=%2F")]
    assert not any("verbatim_url" in each["meta"] for each in result.of("response"))


@missing("h2")
@pytest.mark.parametrize("text", [RULES, TOO_LONG], ids=["rules", "longer than the limit"])
def test_robots_txt_is_obeyed_over_http2(tmp_path: Path, text: str) -> None:
    certificate = write_certificate(tmp_path / "both.pem")
    rules = tmp_path / "robots.txt"
    rules.write_text(text)
    with Http2Server(certificate, rules) as http2:
        base = f"https://127.0.0.1:{http2.port}"
        urls = [f"{base}/{path}" for path in ("yes1", "no1", "yes2", "no2")]
        result = crawl(urls, {**QUICK, "DOWNLOAD_HANDLERS": {"https": HTTP2}})
        assert result.ended_once(urls)
        assert sorted(http2.requests) == [
            "HTTP/2 /robots.txt",
            "HTTP/2 /yes1",
            "HTTP/2 /yes2",
        ]
