"""scrapy-impersonate: requests with the TLS and HTTP fingerprint of a browser."""

from __future__ import annotations

from tests.plugins.sites import QUICK, RULES, Sites, check_silent_sites, need
from tests.support.crawl import crawl
from tests.support.responses import redirect
from tests.support.server import Server

need("scrapy_impersonate", "scrapy-impersonate")

SETTINGS = {
    **QUICK,
    "DOWNLOAD_HANDLERS": {"http": "scrapy_impersonate.ImpersonateDownloadHandler"},
    "DOWNLOADER_MIDDLEWARES": {"scrapy_impersonate.RandomBrowserMiddleware": 1000},
}


def test_robots_txt_is_obeyed(server: Server) -> None:
    sites = Sites(server)
    sites.check(crawl(sites.urls, SETTINGS))


def test_a_redirect_that_the_handler_follows_is_checked(server: Server) -> None:
    site = server.site("127.0.0.2", RULES, pages={"/yes": redirect("/no")})
    entry = {
        "url": site.url("/yes"),
        "meta": {"impersonate_args": {"allow_redirects": True}},
    }
    result = crawl([entry], SETTINGS)
    assert site.pages_asked == ["/yes", "/no"]
    assert [error["type"] for error in result.errors.values()] == ["ForbiddenByRobots"]


def test_robots_txt_requests_carry_no_empty_headers(server: Server) -> None:
    """FET-01: the handler sends headers without a value too. FET-18: nor those for a first host."""
    other = server.site("127.0.0.3", RULES)
    site = server.site("127.0.0.2", redirect(other.url("/robots.txt")))
    crawl([site.url("/yes")], SETTINGS)
    for asked in [*site.robots_asked, *other.robots_asked]:
        assert [name for name, value in asked.headers if not value] == []
        assert asked.header("if-modified-since") is None
    assert len(other.robots_asked) == 1


def test_robots_txt_requests_inherit_the_fingerprint_of_a_single_request(server: Server) -> None:
    site = server.site("127.0.0.2", RULES)
    settings = {
        **QUICK,
        "DOWNLOAD_HANDLERS": SETTINGS["DOWNLOAD_HANDLERS"],
        "ROBOTSPEC_INHERIT_META": ["proxy", "bindaddress", "impersonate"],
    }
    crawl([{"url": site.url("/yes"), "meta": {"impersonate": "chrome124"}}], settings)
    assert [asked.path for asked in site.log] == ["/robots.txt", "/yes"]
    robots, page = (asked.header("sec-ch-ua") for asked in site.log)
    assert robots == page
    assert robots is not None


def test_silent_sites_delay_no_other(server: Server) -> None:
    check_silent_sites(server, SETTINGS)
