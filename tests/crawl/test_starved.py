"""A process that gets little of a processor, or none for a while, does not blame the sites."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from tests.support.crawl import MODES, WAYS, Running
from tests.support.responses import after, reply
from tests.support.server import Server, Site

RULES = "User-agent: *\nDisallow: /no\n"
ORIGINS = 120


@contextmanager
def starved(running: Running, runs: float, stands: float) -> Iterator[None]:
    """The process stands still for *stands* seconds whenever it has used *runs* of a processor."""
    is_over = threading.Event()
    clock = ~running.pid << 3 | 2  # the processor time of that process, as clock_getcpuclockid(3)
    began = time.clock_gettime(clock)

    def starve(began: float) -> None:
        with suppress(OSError):  # it has ended
            while not is_over.wait(0.005):
                if time.clock_gettime(clock) - began >= runs:
                    os.kill(running.pid, signal.SIGSTOP)
                    time.sleep(stands)
                    os.kill(running.pid, signal.SIGCONT)
                    began = time.clock_gettime(clock)

    thread = threading.Thread(target=starve, args=[began])
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def sites(server: Server, delay: float = 0.0) -> list[Site]:
    robots = after(delay, reply(RULES))
    return [server.site(f"127.1.{n // 250}.{n % 250 + 1}", robots) for n in range(ORIGINS)]


@pytest.mark.parametrize(
    ("mode", "runs", "stands"),
    [(WAYS[0], 0.015, 0.9), ("select", 0.015, 1.1), (WAYS[-1], 0.012, 0.8)],
)
def test_a_crawl_with_little_of_a_processor_asks_each_site_once(
    server: Server, mode: str, runs: float, stands: float
) -> None:
    """All are known before the first is asked; by the clock each has three seconds."""
    asked = sites(server)[:48]
    urls = [site.url("/x") for site in asked]
    settings = {"ROBOTSPEC_FETCH_TIMEOUT": 3, "LOG_LEVEL": "INFO"}
    crawling = Running(urls, settings, mode=mode, spider="all_queued", more={"known": []})
    with crawling as running:
        running.wait_until(lambda: running.events)
        with starved(running, runs, stands):
            result = running.finish(180)
    assert result.ended_once(urls)
    assert [len(site.robots_asked) for site in asked] == [1] * len(asked)
    assert {event["kind"] for event in result.events} & {"error"} == set()


@pytest.mark.parametrize("mode", MODES)
def test_a_process_that_was_stopped_reads_what_has_come(server: Server, mode: str) -> None:
    """SIGSTOP, or a laptop that sleeps, for longer than ROBOTSPEC_FETCH_TIMEOUT."""
    asked = sites(server, 0.5)[:40]
    urls = [site.url("/x") for site in asked]
    settings = {"ROBOTSPEC_FETCH_TIMEOUT": 2, "ROBOTSPEC_CONCURRENT_FETCHES": 8}
    with Running(urls, settings, mode=mode) as running:
        running.wait_until(lambda: sum(len(site.robots_asked) for site in asked) > 6)
        running.send(signal.SIGSTOP)
        time.sleep(4)
        running.send(signal.SIGCONT)
        result = running.finish()
    assert result.ended_once(urls)
    assert [len(site.robots_asked) for site in asked] == [1] * len(asked)
