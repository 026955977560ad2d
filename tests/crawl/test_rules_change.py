"""Rules that change while requests wait: a page is decided by those in force when it is sent."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.plugins.renderers import renderer, splash
from tests.support.crawl import Result, crawl
from tests.support.responses import Answer, as_long_as, reply, silence, until
from tests.support.server import ROBOTS, Server, Site

OPEN, CLOSED = "User-agent: *\nDisallow: /no\n", "User-agent: *\nDisallow: /\n"
#: A request that has left the crawl may reach the server this much later (seconds).
UNDER_WAY = 0.3
SHORT_LIVES = {"ROBOTSPEC_CACHE_MIN_TTL": 0.1, "CONCURRENT_REQUESTS": 16}


def living(body: str, seconds: float) -> Answer:
    """A robots.txt that is fresh for *seconds*."""
    return reply(body, headers=[("Cache-Control", f"max-age={seconds:g}")])


def sent_while_closed(site: Site, result: Result) -> list[str]:
    """The pages that were requested while the rules that the crawl held forbade all."""
    changes = [(event["at"], event["new"]) for event in result.of("robots_changed")]

    def is_closed(at: float) -> bool:
        before = [(since, new) for since, new in changes if since < at]
        return bool(before) and before[-1][1] == CLOSED and before[-1][0] + UNDER_WAY < at

    return [asked.path for asked in site.log if asked.path != ROBOTS and is_closed(asked.at)]


def test_no_page_leaves_its_slot_after_the_rules_forbid_it(server: Server) -> None:
    """CAC-07: requests that were let through stand in the slot; they are refused there."""
    site = server.site("127.0.0.2", until(1.0, living(OPEN, 1), reply(CLOSED)))
    urls = [site.url(f"/{n}") for n in range(40)]
    settings = {**SHORT_LIVES, "DOWNLOAD_DELAY": 0.15}
    result = crawl(urls, settings)
    assert len(result.of("robots_changed")) == 1
    assert 3 <= len(site.pages_asked) < len(urls)
    assert sent_while_closed(site, result) == []
    assert result.ended_once(urls)
    refused = len(urls) - len(site.pages_asked)
    assert {error["type"] for error in result.errors.values()} == {"ForbiddenByRobots"}
    assert result.stats["robotstxt/forbidden"] == len(result.errors) == refused


def test_pages_in_a_slot_keep_a_crawl_delay_that_comes_into_force(server: Server) -> None:
    """EXT-01: they were let through by rules without one."""
    delayed = f"{OPEN}Crawl-delay: 0.6\n"
    site = server.site("127.0.0.2", until(1.0, living(OPEN, 1), reply(delayed)))
    urls = [site.url(f"/{n}") for n in range(16)]
    settings = {**SHORT_LIVES, "ROBOTSPEC_CRAWL_DELAY": True, "DOWNLOAD_DELAY": 0.15}
    result = crawl(urls, settings)
    (change,) = result.of("robots_changed")
    pages = [asked.at for asked in site.log if asked.path != ROBOTS]
    late = [at for at in pages if at > change["at"] + UNDER_WAY]
    assert len(late) >= 4
    assert min(after - before for before, after in pairwise(late)) > 0.5
    assert result.ended_once(urls)


def test_no_page_leaves_the_slot_of_a_renderer_after_the_rules_forbid_it(server: Server) -> None:
    """CAC-07: the request that stands in the slot is the renderer's, the rules are the page's."""
    site = server.site("127.0.0.2", until(1.0, living(OPEN, 1), reply(CLOSED)))
    rendered: list[Any] = []
    renders = server.site("127.0.8.1", CLOSED, page=renderer(splash, rendered))
    urls = [site.url(f"/{n}") for n in range(40)]
    settings = {
        **SHORT_LIVES,
        "DOWNLOAD_DELAY": 0.15,
        "DOWNLOADER_MIDDLEWARES": {"tests.crawl.middlewares.LikeSplash": 725},
        "RENDERER": renders.url("/render.json"),
    }
    result = crawl(urls, settings)
    assert len(result.of("robots_changed")) == 1
    assert 3 <= len(rendered) < len(urls)
    assert sent_while_closed(site, result) == []
    assert len(result.of("response")) == len(rendered)
    refused = len(urls) - len(rendered)
    assert result.stats["robotstxt/forbidden"] == len(result.of("error")) == refused


def test_a_request_that_was_let_through_may_be_sent_again_past_robots_txt(server: Server) -> None:
    """APP-01: the rules it was let through by before no longer matter."""
    site = server.site("127.0.0.2", until(1.0, living(OPEN, 1), reply(CLOSED)))
    result = crawl([site.url("/x")], SHORT_LIVES, spider="sends_again_exempt", seconds=100)
    # Scrapy has the object once in its books, so it may close before the second response.
    assert site.pages_asked == ["/x", "/x"]
    assert result.errors == {}


DELAYED: dict[str, dict[str, Any]] = {
    "autothrottle": {
        "AUTOTHROTTLE_ENABLED": True,
        "AUTOTHROTTLE_START_DELAY": 0.3,
        "DOWNLOAD_DELAY": 0.15,
    },
    "crawl delay": {"ROBOTSPEC_DEFAULT_CRAWL_DELAY": 0.2},
    "another queue": {
        "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue",
        "DOWNLOAD_DELAY": 0.15,
    },
}


@pytest.mark.parametrize(
    ("spider", "by"),
    [
        *(("plain", by) for by in DELAYED),
        *(("inline", "crawl delay"), ("inline", "autothrottle")),
        ("mixed", "crawl delay"),
    ],
)
def test_no_page_is_sent_after_its_prohibition_whatever_delays_it(
    server: Server, tmp_path: Path, spider: str, by: str
) -> None:
    """CAC-07: AutoThrottle, a crawl delay, media pipelines, ``engine.download``."""
    start = server.site("127.0.0.3")
    site = server.site("127.0.0.2", until(1.0, living(OPEN, 1), reply(CLOSED)))
    urls = [site.url(f"/{n}") for n in range(40)]
    given = urls if spider == "plain" else [start.url("/x")]
    more = {"inline": urls if spider == "inline" else [], "files": urls}
    files = {
        "ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1},
        "FILES_STORE": str(tmp_path),
    }
    result = crawl(given, {**SHORT_LIVES, **files, **DELAYED[by]}, spider=spider, more=more)
    assert 1 <= len(site.pages_asked) < len(urls)
    assert sent_while_closed(site, result) == []


@pytest.mark.parametrize("then", [reply("", 503), silence()], ids=["503", "silence"])
def test_a_full_slot_whose_rules_expire_holds_no_place_and_leaves_no_burst(
    server: Server, then: Answer
) -> None:
    """CAC-07: the pages of other sites go on, and those released leave one delay apart."""
    other = server.site("127.0.0.3")
    site = server.site(
        "127.0.0.2",
        until(0.5, living(OPEN, 0.6), as_long_as(lambda: not other_done(), then, reply(OPEN))),
    )
    pages = 30

    def other_done() -> bool:
        return len(other.pages_asked) == pages

    settings = {
        **SHORT_LIVES,
        "DOWNLOAD_SLOTS": {
            "127.0.0.2": {"delay": 0.2, "jitter": 0, "randomize_delay": False},
            "127.0.0.3": {"delay": 0.05, "jitter": 0, "randomize_delay": False},
        },
        "CONCURRENT_REQUESTS": 6,
        "ROBOTSPEC_FETCH_TIMEOUT": 1,
        "ROBOTSPEC_RETRY_TIMES": 100,
        "ROBOTSPEC_RETRY_DELAY": 0.1,
        "ROBOTSPEC_RETRY_MAX_DELAY": 0.2,
    }
    urls = [site.url(f"/{n}") for n in range(10)]
    result = crawl([*urls, *(other.url(f"/{n}") for n in range(pages))], settings)
    assert len(result.responses) == pages + len(urls)
    times = [asked.at for asked in site.log if asked.path != ROBOTS]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    # a busy machine may read two pages at once; a burst would be many
    assert sum(gap < 0.1 for gap in gaps) <= 1
