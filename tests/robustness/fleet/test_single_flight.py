"""Several crawl processes with one store ask an origin once, and survive each other (CAC-04)."""

from __future__ import annotations

import os
import signal
from contextlib import ExitStack
from typing import Any

from tests.support.crawl import Result, Running, crawl
from tests.support.responses import after, in_turn, reply, silence
from tests.support.server import Server, Site

RULES = "User-agent: *\nDisallow: /no\n"
WORKERS = 3
#: Workers that wait for one that is killed; fifty processes in all with ``ROBOTSPEC_PROFILE=long``.
OTHERS = 49 if os.environ.get("ROBOTSPEC_PROFILE") == "long" else 4


def fleet(urls: list[list[str]], settings: dict[str, object]) -> list[Result]:
    """Crawls at the same time, one for each list of URLs."""
    with ExitStack() as running:
        crawls = [running.enter_context(Running(each, settings)) for each in urls]
        return [crawl.finish() for crawl in crawls]


def sites_of(server: Server, number: int, answer: Any) -> list[Site]:
    return [server.site(f"127.0.{2 + at // 200}.{1 + at % 200}", answer) for at in range(number)]


def assert_obeyed(results: list[Result], urls: list[list[str]], sites: list[Site]) -> None:
    """Every request ended once, none of a disallowed page reached a server, nothing was raised."""
    for result, asked in zip(results, urls, strict=True):
        assert result.ended_once(asked)
        assert "Traceback" not in result.log
    assert not [path for site in sites for path in site.pages_asked if path.startswith("/no")]


def test_forty_origins_are_asked_once_by_three_workers(server: Server, uri: str) -> None:
    """CAC-05: one fetch for each origin, in all processes together."""
    sites = sites_of(server, 40, after(0.3, reply(RULES)))
    urls = [
        [site.url(f"/{word}{n}") for site in sites for word in ("yes", "no")]
        for n in range(WORKERS)
    ]
    results = fleet(urls, {"ROBOTSPEC_CACHE": uri})
    assert_obeyed(results, urls, sites)
    assert [len(site.robots_asked) for site in sites] == [1] * len(sites)
    assert all(len(site.pages_asked) == WORKERS for site in sites)


def test_a_fleet_retries_at_the_pace_of_one(server: Server, uri: str) -> None:
    """FET-11: failures and the next attempt are shared, Retry-After too."""
    down = reply("", 503, [("Retry-After", "2")])
    sites = sites_of(server, 5, in_turn(down, reply(RULES)))
    urls = [[site.url(f"/yes{n}") for site in sites] for n in range(WORKERS)]
    results = fleet(urls, {"ROBOTSPEC_CACHE": uri})
    assert_obeyed(results, urls, sites)
    for site in sites:
        first, second = site.robots_asked
        assert second.at - first.at >= 2
        assert min(asked.at for asked in site.log if asked.path != "/robots.txt") > second.at


def test_one_of_many_workers_takes_over(server: Server, uri: str) -> None:
    """CAC-05: the others go on waiting for that one, however long it takes."""
    site = server.site("127.0.0.2", in_turn(silence(), after(3, reply(RULES))))
    settings = {"ROBOTSPEC_CACHE": uri, "ROBOTSPEC_FETCH_TIMEOUT": 5}
    with ExitStack() as running:
        killed = running.enter_context(Running([site.url("/yes")], settings))
        killed.wait_until(lambda: site.robots_asked)
        urls = [[site.url(f"/yes{n}"), site.url(f"/no{n}")] for n in range(OTHERS)]
        others = [running.enter_context(Running(each, settings)) for each in urls]
        killed.send(signal.SIGKILL)
        results = [other.finish() for other in others]
    assert_obeyed(results, urls, [site])
    assert len(site.robots_asked) == 2


def test_a_worker_without_a_way_to_the_site_refuses_it_for_itself_alone(
    server: Server, uri: str
) -> None:
    """Its proxy is dead. What it learns of the site is nothing, and it writes nothing."""
    site = server.site("127.0.0.2", RULES)
    settings = {
        "ROBOTSPEC_CACHE": uri,
        "ROBOTSPEC_RETRY_TIMES": 0,
        "ROBOTSPEC_FETCH_TIMEOUT": 5,
    }
    dead = {"url": site.url("/yes1"), "meta": {"proxy": "http://127.0.0.9:1"}}
    first = crawl([dead], settings)
    assert first.errors[site.url("/yes1")]["type"] == "RobotsUnreachable"
    assert site.log == []
    urls = [site.url("/yes2"), site.url("/no2")]
    healthy = crawl(urls, settings)
    assert healthy.ended_once(urls)
    assert site.pages_asked == ["/yes2"]
