"""Several crawl processes keep one crawl delay, measured at the server (EXT-01)."""

from __future__ import annotations

import itertools
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.crawl import Running
from tests.support.evidence import pages_sent
from tests.support.redis_server import RedisServer
from tests.support.server import Server, Site, ahead

DELAY = 0.4
#: A busy machine may send a first page late (seconds); a page that takes no turn is ahead by more.
SLACK = 0.2
RULES = f"User-agent: *\nDisallow: /no\nCrawl-delay: {DELAY}\n"
WORKERS = 4


def settings(cache: str) -> dict[str, object]:
    return {"ROBOTSPEC_CACHE": cache, "ROBOTSPEC_CRAWL_DELAY": True}


def urls_of(site: Site, worker: int, number: int) -> list[str]:
    return [site.url(f"/w{worker}/{n}") for n in range(number)]


def page_times(site: Site) -> list[float]:
    return sorted(asked.at for asked in site.log if asked.path != "/robots.txt")


def assert_one_pace(server: Server, site: Site, *, fetches: int = 1) -> None:
    """No two pages closer than the delay, none twice, and robots.txt fetched once."""
    assert ahead((server.came_at(at), DELAY) for at in page_times(site)) <= SLACK
    assert len(site.pages_asked) == len(set(site.pages_asked))
    assert len(site.robots_asked) == fetches


def test_a_fleet_keeps_the_delay_of_one_crawler(server: Server, uri: str) -> None:
    """Every page comes, and none of another origin waits for them."""
    site = server.site("127.0.0.2", RULES)
    free = server.site("127.0.0.3", "User-agent: *\nDisallow: /no\n")
    with ExitStack() as stack:
        crawls = [
            stack.enter_context(
                Running(
                    [*urls_of(site, n, 5), *(free.url(f"/w{n}/{m}") for m in range(20))],
                    settings(uri),
                )
            )
            for n in range(WORKERS)
        ]
        results = [crawl.finish() for crawl in crawls]
    for n, result in enumerate(results):
        assert set(urls_of(site, n, 5)) <= set(result.ends)
        assert "Traceback" not in result.log
    assert_one_pace(server, site)
    last_free = max(asked.at for asked in free.log)
    assert last_free < page_times(site)[-5]


def test_workers_that_are_killed_and_started_keep_the_pace(server: Server, uri: str) -> None:
    """kill -9 in the middle of everything; the others go on."""
    site = server.site("127.0.0.2", RULES)
    with ExitStack() as stack:
        crawls = [
            stack.enter_context(Running(urls_of(site, n, 8), settings(uri))) for n in range(3)
        ]
        crawls[0].wait_until(lambda: len(site.pages_asked) > 4)
        crawls[0].send(signal.SIGKILL)
        late = stack.enter_context(Running(urls_of(site, 9, 5), settings(uri)))
        results = [crawl.finish() for crawl in (*crawls[1:], late)]
    assert sum(len(result.ends) for result in results) == 8 + 8 + 5
    assert_one_pace(server, site)


def test_a_worker_that_starts_without_redis_waits_for_it(
    server: Server, own_redis: RedisServer
) -> None:
    """It cannot know of the others, who keep their turns without the store."""
    site = server.site("127.0.0.2", RULES)
    with ExitStack() as stack:
        crawls = [
            stack.enter_context(Running(urls_of(site, n, 14), settings(own_redis.uri)))
            for n in range(2)
        ]
        crawls[0].wait_until(lambda: len({path.split("/")[1] for path in site.pages_asked}) == 2)
        time.sleep(2.5)  # so that each has waited for the other
        own_redis.stop()
        late = stack.enter_context(Running(urls_of(site, 9, 5), settings(own_redis.uri)))
        late.wait_until(lambda: "ROBOTSPEC_HOLD_TIMEOUT" in late.log)
        sent_by_others = len(site.pages_asked)
        crawls[0].wait_until(lambda: len(site.pages_asked) > sent_by_others + 5)
        assert not [path for path in site.pages_asked if path.startswith("/w9/")]
        own_redis.start()
        results = [crawl.finish(120) for crawl in (*crawls, late)]
    assert [len(result.ends) for result in results] == [14, 14, 5]
    assert_one_pace(server, site, fetches=2)  # one of them without the store


def test_a_queue_that_hangs_brings_no_burst(
    server: Server, own_redis: RedisServer, tmp_path: Path
) -> None:
    """Each scrapy-redis worker stands still as a page of its goes, and sends it in another slot."""
    pytest.importorskip("scrapy_redis", reason="scrapy-redis is not installed")
    site = server.site("127.0.0.2", RULES)
    given = {
        **settings(f"sqlite:///{tmp_path}/robots.db?timeout=30"),
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "SCHEDULER_PERSIST": True,
        "REDIS_URL": own_redis.uri,
        "ROBOTSPEC_EVIDENCE": f"{tmp_path}/evidence",
    }
    with ExitStack() as stack:
        crawls = [stack.enter_context(Running(urls_of(site, n, 8), given)) for n in range(3)]
        crawls[0].wait_until(lambda: len(site.pages_asked) > 5)
        own_redis.signal(signal.SIGSTOP)
        time.sleep(3)
        own_redis.signal(signal.SIGCONT)
        results = [crawl.finish() for crawl in crawls]
    assert sum(len(result.ends) for result in results) == 24
    # A busy server reads requests late, and one after the other.
    times = sorted(page.time for page in pages_sent(tmp_path / "evidence"))
    assert len(times) == 24
    assert min(later - at for at, later in itertools.pairwise(times)) >= DELAY - SLACK


def pause(redis: RedisServer) -> None:
    subprocess.run(
        ["redis-cli", "-p", str(redis.port), "CLIENT", "PAUSE", "4000"],
        check=True,
        capture_output=True,
    )


def restart(redis: RedisServer) -> None:
    redis.stop()
    redis.start()


def stop(redis: RedisServer) -> None:
    redis.stop()


def restore(redis: RedisServer) -> None:
    """A server that saves its data at times starts with an old copy after a crash."""
    subprocess.run(["redis-cli", "-p", str(redis.port), "SAVE"], check=True, capture_output=True)
    time.sleep(2)
    restart(redis)


@pytest.mark.parametrize(("trouble", "pages"), [(pause, 9), (restart, 7), (stop, 7), (restore, 9)])
def test_trouble_with_redis_brings_no_pages_closer(
    server: Server, own_redis: RedisServer, trouble: Callable[[RedisServer], None], pages: int
) -> None:
    """Without the store the processes keep their turns; no page is lost."""
    site = server.site("127.0.0.2", RULES)
    with ExitStack() as stack:
        crawls = [
            stack.enter_context(Running(urls_of(site, n, pages), settings(own_redis.uri)))
            for n in range(3)
        ]
        crawls[0].wait_until(lambda: len({path.split("/")[1] for path in site.pages_asked}) == 3)
        time.sleep(2.5)  # so that each has waited for the others
        trouble(own_redis)
        results = [crawl.finish(120) for crawl in crawls]
    for n, result in enumerate(results):
        assert result.ended_once(urls_of(site, n, pages))
        assert "Traceback" not in result.log
    assert_one_pace(server, site)
