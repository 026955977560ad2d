"""Tests for a middleware that gives each request a random browser's User-Agent."""

from __future__ import annotations

from tests.plugins.sites import QUICK
from tests.support.crawl import crawl
from tests.support.responses import in_turn, redirect, reply
from tests.support.server import Server, Site

RULES = """\
User-agent: examplebot
Disallow: /no

User-agent: Mozilla
User-agent: Chrome
User-agent: *
Disallow: /
"""


def agents(site: Site) -> set[str]:
    """The User-Agents that *site* has seen."""
    return {asked.header("user-agent") or "Scrapy" for asked in site.log}


def check(server: Server, middleware: str) -> None:
    """Rules are looked up for the token, also after a redirect and a retry; without it, a warning.

    Both carry the random User-Agent of the first request.
    """
    pages = {
        "/yes/moved": redirect("/yes/there"),
        "/yes/busy": in_turn(reply("", 503), reply("a page")),
    }
    site = server.site("127.0.0.2", RULES, pages=pages)
    urls = [site.url(path) for path in ("/yes", "/yes/moved", "/yes/busy", "/no")]
    settings = {
        **QUICK,
        "DOWNLOADER_MIDDLEWARES": {
            "scrapy.downloadermiddlewares.useragent.UserAgentMiddleware": None,
            middleware: 400,
        },
        "FAKEUSERAGENT_FALLBACK": "Mozilla/5.0",  # without it fake-useragent 2 does not start
    }
    token = {"ROBOTSPEC_USER_AGENT_TOKEN": "examplebot"}
    result = crawl(urls, {**settings, **token})
    assert sorted(site.pages_asked) == [
        "/yes",
        "/yes/busy",
        "/yes/busy",
        "/yes/moved",
        "/yes/there",
    ]
    assert [error["type"] for error in result.errors.values()] == ["ForbiddenByRobots"]
    assert not [agent for agent in agents(site) if "examplebot" in agent or "Scrapy" in agent]
    assert not result.lines("Set ROBOTSPEC_USER_AGENT_TOKEN")
    assert crawl([site.url("/no")], settings).lines("Set ROBOTSPEC_USER_AGENT_TOKEN")
