"""Many origins in one download slot: a silent robots.txt holds up no other origin of the slot."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.crawl import MODES, Running, crawl
from tests.support.responses import Exchange, after, reply, silence
from tests.support.server import Server

RULES = "User-agent: *\nDisallow: /no\n"
FOREIGN_QUEUE = {"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue"}
ONE_AT_A_TIME = {"CONCURRENT_REQUESTS_PER_DOMAIN": 1}


def test_silent_origin_holds_up_no_other_port_of_its_host(server: Server) -> None:
    """CONCURRENT_REQUESTS_PER_DOMAIN = 1: all ports of a host are one slot."""
    silent = server.site("127.0.0.2", silence())
    other = server.site("127.0.0.2", RULES, port=server.other_port)
    urls = [silent.url("/0"), *[other.url(f"/{n}") for n in range(10)]]
    with Running(urls, ONE_AT_A_TIME) as running:
        running.wait_until(lambda: len(other.pages_asked) == 10)
        assert silent.robots_asked
        assert not [event for event in running.events if event["kind"] == "error"]


@pytest.mark.parametrize("silent_origins", [1, 24])
@pytest.mark.parametrize("settings", [{}, ONE_AT_A_TIME, {"DOWNLOAD_DELAY": 0.05}])
def test_silent_origins_hold_up_no_other_origin_of_a_shared_slot(
    server: Server, settings: dict[str, Any], silent_origins: int
) -> None:
    """``download_slot`` in the meta of every request."""
    silent = [server.site(f"127.1.0.{n + 1}", silence()) for n in range(silent_origins)]
    others = [server.site(f"127.2.0.{n + 1}", RULES) for n in range(4)]
    urls = [site.url("/0") for site in silent]
    urls += [site.url(f"/{n}") for n in range(5) for site in others]
    entries = [{"url": url, "meta": {"download_slot": "shared"}} for url in urls]
    with Running(entries, settings) as running:
        running.wait_until(lambda: all(len(site.pages_asked) == 5 for site in others))
        assert all(site.robots_asked for site in silent)
        assert not [event for event in running.events if event["kind"] == "error"]


class Pages:
    """Answers pages, and counts those of one moment."""

    def __init__(self) -> None:
        self.now = self.most = 0

    async def __call__(self, exchange: Exchange) -> bool:
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            return await after(0.02, reply("page"))(exchange)
        finally:
            self.now -= 1


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("queue", [{}, FOREIGN_QUEUE])
def test_requests_that_have_waited_leave_within_the_limit_of_their_slot(
    server: Server, mode: str, queue: dict[str, str]
) -> None:
    """All of them may go at the same moment: when their robots.txt has come."""
    pages = Pages()
    site = server.site("127.0.0.2", after(0.5, reply(RULES)), page=pages)
    urls = [site.url(f"/{number}") for number in range(100)]
    result = crawl(urls, {"CONCURRENT_REQUESTS_PER_DOMAIN": 2, **queue}, mode=mode)
    assert result.ended_once(urls)
    assert pages.most == 2
