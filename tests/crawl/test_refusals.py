"""A decision as a user sees it: exceptions, meta, stats, signals, log lines."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from scrapy import version_info

from tests.support.crawl import MODES, Result, crawl
from tests.support.responses import raw, redirect, reply
from tests.support.server import Server, Site

BODY = "# ours\nUser-agent: examplebot\nDisallow: /no\nAllow: /\nCrawl-delay: 2\n"


@pytest.fixture(scope="module", params=MODES)
def crawled(request: pytest.FixtureRequest) -> Iterator[tuple[Site, Site, Site, Result]]:
    """An origin with rules behind a redirect, one with a 404, one with a 503."""
    with Server() as server:
        end = server.site("127.0.0.9", BODY)
        rules = server.site("127.0.0.2", redirect(end.url("/robots.txt")))
        missing = server.site("127.0.0.3", reply("gone", 404))
        down = server.site("127.0.0.4", reply("", 503))
        sites = (rules, missing, down)
        urls = [site.url(path) for site in sites for path in ("/yes", "/no")]
        yield *sites, crawl(urls, {"ROBOTSPEC_HOLD_TIMEOUT": 0}, mode=request.param)


def test_a_forbidden_request_raises_with_the_line(
    crawled: tuple[Site, Site, Site, Result],
) -> None:
    """The errback gets an IgnoreRequest that says why (EXT-02)."""
    rules, _, _, result = crawled
    error = result.errors[rules.url("/no")]
    assert error["type"] == "ForbiddenByRobots"
    assert "IgnoreRequest" in error["bases"]
    assert error["text"].startswith("Forbidden by robots.txt")
    assert "line 3" in error["text"]
    assert error["reason"] == "rule"
    assert error["hops"] == [[rules.url("/robots.txt"), 301]]
    assert error["origin"] == f"http://127.0.0.2:{rules.port}"


def test_an_unreachable_request_raises_with_the_status(
    crawled: tuple[Site, Site, Site, Result],
) -> None:
    """FET-10: an IgnoreRequest as well, of another kind."""
    *_, down, result = crawled
    error = result.errors[down.url("/yes")]
    assert error["type"] == "RobotsUnreachable"
    assert "IgnoreRequest" in error["bases"]
    assert error["text"] == "robots.txt unreachable (HTTP status 503)"
    assert (error["reason"], error["status"]) == ("unreachable", 503)


def test_meta_of_what_was_let_through(crawled: tuple[Site, Site, Site, Result]) -> None:
    """``request.meta["robotspec"]`` tells which line let the request through, and nothing else
    of ours is left in meta."""
    rules, missing, _, result = crawled
    by_rule = result.responses[rules.url("/yes")]
    meta = by_rule["robotspec"]
    assert meta.pop("age") >= 0
    assert meta == {
        "allowed": True,
        "reason": "rule",
        "pattern": "/",
        "line": 4,
        "group": ["examplebot"],
        "edition": "google-2019",
        "outcome": "successful",
        "status": 200,
        "origin": f"http://127.0.0.2:{rules.port}",
        "other": {"crawl-delay": ["2"]},
    }
    unruled = result.responses[missing.url("/no")]["robotspec"]
    assert (unruled["reason"], unruled["outcome"], unruled["status"]) == (
        "unavailable",
        "unavailable",
        404,
    )
    for response in result.responses.values():
        assert [key for key in response["meta"] if key.startswith("_robotspec")] == []
        assert response["dont_filter"] is False


def test_stats(crawled: tuple[Site, Site, Site, Result]) -> None:
    """Scrapy's own names where it has one."""
    *_, result = crawled
    stats = result.stats
    expected = {
        "robotstxt/request_count": 3,
        "robotstxt/response_count": 3,
        "robotstxt/response_status_count/200": 1,
        "robotstxt/response_status_count/404": 1,
        "robotstxt/response_status_count/503": 1,
        "robotstxt/forbidden": 1,
        "robotspec/unreachable": 2,
        "robotspec/redirect_hops": 1,
        "robotspec/cache/miss": 3,
    }
    assert {name: stats.get(name) for name in expected} == expected
    assert not [name for name in stats if name.startswith("robotstxt/exception_count")]


def test_log_lines(crawled: tuple[Site, Site, Site, Result]) -> None:
    """A DEBUG line with the reason for each refusal, an INFO line for the origin given up."""
    rules, _, down, result = crawled
    (forbidden,) = result.lines("DEBUG", "Forbidden by robots.txt: <GET", rules.url("/no"))
    assert forbidden.endswith("(line 3: 'Disallow: /no')")
    (unreachable,) = result.lines("DEBUG", "robots.txt unreachable: <GET", down.url("/yes"))
    assert unreachable.endswith("(HTTP status 503)")
    assert len(result.lines("INFO", f"127.0.0.4:{down.port}", "given up")) == 1
    assert "Traceback" not in result.log
    assert result.lines("WARNING", "[scrapy_robotspec]") == []


@pytest.mark.skipif(version_info < (2, 18), reason="the signal is Scrapy's own from 2.18 on")
def test_robots_parsed_is_sent_once_for_rules(crawled: tuple[Site, Site, Site, Result]) -> None:
    """With a parser that knows the crawl-delay, and the request that caused the fetch."""
    rules, *_, result = crawled
    (parsed,) = result.of("robots_parsed")
    assert parsed["url"] == rules.url("/yes")
    assert parsed["allowed"] is True
    assert parsed["crawl_delay"] == 2.0


def test_exceptions_are_counted(server: Server) -> None:
    """``robotstxt/exception_count/TYPE``, as Scrapy counts them."""
    down = server.site("127.0.0.2", raw(b""))
    result = crawl([down.url("/x")], {"ROBOTSPEC_RETRY_TIMES": 0})
    counted = [name for name in result.stats if name.startswith("robotstxt/exception_count/")]
    assert len(counted) == 1
    assert result.stats.get("robotstxt/response_count") is None


def test_no_host_of_a_link_reaches_the_log_unescaped() -> None:
    """SAF-04, LOC-10: control characters, bidi marks and user info."""
    hosts = ("a\x1bb.example", "a\x9b2Jb.example", "a\x7fb", "user:word@a\u202e\x07b.example")
    urls = [f"http://{host}/page" for host in hosts]
    result = crawl(urls, {"ROBOTSPEC_HOLD_TIMEOUT": 0, "ROBOTSPEC_RETRY_TIMES": 0})
    lines = result.lines("[scrapy_robotspec]")
    assert len([line for line in lines if "DEBUG: robots.txt unreachable: <GET" in line]) == 4
    assert [line for line in lines if not line.isprintable() or "word" in line] == []
