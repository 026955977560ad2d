"""The robots.txt request is its own: nothing between engine and network answers or changes it."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.support.crawl import MODES, crawl
from tests.support.responses import after, in_turn, raw, reply
from tests.support.server import Server

NO = "User-agent: *\nDisallow: /no\n"
CUT = b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nUser-agent: *\nAllow: /\n"
#: The cache is asked, and has nothing.
OFFLINE = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_IGNORE_MISSING": True}


def test_it_is_not_retried_at_once_by_the_retry_middleware(server: Server) -> None:
    """A 503 is asked again when the policy says so, not three times on the spot."""
    site = server.site("127.0.0.2", reply("", 503))
    crawl([site.url("/x")], {"ROBOTSPEC_HOLD_TIMEOUT": 0, "RETRY_TIMES": 5})
    assert len(site.robots_asked) == 1


def test_cookies_are_neither_sent_nor_kept(server: Server) -> None:
    """Not those of the page, not its own."""
    site = server.site("127.0.0.2", reply(NO, headers=[("Set-Cookie", "robots=1")]))
    crawl([{"url": site.url("/x"), "cookies": {"page": "1"}}, site.url("/y")])
    (robots,) = site.robots_asked
    assert robots.header("cookie") is None
    assert "robots=1" not in str([asked.header("cookie") for asked in site.log])


def test_http_cache_does_not_answer(server: Server, tmp_path: Path) -> None:
    """Scrapy's DummyPolicy would keep a 503, and any file, for ever."""
    site = server.site("127.0.0.2", in_turn(reply("", 404), reply(NO)))
    cached = {"HTTPCACHE_ENABLED": True, "HTTPCACHE_DIR": str(tmp_path)}
    crawl([site.url("/no")], cached)
    second = crawl([site.url("/no")], cached)
    assert len(site.robots_asked) == 2
    assert second.errors[site.url("/no")]["type"] == "ForbiddenByRobots"


@pytest.mark.parametrize(
    ("robots", "settings"),
    [
        (NO, OFFLINE),
        (raw(CUT), {"DOWNLOAD_FAIL_ON_DATALOSS": False}),
        (NO, {"DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.DropsRobotsTxt": 400}}),
    ],
    ids=["offline cache", "data loss (FET-14)", "dropped by a middleware"],
)
def test_a_robots_txt_that_does_not_come_allows_nothing(
    server: Server, tmp_path: Path, robots: Any, settings: dict[str, Any]
) -> None:
    """Only a robots.txt that was sent whole, past caches and middlewares, can allow."""
    site = server.site("127.0.0.2", robots)
    at_once = {"ROBOTSPEC_RETRY_TIMES": 0, "ROBOTSPEC_HOLD_TIMEOUT": 0}
    result = crawl([site.url("/x")], {**settings, **at_once, "HTTPCACHE_DIR": str(tmp_path)})
    assert bool(site.robots_asked) == (robots is not NO)
    assert site.pages_asked == []
    assert result.errors[site.url("/x")]["type"] == "RobotsUnreachable"


#: Middlewares that drop a robots.txt request, or its response.
DROPPING = ["DropsRobotsTxt", "DropsAnswers"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("name", "words"),
    [
        *((name, f"dropped by {name}: IgnoreRequest: no robots.txt here") for name in DROPPING),
        ("UsesWhatScrapyLacks", "raised in UsesWhatScrapyLacks: AttributeError: "),
    ],
)
def test_a_middleware_that_drops_it_or_fails_is_named(
    server: Server, mode: str, name: str, words: str
) -> None:
    """In the line that gives the site up, by its class."""
    site = server.site("127.0.0.2", NO)
    middlewares = {f"tests.crawl.middlewares.{name}": 400}
    at_once = {"ROBOTSPEC_RETRY_TIMES": 0, "DOWNLOADER_MIDDLEWARES": middlewares}
    result = crawl([site.url("/x")], at_once, mode=mode)
    (line,) = result.lines("given up")
    assert f"({words}" in line


def test_it_carries_the_user_agent_of_the_page_and_no_other_header(server: Server) -> None:
    """The site's log shows one crawler."""
    own = server.site("127.0.0.2", NO)
    usual = server.site("127.0.0.3", NO)
    secrets = {"Cookie": "a=secret", "Authorization": "secret", "X-Key": "secret", "Referer": "x"}
    headers = {"User-Agent": "special/1.0", **secrets}
    crawl([{"url": own.url("/x"), "headers": headers}, usual.url("/x")])
    (asked,) = own.robots_asked
    assert not {name.lower() for name in secrets} & {name for name, _ in asked.headers}
    assert {asked.header("user-agent") for asked in own.log} == {"special/1.0"}
    assert {asked.header("user-agent") for asked in usual.log} == {
        "examplebot/1.0 (+https://example.com/bot)"
    }


@pytest.mark.parametrize("by", ["meta", "environment"])
def test_it_takes_the_proxy_of_the_page(server: Server, by: str) -> None:
    """ROBOTSPEC_INHERIT_META: the proxy by default."""
    site = server.site("www.example.com", NO, port=80)
    proxy = f"http://127.0.0.9:{server.port}"
    meta = {"proxy": proxy} if by == "meta" else {}
    urls = ["http://www.example.com/yes", "http://www.example.com/no"]
    requests = [{"url": url, "meta": meta} for url in urls]
    result = crawl(requests, env={"http_proxy": proxy} if by == "environment" else {})
    assert [asked.path for asked in site.log] == ["/robots.txt", "/yes"]
    assert result.errors[urls[1]]["type"] == "ForbiddenByRobots"


def test_what_it_takes_over_is_a_setting(server: Server) -> None:
    """ROBOTSPEC_INHERIT_META = []: the robots.txt is asked for without the page's proxy."""
    site = server.site("127.0.0.2", reply(status=404))
    proxied = server.site("127.0.0.2", NO, port=server.other_port)
    meta = {"proxy": f"http://127.0.0.9:{server.port}"}
    entry = {"url": proxied.url("/no"), "meta": meta}
    crawl([entry], {"ROBOTSPEC_INHERIT_META": []})
    direct = [asked for asked in proxied.log if asked.path == "/robots.txt"]
    assert len(direct) == 1
    assert direct[0].port == server.other_port
    assert proxied.pages_asked == []
    assert site.log == []


def test_download_settings_for_pages_do_not_count(server: Server) -> None:
    """Size limits of pages make no error of a long robots.txt."""
    site = server.site("127.0.0.2", "# " + "x" * 5000 + "\n" + NO)
    limits = {"DOWNLOAD_MAXSIZE": 1000, "DOWNLOAD_WARNSIZE": 500}
    result = crawl([site.url("/yes"), site.url("/no")], limits)
    assert site.pages_asked == ["/yes"]
    assert result.lines("WARNING", "robots.txt") == []


def test_autothrottle_learns_nothing_from_it(server: Server) -> None:
    """A slow robots.txt slows no page."""
    site = server.site("127.0.0.2", after(3.0, reply(NO)))
    settings = {"AUTOTHROTTLE_ENABLED": True, "AUTOTHROTTLE_START_DELAY": 0.01}
    result = crawl([site.url(f"/{n}") for n in range(4)], {**settings, "AUTOTHROTTLE_DEBUG": True})
    throttled = result.lines("slot: 127.0.0.2")
    assert len(throttled) == 4
    delays = [int(line.partition("delay:")[2].split()[0]) for line in throttled]  # milliseconds
    assert max(delays) < 1400  # half of the latency of the robots.txt, which would be the next one


FOREIGN_QUEUE = {"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue"}
ENDS = ("dropped", "broken", "answered", "repeated", "replaced", "passed")
ENDING = {
    "DOWNLOADER_MIDDLEWARES": {
        "tests.crawl.middlewares.EndsPagesBefore": 50,
        "tests.crawl.middlewares.EndsPagesBehind": 150,
    }
}


DELAY = {"ROBOTSPEC_DEFAULT_CRAWL_DELAY": 0.01}


@pytest.mark.parametrize(
    ("queue", "delay"),
    [({}, {}), (FOREIGN_QUEUE, DELAY)],
    ids=["own queue", "foreign queue and a delay"],
)
def test_a_page_request_that_another_middleware_ends_is_not_waited_for(
    server: Server, queue: dict[str, Any], delay: dict[str, Any]
) -> None:
    """Before ours and behind it, first and last of an origin, more than may be parked.

    Random crawls mix these ends with everything else.
    """
    random = Random(0)
    sites = [server.site(f"127.0.0.{n}", after(random.random() / 2, reply(NO))) for n in (2, 3, 4)]
    paths = [f"/{where}-{end}" for where in ("before", "behind") for end in ENDS]
    urls = [site.url(f"{path}-{n}") for site in sites for path in paths for n in range(5)]
    random.shuffle(urls)
    settings = {**ENDING, **queue, **delay, "ROBOTSPEC_MAX_PARKED": 4}
    result = crawl(urls, settings, spider="counting_tables")
    assert result.ended_once(
        re.sub("(before|behind)(-replaced)", r"from-\1\2", url) for url in urls
    )
    assert result.stats["robotspec/waiting"] == result.stats["robotspec/pending"] == 0
    _rules, *others = result.of("tables")[-1]["sizes"]
    spaced = len(sites) if delay else 0  # until the last slots have ended, one after the other
    assert max(others, default=0) <= spaced, "no table keeps an origin that is idle"


def test_an_origin_whose_requests_are_all_dropped_is_forgotten(server: Server) -> None:
    """Its last one too, after which nothing is queued."""
    site = server.site("127.0.0.2", NO)
    urls = [site.url(f"/before-dropped-{n}") for n in range(5)]
    result = crawl(urls, ENDING, spider="counting_tables")
    assert result.ended_once(urls)
    assert result.of("tables")[-1]["sizes"] == []
