"""Bodies that do not end: FET-03 and FET-08. Any status but a 2xx decides without its body."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from tests.support.crawl import MODES, crawl
from tests.support.responses import endless, http, in_turn, reply

if TYPE_CHECKING:
    from tests.support.responses import Answer
    from tests.support.server import Server

RULES = "User-agent: *\nDisallow: /no\n"
SETTINGS = {
    "ROBOTSPEC_FETCH_TIMEOUT": 6,  # a third of it is the time for a body
    "ROBOTSPEC_HOLD_TIMEOUT": 0,
    "ROBOTSPEC_RETRY_TIMES": 0,
}


def stalled(status: int, location: str | None = None, chunk: bytes = b"") -> Answer:
    """A response whose body stays short of its length; *chunk* comes 20 times a second."""
    headers = [("Content-Length", "999999")]
    headers += [("Location", location)] if location else []
    return endless(http(status, headers, b"User-agent: *\nDisallow: /\n"), chunk, 0.05)


@pytest.mark.parametrize("mode", MODES)
def test_status_decides_while_its_body_does_not_end(server: Server, mode: str) -> None:
    """Silent or slow: 4xx allows, a redirect is followed, 5xx is known by its number."""
    target = server.site("127.0.0.2", RULES)
    missing = server.site("127.0.0.3", stalled(404))
    slow = server.site("127.0.0.4", stalled(403, chunk=b"#"))
    moved = server.site("127.0.0.5", stalled(301, target.url("/robots.txt")))
    down = server.site("127.0.0.6", stalled(503, chunk=b"#"))
    sites = (missing, slow, moved, down)
    result = crawl(
        [each.url(path) for each in sites for path in ("/yes", "/no")], SETTINGS, mode=mode
    )
    crawled = [sorted(site.pages_asked) for site in sites]
    assert crawled == [["/no", "/yes"], ["/no", "/yes"], ["/yes"], []]
    assert result.errors[down.url("/yes")]["text"] == "robots.txt unreachable (HTTP status 503)"
    assert result.exit_code == 0
    assert "Traceback" not in result.log


def chain(server: Server, hops: int, end: Answer) -> str:
    """A page of an origin whose robots.txt is *hops* redirects with such bodies before *end*."""
    sites = [server.site(f"127.0.1.{n + 1}", end) for n in range(hops + 1)]
    for site, following in itertools.pairwise(sites):
        site.robots = stalled(302, following.url("/robots.txt"))
    return sites[0].url("/no")


def test_redirects_with_such_bodies_are_within_the_timeout(server: Server) -> None:
    """FET-03: the body of a redirect never matters; two seconds for each, of six."""
    url = chain(server, 2, reply(RULES))
    assert crawl([url], SETTINGS).errors[url]["type"] == "ForbiddenByRobots"


@pytest.mark.parametrize("policy", [{}, {404: "rules"}])
def test_body_that_counts_is_awaited(server: Server, policy: dict[int, str]) -> None:
    """FET-14: the file itself, or a 404 whose body counts by ROBOTSPEC_STATUS_POLICY."""
    site = server.site("127.0.0.2", stalled(404 if policy else 200))
    settings = {**SETTINGS, "ROBOTSPEC_STATUS_POLICY": policy, "ROBOTSPEC_FETCH_TIMEOUT": 4}
    result = crawl([site.url("/yes")], settings)
    assert result.errors[site.url("/yes")]["type"] == "RobotsUnreachable"
    assert len(site.robots_asked) == 2


def test_server_that_refuses_a_second_connection_is_obeyed(server: Server) -> None:
    """FET-02: its 429 would allow what the slow file disallows."""
    slow = endless(http(200, [("Content-Type", "text/plain")], RULES.encode()), b"#", 0.05)
    site = server.site("127.0.0.2", in_turn(slow, reply("too many", 429)))
    result = crawl([site.url("/no")], {**SETTINGS, "ROBOTSPEC_FETCH_TIMEOUT": 3.5})
    assert site.pages_asked == []
    assert result.errors[site.url("/no")]["type"] == "RobotsUnreachable"
    assert len(site.robots_asked) == 2
