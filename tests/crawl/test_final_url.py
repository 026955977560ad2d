"""Responses of download handlers that follow redirects themselves: the final URL is checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from scrapy_robotspec import RobotsTxt
from tests.support.crawl import MODES, crawl
from tests.support.responses import after, reply

if TYPE_CHECKING:
    from tests.support.server import Server

FOLLOWS = {"DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.FollowsRedirects": 900}}
NO = "User-agent: *\nDisallow: /no\n"


def to(url: str) -> Any:
    """A response that comes from *url* in truth."""
    return reply("a page", headers=[("X-Final", url)])


@pytest.mark.parametrize("mode", MODES)
def test_a_forbidden_final_url_never_reaches_the_spider(server: Server, mode: str) -> None:
    """By rules of the same origin, of another origin, and of one that is unreachable."""
    other = server.site("127.0.0.3", after(0.3, reply(NO)))
    down = server.site("127.0.0.4", reply("", 503))
    site = server.site("127.0.0.2", NO)
    finals = {
        "/same": site.url("/no"),
        "/other": other.url("/no/page"),
        "/down": down.url("/x"),
        "/fine": site.url("/yes"),
        "/fine-too": other.url("/yes"),
        "/fragment": site.url("/fragment#part"),
        "/data": "data:,x",
    }
    pages = {path: to(url) for path, url in finals.items()}
    site = server.site("127.0.0.2", NO, pages=pages)
    settings = {**FOLLOWS, "ROBOTSPEC_HOLD_TIMEOUT": 0, "RETRY_ENABLED": False}
    result = crawl([site.url(path) for path in finals], settings, mode=mode)
    types = {url.rpartition("/")[2]: error["type"] for url, error in result.errors.items()}
    assert types == {
        "same": "ForbiddenByRobots",
        "other": "ForbiddenByRobots",
        "down": "RobotsUnreachable",
    }
    assert len(result.responses) == 4
    assert len(other.robots_asked) == 1
    assert "Traceback" not in result.log
    assert result.stats["robotstxt/forbidden"] == 2


def test_the_check_can_be_switched_off(server: Server) -> None:
    site = server.site("127.0.0.2", NO)
    site = server.site("127.0.0.2", NO, pages={"/x": to(site.url("/no"))})
    result = crawl([site.url("/x")], {**FOLLOWS, "ROBOTSPEC_CHECK_FINAL_URL": False})
    assert result.errors == {}


def test_who_opts_out_of_robots_txt_opts_out_of_this_too(server: Server) -> None:
    """APP-01."""
    site = server.site("127.0.0.2", NO)
    site = server.site("127.0.0.2", NO, pages={"/x": to(site.url("/no"))})
    result = crawl([{"url": site.url("/x"), "meta": {"dont_obey_robotstxt": True}}], FOLLOWS)
    assert result.errors == {}
    assert site.robots_asked == []


@pytest.mark.parametrize("mode", MODES)
def test_no_disallowed_path_is_sent_however_the_handler_spells_it(
    server: Server, mode: str
) -> None:
    """PAT-13: aiohttp and others remove dot segments and decode characters of a URL."""
    robots = "User-agent: *\nDisallow: /no\nDisallow: /a@b\nDisallow: /*?q=:\nAllow: /\n"
    site = server.site("127.0.0.2", robots)
    paths = ["/./no/1", "/x/../no/2", "/%2e%2e/no/3", "/a%40b", "/y?q=%3A", "/no/../yes", "/./yes2"]
    result = crawl([site.url(path) for path in paths], mode=mode)
    rules = RobotsTxt.parse(robots.encode())
    assert [path for path in site.pages_asked if not rules.allowed(path, "examplebot")] == []
    assert result.ended_once(site.url(path) for path in paths)
    assert site.url("/./yes2") in result.responses
    assert "Traceback" not in result.log


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "select"])
def test_a_dry_run_refuses_what_a_crawl_refuses(server: Server, mode: str) -> None:
    """PAT-13: also the URLs that are allowed as written, and not as the handler sends them."""
    site = server.site("127.0.0.2", "User-agent: *\nDisallow: /no\nDisallow: /a@b\n")
    urls = [site.url(path) for path in ("/", "/x/../no", "/a%40b")]
    obeyed = crawl(urls, mode=mode)
    dry = crawl(urls, {"ROBOTSPEC_DRY_RUN": True}, mode=mode, spider="one_by_one")
    refuse, allow = (
        dry.stats.get(f"robotspec/dry_run/we_would_{kind}", 0) for kind in ("refuse", "allow")
    )
    assert len(dry.responses) - refuse + allow == len(obeyed.responses)
    assert len(dry.lines("Dry run: we would refuse", site.url("/no>"))) == (mode == "none")
