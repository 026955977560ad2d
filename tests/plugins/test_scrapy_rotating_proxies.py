"""scrapy-rotating-proxies: each request goes by another proxy, robots.txt requests too."""

from __future__ import annotations

from typing import Any

from tests.plugins.sites import QUICK, RULES, need
from tests.support.crawl import crawl
from tests.support.responses import reply
from tests.support.server import Server

need("rotating_proxies", "scrapy-rotating-proxies")

SETTINGS = {
    **QUICK,
    "DOWNLOADER_MIDDLEWARES": {
        "rotating_proxies.middlewares.RotatingProxyMiddleware": 610,
        "rotating_proxies.middlewares.BanDetectionMiddleware": 620,
    },
    "ROTATING_PROXY_BACKOFF_BASE": 1,
}
POLICY = {"ROTATING_PROXY_BAN_POLICY": "tests.plugins.ban_policy.PagesOnly"}


def proxies(server: Server, number: int, port: int | None = None) -> list[str]:
    """Proxies that work, or that nothing listens for where a *port* is given."""
    return [f"http://127.0.9.{n}:{port or server.port}" for n in range(1, number + 1)]


def test_robots_txt_is_obeyed_whichever_proxies_work(server: Server) -> None:
    rules = server.site("rules.example", RULES, port=80)
    missing = server.site("missing.example", reply("User-agent: *\nDisallow: /", 404), port=80)
    paths = [f"/{kind}{n}" for n in range(5) for kind in ("yes", "no")]
    urls = [f"http://{site.host}{path}" for path in paths for site in (rules, missing)]
    working, dead = proxies(server, 1), proxies(server, 5, port=1)
    result = crawl(urls, {**SETTINGS, **POLICY, "ROTATING_PROXY_LIST": [*working, *dead[1:]]})
    assert result.ended_once(urls)
    assert sorted(rules.pages_asked) == [f"/yes{n}" for n in range(5)]
    assert sorted(missing.pages_asked) == sorted(paths)


def test_a_missing_robots_txt_is_a_ban_only_by_the_plugins_own_policy(server: Server) -> None:
    """Its own repeats it by six proxies, and counts them all as dead."""
    for settings, requests in ((POLICY, 1), ({}, 6)):
        more: dict[str, Any] = settings
        host = f"missing{requests}.example"
        site = server.site(host, reply("not found", 404), port=80)
        proxied = {**SETTINGS, **more, "ROTATING_PROXY_LIST": proxies(server, 8)}
        result = crawl([f"http://{host}/yes"], proxied)
        assert len(site.robots_asked) == requests
        assert result.stats.get("bans/status/404", 0) == (0 if settings else 6)
        assert site.pages_asked == ["/yes"]


def test_a_robots_txt_is_not_delayed_by_the_pages_of_its_proxy(server: Server) -> None:
    """The plugin puts all requests of a proxy into one download slot."""
    first = server.site("first.example", RULES, port=80)
    second = server.site("second.example", RULES, port=80)
    urls = [f"http://first.example/yes{n}" for n in range(12)]
    settings = {**SETTINGS, "ROTATING_PROXY_LIST": proxies(server, 1), "DOWNLOAD_DELAY": 0.4}
    crawl([*urls, "http://second.example/yes"], settings)
    assert len(first.pages_asked) == 12
    later = [asked for asked in first.log if asked.at > second.robots_asked[0].at]
    assert len(later) > 6
