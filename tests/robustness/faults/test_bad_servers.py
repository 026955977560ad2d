"""Servers that respond at random, and a clock that jumps.

``test_storm.py`` has everything once; here it comes in any order, over redirects and over TLS.
The seed is printed. In CI it is always the same.
"""

from __future__ import annotations

import gzip
import os
import random
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support import tls
from tests.support.crawl import MODES, crawl
from tests.support.responses import (
    Answer,
    after,
    drip,
    http,
    in_turn,
    raw,
    redirect,
    reply,
    reset,
    silence,
)
from tests.support.server import Server, Site

from .bad_servers import BODY, GUARDED, LENGTH

ORIGINS = 40
RIGHT = [
    reply(BODY),
    reply(BODY.replace(b"\n", b"\r\n")),
    reply(b"\xef\xbb\xbf" + BODY),
    reply(gzip.compress(BODY), headers=[("Content-Encoding", "gzip")]),
    reply(BODY, headers=[("Cache-Control", "max-age=0")]),
    drip(http(200, [LENGTH], BODY), 0.01, 9),
]
DOWN = [
    *(reply(b"x", status) for status in (500, 502, 503, 504, 599, 600, 999)),
    *(reply(b"", 503, [("Retry-After", value)]) for value in ("0", "1", "-1", "99999", "x")),
    reset(),
    raw(b""),
    silence(),
]
PAGES = [
    reply("page"),
    after(0.3, reply("page")),
    *(reply("", n) for n in (404, 500, 503)),
    reset(),
]
#: In these editions nothing but an answer allows anything, if the limits are far away; in
#: ``google`` a clock that jumps a day ahead ends an outage of twelve hours.
STRICT_EDITIONS = ["google-2019", "google-2010", "rfc9309", "classic"]
STRICT = {"ROBOTSPEC_STALE_AFTER": 10**9, "ROBOTSPEC_UNREACHABLE_LIMIT": 10**9}
PAUSE = 0.3


class RandomServers:
    """What comes of one seed."""

    def __init__(self, seed: int, server: Server) -> None:
        self.chance = random.Random(seed)
        self._server = server
        # The bombs are the storm's: what they cost is measured there.
        self._wrong = [answer for name, answer in GUARDED.items() if "bomb" not in name]

    def sites(self) -> list[Site]:
        return [self._site(n) for n in range(1, ORIGINS + 1)]

    def settings(self) -> dict[str, Any]:
        choice = self.chance.choice
        return {
            "ROBOTSPEC_FETCH_TIMEOUT": 2,
            "ROBOTSPEC_HOLD_TIMEOUT": choice([0, 1, 2]),
            "ROBOTSPEC_RETRY_TIMES": choice([0, 1, 2]),
            "ROBOTSPEC_RETRY_DELAY": PAUSE,
            "ROBOTSPEC_RETRY_MAX_DELAY": 2 * PAUSE,
            "ROBOTSPEC_CONCURRENT_FETCHES": choice([8, 32]),
            "ROBOTSPEC_EDITION": choice(STRICT_EDITIONS),
            "ROBOTSPEC_CRAWL_DELAY": choice([False, True]),
            "CONCURRENT_REQUESTS": choice([4, 50]),
            "SCHEDULER_PRIORITY_QUEUE": choice(
                ["scrapy_robotspec.WaitingPriorityQueue", "scrapy.pqueues.ScrapyPriorityQueue"]
            ),
            "DOWNLOAD_TIMEOUT": 5,
            "RETRY_ENABLED": False,
            "LOG_LEVEL": "INFO",
            **STRICT,
        }

    def _site(self, n: int) -> Site:
        answer, port = self._rules_cache(), self._server.port
        kind = self.chance.randrange(10)
        if kind == 0:
            port = self._server.tls_port
        elif kind == 1:
            for hop in range(self.chance.randrange(1, 6)):
                link = self._server.site(f"127.8.{hop}.{n}", answer)
                answer = redirect(link.url("/robots.txt"), self.chance.choice([301, 302, 307]))
        page = self.chance.choice(PAGES)
        return self._server.site(f"127.7.0.{n}", answer, port=port, page=page)

    def _rules_cache(self) -> Answer:
        return in_turn(*(self._answer() for _ in range(self.chance.randrange(1, 5))))

    def _answer(self) -> Answer:
        kind = self.chance.randrange(4)
        if kind == 3:
            return raw(self.chance.randbytes(self.chance.randrange(2000)))
        return self.chance.choice((RIGHT, DOWN, self._wrong)[kind])


@pytest.fixture
def server() -> Iterator[Server]:
    """For the sites of one seed."""
    with Server(tls.context()) as running:
        yield running


@pytest.mark.parametrize(
    ("mode", "clock"), [*((mode, "true") for mode in MODES), ("asyncio", "jumping")]
)
def test_whatever_comes_nothing_is_lost_and_nothing_is_broken(
    server: Server, mode: str, clock: str
) -> None:
    """FET-10, FET-14: the invariants of the storm, for answers in any order and at any time."""
    seed = 1 if "CI" in os.environ else random.randrange(10**6)
    print("seed", seed)
    servers = RandomServers(seed, server)
    sites, settings = servers.sites(), servers.settings()
    if clock == "jumping":
        settings["EXTENSIONS"] = {
            "tests.support.event_log.Notes": 0,
            "tests.support.clock.JumpingClock": 1,
        }
        settings["JUMP_SEED"] = seed
    urls = [site.url(path) for site in sites for path in ("/yes", "/no", "/no/deeper")]
    servers.chance.shuffle(urls)
    result = crawl(urls, settings, mode=mode, seconds=600)
    assert result.ended_once(urls)
    assert result.exit_code == 0
    assert "Traceback" not in result.log
    assert result.memory < 200_000_000
    assert {path for site in sites for path in site.pages_asked} <= {"/yes"}
    if clock == "true":
        most = 3 + settings["ROBOTSPEC_HOLD_TIMEOUT"] / (PAUSE / 2) + result.wall / (2 * PAUSE)
        assert max(len(site.robots_asked) for site in sites) <= most
