"""ROBOTSPEC_CRAWL_DELAY: an origin's requests are spaced as its robots.txt asks (EXT-01)."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest

from tests.harness.crawl import MODES, crawl

if TYPE_CHECKING:
    from tests.harness.server import Server, Site

#: What is measured at the site may come closer than what was sent, by this much.
SLACK = 0.15
FOREIGN_QUEUE = {"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue"}
ON = {"ROBOTSPEC_CRAWL_DELAY": True}


def body(delay: float | str) -> str:
    """A robots.txt with a crawl-delay."""
    return f"User-agent: *\nDisallow: /no\nCrawl-delay: {delay}\n"


def pauses(site: Site) -> list[float]:
    """Seconds between the pages."""
    at = [asked.at for asked in site.log if asked.path != "/robots.txt"]
    return [later - earlier for earlier, later in itertools.pairwise(at)]


def crawled(server: Server, delay: float | str, settings: dict[str, Any], **kwargs: Any) -> Site:
    """A site of six pages after its crawl."""
    site = server.site("127.0.0.2", body(delay))
    urls = [site.url(f"/{n}") for n in range(6)] + [site.url("/no")]
    result = crawl(urls, settings, **kwargs)
    assert result.ended_once(urls)
    assert len(site.pages_asked) == 6
    return site


@pytest.mark.parametrize(
    ("mode", "queue"), [*((mode, {}) for mode in MODES), ("asyncio", FOREIGN_QUEUE)]
)
def test_pages_are_spaced_and_others_unaffected(
    server: Server, mode: str, queue: dict[str, str]
) -> None:
    """Never closer than asked for; the other origin is done meanwhile."""
    other = server.site("127.0.0.3", "User-agent: *\nDisallow: /no")
    spaced = server.site("127.0.0.2", body(0.4))
    urls = [site.url(f"/{n}") for n in range(5) for site in (spaced, other)]
    result = crawl(urls, {**ON, **queue}, mode=mode)
    assert result.ended_once(urls)
    assert min(pauses(spaced)) >= 0.4 - SLACK
    assert other.log[-1].at < spaced.log[-1].at


def test_it_is_off_by_default(server: Server) -> None:
    """Scrapy's own behaviour; the file's word is a wish."""
    assert max(pauses(crawled(server, 30, {}))) < 25


def test_the_greatest_delay_obeyed_is_a_setting(server: Server) -> None:
    """ROBOTSPEC_CRAWL_DELAY_MAX."""
    site = crawled(server, 30, {**ON, "ROBOTSPEC_CRAWL_DELAY_MAX": 0.3})
    assert min(pauses(site)) >= 0.3 - SLACK
    assert max(pauses(site)) < 25


def test_it_is_never_faster_than_the_users_own_delay(server: Server) -> None:
    """DOWNLOAD_DELAY holds besides."""
    own = {"DOWNLOAD_DELAY": 0.5, "RANDOMIZE_DOWNLOAD_DELAY": False, "DOWNLOAD_DELAY_JITTER": 0}
    site = crawled(server, 0.1, {**ON, **own})
    assert min(pauses(site)) >= 0.5 - SLACK


def test_autothrottle_does_not_change_it(server: Server) -> None:
    """AutoThrottle lowers a slot's delay; this one does not live there."""
    site = crawled(
        server, 0.4, {**ON, "AUTOTHROTTLE_ENABLED": True, "AUTOTHROTTLE_START_DELAY": 0.1}
    )
    assert min(pauses(site)) >= 0.4 - SLACK
    assert site.log[1].at - site.log[0].at >= 0.4 - SLACK  # robots.txt counts as a page


def test_an_override_sets_it_for_one_host(server: Server) -> None:
    """Also where the setting is off and the file says nothing."""
    override = {"ROBOTSPEC_OVERRIDES": {"127.0.0.2": {"crawl_delay": 0.3}}}
    site = crawled(server, "none", override)
    assert min(pauses(site)) >= 0.3 - SLACK


def test_requests_past_the_scheduler_are_spaced_too(server: Server) -> None:
    """They wait each in its turn."""
    site = server.site("127.0.0.2", body(0.3))
    start = server.site("127.0.0.3", "")
    inline = [site.url(f"/{n}") for n in range(5)]
    result = crawl([start.url("/x")], ON, spider="inline", more={"inline": inline})
    assert result.ended_once([start.url("/x"), *inline])
    assert min(pauses(site)) >= 0.3 - SLACK
