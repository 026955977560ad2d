"""SitemapsFromRobots: from an origin to the pages of its sitemaps."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.support.crawl import Running, crawl
from tests.support.responses import Answer, redirect, reply, silence
from tests.support.server import Server


def sitemap(*urls: str) -> Answer:
    """A sitemap with these pages."""
    places = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    schema = "http://www.sitemaps.org/schemas/sitemap/0.9"
    return reply(f'<?xml version="1.0"?><urlset xmlns="{schema}">{places}</urlset>')


def named(*urls: str) -> str:
    return "".join(f"Sitemap: {url}\n" for url in urls)


def test_the_crawl_begins_with_the_sitemaps_that_are_allowed(server: Server) -> None:
    """SIT-01, SIT-02: wherever they are, but as the rules of their own origin have it."""
    two = server.site("127.0.0.3", "User-agent: *\nDisallow: /no\n")
    two.pages = {"/yes.xml": sitemap(two.url("/c"), two.url("/no-page"))}
    one = server.site("127.0.0.2")
    maps = named(one.url("/map.xml"), two.url("/no.xml"), two.url("/yes.xml"))
    pages = {"/map.xml": sitemap(one.url("/a"), one.url("/b"))}
    one = server.site("127.0.0.2", maps, pages=pages)
    result = crawl([one.url("/"), two.url("/")], spider="from_sitemaps")
    assert sorted(one.pages_asked) == ["/a", "/b", "/map.xml"]
    assert sorted(two.pages_asked) == ["/c", "/yes.xml"]
    assert len(one.robots_asked) == len(two.robots_asked) == 1
    assert sorted(result.responses) == sorted([one.url("/a"), one.url("/b"), two.url("/c")])


def test_an_origin_without_sitemaps_or_without_an_answer_gives_none(server: Server) -> None:
    """And keeps the others from nothing, however many there are."""
    down = [server.site(f"127.0.1.{n}", reply("", 503)) for n in range(1, 40)]
    empty = server.site("127.0.0.2", reply("", 404))
    last = server.site("127.0.0.3")
    pages = {"/map.xml": sitemap(last.url("/a"))}
    last = server.site("127.0.0.3", named(last.url("/map.xml")), pages=pages)
    origins = [site.url() for site in (*down, empty, last)]
    result = crawl(origins, {"ROBOTSPEC_HOLD_TIMEOUT": 0}, spider="from_sitemaps")
    assert list(result.responses) == [last.url("/a")]
    assert result.exit_code == 0


def test_a_sitemap_that_begins_with_a_slash_belongs_to_its_origin(server: Server) -> None:
    """SIT-03: as Scrapy's SitemapSpider resolves it; also where another origin has the file."""
    target = server.site("127.0.0.3", named("/map.xml", "//127.0.0.4/no-port.xml", "no.xml"))
    moved = server.site("127.0.0.2", redirect(target.url("/robots.txt"), 301))
    pages = {"/map.xml": sitemap(moved.url("/a"))}
    moved = server.site("127.0.0.2", redirect(target.url("/robots.txt"), 301), pages=pages)
    result = crawl([moved.url("/")], {"RETRY_ENABLED": False}, spider="from_sitemaps")
    assert list(result.responses) == [moved.url("/a")]
    assert target.pages_asked == []
    assert "127.0.0.4/no-port.xml" in result.log
    assert not result.lines("WARNING", "no sitemap")


def test_a_crawl_without_any_sitemap_says_so(server: Server) -> None:
    """SIT-03: whatever the reason; another origin's sitemap is enough."""
    empty = server.site("127.0.0.2", "Sitemap: map.xml\nSitemap: http://\n")
    missing = server.site("127.0.0.3", reply("", 404))
    result = crawl([empty.url(), missing.url()], spider="from_sitemaps")
    assert len(result.lines("WARNING", "No sitemap can be followed", ": names no sitemap 2.")) == 1
    full = server.site("127.0.0.4", named("/map.xml"), pages={"/map.xml": sitemap()})
    result = crawl([empty.url(), full.url()], spider="from_sitemaps")
    assert not result.lines("WARNING", "sitemap")


def test_an_origin_whose_answer_is_unknown_names_no_missing_sitemap(server: Server) -> None:
    """Nor is a request refused that no spider sent: the summary has none."""
    challenged = reply("", 403, headers=[("cf-mitigated", "challenge")])
    answers = [reply("", 503), reply("", 503), challenged, reply("")]
    sites = [server.site(f"127.0.0.{n}", answer) for n, answer in enumerate(answers, 2)]
    settings = {"ROBOTSPEC_HOLD_TIMEOUT": 0.3, "ROBOTSPEC_RETRY_DELAY": 0.1}
    result = crawl([site.url() for site in sites], settings, spider="from_sitemaps")
    (line,) = result.lines("WARNING", "No sitemap can be followed")
    assert "robots.txt unreachable: HTTP status 503 2" in line
    assert "robots.txt unreachable: HTTP status 403, a challenge (cf-mitigated) 1" in line
    assert "names no sitemap 1" in line
    given_up = result.lines("INFO", "given up after")
    assert len(given_up) == 3
    assert all(": requests are refused until" in each for each in given_up)
    assert not result.lines("1 request")
    assert result.lines("requests", "0 let through, 0 refused")


def test_without_the_add_on_the_start_says_what_is_missing(server: Server) -> None:
    site = server.site("127.0.0.2")
    result = crawl([site.url()], {"ADDONS": {}}, spider="from_sitemaps")
    assert site.log == []
    assert "put scrapy_robotspec.Addon into ADDONS" in result.log


def test_a_spider_without_origins_says_so() -> None:
    result = crawl([], spider="from_sitemaps")
    assert len(result.lines("WARNING", "set sitemap_origins = [")) == 1
    assert result.exit_code == 0


def test_an_invalid_url_ends_only_itself(server: Server) -> None:
    """SIT-01: neither one of the user's own nor one that a robots.txt names."""
    site = server.site("127.0.0.2")
    maps = named("http://[::1/map.xml", site.url("/map.xml"))
    site = server.site("127.0.0.2", maps, pages={"/map.xml": sitemap(site.url("/a"))})
    invalid = ["127.0.0.9", "http://[::1", ""]
    result = crawl([*invalid, site.url("/")], spider="from_sitemaps")
    assert list(result.responses) == [site.url("/a")]
    assert len(result.lines("ERROR", "sitemap_origins contains")) == 3
    assert "Traceback" not in result.log


@pytest.mark.parametrize("stop", ["closespider", "interrupt"])
def test_a_spider_that_closes_meanwhile_is_no_error(server: Server, stop: str) -> None:
    silent = [server.site(f"127.0.1.{n}", silence()) for n in range(1, 40)]
    urls = [site.url() for site in silent]
    settings = {"CLOSESPIDER_TIMEOUT": 2} if stop == "closespider" else {}
    with Running(urls, settings, spider="from_sitemaps") as running:
        if stop == "interrupt":
            running.wait_until(lambda: silent[0].robots_asked and silent[20].robots_asked)
            running.send(signal.SIGINT)
        result = running.finish(20)
    assert "Traceback" not in result.log
    assert "Unhandled error" not in result.log
    assert not result.lines("ERROR")


def test_no_local_file_is_read_because_a_site_names_it(server: Server, tmp_path: Path) -> None:
    """Neither one that robots.txt names as a sitemap, nor one that a sitemap names as a page."""
    secret = tmp_path / "secret.xml"
    site = server.site("127.0.0.2")
    secret.write_text(f"<urlset><url><loc>{site.url('/from-secret')}</loc></url></urlset>")
    pages = {"/map.xml": sitemap(site.url("/a"), secret.as_uri())}
    site = server.site("127.0.0.2", named(secret.as_uri(), site.url("/map.xml")), pages=pages)
    result = crawl([site.url("/")], spider="from_sitemaps")
    assert sorted(site.pages_asked) == ["/a", "/map.xml"]
    assert list(result.responses) == [site.url("/a")]
