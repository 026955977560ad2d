"""scrapy-curl-cffi: requests with the TLS and HTTP fingerprint of a browser."""

from __future__ import annotations

from importlib import import_module

from scrapy_robotspec.plugin.fetching.failures import is_local
from tests.plugins.sites import QUICK, Sites, check_silent_sites, need
from tests.support.crawl import crawl
from tests.support.server import Server

need("scrapy_curl_cffi", "scrapy-curl-cffi")

SETTINGS = {
    **QUICK,
    "DOWNLOAD_HANDLERS": {"http": "scrapy_curl_cffi.handlers.CurlCffiDownloadHandler"},
    "DOWNLOADER_MIDDLEWARES": {"scrapy_curl_cffi.middlewares.CurlCffiMiddleware": 200},
    "CURL_CFFI_OPTIONS": {"impersonate": "chrome"},
}


def test_robots_txt_is_obeyed(server: Server) -> None:
    sites = Sites(server)
    result = crawl(sites.urls, SETTINGS)
    sites.check(result)
    assert all(event["flags"] == ["curl_cffi"] for event in result.responses.values())


def test_silent_sites_delay_no_other(server: Server) -> None:
    check_silent_sites(server, SETTINGS)


def test_a_name_or_address_that_this_machine_lacks_says_nothing_about_the_site() -> None:
    """curl's own errors; other processes with the same store need not hear of them."""
    curls = import_module("curl_cffi.requests.exceptions")
    for error, local in (
        (curls.DNSError("could not resolve host"), True),
        (curls.InterfaceError("bind failed"), True),
        (curls.ConnectionError("could not connect"), False),
    ):
        assert is_local(error, resolves=False) is local
