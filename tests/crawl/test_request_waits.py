"""Requests that wait for their robots.txt: none delays another, none is lost, none goes early."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.crawl import MODES, Result, Running, crawl
from tests.support.responses import Answer, after, as_long_as, in_turn, once, reply, silence, until
from tests.support.server import Server, Site

RULES = "User-agent: *\nDisallow: /no\n"
QUICK_RETRIES = {"ROBOTSPEC_RETRY_DELAY": 0.2, "ROBOTSPEC_RETRY_MAX_DELAY": 0.4}
FOREIGN_QUEUE = {"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue"}


def fast_sites(server: Server) -> tuple[list[Site], list[str]]:
    """Six origins that answer at once, thirty pages each, and all their URLs."""
    sites = [server.site(f"127.0.0.{n}", RULES) for n in range(2, 8)]
    return sites, [site.url(f"/{n}") for n in range(30) for site in sites]


def down_until_done(sites: list[Site], urls: list[str]) -> Answer:
    """503 until the pages of all other sites are crawled: a crawl that stalls them never ends."""
    left = lambda: sum(len(set(site.pages_asked)) for site in sites) < len(urls)  # noqa: E731
    return as_long_as(left, reply("", 503), reply(RULES))


def crawl_when_all_are_given(
    requests: Sequence[str | dict[str, Any]], settings: dict[str, Any], given: threading.Event
) -> Result:
    """A crawl that sets *given* when the scheduler has all requests."""
    with Running(requests, settings) as running:
        running.wait_until(lambda: running.all_given)
        given.set()
        return running.finish()


def silent_urls(server: Server, origins: int) -> list[str]:
    """A page each of origins whose robots.txt never answers."""
    hosts = [f"127.1.{n // 250}.{n % 250 + 1}" for n in range(origins)]
    return [server.site(host, silence()).url("/x") for host in hosts]


@pytest.mark.parametrize("mode", MODES)
def test_a_pause_holds_the_page_that_waits(server: Server, mode: str) -> None:
    """Its robots.txt is answered meanwhile; no page is sent before the crawl goes on."""
    site = server.site("127.0.0.2", RULES)
    urls = [site.url(path) for path in ("/a", "/b", "/no")]
    names = ("tests.support.event_log.Notes", "tests.crawl.middlewares.Pauses")
    settings = {"EXTENSIONS": dict.fromkeys(names, 1)}
    result = crawl(urls, settings, mode=mode, more={"note_sent": True})
    (goes_on,) = result.of("goes on")
    sent = {event["url"]: event["at"] for event in result.of("sent")}
    assert min(sent[url] for url in urls[:2]) >= goes_on["at"] > sent[site.url("/robots.txt")]
    assert list(result.errors) == urls[2:]


def test_silent_origins_delay_no_other_with_a_foreign_queue(server: Server) -> None:
    """Requests of any scheduler and queue wait in the middleware."""
    sites, fast = fast_sites(server)
    with Running([*silent_urls(server, 40), *fast], FOREIGN_QUEUE) as running:
        running.wait_until(lambda: sum(len(site.pages_asked) for site in sites) == len(fast))
        assert [event for event in running.events if event["kind"] == "error"] == []


def test_of_twenty_at_once_under_disallow_all_none_is_crawled(server: Server) -> None:
    """RUL-05: Scrapy's own middleware lets most of them through from 2.14 on."""
    site = server.site("127.0.0.2", after(0.3, reply("User-agent: *\nDisallow: /")))
    urls = [site.url(f"/{n}") for n in range(20)]
    at_once = {"CONCURRENT_REQUESTS": 64, "CONCURRENT_REQUESTS_PER_DOMAIN": 64}
    result = crawl(urls, at_once)
    assert site.pages_asked == []
    assert len(site.robots_asked) == 1
    assert result.ended_once(urls)


@pytest.mark.parametrize(("most", "waiting"), [(5, 5), (1000, 100)])
def test_number_of_parked_requests_is_bounded(server: Server, most: int, waiting: int) -> None:
    """ROBOTSPEC_MAX_PARKED, with a foreign queue; nothing is lost by it."""
    down = reply("", 503)
    given = threading.Event()
    site = server.site("127.0.0.2", in_turn(once(given.is_set, after(0.5, down)), reply(RULES)))
    urls = [site.url(f"/{n}") for n in range(100)]
    settings = {**QUICK_RETRIES, **FOREIGN_QUEUE, "ROBOTSPEC_MAX_PARKED": most}
    result = crawl_when_all_are_given(urls, settings, given)
    assert result.ended_once(urls)
    assert result.stats["robotspec/waiting_max"] == waiting


#: Silent origins: 10,000 with ``ROBOTSPEC_PROFILE=long``.
MANY = 10_000 if os.environ.get("ROBOTSPEC_PROFILE") == "long" else 1_000


@pytest.mark.parametrize("before", [0, MANY])
def test_thousands_of_silent_origins_delay_no_other(server: Server, before: int) -> None:
    """However many wait for their turn to be asked, before the others or behind them.

    The fetch timeout is longer than the slowest machine needs for the whole test.
    """
    sites, fast = fast_sites(server)
    silent = silent_urls(server, MANY)
    settings = {"LOG_LEVEL": "INFO", "ROBOTSPEC_FETCH_TIMEOUT": 1000}
    with Running([*silent[:before], *fast, *silent[before:]], settings) as running:
        done = lambda: sum(len(site.pages_asked) for site in sites) == len(fast)  # noqa: E731
        running.wait_until(done, seconds=500)
        assert [event for event in running.events if event["kind"] == "error"] == []


@pytest.mark.parametrize("mode", MODES)
def test_requests_stay_in_the_scheduler_until_a_fetch_may_begin(server: Server, mode: str) -> None:
    """So that they keep their priorities and their ``JOBDIR``, and take little memory."""
    hosts = [f"127.0.1.{n}" for n in range(1, 61)]
    urls = [server.site(host, after(0.2, reply(RULES))).url("/yes") for host in hosts]
    limit = 4
    settings = {"ROBOTSPEC_CONCURRENT_FETCHES": limit, "CONCURRENT_REQUESTS": 64}
    result = crawl(urls, settings, mode=mode)
    assert result.ended_once(urls)
    # At each moment some have just become silent, or have just ended.
    assert result.stats["robotspec/waiting_max"] <= 4 * limit


@pytest.mark.parametrize(
    ("limit", "settings"), [(32, {}), (4, {"ROBOTSPEC_CONCURRENT_FETCHES": 4})]
)
def test_silent_fetches_are_preempted_by_a_newcomer(
    server: Server, tmp_path: Path, limit: int, settings: dict[str, Any]
) -> None:
    """At eight times ROBOTSPEC_CONCURRENT_FETCHES, written down or not."""
    most = limit * 8
    silent = [server.site(f"127.1.{n // 250}.{n % 250 + 1}", silence()) for n in range(most + 40)]
    site = server.site("127.0.0.2", RULES)
    more = {"then": [site.url("/yes")], "go": str(tmp_path / "go")}
    urls = [each.url("/x") for each in silent]
    slow = {**settings, "ROBOTSPEC_FETCH_TIMEOUT": 1000}
    with Running(urls, slow, spider="in_two", more=more) as running:
        running.wait_until(lambda: sum(len(each.robots_asked) for each in silent) >= most, 60)
        (tmp_path / "go").touch()
        running.wait_until(lambda: bool(site.pages_asked), 60)


@pytest.mark.parametrize(
    ("mode", "queue"), [*((mode, {}) for mode in MODES), ("asyncio", FOREIGN_QUEUE)]
)
def test_503_for_a_while_then_rules(server: Server, mode: str, queue: dict[str, str]) -> None:
    """FET-10, FET-11: every allowed page once, no other, none before the rules came."""
    sites, fast = fast_sites(server)
    site = server.site("127.0.1.1", down_until_done(sites, fast))
    held = [site.url(f"/{kind}{n}") for kind in ("yes", "no") for n in range(50)]
    result = crawl([*held, *fast], {**QUICK_RETRIES, **queue}, mode=mode)
    assert sorted(site.pages_asked) == sorted(f"/yes{n}" for n in range(50))
    assert result.ended_once([*held, *fast])
    answered = site.robots_asked[-1].at
    assert min(asked.at for asked in site.log if asked.path != "/robots.txt") > answered
    assert max(asked.at for other in sites for asked in other.log) < answered
    assert {result.errors[url]["type"] for url in held[50:]} == {"ForbiddenByRobots"}


def test_waiting_is_logged_and_counted(server: Server) -> None:
    """One INFO line when an origin starts to wait, one when it is released; stats."""
    down = reply("", 503)
    given = threading.Event()
    first = once(given.is_set, after(0.5, down))
    site = server.site("127.0.0.2", in_turn(first, down, down, reply(RULES)))
    result = crawl_when_all_are_given([site.url(f"/{n}") for n in range(20)], QUICK_RETRIES, given)
    name = f"127.0.0.2:{site.port}"
    (begin,) = result.lines("[scrapy_robotspec] INFO", name, "unreachable")
    assert "503" in begin
    assert "20 requests wait" in begin
    (end,) = result.lines("[scrapy_robotspec] INFO", name, "released")
    assert "20 requests" in end
    stats = result.stats
    assert stats["robotspec/waiting_max"] == 20
    assert stats["robotspec/released"] == 20
    assert stats["robotspec/retry_count"] == len(site.robots_asked) - 1


def test_engine_does_not_poll_while_requests_wait(server: Server) -> None:
    """No busy loop while a thousand requests wait, and the spider stays open."""
    site = server.site("127.0.0.2", reply("", 503))
    settings = {**QUICK_RETRIES, "LOG_LEVEL": "INFO"}
    urls = [site.url(f"/{n}") for n in range(1000)]
    with Running(urls, settings, spider="watching") as running:
        running.wait_until(lambda: len(site.robots_asked) >= 8)
        counts = Counter(event["kind"] for event in running.events)
        assert set(counts) <= {"started", "given", "looked", "empty"}
        assert counts["looked"] < 3 * len(urls)  # some for each request, a few for each attempt
        assert counts["empty"] <= 3  # before the first request was queued


def test_lazy_start_does_not_run_ahead_while_requests_wait(server: Server) -> None:
    """``scheduler_empty`` is not sent while requests wait, and is sent when they have gone."""
    site = server.site("127.0.0.2", until(1.0, reply("", 503), reply(RULES)))
    urls = [site.url(f"/{n}") for n in range(30)]
    with Running(urls, QUICK_RETRIES, spider="lazy") as running:

        def given() -> int:
            return sum(event["kind"] == "given one" for event in running.events)

        running.wait_until(lambda: len(site.robots_asked) >= 3)
        assert given() <= 3  # the first, and those of the moments when it was not in the scheduler
        assert running.finish().ended_once(urls)


def test_order_of_priorities_survives_the_wait(server: Server) -> None:
    """Within an origin the queue's order holds: the higher priority first."""
    given = threading.Event()
    site = server.site("127.0.0.2", once(given.is_set, reply(RULES)))
    entries = [{"url": site.url(f"/{n}"), "priority": n} for n in range(20)]
    crawl_when_all_are_given(entries, {"CONCURRENT_REQUESTS_PER_DOMAIN": 1}, given)
    asked = [int(path[1:]) for path in site.pages_asked]
    assert asked[1:] == sorted(asked[1:], reverse=True)  # the first went before all were there


@pytest.mark.parametrize("mode", MODES)
def test_requests_past_the_scheduler_wait_and_delay_no_other(server: Server, mode: str) -> None:
    """``engine.download`` in a callback: each gets its answer, within the rules."""
    others, fast = fast_sites(server)
    held = server.site("127.0.1.1", down_until_done(others, fast))
    inline = [held.url(f"/{kind}{n}") for kind in ("yes", "no") for n in range(30)]
    first = server.site("127.0.1.2", RULES).url("/start")
    settings = {**QUICK_RETRIES, "CONCURRENT_REQUESTS": 8}
    result = crawl([first], settings, mode=mode, spider="inline", more={"inline": [*inline, *fast]})
    assert result.ended_once([first, *inline, *fast])
    assert sorted(held.pages_asked) == sorted(f"/yes{n}" for n in range(30))
    assert {event["type"] for event in result.of("error")} == {"ForbiddenByRobots"}
    released = held.robots_asked[-1].at
    assert max(asked.at for site in others for asked in site.log) < released


def test_media_pipelines_wait_too(server: Server, tmp_path: Path) -> None:
    """Files of a pipeline: within the rules, whenever these come, and counted as others."""
    held = server.site("127.0.1.1", until(1, reply("", 503), reply(RULES)))
    first = server.site("127.0.0.2", RULES).url("/start")
    files = [held.url(f"/{kind}{n}") for kind in ("yes", "no") for n in range(5)]
    settings = {
        **QUICK_RETRIES,
        "ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1},
        "FILES_STORE": str(tmp_path),
    }
    result = crawl([first], settings, spider="mixed", more={"inline": [], "files": files})
    assert sorted(held.pages_asked) == [f"/yes{n}" for n in range(5)]
    assert len(list(tmp_path.glob("full/*"))) == 5
    assert result.stats["file_status_count/downloaded"] == 5
    assert result.stats["robotspec/waited"] == result.stats["robotspec/released"] == 11
    assert result.lines(
        "has answered after ", "(HTTP status 503): with rules, 10 requests released"
    )
    assert result.exit_code == 0
