"""ROBOTSPEC_CRAWL_DELAY: an origin's requests are spaced as its robots.txt asks (EXT-01)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from scrapy import version_info

from tests.support.crawl import MODES, Result, Running, crawl
from tests.support.responses import after, in_turn, reply, reset
from tests.support.server import Server, Site, ahead

#: A busy machine may send a first page late (seconds); a page that takes no turn is ahead by more.
SLACK = 0.2
FOREIGN_QUEUE = {"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue"}
ON = {"ROBOTSPEC_CRAWL_DELAY": True}
NOTED = {"note_sent": True}
AIOHTTP = "scrapy.core.downloader.handlers._aiohttp.AiohttpDownloadHandler"
NO = "this Scrapy has no handler for aiohttp"


def body(delay: float | str) -> str:
    """A robots.txt with a crawl-delay."""
    return f"User-agent: *\nDisallow: /no\nCrawl-delay: {delay}\n"


def ahead_by(result: Result, site: Site, delay: float) -> float:
    """Seconds by which pages were let go before their turn: a busy server may read them closer."""
    pages = (event for event in result.of("sent") if not event["url"].endswith("/robots.txt"))
    return ahead((event["at"], delay) for event in pages if event["url"].startswith(site.url("")))


def crawled(
    server: Server, delay: float | str, settings: dict[str, Any], expected: float = 0.0
) -> float:
    """Seconds by which six pages of a site came before their turn."""
    site = server.site("127.0.0.2", body(delay))
    urls = [site.url(f"/{n}") for n in range(6)] + [site.url("/no")]
    result = crawl(urls, settings, more=NOTED)
    assert result.ended_once(urls)
    assert len(site.pages_asked) == 6
    return ahead_by(result, site, expected)


@pytest.mark.parametrize(
    ("mode", "queue"), [*((mode, {}) for mode in MODES), ("asyncio", FOREIGN_QUEUE)]
)
def test_pages_are_spaced(server: Server, mode: str, queue: dict[str, str]) -> None:
    """Never closer than asked for."""
    spaced = server.site("127.0.0.2", body(0.4))
    urls = [spaced.url(f"/{n}") for n in range(5)]
    result = crawl(urls, {**ON, **queue}, mode=mode, more=NOTED)
    assert result.ended_once(urls)
    assert ahead_by(result, spaced, 0.4) <= SLACK


@pytest.mark.parametrize(
    ("mode", "handler"),
    [
        *((mode, None) for mode in MODES),
        pytest.param(
            "asyncio", AIOHTTP, marks=pytest.mark.skipif(version_info < (2, 19), reason=NO)
        ),
    ],
)
def test_no_page_is_sent_again_without_its_delay(
    server: Server, mode: str, handler: str | None
) -> None:
    """A kept connection that ends without a response is Scrapy's to retry, not its handler's."""
    site = server.site("127.0.0.2", body(0.5))
    site.pages = {f"/{n}": in_turn(reset(), reply("again")) for n in range(1, 4)}
    urls = [site.url(f"/{n}") for n in range(5)]
    settings = {**ON, "DOWNLOAD_HANDLERS": {"http": handler}} if handler else ON
    result = crawl(urls, settings, mode=mode, more=NOTED)
    assert result.ended_once(urls)
    assert sorted(site.pages_asked) == ["/0", *(f"/{n}" for n in (1, 1, 2, 2, 3, 3)), "/4"]
    pages = ((asked.at, 0.5) for asked in site.log if asked.path != "/robots.txt")
    assert ahead(pages) <= SLACK


@pytest.mark.parametrize("queue", [{}, FOREIGN_QUEUE])
def test_other_origins_are_unaffected(server: Server, queue: dict[str, str]) -> None:
    """They are done while the spaced one has had its first page and waits for the second."""
    other = server.site("127.0.0.3", "User-agent: *\nDisallow: /no")
    spaced = server.site("127.0.0.2", body(60))
    urls = [site.url(f"/{n}") for n in range(20) for site in (spaced, other)]
    with Running(urls, {**ON, **queue}) as running:
        running.wait_until(lambda: len(other.pages_asked) == 20)
    assert len(spaced.pages_asked) <= 1


def test_hundreds_of_delayed_origins_delay_no_other(server: Server) -> None:
    """Each of them waits for its own first page; the requests in between go at once."""
    delayed = [server.site(f"127.1.{n // 250}.{n % 250 + 1}", body(3600)) for n in range(300)]
    free = server.site("127.0.0.3", "User-agent: *\nDisallow: /no")
    urls = [site.url("/x") for site in delayed] + [free.url(f"/{n}") for n in range(50)]
    with Running(urls, {**ON, "ROBOTSPEC_CRAWL_DELAY_MAX": 3600}) as running:
        running.wait_until(lambda: sum(len(site.robots_asked) for site in delayed) == 300)
        running.wait_until(lambda: len(free.pages_asked) == 50)
    assert not [site for site in delayed if site.pages_asked]


@pytest.mark.parametrize("priority", [0, 5])
@pytest.mark.parametrize("concurrency", [1, 4])
def test_a_delayed_page_does_not_wait_for_the_last_page_of_its_download_slot(
    server: Server, priority: int, concurrency: int
) -> None:
    """As with a proxy: a busy site has the same slot, and each has its turn."""
    spaced = server.site("127.0.0.2", body(0.2))
    page = after(0.02, reply("slow"))
    busy = server.site("127.0.0.3", "User-agent: *\nDisallow: /no", page=page)
    urls = [(busy.url(f"/{n}"), 0) for n in range(concurrency * 150)]
    urls += [(spaced.url(f"/{n}"), priority) for n in range(4)]
    slot = {"download_slot": "proxy"}
    requests = [{"url": url, "priority": each, "meta": slot} for url, each in urls]
    queue = {"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue"}
    settings = {**ON, **queue, "CONCURRENT_REQUESTS_PER_DOMAIN": concurrency}
    result = crawl(requests, settings, more=NOTED)
    assert ahead_by(result, spaced, 0.2) <= SLACK
    assert len(spaced.pages_asked) == 4
    last = spaced.log[-1].at
    assert sum(asked.at > last for asked in busy.log) >= len(busy.log) / 3


def test_it_is_off_by_default(server: Server) -> None:
    """Scrapy's own behaviour; the file's word is a wish."""
    crawled(server, 30, {})  # else it took minutes, and the harness gives up before


def test_the_greatest_delay_obeyed_is_a_setting(server: Server) -> None:
    """ROBOTSPEC_CRAWL_DELAY_MAX."""
    taken = crawled(server, 30, {**ON, "ROBOTSPEC_CRAWL_DELAY_MAX": 0.3}, 0.3)
    assert taken <= SLACK


def test_it_is_never_faster_than_the_users_own_delay(server: Server) -> None:
    """DOWNLOAD_DELAY holds besides."""
    own = {"DOWNLOAD_DELAY": 0.5, "RANDOMIZE_DOWNLOAD_DELAY": False, "DOWNLOAD_DELAY_JITTER": 0}
    site = server.site("127.0.0.2", body(0.05))
    crawl([site.url(f"/{n}") for n in range(6)], {**ON, **own})
    _, first, *_, last = site.log
    assert last.at - first.at >= 1.5  # 0.25 s by the file, 2.5 s by the user


def test_autothrottle_does_not_change_it(server: Server) -> None:
    """AutoThrottle lowers a slot's delay; this one does not live there."""
    throttled = {**ON, "AUTOTHROTTLE_ENABLED": True, "AUTOTHROTTLE_START_DELAY": 0.1}
    assert crawled(server, 0.4, throttled, 0.4) <= SLACK


def test_robots_txt_counts_as_a_page(server: Server) -> None:
    """The first page comes no sooner after it than any page after another."""
    site = server.site("127.0.0.2", body(1))
    crawl([site.url("/x")], ON)
    asked, page = site.log
    assert page.at - asked.at >= 1


def test_an_override_sets_it_for_one_host(server: Server) -> None:
    """Also where the setting is off and the file says nothing."""
    override = {"ROBOTSPEC_OVERRIDES": {"127.0.0.2": {"crawl_delay": 0.3}}}
    assert crawled(server, "none", override, 0.3) <= SLACK


def test_a_default_is_for_files_that_name_none(server: Server) -> None:
    """ROBOTSPEC_DEFAULT_CRAWL_DELAY, with and without the setting that obeys files."""
    default = {"ROBOTSPEC_DEFAULT_CRAWL_DELAY": 0.3}
    assert crawled(server, "none", default, 0.3) <= SLACK
    assert crawled(server, 0.01, {**ON, **default}, 0.3) > SLACK


def test_a_slow_downloader_does_not_bring_pages_closer(server: Server) -> None:
    """DOWNLOAD_DELAY is random by default: it must not undo the crawl-delay."""
    own = {"DOWNLOAD_DELAY": 0.4}
    site = server.site("127.0.0.2", body(0.35))
    crawl([site.url(f"/{n}") for n in range(8)], {**ON, **own})
    assert ahead((asked.at, 0.35) for asked in site.log) <= SLACK


def test_origins_that_share_a_download_slot_keep_their_delays(server: Server) -> None:
    """As do those of one host: a page that stands behind another one's leaves late."""
    sites = [server.site(f"127.0.0.{n}", body(0.7)) for n in range(2, 5)]
    urls = [site.url(f"/{n}") for n in range(5) for site in sites]
    requests = [{"url": url, "meta": {"download_slot": "one"}} for url in urls]
    own = {"DOWNLOAD_DELAY": 0.42, "DOWNLOAD_DELAY_JITTER": 0, "RANDOMIZE_DOWNLOAD_DELAY": False}
    assert crawl(requests, {**ON, **own}).ended_once(urls)
    for site in sites:
        assert min(after.at - page.at for page, after in pairwise(site.log)) > 0.7 - SLACK


def test_requests_past_the_scheduler_are_spaced_too(server: Server) -> None:
    """They wait each in its turn."""
    site = server.site("127.0.0.2", body(0.3))
    start = server.site("127.0.0.3", "")
    inline = [site.url(f"/{n}") for n in range(5)]
    result = crawl([start.url("/x")], ON, spider="inline", more={**NOTED, "inline": inline})
    assert result.ended_once([start.url("/x"), *inline])
    assert ahead_by(result, site, 0.3) <= SLACK
