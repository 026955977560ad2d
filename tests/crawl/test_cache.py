"""How long an answer is kept, and what a copy is good for without a new one (CAC, FET-13)."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import Meaning
from scrapy_robotspec.access.record import RobotsRecord
from tests.support.crawl import crawl
from tests.support.noted_store import notes
from tests.support.responses import Exchange, Switch, after, in_turn, once, reply
from tests.support.server import Server, Site
from tests.support.stores import open_shared_store

RULES = "User-agent: *\nDisallow: /no\n"
OTHER_RULES = "User-agent: *\nDisallow: /yes\n"
DOWN = reply("", 503)
#: Short lifetimes are possible only if the minimum is.
SHORT = {"ROBOTSPEC_CACHE_MIN_TTL": 0}


@pytest.fixture
def stored(tmp_path: Path) -> dict[str, Any]:
    """Settings of crawls that share a store."""
    return {"ROBOTSPEC_CACHE": f"sqlite:///{tmp_path}/robots.db"}


def test_a_second_crawl_asks_for_no_robots_txt(server: Server, stored: dict[str, Any]) -> None:
    """CAC-01, CAC-04, CAC-06: files and missing files alike, for another token too."""
    sites = [server.site("127.0.0.2", RULES), server.site("127.0.0.3", reply(status=404))]
    urls = [site.url(path) for site in sites for path in ("/yes", "/no")]
    crawl(urls, stored)
    again = crawl(urls, {**stored, "USER_AGENT": "otherbot/1"})
    assert [len(site.robots_asked) for site in sites] == [1, 1]
    assert sites[0].pages_asked == ["/yes", "/yes"]
    assert again.ended_once(urls)
    assert again.stats["robotspec/cache/hit"] == 4
    assert again.responses[sites[0].url("/yes")]["robotspec"]["age"] > 0


def test_a_store_of_ones_own_is_shared_and_called_in_one_thread(
    server: Server, tmp_path: Path
) -> None:
    """CAC-04: by the import path of its class, which the scheme stands for."""
    sites = [server.site(f"127.0.0.{n}", RULES) for n in range(2, 12)]
    urls = [site.url(path) for site in sites for path in ("/yes", "/no")]
    settings = {
        "ROBOTSPEC_CACHE": f"noted://{tmp_path}/robots.json",
        "ROBOTSPEC_CACHE_SCHEMES": {"noted": "tests.support.noted_store.NotedStore"},
        "ROBOTSPEC_DEFAULT_CRAWL_DELAY": 0.01,
    }
    for _ in range(2):
        result = crawl(urls, settings)
        assert result.ended_once(urls)
        assert result.lines("WARNING", "robots.txt store") == []
    assert [len(site.robots_asked) for site in sites] == [1] * len(sites)
    one, two = notes(tmp_path / "robots.json")
    for calls in (one, two):
        assert {call["is_main"] for call in calls} == {False}
        assert len({call["thread"] for call in calls}) == 1
        assert all(earlier["end"] <= later["begin"] for earlier, later in pairwise(calls))
        assert [call["kind"] for call in calls] == ["call"] * (len(calls) - 1) + ["close"]


def test_fet13_an_expired_copy_does_not_open_a_site_that_is_down(
    server: Server, stored: dict[str, Any]
) -> None:
    """CAC-02, FET-13: the copy is kept, and not used at the first failure."""
    robots = Switch(reply(RULES))
    site = server.site("127.0.0.2", robots)
    settings = {**stored, **SHORT, "ROBOTSPEC_CACHE_TTL": 0.2}
    crawl([site.url("/1")], settings)
    time.sleep(0.2)
    robots.answer = DOWN
    urls = [site.url("/yes"), site.url("/no")]
    result = crawl(urls, {**settings, "ROBOTSPEC_HOLD_TIMEOUT": 0})
    assert site.pages_asked == ["/1"]
    assert {error["type"] for error in result.errors.values()} == {"RobotsUnreachable"}


def test_cac04_the_failure_of_another_crawl_hides_no_copy(
    server: Server, stored: dict[str, Any]
) -> None:
    """A CDN lets one of a fleet's names through and blocks the other."""
    varies = reply(RULES, headers=[("Vary", "User-Agent")])

    async def robots(exchange: Exchange) -> bool:
        name = exchange.asked.header("user-agent") or ""
        return await (varies if name.startswith("Mozilla") else DOWN)(exchange)

    site = server.site("127.0.0.2", robots)
    urls = [site.url("/yes"), site.url("/no")]
    browser = {**stored, "USER_AGENT": "Mozilla/5.0"}
    crawl(urls, browser)
    crawl(urls, {**stored, "USER_AGENT": "foobot/1.0", "ROBOTSPEC_HOLD_TIMEOUT": 0})
    again = crawl(urls, browser)
    assert len(site.robots_asked) == 2
    assert site.pages_asked == ["/yes", "/yes"]
    assert again.errors[site.url("/no")]["type"] == "ForbiddenByRobots"


@pytest.mark.parametrize(("stale_after", "used"), [(0, True), (1000, False)])
def test_when_a_copy_stands_in_is_a_field_of_the_edition(
    server: Server, stored: dict[str, Any], stale_after: float, used: bool
) -> None:
    """FET-13: ``stale_after``; the stand-in decides and is counted as stale."""
    site = server.site("127.0.0.2", in_turn(reply(RULES), DOWN))
    settings = {**stored, **SHORT, "ROBOTSPEC_CACHE_TTL": 0.2, "ROBOTSPEC_HOLD_TIMEOUT": 0}
    crawl([site.url("/1")], settings)
    time.sleep(0.2)
    own = {"base": "google-2019", "stale_after": stale_after}
    result = crawl([site.url("/yes"), site.url("/no")], {**settings, "ROBOTSPEC_EDITION": own})
    assert (site.url("/yes") in result.responses) is used
    kind = "ForbiddenByRobots" if used else "RobotsUnreachable"
    assert result.errors[site.url("/no")]["type"] == kind
    assert result.stats["robotspec/cache/stale"] == 2


@pytest.mark.parametrize(("limit", "allowed"), [(0.3, True), (1000, False)])
def test_the_limit_of_an_outage_is_a_field_of_the_edition(
    server: Server, limit: float, allowed: bool
) -> None:
    """FET-12: unreachable for longer and no copy: no restrictions."""
    site = server.site("127.0.0.2", DOWN)
    settings = {
        "ROBOTSPEC_EDITION": {"base": "google-2019", "unreachable_limit": limit},
        "ROBOTSPEC_HOLD_TIMEOUT": 1.5,
        "ROBOTSPEC_RETRY_DELAY": 0.2,
    }
    result = crawl([site.url("/no")], settings)
    assert (site.url("/no") in result.responses) is allowed
    if allowed:
        assert result.responses[site.url("/no")]["robotspec"]["reason"] == "limit_passed"


def chained(server: Server, robots: Any, settings: dict[str, Any], pages: int = 4) -> Any:
    """Pages of a site, one each 0.3 s, and how often its robots.txt was asked for."""
    site = server.site("127.0.0.2", robots, page=after(0.3, reply("page")))
    result = crawl([site.url(f"/{n}") for n in range(pages)], settings, spider="one_by_one")
    assert len(result.responses) == pages
    return len(site.robots_asked), result


@pytest.mark.parametrize(("ttl", "again"), [(0.2, True), (86400, False)])
def test_lifetime_is_a_setting(server: Server, ttl: float, again: bool) -> None:
    """ROBOTSPEC_CACHE_TTL; CAC-05: asked again on next use."""
    times, _ = chained(server, reply(RULES), {**SHORT, "ROBOTSPEC_CACHE_TTL": ttl})
    assert times >= 3 if again else times == 1


@pytest.mark.parametrize(
    ("headers", "settings", "again"),
    [
        ({"Cache-Control": "max-age=0"}, {"ROBOTSPEC_CACHE_MIN_TTL": 0.1}, True),
        ({"Cache-Control": "max-age=0"}, {}, False),
        ({"Cache-Control": "max-age=86400"}, {**SHORT, "ROBOTSPEC_CACHE_MAX_TTL": 0.1}, True),
        ({"Cache-Control": "max-age=90"}, {**SHORT, "ROBOTSPEC_CACHE_TTL": 0.1}, False),
    ],
    ids=str,
)
def test_cache_control_within_bounds(
    server: Server, headers: dict[str, str], settings: dict[str, Any], again: bool
) -> None:
    """CAC-03: ROBOTSPEC_CACHE_MIN_TTL and _MAX_TTL bound what the site says."""
    times, _ = chained(server, reply(RULES, headers=headers.items()), settings, pages=3)
    assert (times > 1) is again


def keep_old_copy(stored: dict[str, Any], site: Site) -> None:
    """Put a copy of RULES into the store whose refresh is due, and which is fresh for an hour."""
    origin = Origin.of(site.url())
    assert origin is not None
    now = time.time()
    store = open_shared_store(stored["ROBOTSPEC_CACHE"])
    store.put(
        RobotsRecord(
            origin,
            meaning=Meaning.RULES,
            status=200,
            body=RULES.encode(),
            fetched_at=now - 80_000,
            expires_at=now - 80_000 + 86_400,
        ),
        "a test",
        None,
    )
    store.close()


def test_a_refresh_in_the_background_stalls_no_request(
    server: Server, stored: dict[str, Any]
) -> None:
    """From 80 % of the lifetime on, the copy is used while the new file is fetched."""
    site = server.site("127.0.0.2")
    site.robots = once(lambda: len(site.pages_asked) == 10, reply(RULES))
    keep_old_copy(stored, site)
    urls = [site.url(f"/{n}") for n in range(10)]
    result = crawl(urls, stored, spider="one_by_one")
    assert result.ended_once(urls)
    assert len(site.robots_asked) == 1


def test_a_change_is_signalled(server: Server) -> None:
    """``robots_changed`` with the old and the new file, and the new rules count."""
    site = server.site(
        "127.0.0.2", in_turn(reply(RULES), reply(OTHER_RULES)), page=after(0.6, reply("page"))
    )
    urls = [site.url(p) for p in ("/1", "/2", "/3", "/yes", "/no")]
    settings = {**SHORT, "ROBOTSPEC_CACHE_TTL": 0.5}
    result = crawl(urls, settings, spider="one_by_one")
    (changed,) = result.of("robots_changed")
    assert (changed["old"], changed["new"]) == (RULES, OTHER_RULES)
    assert changed["origin"] == site.url("")
    assert result.errors[site.url("/yes")]["type"] == "ForbiddenByRobots"
    assert site.url("/no") in result.responses


def test_a_failed_refresh_keeps_the_rules(server: Server, stored: dict[str, Any]) -> None:
    """CAC-02: while the copy is fresh it is used, whatever its refreshing comes to."""
    site = server.site("127.0.0.2", DOWN)
    site.page = once(lambda: site.robots_asked, reply("page"))
    keep_old_copy(stored, site)
    urls = [site.url(p) for p in ("/1", "/2", "/3", "/no", "/4", "/no2", "/5")]
    result = crawl(urls, stored, spider="one_by_one")
    refused = [url for url, error in result.errors.items() if error["type"] == "ForbiddenByRobots"]
    assert sorted(refused) == [site.url("/no"), site.url("/no2")]
    assert len(site.pages_asked) == 5


def test_a_store_that_fails_is_logged_once_and_the_crawl_goes_on(
    server: Server, tmp_path: Path
) -> None:
    """With memory, and never by allowing."""
    path = tmp_path / "robots.db"
    path.write_bytes(b"not a database " * 400)
    site = server.site("127.0.0.2", RULES)
    urls = [site.url(f"/{kind}{n}") for kind in ("yes", "no") for n in range(5)]
    result = crawl(urls, {"ROBOTSPEC_CACHE": f"sqlite:///{path}"})
    assert result.ended_once(urls)
    assert len(site.pages_asked) == 5
    assert len(site.robots_asked) == 1
    assert len(result.lines("WARNING", "scrapy_robotspec", "robots.db")) == 1
    assert "Traceback" not in result.log
