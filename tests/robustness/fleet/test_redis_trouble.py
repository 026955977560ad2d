"""A Redis that goes away, hangs, fills up or holds garbage costs a warning and no page too many."""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from collections.abc import Callable

import pytest

from tests.support.crawl import Result, Running, crawl
from tests.support.redis_server import RedisServer
from tests.support.responses import after, once, reply
from tests.support.server import Server, Site

RULES = "User-agent: *\nDisallow: /no\n"


def command(redis: RedisServer, *words: str) -> str:
    done = subprocess.run(
        ["redis-cli", "-p", str(redis.port), *words], capture_output=True, text=True, check=False
    )
    return done.stdout


def garble(redis: RedisServer) -> None:
    """Write garbage over all keys, of another kind than they were."""
    for key in command(redis, "KEYS", "*").split():
        command(redis, "DEL", key)
        command(redis, "LPUSH", key, "garbage")


def fill(redis: RedisServer) -> None:
    command(redis, "CONFIG", "SET", "maxmemory-policy", "noeviction")
    command(redis, "CONFIG", "SET", "maxmemory", "1")


TROUBLES: dict[str, Callable[[RedisServer], object]] = {
    "killed": lambda redis: redis.stop(),
    "hanging": lambda redis: redis.signal(signal.SIGSTOP),
    "flushed": lambda redis: command(redis, "FLUSHALL"),
    "full": fill,
    "garbage": garble,
}


def sites_and_urls(server: Server, number: int) -> tuple[list[Site], list[str]]:
    sites = [server.site(f"127.0.3.{at}", after(0.1, reply(RULES))) for at in range(1, number + 1)]
    return sites, [site.url(path) for site in sites for path in ("/yes", "/no")]


def assert_harmless(result: Result, sites: list[Site], urls: list[str]) -> None:
    assert result.ended_once(urls)
    assert "Traceback" not in result.log
    assert [site.pages_asked for site in sites] == [["/yes"]] * len(sites)
    assert [len(site.robots_asked) for site in sites] == [1] * len(sites)


@pytest.mark.parametrize("trouble", TROUBLES)
def test_trouble_in_the_middle_of_a_crawl(
    server: Server, own_redis: RedisServer, trouble: str
) -> None:
    """The crawl goes on with its memory; nothing is allowed, lost or asked again."""
    sites, urls = sites_and_urls(server, 30)
    made = threading.Event()

    def asked() -> int:
        return sum(len(site.robots_asked) for site in sites)

    for site in sites:  # four at once: eight get their answer, four wait for the trouble
        site.robots = once(lambda: made.is_set() or asked() <= 8, reply(RULES))
    settings = {
        "ROBOTSPEC_CACHE": f"{own_redis.uri}?timeout={0.5 if trouble == 'hanging' else 30}",
        "ROBOTSPEC_CONCURRENT_FETCHES": 4,
    }
    with Running(urls, settings) as running:
        running.wait_until(lambda: asked() > 8)
        TROUBLES[trouble](own_redis)
        made.set()
        result = running.finish()
    assert_harmless(result, sites, urls)
    if trouble in ("killed", "hanging", "full"):  # logged once, and it does not get better
        logged = result.lines("robots.txt store")
        assert ["fails" in line for line in logged] == [n % 2 == 0 for n in range(len(logged))]
        assert "fails" in logged[-1]


def test_a_redis_that_is_not_there_at_the_start(server: Server, own_redis: RedisServer) -> None:
    """One warning that names the setting, and the crawl goes on."""
    own_redis.stop()
    sites, urls = sites_and_urls(server, 3)
    result = crawl(urls, {"ROBOTSPEC_CACHE": own_redis.uri})
    assert_harmless(result, sites, urls)
    (warning,) = result.lines("WARNING", "robots.txt store")
    assert "ROBOTSPEC_CACHE" in warning


def test_a_redis_that_comes_back_is_used_again(server: Server, own_redis: RedisServer) -> None:
    """Without a restart of the crawl: after a while the store is tried again."""
    quick = server.site("127.0.3.1", RULES)
    tried_again = threading.Event()
    slow = server.site("127.0.3.2", once(tried_again.is_set, reply(RULES)))
    own_redis.stop()
    with Running(
        [quick.url("/yes"), slow.url("/yes")], {"ROBOTSPEC_CACHE": own_redis.uri}
    ) as running:
        running.wait_until(lambda: quick.pages_asked)
        own_redis.start()
        time.sleep(5.1)  # the pause after the last failure, which was before the start
        tried_again.set()
        result = running.finish()
    assert_harmless(result, [quick, slow], [quick.url("/yes"), slow.url("/yes")])
    assert result.lines("INFO", "robots.txt store works again")
    assert command(own_redis, "KEYS", "*")
