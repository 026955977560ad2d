"""SIGKILL at random moments, then the same crawl again: the store is whole and leases end.

Requests in the memory of the killed process are lost, except with queues of Scrapy that survive.
"""

from __future__ import annotations

import random
import signal
import sqlite3
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from scrapy import version_info

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.store.base import RecordStore
from tests.support.crawl import SAFE_QUEUES, Running, crawl
from tests.support.responses import Switch, after, in_turn, reply, reset
from tests.support.server import Server, Site
from tests.support.stores import open_shared_store, take

RULES = "User-agent: *\nDisallow: /no\n"
#: Seconds; a lease lasts this and five more.
TIMEOUT = 1.0
PATHS = ("/yes", "/no")


def sites_of(server: Server, number: int) -> list[Site]:
    """Sites that are quick, slow, fail once, or have a long file."""
    long = RULES + "# a comment\n" * 5000
    answers = [
        reply(RULES),
        after(0.1, reply(RULES)),
        in_turn(reply("", 503), reply(RULES)),
        in_turn(reset(), reply(RULES)),
        reply(long),
    ]
    hosts = [f"127.0.{n // 200}.{n % 200 + 1}" for n in range(number)]
    return [server.site(host, answers[n % len(answers)]) for n, host in enumerate(hosts)]


def settings_of(folder: Path) -> dict[str, Any]:
    return {
        "ROBOTSPEC_CACHE": f"sqlite:///{folder}/robots.db",
        "ROBOTSPEC_FETCH_TIMEOUT": TIMEOUT,
        "ROBOTSPEC_RETRY_DELAY": 0.1,
        "ROBOTSPEC_RETRY_MAX_DELAY": 0.2,
        "LOG_LEVEL": "INFO",
    }


def kill_after(running: Running, server: Server, requests: int, moment: float) -> None:
    """Kill the crawl after *requests* requests and *moment* seconds."""
    running.wait_until(lambda: len(server.log) >= requests)
    time.sleep(moment)
    running.send(signal.SIGKILL)
    assert running.finish(20).exit_code == -signal.SIGKILL


def check_store(folder: Path, sites: list[Site]) -> None:
    """Every record is complete and is what its server sent."""
    path = folder / "robots.db"
    if not path.exists():
        return  # killed before it was made
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    store = open_shared_store(f"sqlite:///{path}")
    found = [store.get(origin_of(site)) for site in sites]
    for record in found:
        assert record is None or record.fetched_at is None or record.body.startswith(RULES.encode())
    check_leases(store, sites)
    store.close()


def origin_of(site: Site) -> Origin:
    origin = Origin.of(site.url())
    assert origin is not None
    return origin


def check_leases(store: RecordStore, sites: list[Site]) -> None:
    """Leases of the dead process end within one fetch timeout and a few seconds."""
    later = time.time() + TIMEOUT + 5.1
    for site in sites:
        assert take(store, origin_of(site), "a test", later, 0.0)
        store.release(origin_of(site), "a test")


def test_killed_again_and_again_and_then_not(server: Server, tmp_path: Path) -> None:
    """Each finds what the dead one has kept and asks for nothing disallowed; the last one ends."""
    seed = random.randrange(10_000)
    print("seed", seed)
    chance = random.Random(seed)
    sites = sites_of(server, 50)
    urls = [site.url(path) for site in sites for path in PATHS]
    endless = server.site("127.9.0.1", reply("", 503)).url("/yes")  # so none ends before its kill
    settings = settings_of(tmp_path)
    for _ in range(2):
        before = len(server.log)
        with Running([*urls, endless], settings) as running:
            kill_after(running, server, before + chance.randrange(1, 35), chance.random() * 0.05)
        check_store(tmp_path, sites)
    result = crawl(urls, settings)
    assert result.ended_once(urls)
    assert {path for site in sites for path in site.pages_asked} == {"/yes"}
    assert "Traceback" not in result.log
    assert "store of ROBOTSPEC_CACHE fails" not in result.log
    check_store(tmp_path, sites)


@pytest.mark.skipif(version_info < (2, 19), reason="the first Scrapy with queues that survive")
def test_killed_with_queues_that_survive(server: Server, tmp_path: Path) -> None:
    """JOBDIR with SQLite queues: all that waits on disk is there, and no page comes twice.

    Scrapy knows its queues by a list that it writes when a crawl stops cleanly, so one has to have
    done that before. What was being downloaded is gone with the process, as is the request of each
    origin that waits in the middleware.
    """
    robots, at_once = Switch(reply("", 503)), 4
    held = server.site("127.0.1.1", robots)
    other = server.site("127.0.1.2", RULES, page=after(0.2, reply("page")))
    urls = [site.url(f"{path}{n}") for site in (held, other) for path in PATHS for n in range(30)]
    settings = {
        **settings_of(tmp_path),
        "ROBOTSPEC_CACHE": "memory://",
        "JOBDIR": str(tmp_path / "job"),
        **SAFE_QUEUES,
        "CONCURRENT_REQUESTS": at_once,
    }
    with Running(urls, settings) as stopped:
        stopped.wait_until(lambda: stopped.all_given and len(held.robots_asked) > 1)
        stopped.send(signal.SIGINT)
        ends = stopped.finish(30).ends
    with Running([], settings) as killed:
        before = len(server.log)
        kill_after(killed, server, before + random.randrange(1, 30), random.random() * 0.2)
        ends += Counter(e["url"] for e in killed.events if e["kind"] in ("response", "error"))
    assert 0 < len(ends) < len(urls)
    robots.answer = reply(RULES)
    result = crawl([], settings)
    ends += result.ends
    assert {path[:3] for path in held.pages_asked + other.pages_asked} == {"/ye"}
    assert len(urls) - len(ends) <= at_once + len((held, other))
    for site in (held, other):
        assert max(Counter(site.pages_asked).values()) == 1
    assert "Traceback" not in result.log
