"""Responses of download handlers that follow redirects themselves: the final URL is checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

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
