"""The meaning of each status of a robots.txt for the pages of its origin (FET-02 to FET-16).

Every origin answers with the same body, ``Disallow: /no``, so what is crawled tells what the
status was taken for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.crawl import WAYS, Result, crawl
from tests.support.responses import in_turn, redirect, reply
from tests.support.server import Server, Site

RULES, ALLOW, UNREACHABLE = "rules", "allow", "unreachable"
BODY = "User-agent: *\nDisallow: /no\n"

#: Status: what it means, in the default edition.
STATUSES = {
    **dict.fromkeys((200, 201, 202, 203, 206, 226, 299), RULES),  # FET-02
    **dict.fromkeys((204, 205), ALLOW),  # FET-02: no body, no rules
    **dict.fromkeys((300, 301, 302, 303, 307, 308, 399), ALLOW),  # FET-07: no Location
    304: UNREACHABLE,  # FET-07: to a plain request
    **dict.fromkeys((400, 401, 402, 403, 404, 405, 406, 408, 409), ALLOW),  # FET-08
    **dict.fromkeys((410, 418, 421, 429, 451, 499), ALLOW),  # FET-08, FET-09
    407: UNREACHABLE,  # FET-08: only a proxy sends it
    **dict.fromkeys((500, 501, 502, 503, 504, 505, 507, 511, 520, 599), UNREACHABLE),  # FET-10
    **dict.fromkeys((600, 700, 999), UNREACHABLE),  # FET-16
}


@pytest.fixture(scope="module", params=WAYS)
def crawled(request: pytest.FixtureRequest) -> Iterator[tuple[dict[int, Site], Result]]:
    """One origin for each status, all in one crawl."""
    with Server() as server:
        sites = {
            status: server.site(f"127.0.1.{n}", reply("" if status == 205 else BODY, status))
            for n, status in enumerate(STATUSES)
        }
        urls = [site.url(path) for site in sites.values() for path in ("/yes", "/no")]
        yield sites, crawl(urls, {"ROBOTSPEC_HOLD_TIMEOUT": 0}, mode=request.param)


def test_each_status_has_its_meaning(crawled: tuple[dict[int, Site], Result]) -> None:
    """FET-01, FET-02, FET-07 to FET-10, FET-16; LOC-01: the path is in lower case."""
    sites, result = crawled
    for status, meaning in STATUSES.items():
        site = sites[status]
        expected = {RULES: ["/yes"], ALLOW: ["/no", "/yes"], UNREACHABLE: []}[meaning]
        assert sorted(site.pages_asked) == expected, status
        refused = [result.errors[site.url(p)] for p in ("/no", "/yes") if p not in expected]
        kind = "RobotsUnreachable" if meaning == UNREACHABLE else "ForbiddenByRobots"
        assert {error["type"] for error in refused} <= {kind}, status
        assert {asked.method for asked in site.robots_asked} == {"GET"}
    assert result.ended_once(site.url(p) for site in sites.values() for p in ("/yes", "/no"))
    assert result.exit_code == 0


def test_429_by_edition_and_by_policy(server: Server) -> None:
    """FET-09: the letter allows, ``google`` waits, a setting overrides both."""
    site = server.site("127.0.0.2", reply(BODY, 429))
    no_hold = {"ROBOTSPEC_HOLD_TIMEOUT": 0}
    url = [site.url("/no")]
    google = crawl(url, {**no_hold, "ROBOTSPEC_EDITION": "google"})
    assert google.errors[url[0]]["type"] == "RobotsUnreachable"
    policy = {"ROBOTSPEC_STATUS_POLICY": {429: "rules"}}
    by_policy = crawl(url, {**no_hold, "ROBOTSPEC_EDITION": "google", **policy})
    assert by_policy.errors[url[0]]["type"] == "ForbiddenByRobots"


def test_status_policy_gives_each_meaning(server: Server) -> None:
    """FET-09: every word of ROBOTSPEC_STATUS_POLICY, and the neighbouring status stays as it is."""
    policy = {403: "disallow", 401: "unreachable", 404: "rules", 500: "allow"}
    sites = {
        status: server.site(f"127.0.0.{n}", reply(BODY, status))
        for n, status in enumerate((*policy, 402, 501), 2)
    }
    urls = [site.url(path) for site in sites.values() for path in ("/yes", "/no")]
    result = crawl(urls, {"ROBOTSPEC_STATUS_POLICY": policy, "ROBOTSPEC_HOLD_TIMEOUT": 0})
    crawled = {status: sorted(site.pages_asked) for status, site in sites.items()}
    both = ["/no", "/yes"]
    assert crawled == {403: [], 401: [], 404: ["/yes"], 500: both, 402: both, 501: []}
    reasons = {url: error["reason"] for url, error in result.errors.items()}
    assert reasons[sites[403].url("/yes")] == "policy"
    assert reasons[sites[401].url("/yes")] == "unreachable"


QUICK = {"ROBOTSPEC_RETRY_DELAY": 0.2}


@pytest.mark.parametrize("status", [408, 421, 425, 429])
def test_a_temporary_status_is_asked_again(server: Server, status: int) -> None:
    """FET-19: one refusal with Retry-After, then the file: no page goes without its rules."""
    first = reply(BODY, status, [("Retry-After", "1")])
    site = server.site("127.0.0.2", in_turn(first, reply(BODY)))
    pages = [f"/no{n}" for n in range(5)]
    result = crawl([site.url(path) for path in (*pages, "/yes")], QUICK)
    assert site.pages_asked == ["/yes"]
    assert len(site.robots_asked) == 2
    assert result.exit_code == 0


@pytest.mark.parametrize("mode", WAYS)
def test_fet07_a_304_is_asked_again_past_the_caches(server: Server, mode: str) -> None:
    """It opens nothing, and no copy is held."""
    site = server.site("127.0.0.2", in_turn(reply("", 304), reply(BODY)))
    crawl([site.url("/yes"), site.url("/no")], QUICK, mode=mode)
    assert site.pages_asked == ["/yes"]
    fields = [asked.header("cache-control") for asked in site.robots_asked]
    assert fields == [None, "no-cache"]


@pytest.mark.parametrize("mode", WAYS)
def test_fet19_a_421_is_asked_again_over_a_new_connection(server: Server, mode: str) -> None:
    site = server.site("127.0.0.2", in_turn(reply("", 421), reply("", 503), reply(BODY)))
    crawl([site.url("/yes"), site.url("/no")], QUICK, mode=mode)
    assert site.pages_asked == ["/yes"]
    first, second, third = (asked.port_from for asked in site.robots_asked)
    assert first != second == third


def test_a_temporary_status_that_stands_is_not_waited_for_beyond_the_retries(
    server: Server,
) -> None:
    """FET-19, FET-09: three attempts, then full allow, and a class in the policy decides then."""
    sites = [server.site(f"127.0.0.{n}", reply(BODY, 429)) for n in (2, 3, 4)]
    overrides = {
        sites[1].host: {"status_policy": {"4xx": "disallow"}},
        sites[2].host: {"status_policy": {429: "rules"}},
    }
    urls = [site.url("/no") for site in sites]
    result = crawl(urls, {**QUICK, "ROBOTSPEC_OVERRIDES": overrides})
    assert [len(site.robots_asked) for site in sites] == [3, 3, 1]
    assert [site.pages_asked for site in sites] == [["/no"], [], []]
    assert result.stats["robotspec/HTTP status 429"] == 2
    for site, then in zip(sites, ("no restrictions", "disallowed by policy"), strict=False):
        line = f"robots.txt of {site.url('')} given up after 3 attempts (HTTP status 429): {then}"
        assert result.lines(f"{line}, 1 request released")


PAGE = "<!DOCTYPE html><html><title>Just a moment...</title></html>"


NAMED = [
    ("HTML page", reply(PAGE)),
    ("HTML page", reply(PAGE, 202)),
    ("HTTP status 202", reply("", 202)),
    ("JSON", reply('{"error": 1}')),
    ("UTF-16 text", reply("User-agent: *".encode("utf-16"))),
    ("HTTP status 403", reply("", 403)),
    ("HTTP status 301, too many redirects", redirect("/robots.txt")),
    ("HTTP status 302, no location", redirect(None, 302)),
]


def test_a_response_that_is_not_a_robots_txt_is_named(server: Server, tmp_path: Path) -> None:
    """FET-20: in the log, the stats, the summary and the report; its meaning stays."""
    sites = [server.site(f"127.0.0.{n}", answer) for n, (_, answer) in enumerate(NAMED, 2)]
    report = tmp_path / "report.jsonl"
    result = crawl([site.url("/no") for site in sites], {"ROBOTSPEC_REPORT": str(report)})
    rows = {row["origin"]: row for row in map(json.loads, report.read_text().splitlines())}
    for site, (words, _) in zip(sites, NAMED, strict=True):
        named = words if words.startswith("HTTP status") else f"no robots.txt: {words}"
        number = sum(words == other for other, _ in NAMED)
        assert site.pages_asked == ["/no"]
        assert len(result.lines(f"INFO: {named} at {site.url('/robots.txt')}")) == 1
        assert len(result.lines("origins", f"{number} {named}")) == 1
        assert result.stats[f"robotspec/{named}"] == number
        assert rows[site.url("")]["doubt"] == named
