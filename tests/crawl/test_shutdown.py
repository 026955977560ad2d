"""Ctrl-C while requests wait, and going on later from JOBDIR: nothing lost, nothing twice."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.crawl import MODES, Result, Running, crawl
from tests.support.responses import Switch, once, reply, silence
from tests.support.server import Server

RULES = "User-agent: *\nDisallow: /no\n"
DOWN = reply("", 503)
STOCK_QUEUE = {"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue"}
FOREIGN_QUEUE = {"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue"}
#: A crawl without this plugin and without any robots.txt.
STOCK = {**STOCK_QUEUE, "ADDONS": {}, "ROBOTSTXT_OBEY": False}


def interrupted(running: Running, when: Callable[[], Any]) -> Result:
    """The crawl after one Ctrl-C, which does not wait for a fetch (30 s) or a hold (300 s)."""
    running.wait_until(lambda: running.all_given and when())
    running.send(signal.SIGINT)
    return running.finish(20)


@pytest.mark.parametrize(
    ("mode", "robots", "queue"),
    [
        *((mode, silence(), {}) for mode in MODES),
        ("asyncio", DOWN, {}),
        ("asyncio", DOWN, FOREIGN_QUEUE),
        ("select", silence(), FOREIGN_QUEUE),
    ],
)
def test_ctrl_c_while_requests_wait(
    server: Server, tmp_path: Path, mode: str, robots: Any, queue: dict[str, str]
) -> None:
    """It stops at once, and the next crawl gets every request exactly once."""
    site = server.site("127.0.0.2", Switch(robots))
    other = server.site("127.0.0.3", RULES)
    urls = [site.url(f"/{kind}{n}") for kind in ("yes", "no") for n in range(60)]
    settings = {"JOBDIR": str(tmp_path), "LOG_LEVEL": "INFO", **queue}
    with Running([*urls, other.url("/x")], settings, mode=mode) as running:
        first = interrupted(running, lambda: other.pages_asked and site.robots_asked)
    assert first.exit_code == 0
    assert first.ends == Counter([other.url("/x")])
    assert "Traceback" not in first.log
    assert (first.stats["robotspec/waiting"], first.stats["robotspec/pending"]) == (0, 0)
    assert "still pending" in first.log
    asked = len(site.robots_asked)
    with Running([], settings, mode=mode) as again:  # what waits a second time is not lost either
        again.wait_until(lambda: len(site.robots_asked) > asked)
        again.send(signal.SIGINT)
        assert not again.finish(20).ends
    assert site.pages_asked == []
    assert isinstance(site.robots, Switch)
    site.robots.answer = reply(RULES)
    second = crawl([], settings, mode=mode)
    assert second.ended_once(urls)
    assert sorted(site.pages_asked) == sorted(f"/yes{n}" for n in range(60))


@pytest.mark.parametrize(
    ("first", "second"),
    [(STOCK, {}), ({}, STOCK), ({}, {}), (FOREIGN_QUEUE, FOREIGN_QUEUE)],
    ids=["stock to ours", "ours to stock", "ours to ours", "foreign to foreign"],
)
def test_a_jobdir_moves(
    server: Server, tmp_path: Path, first: dict[str, Any], second: dict[str, Any]
) -> None:
    """Between Scrapy's queue and ours, both ways, half-way through a crawl."""
    stopping = threading.Event()
    page = once(lambda: stopping.is_set() or len(server.log) < 30, reply("page"))
    sites = [server.site(f"127.0.0.{n}", RULES, page=page) for n in range(2, 5)]
    urls = [site.url(f"/yes{n}") for site in sites for n in range(30)]
    common = {
        "JOBDIR": str(tmp_path),
        "CONCURRENT_REQUESTS_PER_DOMAIN": 2,
        "ROBOTSPEC_MAX_PARKED": 20,  # what has left the scheduler is sent before a crawl ends
    }
    with Running(urls, {**common, **first}) as running:
        running.wait_until(lambda: running.all_given and len(server.log) >= 30)
        running.send(signal.SIGINT)
        running.wait_until(lambda: "Closing spider" in running.log)
        stopping.set()
        halfway = running.finish(20)
    assert 0 < len(halfway.ends) < len(urls)
    rest = crawl([], {**common, **second})
    assert halfway.ends + rest.ends == Counter(urls)
    assert Counter(url for site in sites for url in map(site.url, site.pages_asked)) == Counter(
        urls
    )


def test_waiting_requests_of_our_queue_can_be_taken_up_by_scrapys(
    server: Server, tmp_path: Path
) -> None:
    """Also requeued ones; they pass the duplicates filter again."""
    site = server.site("127.0.0.2", DOWN)
    urls = [site.url(f"/{n}") for n in range(50)]
    settings = {"JOBDIR": str(tmp_path)}
    with Running(urls, settings) as running:
        interrupted(running, lambda: len(site.robots_asked) > 1)
    second = crawl([], {**settings, **STOCK})
    assert second.ended_once(urls)


def test_ctrl_c_while_requests_past_the_scheduler_wait(server: Server) -> None:
    """They end in an exception, at once."""
    held = server.site("127.0.0.2", silence())
    start = server.site("127.0.0.3", RULES)
    inline = [held.url(f"/{n}") for n in range(20)]
    with Running([start.url("/x")], spider="inline", more={"inline": inline}) as running:
        result = interrupted(running, lambda: held.robots_asked)
    assert {event["type"] for event in result.of("error")} == {"IgnoreRequest"}
    assert sum(result.ends[url] for url in inline) == len(inline)
    assert held.pages_asked == []
