"""Chromium's requests are checked by the page and in the browser that they belong to."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

from tests.plugins.browsing import (
    ALL,
    CHROMIUM,
    HANDLER,
    NO,
    SETTINGS,
    SPIDERS,
    browse,
    browser_of,
    html,
    visit,
)
from tests.plugins.sites import need
from tests.support import tls
from tests.support.crawl import Running
from tests.support.responses import redirect
from tests.support.server import Server, Site

need("scrapy_playwright", "scrapy-playwright")
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium")


def test_the_log_names_the_page_that_has_requested(server: Server) -> None:
    """Of two that are open, with equal tokens; a request of a frame is that of a page."""
    frame = html("<img src=/no/inner>")
    pages = {f"/{name}/": html(f"<img src=/no/{name}><iframe src=/frame/>") for name in "ab"}
    site = server.site("127.0.0.2", NO, pages={**pages, "/frame/": frame})
    waiting = ["wait_for_timeout", 1500]
    result = browse([visit(site.url(path), waiting) for path in pages], ALL)
    named = {line.partition("Aborted in the browser, ")[2] for line in result.lines("Aborted")}
    assert {line.partition(" (")[0] for line in named} == {
        *(f"for {site.url(path)}: {site.url(f'/no{path[:-1]}')}" for path in pages),
        f"for a page: {site.url('/no/inner')}",
    }


class TestTokens:
    """The product tokens of a Scrapy request apply to everything that its page requests."""

    ROBOTS = "User-agent: one\nDisallow: /no\n\nUser-agent: two\nAllow: /\n"
    PAGE = "<img src=/no/image/{0}><iframe src=/frame/{0}></iframe><script>open('/go/{0}')</script>"
    DISALLOWED = ("image", "inner", "window")

    def site(self, server: Server) -> Site:
        pages = {"/": html("")}
        for token in ("one", "two"):
            pages[f"/{token}/"] = html(self.PAGE.format(token))
            pages[f"/frame/{token}"] = html(f"<img src=/no/inner/{token}>")
            pages[f"/go/{token}"] = redirect(f"/no/window/{token}")
        return server.site("127.0.0.2", self.ROBOTS, pages=pages)

    @pytest.mark.parametrize("by", ["meta", "function"])
    def test_pages_of_two_tokens_at_once(self, server: Server, by: str) -> None:
        site = self.site(server)
        settings, key = dict(ALL), "robotspec_user_agent_token"
        if by == "function":
            settings["ROBOTSPEC_USER_AGENT_TOKEN"] = f"{SPIDERS}.token_by_path"
        requests = [
            visit(
                site.url(f"/{token}/"),
                ["wait_for_timeout", 1000],
                **({key: token} if by == "meta" else {}),
            )
            for token in ("one", "two")
        ]
        result = browse(requests, settings)
        assert result.errors == {}
        asked = [path for path in site.pages_asked if path.startswith("/no/")]
        assert sorted(asked) == [f"/no/{kind}/two" for kind in self.DISALLOWED]

    def test_a_page_of_a_request_that_obeys_nothing_is_not_checked(self, server: Server) -> None:
        """APP-01."""
        site = server.site("127.0.0.2", NO, pages={"/no": html("<img src=/no/image>")})
        request = visit(site.url("/no"), ["wait_for_timeout", 300], dont_obey_robotstxt=True)
        result = browse([request], ALL)
        assert site.pages_asked.count("/no/image") == 1
        assert "robotspec/browser/checked" not in result.stats


class TestBrowsers:
    """Each browser that scrapy-playwright starts is checked."""

    def test_http_and_https_have_a_browser_each(self) -> None:
        with Server(tls.context()) as server:
            secure = server.site("127.0.0.3", NO, port=server.tls_port)
            pages = {"/no": redirect(secure.url("/no")), "/yes": redirect(secure.url("/yes"))}
            site = server.site("127.0.0.2", "", pages=pages)
            secure.pages = {"/back": redirect(site.url("/end")), "/stop": redirect("/no/2")}
            trusting: dict[str, Any] = {"default": {"ignore_https_errors": True}}
            settings = {
                "DOWNLOAD_HANDLERS": {"http": HANDLER, "https": HANDLER},
                "PLAYWRIGHT_CONTEXTS": trusting,
            }
            urls = [*map(site.url, pages), *map(secure.url, secure.pages)]
            result = browse([visit(url) for url in urls], settings)
            assert set(result.errors) == {site.url("/no"), secure.url("/stop")}
            assert {error["type"] for error in result.errors.values()} == {"ForbiddenByRobots"}
            assert sorted(secure.pages_asked) == ["/back", "/stop", "/yes"]

    def test_a_browser_that_starts_after_one_was_killed(self, server: Server) -> None:
        pages = {f"/{n}": redirect(f"/{'no' if n % 2 else 'yes'}/{n}") for n in range(8)}
        site = server.site("127.0.0.2", NO, pages=pages)
        requests = [visit(site.url(path), ["wait_for_timeout", 300]) for path in pages]
        settings = {**SETTINGS, "CONCURRENT_REQUESTS": 1}
        with Running(requests, settings, spider="browsing") as running:
            running.wait_until(lambda: "/2" in site.pages_asked)
            os.kill(browser_of(running.pid), signal.SIGKILL)
            result = running.finish(90)
        assert result.stats["playwright/browser_count"] == 2
        assert len(result.responses) == len(result.errors) == 4
        assert [path for path in site.pages_asked if path.startswith("/no")] == []
