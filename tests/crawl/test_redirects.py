"""Redirects of a robots.txt: which are followed, what the last answer is good for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from scrapy import version_info

from tests.support.crawl import WAYS, Result, crawl
from tests.support.responses import Answer, raw, redirect, reply
from tests.support.server import Server, Site

BODY = "User-agent: *\nDisallow: /no\n"
#: Without a reactor Scrapy downloads by httpx before 2.19. Some releases of httpx take an answer
#: with such a Location for none at all, so that its origin is unreachable.
UP_TO_HTTPX = ("to javascript", "to data", "to a bad port", "to a bad address")
RULES, ALLOW = ["/yes"], ["/no", "/yes"]


def chain(server: Server, net: str, hops: int, end: Answer, status: int = 301) -> Site:
    """A site whose robots.txt leads over *hops* redirects, each on another host, to *end*."""
    site = server.site(f"127.{net}.{hops}", end)
    for n in range(hops - 1, -1, -1):
        site = server.site(f"127.{net}.{n}", redirect(site.url("/robots.txt"), status))
    return site


def sites_of(server: Server) -> dict[str, tuple[Site, list[str]]]:
    """Each case with the pages that must be crawled."""
    here = server.site
    end = here("127.1.0.9", BODY, pages={"/other": reply(BODY), "/r b": reply(BODY)})
    foreign = {
        f"to {scheme}": (here(f"127.2.0.{n}", redirect(target)), ALLOW)
        for n, (scheme, target) in enumerate(
            {
                "file": "file:///etc/hosts",
                "ftp": f"ftp://127.1.0.9:{server.port}/robots.txt",
                "data": "data:text/plain,User-agent:*%0ADisallow:/",
                "javascript": "javascript:alert(1)",
                "s3": "s3://bucket/robots.txt",
                "no host": "http:///robots.txt",
                "a bad port": "http://127.1.0.9:port/robots.txt",
                "a bad address": "http://[::1/robots.txt",
            }.items(),
            1,
        )
    }
    ping = here("127.4.0.1", redirect(f"http://127.4.0.2:{server.port}/robots.txt"))
    here("127.4.0.2", redirect(f"http://127.4.0.1:{server.port}/robots.txt#again"))
    return {
        **foreign,
        "five are followed": (chain(server, "5.0", 5, reply(BODY)), RULES),
        "a sixth is not": (chain(server, "6.0", 6, reply(BODY)), ALLOW),
        "five to a 404": (chain(server, "5.1", 5, reply(BODY, 404)), ALLOW),
        "302": (here("127.3.0.2", redirect(end.url("/other"), 302)), RULES),
        "303": (here("127.3.0.3", redirect(end.url("/other"), 303)), RULES),
        "307": (here("127.3.0.4", redirect(end.url("/other"), 307)), RULES),
        "308": (here("127.3.0.5", redirect(end.url("/other"), 308)), RULES),
        "300 with a Location": (here("127.3.0.6", redirect(end.url("/other"), 300)), RULES),
        "304 with a Location": (here("127.3.0.7", redirect(end.url("/other"), 304)), []),
        "to itself": (here("127.3.0.8", redirect("/robots.txt")), ALLOW),
        "to itself with a fragment": (here("127.3.0.9", redirect("#top")), ALLOW),
        "a loop over hosts": (ping, ALLOW),
        "without Location": (here("127.3.0.10", redirect(None)), ALLOW),
        "empty Location": (here("127.3.0.11", redirect("")), ALLOW),
        "relative": (here("127.3.0.12", redirect("/r"), pages={"/r": reply(BODY)}), RULES),
        "without a scheme": (here("127.3.0.13", redirect(end.url("/other")[5:])), RULES),
        "with a blank": (here("127.3.0.14", redirect(end.url("/r b"))), ALLOW),
        "with a fragment": (here("127.3.0.15", redirect(end.url("/other#x"))), RULES),
        "upper-case scheme": (
            here("127.3.0.16", redirect(end.url("/other").replace("http", "HTTP"))),
            RULES,
        ),
        "in the content": (
            here("127.3.0.17", '<meta http-equiv="refresh" content="0; url=/x">\n' + BODY),
            RULES,
        ),
    }


@pytest.fixture(scope="module", params=WAYS)
def crawled(
    request: pytest.FixtureRequest,
) -> Iterator[tuple[Server, dict[str, tuple[Site, list[str]]], Result]]:
    """All cases in one crawl, with rules about the links of the chains that must not count."""
    with Server() as server:
        sites = sites_of(server)
        if request.param == "none" and version_info < (2, 19):
            for name in UP_TO_HTTPX:
                del sites[name]
        urls = [site.url(path) for site, _ in sites.values() for path in ("/yes", "/no")]
        yield server, sites, crawl(urls, {"ROBOTSPEC_HOLD_TIMEOUT": 0}, mode=request.param)


def test_pages_follow_the_end_of_the_chain(
    crawled: tuple[Server, dict[str, tuple[Site, list[str]]], Result],
) -> None:
    """FET-03, FET-04, FET-06, FET-07, FET-18."""
    _, sites, result = crawled
    found = {
        name: sorted(p for p in site.pages_asked if p in ALLOW) for name, (site, _) in sites.items()
    }
    assert found == {name: expected for name, (_, expected) in sites.items()}
    assert result.ended_once(
        site.url(path) for site, _ in sites.values() for path in ("/yes", "/no")
    )
    assert "Traceback" not in result.log


def test_no_more_than_six_requests_for_a_chain(
    crawled: tuple[Server, dict[str, tuple[Site, list[str]]], Result],
) -> None:
    """FET-03: the answer to the sixth request stands; nothing is asked after it."""
    server, _, _ = crawled
    asked = {asked.host for asked in server.log}
    assert "127.5.0.5" in asked
    assert "127.6.0.5" in asked
    assert "127.6.0.6" not in asked


def test_a_loop_ends_by_the_count(
    crawled: tuple[Server, dict[str, tuple[Site, list[str]]], Result],
) -> None:
    """FET-03: five redirects are followed, also to a URL that was requested before."""
    server, sites, _ = crawled
    assert len(sites["to itself"][0].robots_asked) == 6
    assert len(sites["a loop over hosts"][0].robots_asked) == 3
    assert [asked.host for asked in server.log].count("127.4.0.2") == 3


def test_no_rule_is_applied_to_the_chain(server: Server) -> None:
    """FET-05: not even one that is known already."""
    middle = server.site(
        "127.0.0.3",
        "User-agent: *\nDisallow: /",
        pages={"/moved": redirect("/moved2"), "/moved2": reply(BODY)},
    )
    first = server.site("127.0.0.2", redirect(middle.url("/moved")))
    later = {"url": first.url("/yes"), "priority": -1}
    result = crawl([middle.url("/x"), later, first.url("/no")], {"CONCURRENT_REQUESTS": 1})
    assert first.pages_asked == ["/yes"]
    assert result.errors[first.url("/no")]["type"] == "ForbiddenByRobots"
    assert "/x" not in middle.pages_asked


def test_offsite_robots_txt_is_followed(server: Server) -> None:
    """FET-04: neither allowed domains nor the redirect settings of pages stop it."""
    end = server.site("127.0.0.3", BODY)
    first = server.site("127.0.0.2", redirect(end.url("/robots.txt")))
    urls = [first.url("/yes"), first.url("/no"), end.url("/yes")]
    other = server.site("127.0.0.4", BODY)
    passed = [{"url": other.url(path), "meta": {"allow_offsite": True}} for path in ALLOW]
    result = crawl([*urls, *passed], {"REDIRECT_ENABLED": False}, spider="onsite")
    assert first.pages_asked == other.pages_asked == ["/yes"]
    assert end.pages_asked == []
    assert result.errors[first.url("/no")]["type"] == "ForbiddenByRobots"


@pytest.mark.parametrize(
    ("spider", "headers"),
    [("with_login", {}), ("plain", {"Cookie": "a=secret", "Authorization": "secret"})],
    ids=["of the spider", "of the settings"],
)
def test_credentials_do_not_travel(server: Server, spider: str, headers: dict[str, str]) -> None:
    """FET-18: neither Authorization nor cookies reach another origin, not even the other port."""
    back = server.site("127.0.0.4", BODY)
    end = server.site("127.0.0.3", redirect(back.url("/robots.txt")))
    first = server.site(
        "127.0.0.2",
        reply("", 302, [("Location", end.url("/robots.txt")), ("Set-Cookie", "robots=1")]),
    )
    entry = {"url": first.url("/yes"), "cookies": {"session": "secret"}}
    crawl([entry], {"DEFAULT_REQUEST_HEADERS": headers}, spider=spider)
    for site, expected in ((first, True), (end, False), (back, False)):
        (asked,) = site.robots_asked
        assert (asked.header("authorization") is not None) is expected
        assert asked.header("cookie") == (headers.get("Cookie") if expected else None)
    (page,) = [asked for asked in first.log if asked.path == "/yes"]
    assert "session=secret" in (page.header("cookie") or "")


@pytest.mark.parametrize(
    ("edition", "most", "crawled"), [("google-2019", 6, RULES), ("google-2010", 1, ALLOW)]
)
def test_max_redirects_may_be_more_or_where_the_edition_lets_it_fewer(
    server: Server, edition: str, most: int, crawled: list[str]
) -> None:
    """FET-03."""
    site = chain(server, "6.1", 6, reply(BODY))
    settings = {"ROBOTSPEC_MAX_REDIRECTS": most, "ROBOTSPEC_EDITION": edition}
    crawl([site.url("/yes"), site.url("/no")], settings)
    assert sorted(site.pages_asked) == crawled


def test_a_hop_that_fails_is_unreachable(server: Server) -> None:
    """FET-14 holds for every request of the chain."""
    end = server.site("127.0.0.3", raw(b""))
    first = server.site("127.0.0.2", redirect(end.url("/robots.txt")))
    settings = {"ROBOTSPEC_RETRY_TIMES": 0}
    result = crawl([first.url("/yes")], settings)
    error = result.errors[first.url("/yes")]
    assert error["type"] == "RobotsUnreachable"
    assert first.pages_asked == []
