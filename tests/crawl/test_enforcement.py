"""What the enforcer does after a decision: final URLs, and requests of renderers."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from scrapy_robotspec import RobotsTxt
from scrapy_robotspec.protocol.paths import resolve_dots
from tests.plugins.renderers import renderer, splash
from tests.support.crawl import crawl
from tests.support.responses import after, redirect, reply
from tests.support.server import Server

FOLLOWS = {"DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.FollowsRedirects": 900}}
NO = "User-agent: *\nDisallow: /no\n"


def to(url: str) -> Any:
    """A response that comes from *url* in truth."""
    return reply("a page", headers=[("X-Final", url)])


def test_a_forbidden_final_url_never_reaches_the_spider(server: Server) -> None:
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
    result = crawl([site.url(path) for path in finals], settings)
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


def test_a_redirect_that_a_renderer_follows_is_checked(server: Server) -> None:
    """The request that was sent is the renderer's, the rules are the page's."""
    pages = {"/moved": redirect("/no"), "/fine": reply("a page")}
    site = server.site("127.0.0.2", NO, pages=pages)
    renders = server.site("127.0.8.1", "User-agent: *\nDisallow: /", page=renderer(splash, []))
    settings = {
        "DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.LikeSplash": 725},
        "RENDERER": renders.url("/render.json"),
    }
    result = crawl([site.url(path) for path in pages], settings)
    assert [error["type"] for error in result.of("error")] == ["ForbiddenByRobots"]
    assert [event["final"] for event in result.of("response")] == [site.url("/fine")]


@pytest.mark.parametrize(
    ("settings", "meta"),
    [({"ROBOTSPEC_CHECK_FINAL_URL": False}, {}), ({}, {"dont_obey_robotstxt": True})],
)
def test_the_check_can_be_switched_off(
    server: Server, settings: dict[str, Any], meta: dict[str, Any]
) -> None:
    """APP-01: also by a request that does not obey robots.txt."""
    site = server.site("127.0.0.2", NO)
    site = server.site("127.0.0.2", NO, pages={"/x": to(site.url("/no"))})
    result = crawl([{"url": site.url("/x"), "meta": meta}], {**FOLLOWS, **settings})
    assert result.errors == {}


def test_no_url_is_sent_that_servers_read_as_a_disallowed_one(server: Server) -> None:
    """PAT-15: requests, redirects, and final URLs; the refusal contains the other reading."""
    segments = ("x", ".", "..", "%2e", ".%2E", "a%2f..", "..;", "")
    paths = ["/" + "/".join((*path, "no")) for path in product(segments, repeat=2)]
    pages = {"/redirect": redirect("/y/%2e%2e/no/1"), "/final": to("http://127.0.0.2/y/../no/2")}
    site = server.site("127.0.0.2", NO, pages=pages)
    explain = RobotsTxt.parse(NO.encode()).explain_served
    forbidden = {path for path in paths if not explain(site.url(path), "examplebot").allowed}
    urls = [site.url(path) for path in (*paths, *pages)]
    settings = {**FOLLOWS, "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter"}
    result = crawl(urls, settings)
    assert not forbidden & set(site.pages_asked)
    served = [resolve_dots(site.url(path)) for path in site.pages_asked]
    assert not [url for url in served if url.startswith(site.url("/no"))]
    assert set(result.errors) >= {site.url(path) for path in forbidden}
    assert {site.url("/y/%2e%2e/no/1"), site.url("/final")} <= set(result.errors)
    text = result.errors[site.url("/x/../no")]["text"]
    assert text == (
        f"Forbidden by robots.txt (line 2: 'Disallow: /no'; servers read {site.url('/no')!r})"
    )


def test_a_page_is_decided_by_its_url_without_empty_parameters(server: Server) -> None:
    """PAT-15: Twisted sends no semicolon at the end of a path."""
    rules = "User-agent: *\nDisallow: /no$\nDisallow: /list?"
    site = server.site("127.0.0.2", rules)
    allowed = ["/yes;", "/no;v=1", "/list;v=1?page=2", "/list;"]
    urls = [site.url(path) for path in (*allowed, "/no;", "/list;?page=2", "/x/../no;")]
    result = crawl(urls, {"DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter"})
    assert sorted(site.pages_asked) == ["/list", "/list;v=1?page=2", "/no;v=1", "/yes"]
    assert result.errors.keys() == set(urls[len(allowed) :])


def test_the_users_own_rules_hold_for_both_readings(server: Server) -> None:
    """PAT-15: rules of ROBOTSPEC_OVERRIDES."""
    site = server.site("127.0.0.2")
    overrides = {"127.0.0.2": NO}
    crawl([site.url("/x/../no"), site.url("/yes")], {"ROBOTSPEC_OVERRIDES": overrides})
    assert site.pages_asked == ["/yes"]
