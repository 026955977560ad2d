"""scrapy-download-handlers-incubator: handlers with connection limits of their own."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest

from tests.plugins.sites import (
    QUICK,
    Sites,
    check_breaks,
    check_busy_site,
    check_pages_at_once,
    check_silent_sites,
    need,
)
from tests.support.crawl import crawl
from tests.support.server import Server

need("scrapy_download_handlers_incubator", "scrapy-download-handlers-incubator")

#: Module -> class of the handler.
HANDLERS = {
    "aiohttp": "AiohttpDownloadHandler",
    "curl_cffi": "CurlCffiDownloadHandler",
    "httpx2": "HttpxDownloadHandler",
    "niquests": "NiquestsDownloadHandler",
    "pyreqwest": "PyreqwestDownloadHandler",
    "wreq": "WreqDownloadHandler",
}


@pytest.fixture(params=HANDLERS)
def settings(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Settings with one of the handlers."""
    if find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed: tox -e plugins runs this")
    name = f"scrapy_download_handlers_incubator.{HANDLERS[request.param]}"
    return {**QUICK, "DOWNLOAD_HANDLERS": {"http": name}}


def test_robots_txt_is_obeyed(server: Server, settings: dict[str, Any]) -> None:
    sites = Sites(server)
    sites.check(crawl(sites.urls, settings))


def test_silent_sites_take_no_connections_from_pages(
    server: Server, settings: dict[str, Any]
) -> None:
    check_silent_sites(server, settings)


def test_pages_of_a_site_take_no_connections_from_its_robots_txt(
    server: Server, settings: dict[str, Any]
) -> None:
    check_busy_site(server, settings)


def test_pages_keep_their_limit_for_a_site(server: Server, settings: dict[str, Any]) -> None:
    check_pages_at_once(server, settings)


@pytest.mark.parametrize("name", HANDLERS)
def test_responses_that_break_http_count_as_the_page_says(server: Server, name: str) -> None:
    if find_spec(name) is None:
        pytest.skip(f"{name} is not installed: tox -e plugins runs this")
    handler = f"scrapy_download_handlers_incubator.{HANDLERS[name]}"
    check_breaks(server, {**QUICK, "DOWNLOAD_HANDLERS": {"http": handler}}, name)
