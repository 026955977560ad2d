"""Waiting with a scheduler that is not Scrapy's: the real scrapy-redis on a real Redis."""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.support.crawl import Running, crawl
from tests.support.redis_server import RedisServer
from tests.support.responses import Switch, after, as_long_as, reply
from tests.support.server import Server

pytest.importorskip("scrapy_redis", reason="scrapy-redis is not installed")

RULES = "User-agent: *\nDisallow: /no\n"
DOWN = reply("", 503)
#: scrapy-redis with a client that decodes what Redis contains.
TEXTS = {
    "SCHEDULER_SERIALIZER": "tests.crawl.text_serializer",
    "REDIS_PARAMS": {"decode_responses": True},
}


@pytest.fixture
def settings(own_redis: RedisServer) -> dict[str, Any]:
    """Settings for a queue in a Redis of its own."""
    return {
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "SCHEDULER_PERSIST": True,
        "REDIS_URL": own_redis.uri,
        "ROBOTSPEC_RETRY_DELAY": 0.2,
        "ROBOTSPEC_RETRY_MAX_DELAY": 0.4,
    }


def test_waiting_delays_no_other_and_loses_nothing(
    server: Server, settings: dict[str, Any]
) -> None:
    """The rules come when all other sites are crawled; then every allowed page is, once."""
    others = [server.site(f"127.0.0.{n}", RULES) for n in range(2, 6)]
    fast = [site.url(f"/{n}") for n in range(20) for site in others]
    left = lambda: sum(len(set(site.pages_asked)) for site in others) < len(fast)  # noqa: E731
    held = server.site("127.0.1.1", as_long_as(left, DOWN, reply(RULES)))
    waiting = [held.url(f"/{kind}{n}") for kind in ("yes", "no") for n in range(40)]
    result = crawl([*waiting, *fast], settings)
    assert result.ended_once([*waiting, *fast])
    assert sorted(held.pages_asked) == sorted(f"/yes{n}" for n in range(40))


def test_ctrl_c_gives_waiting_requests_back(server: Server, settings: dict[str, Any]) -> None:
    """Parked requests are in Redis again, and the next crawl gets each once."""
    robots = Switch(DOWN)
    site = server.site("127.0.0.2", robots)
    urls = [site.url(f"/{kind}{n}") for kind in ("yes", "no") for n in range(100)]
    with Running(urls, settings) as running:
        running.wait_until(lambda: running.all_given and len(site.robots_asked) > 3)
        running.send(signal.SIGINT)
        first = running.finish(20)
    assert not first.ends
    robots.answer = reply(RULES)
    second = crawl([], settings)
    assert second.ended_once(urls)
    assert sorted(site.pages_asked) == sorted(f"/yes{n}" for n in range(100))


@pytest.mark.parametrize("client", [{}, TEXTS], ids=["bytes", "texts"])
def test_a_killed_workers_parked_requests_are_taken_over(
    server: Server, settings: dict[str, Any], client: dict[str, Any]
) -> None:
    """kill -9: they rest in Redis under its name, and another worker crawls each of them once."""
    settings = {**settings, **client}
    robots = Switch(DOWN)
    site = server.site("127.0.0.2", robots)
    urls = [site.url(f"/{kind}{n}") for kind in ("yes", "no") for n in range(100)]
    with Running(urls, settings) as killed:
        killed.wait_until(lambda: killed.all_given and len(site.robots_asked) > 3)
        killed.send(signal.SIGKILL)
        killed.finish(20)
    robots.answer = reply(RULES)
    other = server.site("127.0.0.3", after(20, reply(RULES)))
    second = crawl([other.url("/x")], settings)
    assert sorted(site.pages_asked) == sorted(f"/yes{n}" for n in range(100))
    assert second.ended_once([*urls, other.url("/x")])
    assert "Traceback" not in second.log


def test_a_worker_waits_for_one_that_has_parked_requests(
    server: Server, settings: dict[str, Any]
) -> None:
    """Otherwise no worker would be left to take them over."""
    robots = Switch(DOWN)
    site = server.site("127.0.0.2", robots)
    urls = [site.url(f"/yes{n}") for n in range(50)]
    quick = server.site("127.0.0.3", RULES)
    with Running(urls, settings) as killed:
        killed.wait_until(lambda: killed.all_given and len(site.robots_asked) > 3)
        with Running([quick.url("/yes")], settings) as other:
            other.wait_until(lambda: quick.pages_asked)
            robots.answer = reply(RULES)
            killed.send(signal.SIGKILL)
            result = other.finish(90)
    missing = set(urls) - set(result.ends)
    assert len(missing) <= 16  # what the killed one was downloading
    assert site.pages_asked.count("/yes7") <= 1


@pytest.mark.parametrize("delay", [{}, {"ROBOTSPEC_DEFAULT_CRAWL_DELAY": 0.05}], ids=["", "delay"])
def test_a_request_that_ends_in_an_error_is_parked_no_longer(
    server: Server, settings: dict[str, Any], own_redis: RedisServer, delay: dict[str, Any]
) -> None:
    """Otherwise two workers would wait for each other's without end."""
    robots = Switch(DOWN)
    site = server.site("127.0.0.2", robots)
    paths = ("bad", "wrong", "unencodable", "no", "yes")
    urls = [site.url(f"/{path}{n}") for n in range(8) for path in paths]
    failing = {
        **settings,
        **delay,
        "ROBOTSPEC_USER_AGENT_TOKEN": "tests.crawl.tokens.broken_for_some",
        "DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.AddsWhatNoQueueTakes": 50},
    }
    parked = "plain:requests:parked:*"
    with Running(urls[::2], failing) as one, Running(urls[1::2], failing) as two:
        one.wait_until(lambda: one.all_given and two.all_given and len(keys(own_redis, parked)) > 1)
        robots.answer = reply(RULES)
        results = [one.finish(), two.finish()]
    assert results[0].ends + results[1].ends == Counter(urls)
    assert keys(own_redis, parked) == ()


def test_requests_that_cannot_be_decoded_are_kept_and_stop_no_other(
    server: Server, settings: dict[str, Any], own_redis: RedisServer, tmp_path: Path
) -> None:
    """As while a new version is rolled out: a worker that has their callback crawls them."""
    robots = Switch(DOWN)
    site = server.site("127.0.0.2", robots)
    known = [site.url(f"/yes{n}") for n in range(5)]
    new = [site.url(f"/new{n}") for n in range(3)]
    with Running([*known, *new], settings, spider="renamed") as killed:
        killed.wait_until(lambda: killed.all_given and len(site.robots_asked) > 3)
        killed.send(signal.SIGKILL)
        killed.finish(20)
    robots.answer = reply(RULES)
    other = server.site("127.0.0.3", after(20, reply(RULES)))
    watched = {**settings, "ROBOTSPEC_EVIDENCE": str(tmp_path / "evidence")}
    second = crawl([other.url("/x")], watched)
    assert second.ended_once([*known, other.url("/x")])
    assert second.lines("ERROR", "3 parked requests cannot be decoded", "parked:undecodable")
    assert not second.lines("Traceback")
    (log,) = (tmp_path / "evidence").glob("decisions-*.jsonl")
    assert log.read_text().count('"type":"sent"') == len(known) + 1
    assert keys(own_redis, "plain:requests:parked:*") == ("plain:requests:parked:undecodable",)
    third = crawl([], settings, spider="renamed")
    assert third.ended_once(new)
    assert keys(own_redis, "plain:requests:parked:undecodable") == ()


def keys(server: RedisServer, pattern: str) -> tuple[str, ...]:
    """The keys of tables of requests."""
    from redis import Redis

    client = Redis.from_url(server.uri, decode_responses=True)
    try:
        found = sorted(client.scan_iter(pattern))
        return tuple(key for key in found if client.type(key) == "hash")
    finally:
        client.close()
