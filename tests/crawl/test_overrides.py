"""Overrides for single hosts, and probes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.crawl import crawl
from tests.support.responses import Answer, in_turn, reply, reset, silence
from tests.support.server import Server

RULES = "User-agent: *\nDisallow: /no\n\nUser-agent: special\nDisallow: /yes\n"
DOWN = reply("", 503)


@pytest.mark.parametrize(
    ("override", "asked", "crawled", "kind"),
    [
        ("ignore", 0, ["/no", "/yes"], "ignore"),
        ("disallow", 0, [], "disallow"),
        ("User-agent: *\nDisallow: /yes", 0, ["/no"], "robots_txt"),
        ({"token": "special"}, 1, ["/no"], "token"),
    ],
    ids=["ignore", "disallow", "robots.txt", "token"],
)
def test_override_of_a_host(
    server: Server, override: Any, asked: int, crawled: list[str], kind: str
) -> None:
    """ROBOTSPEC_OVERRIDES: for that host only, and counted."""
    site = server.site("127.0.0.2", RULES)
    other = server.site("127.0.0.3", RULES)
    urls = [place.url(path) for place in (site, other) for path in ("/yes", "/no")]
    result = crawl(urls, {"ROBOTSPEC_OVERRIDES": {"127.0.0.2": override}})
    assert sorted(site.pages_asked) == crawled
    assert len(site.robots_asked) == asked
    assert other.pages_asked == ["/yes"]
    assert result.ended_once(urls)
    counted = {name: n for name, n in result.stats.items() if name.startswith("robotspec/override")}
    assert counted == {f"robotspec/override/{kind}": 2}
    if asked == 0:
        reasons = [error["reason"] for error in result.errors.values()]
        assert reasons.count("override") == 2 - len(crawled)


def test_misplaced_server_errors_are_probed(server: Server) -> None:
    """FET-15: 5xx for what is missing and 2xx for ``/`` make a 404 of the 5xx."""
    broken = server.site("127.0.0.2", DOWN, pages={"/": reply("home"), "/x": reply("x")}, page=DOWN)
    down = server.site("127.0.0.3", DOWN, page=DOWN)
    proper = server.site("127.0.0.4", DOWN, pages={"/": reply("home")}, page=reply("", 404))
    odd = server.site("127.0.0.5", reply("", 600), pages={"/": reply("home")}, page=DOWN)
    urls = [site.url("/x") for site in (broken, down, proper, odd)]
    settings = {"ROBOTSPEC_HOLD_TIMEOUT": 0, "ROBOTSPEC_PROBE_SERVER_ERRORS": True}
    result = crawl(urls, settings)
    assert list(result.responses) == [broken.url("/x")]
    assert {error["type"] for error in result.errors.values()} == {"RobotsUnreachable"}
    assert len(broken.pages_asked) == 3  # the missing page, the first page, the one we wanted
    assert len(down.pages_asked) == 2
    assert len(proper.pages_asked) == 1
    assert odd.pages_asked == []  # FET-16: an invalid response, no server error


@pytest.mark.parametrize("probed", [reset(), silence()], ids=["reset", "silent"])
@pytest.mark.parametrize("fails", ["missing", "first"])
def test_a_probe_without_an_answer_hides_no_server_error(
    server: Server, probed: Answer, fails: str
) -> None:
    """FET-15: it proves nothing, so the 503 stands, and its requests wait for it as for any."""
    missing, first = (probed, reply("home")) if fails == "missing" else (DOWN, probed)
    site = server.site("127.0.0.2", DOWN, pages={"/": first, "/x": reply("x")}, page=missing)
    settings = {
        "ROBOTSPEC_PROBE_SERVER_ERRORS": True,
        "ROBOTSPEC_FETCH_TIMEOUT": 1,
        "ROBOTSPEC_HOLD_TIMEOUT": 0,
    }
    result = crawl([site.url("/x")], settings)
    assert "HTTP status 503" in result.errors[site.url("/x")]["text"]
    assert len(site.robots_asked) == 1


def test_nothing_is_probed_while_a_retry_after_is_in_force(server: Server) -> None:
    """FET-15: the site wants a pause."""
    paused = reply("", 503, [("Retry-After", "1")])
    site = server.site("127.0.0.2", in_turn(paused, paused, reply(RULES)), page=DOWN)
    settings = {"ROBOTSPEC_PROBE_SERVER_ERRORS": True, "ROBOTSPEC_RETRY_DELAY": 0.1}
    crawl([site.url("/no")], settings)
    assert len(site.robots_asked) == 3
    assert site.pages_asked == []
