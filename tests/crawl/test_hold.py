"""How long requests wait for an origin without an answer, and how often it is asked."""

from __future__ import annotations

import email.utils
import itertools
import time
from typing import Any

import pytest

from tests.support.crawl import Result, crawl
from tests.support.responses import (
    Answer,
    Exchange,
    after,
    in_turn,
    once,
    reply,
    reset,
    silence,
    until,
)
from tests.support.server import Server, Site

RULES = "User-agent: *\nDisallow: /no\n"
DOWN = reply("", 503)
QUICK = {"ROBOTSPEC_RETRY_DELAY": 0.1, "ROBOTSPEC_RETRY_MAX_DELAY": 0.2}


def pauses(site: Site) -> list[float]:
    """Seconds between the requests for robots.txt."""
    return [b.at - a.at for a, b in itertools.pairwise(site.robots_asked)]


def test_hold_timeout_ends_the_wait(server: Server) -> None:
    """ROBOTSPEC_HOLD_TIMEOUT: asked again and again until then; refused, logged once, closed."""
    site = server.site("127.0.0.2", DOWN)
    urls = [site.url(f"/{n}") for n in range(20)]
    result = crawl(urls, {**QUICK, "ROBOTSPEC_HOLD_TIMEOUT": 1.2})
    assert site.pages_asked == []
    assert result.ended_once(urls)
    assert {error["type"] for error in result.errors.values()} == {"RobotsUnreachable"}
    first = site.robots_asked[0].at
    assert min(error["at"] for error in result.errors.values()) >= first + 1.1
    assert len(site.robots_asked) >= 2
    assert len(result.lines("INFO", "given up after")) == 1
    assert result.stats["finish_reason"] == "finished"
    assert result.stats["robotspec/unreachable"] == 20
    assert result.stats["robotspec/waited"] == 20
    assert "robotspec/released" not in result.stats


@pytest.mark.parametrize("robots", [silence(), reset()], ids=["silence", "reset"])
def test_a_dead_host_is_not_held(server: Server, robots: Answer) -> None:
    """Without any HTTP answer only ROBOTSPEC_RETRY_TIMES counts, not the 300 s of the hold."""
    site = server.site("127.0.0.2", robots)
    settings = {**QUICK, "ROBOTSPEC_FETCH_TIMEOUT": 0.5, "ROBOTSPEC_RETRY_TIMES": 1}
    result = crawl([site.url("/x")], settings, mode="select", seconds=100)
    assert len(site.robots_asked) == 2
    assert result.errors[site.url("/x")]["type"] == "RobotsUnreachable"


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_lengthens_a_pause(server: Server, form: str) -> None:
    """FET-11: in both forms; the pause would be 0.1 s without it."""

    async def down(exchange: Exchange) -> bool:
        when = "2" if form == "seconds" else email.utils.formatdate(time.time() + 3, usegmt=True)
        return await reply("", 503, [("Retry-After", when)])(exchange)

    site = server.site("127.0.0.2", in_turn(down, reply(RULES)))
    crawl([site.url("/x")], QUICK)
    assert pauses(site)[0] >= 1.9
    assert site.pages_asked == ["/x"]


def crawl_with_pause(site: Site, seconds: float, settings: dict[str, Any]) -> tuple[Result, float]:
    """A crawl of three pages that pauses for *seconds* as robots.txt is asked for, and its end."""
    names = ("tests.support.event_log.Notes", "tests.crawl.middlewares.Pauses")
    urls = [site.url(f"/{n}") for n in range(3)]
    settings = {**QUICK, **settings, "EXTENSIONS": dict.fromkeys(names, 1)}
    result = crawl(urls, settings, more={"pause": seconds})
    assert result.ended_once(urls)
    (goes_on,) = result.of("goes on")
    return result, goes_on["at"]


@pytest.mark.parametrize(("failure", "times"), [(DOWN, 9), (reply("", 429), 3), (reset(), 3)])
def test_a_pause_uses_up_no_hold(server: Server, failure: Answer, times: int) -> None:
    """A pause longer than the hold: no attempt in it, and as much time after it as without it."""
    site = server.site("127.0.0.2", in_turn(failure, failure, failure, reply(RULES)))
    settings = {"ROBOTSPEC_HOLD_TIMEOUT": 2, "ROBOTSPEC_RETRY_TIMES": times}
    result, goes_on = crawl_with_pause(site, 3, settings)
    assert len(result.responses) == 3
    assert [asked.at > goes_on for asked in site.robots_asked] == [False, True, True, True]


def test_a_hold_ends_after_a_pause(server: Server) -> None:
    """After what was left of it; a few tenths more, for a tick and the first answer."""
    site = server.site("127.0.0.2", DOWN)
    result, goes_on = crawl_with_pause(site, 2, {"ROBOTSPEC_HOLD_TIMEOUT": 1.2})
    _, *others = site.robots_asked
    assert {error["type"] for error in result.errors.values()} == {"RobotsUnreachable"}
    assert min(error["at"] for error in result.errors.values()) >= goes_on + 1.0
    assert all(asked.at > goes_on for asked in others)


def test_retry_after_is_capped_by_the_hold(server: Server) -> None:
    """A site that asks for a day gets the hold."""
    site = server.site("127.0.0.2", reply("", 503, [("Retry-After", "86400")]))
    result = crawl([site.url("/x")], {**QUICK, "ROBOTSPEC_HOLD_TIMEOUT": 1}, seconds=100)
    assert result.errors[site.url("/x")]["type"] == "RobotsUnreachable"
    assert len(site.robots_asked) == 2


def test_unreachable_allow_crawls_with_one_warning(server: Server) -> None:
    """ROBOTSPEC_UNREACHABLE = "allow"."""
    down = server.site("127.0.0.2", DOWN)
    dead = server.site("127.0.0.3", reset())
    urls = [site.url(f"/no{n}") for site in (down, dead) for n in range(5)]
    result = crawl(urls, {"ROBOTSPEC_UNREACHABLE": "allow"})
    assert result.ended_once(urls)
    assert len(result.responses) == 10
    assert len(result.lines("WARNING", f"127.0.0.2:{down.port}")) == 1
    assert len(result.lines("WARNING", f"127.0.0.3:{dead.port}")) == 1
    meta = result.responses[down.url("/no0")]["robotspec"]
    assert (meta["reason"], meta["outcome"], meta["status"]) == ("unreachable", "unreachable", 503)


def test_unreachable_allow_obeys_once_there_are_rules(server: Server) -> None:
    """Attempts go on, and what they bring counts."""
    site = server.site("127.0.0.2", in_turn(DOWN, reply(RULES)))
    slow = server.site("127.0.0.3", RULES, page=after(1.0, reply("page")))
    urls = [site.url("/no1"), slow.url("/1"), site.url("/yes1"), slow.url("/2"), site.url("/no2")]
    settings = {**QUICK, "ROBOTSPEC_UNREACHABLE": "allow"}
    result = crawl(urls, settings, spider="one_by_one")
    assert "/no1" in site.pages_asked
    assert result.errors[site.url("/no2")]["type"] == "ForbiddenByRobots"


def test_an_origin_that_is_given_up_may_come_back(server: Server) -> None:
    """Refused at once while it is given up, but one probe after a pause brings it back."""
    site = server.site("127.0.0.2", until(1.0, DOWN, reply(RULES)))
    slow = server.site("127.0.0.3", RULES, page=after(1.2, reply("page")))
    urls = [site.url("/1"), slow.url("/1"), site.url("/2"), slow.url("/2"), site.url("/3")]
    settings = {**QUICK, "ROBOTSPEC_HOLD_TIMEOUT": 0}
    result = crawl(urls, settings, spider="one_by_one")
    assert result.errors[site.url("/1")]["type"] == "RobotsUnreachable"
    assert site.url("/3") in result.responses


def test_probes_of_an_origin_that_is_given_up_are_paced(server: Server) -> None:
    """Not one for each request that is refused."""
    site = server.site("127.0.0.2", DOWN)
    urls = [site.url(f"/{n}") for n in range(30)]
    settings: dict[str, Any] = {"ROBOTSPEC_HOLD_TIMEOUT": 0, "ROBOTSPEC_RETRY_DELAY": 30}
    result = crawl(urls, settings, spider="one_by_one")
    assert len(result.errors) == 30
    assert len(site.robots_asked) == 1


@pytest.mark.parametrize(("limit", "at_once"), [(2, 2), (8, 8)])
def test_no_more_fetches_at_once_than_the_setting(server: Server, limit: int, at_once: int) -> None:
    """ROBOTSPEC_CONCURRENT_FETCHES, for eight origins; none is answered before that number asks."""
    asking: list[int] = [0]  # how many were being asked, each time that one began or ended

    async def robots(exchange: Exchange) -> bool:
        asking.append(asking[-1] + 1)
        await once(lambda: max(asking) >= at_once, after(0.2, reply(RULES)))(exchange)
        asking.append(asking[-1] - 1)
        return True

    sites = [server.site(f"127.0.0.{n}", robots) for n in range(2, 10)]
    result = crawl([s.url("/x") for s in sites], {"ROBOTSPEC_CONCURRENT_FETCHES": limit})
    assert max(asking) == at_once
    assert len(result.responses) == 8


def test_fetch_timeout_is_for_the_whole_chain(server: Server) -> None:
    """ROBOTSPEC_FETCH_TIMEOUT: hops that take 0.4 s each do not get 1 s each."""
    hops = in_turn(*[after(0.4, reply("", 302, [("Location", f"/r{n}")])) for n in range(3)])
    pages = {f"/r{n}": after(0.4, reply("", 302, [("Location", f"/r{n + 1}")])) for n in range(3)}
    site = server.site("127.0.0.2", hops, pages={**pages, "/r3": reply(RULES)})
    urls = [site.url("/yes")]
    short = crawl(urls, {"ROBOTSPEC_FETCH_TIMEOUT": 1, "ROBOTSPEC_RETRY_TIMES": 0})
    assert short.errors[urls[0]]["type"] == "RobotsUnreachable"
    enough = crawl(urls, {"ROBOTSPEC_FETCH_TIMEOUT": 20, "ROBOTSPEC_RETRY_TIMES": 0})
    assert urls[0] in enough.responses
