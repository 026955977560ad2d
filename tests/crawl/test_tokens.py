"""Which product token the rules are looked for under (the token hook)."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import version_info

from tests.support.crawl import crawl
from tests.support.responses import in_turn, redirect, reply
from tests.support.server import Server

#: Each name may have one page: its own.
NAMES = ("one", "two", "three", "harness", "harness-images", "examplebot", "default")
BODY = "".join(
    f"User-agent: {'*' if name == 'default' else name}\nAllow: /{name}$\nDisallow: /\n\n"
    for name in NAMES
)
TOKEN = "ROBOTSPEC_USER_AGENT_TOKEN"


@pytest.mark.parametrize(
    ("settings", "request_", "group"),
    [
        ({}, {}, "examplebot"),
        ({TOKEN: ["nobody", "three", "one"]}, {}, "three"),
        ({TOKEN: "nobody"}, {}, "default"),
        ({"DEFAULT_REQUEST_HEADERS": {"User-Agent": "three/1"}}, {}, "three"),
        ({TOKEN: "tests.crawl.tokens.by_header"}, {"headers": {"X-Token": "three"}}, "three"),
        ({TOKEN: "one"}, {"meta": {"robotspec_user_agent_token": ["nobody", "two"]}}, "two"),
        ({}, {"headers": {"User-Agent": "two/1.0"}}, "two"),
    ],
    ids=str,
)
def test_where_tokens_come_from(
    server: Server, settings: dict[str, Any], request_: dict[str, Any], group: str
) -> None:
    """UAG-01, UAG-07: exactly one group is followed, the one of the token chosen."""
    site = server.site("127.0.0.2", BODY)
    result = crawl([{"url": site.url(f"/{name}"), **request_} for name in NAMES], settings)
    assert len(result.ends) == len(NAMES)
    assert site.pages_asked == [f"/{group}"]


@pytest.mark.parametrize("number", [50, 400, 950])
@pytest.mark.parametrize("dry", [False, True])
def test_the_header_that_is_sent_is_compared_with_the_token(
    server: Server, number: int, dry: bool
) -> None:
    """UAG-12: one warning, whichever component has set it, and none where it has the token."""
    site = server.site("127.0.0.2", "User-agent: *\nDisallow: /no\n")
    urls = [site.url(f"/{n}") for n in range(3)]
    middlewares = {"tests.crawl.middlewares.ChangesUserAgent": number}
    settings = {"DOWNLOADER_MIDDLEWARES": middlewares, TOKEN: "own", "ROBOTSPEC_DRY_RUN": dry}
    (line,) = crawl(urls, settings).lines("WARNING", "sites cannot recognise your crawler")
    assert f"{TOKEN} is 'own'" in line
    assert (
        "the User-Agent sent, which begins with 'Mozilla/5.0 (X11)' (set by a spider or middleware)"
        in line
    )
    assert {page.header("user-agent") for page in site.log if page.path != "/robots.txt"} == {
        "Mozilla/5.0 (X11)"
    }
    assert not crawl(urls, {**settings, TOKEN: "mozilla"}).lines("WARNING", "recognise")


@pytest.mark.skipif(version_info < (2, 18), reason="the signal is Scrapy's own from 2.18 on")
def test_the_signals_parser_knows_the_token(server: Server) -> None:
    """UAG-01: whatever user agent a handler asks with, as it cannot know the token."""
    site = server.site("127.0.0.2", "User-agent: two\nDisallow:\n\nUser-agent: *\nDisallow: /\n")
    result = crawl([site.url("/x")], {TOKEN: "two"})
    (parsed,) = result.of("robots_parsed")
    assert parsed["allowed"] is True


@pytest.mark.parametrize("hook", ["nonsense", "broken"])
def test_a_failing_hook_lets_nothing_through(server: Server, hook: str) -> None:
    """Each request ends in its errback and is counted; the crawl goes on and ends."""
    site = server.site("127.0.0.2", BODY)
    urls = [site.url(f"/{name}") for name in NAMES]
    free = {"url": site.url("/free"), "meta": {"dont_obey_robotstxt": True}}
    result = crawl([*urls, free], {TOKEN: f"tests.crawl.tokens.{hook}"})
    assert site.pages_asked == ["/free"]
    assert result.ended_once([*urls, site.url("/free")])
    assert {error["type"] for error in result.errors.values()} == {"ConfigurationError"}
    assert result.stats["robotspec/error/product_token"] == len(NAMES)
    assert f"errors    {len(NAMES)} product_token" in result.log


def test_one_line_at_start_says_what_is_in_force(server: Server) -> None:
    """And nothing is warned of, and no password is logged."""
    site = server.site("127.0.0.2", "")
    settings = {
        TOKEN: "examplebot",
        "ROBOTSPEC_CRAWL_DELAY": True,
        "ROBOTSPEC_EDITION": "rfc9309",
        "ROBOTSPEC_CACHE": "redis://user:word@127.0.0.1:1/0",
    }
    result = crawl([site.url("/x")], settings)
    (line,) = result.lines("[scrapy_robotspec] INFO: robots.txt: token")
    assert line.partition("robots.txt: ")[2] == (
        f"token examplebot ({TOKEN}), edition rfc9309, store redis://…@127.0.0.1:1/0, "
        "crawl delays kept"
    )
    assert "token" not in "".join(result.lines("[scrapy_robotspec] WARNING"))
    assert not [each for each in result.lines("[scrapy_robotspec]") if "word" in each]


def test_a_delay_of_the_users_own_keeps_no_sites_delay(server: Server) -> None:
    """EXT-01: the first line says so, as the last one does."""
    site = server.site("127.0.0.1", "User-agent: *\nCrawl-delay: 1\n")
    result = crawl([site.url("/x")], {"ROBOTSPEC_DEFAULT_CRAWL_DELAY": 0.01})
    (line,) = result.lines("[scrapy_robotspec] INFO: robots.txt: token")
    assert line.endswith("crawl delays not kept, default crawl delay 0.01 s")
    assert result.lines("crawl delay not kept: 1 origin asks for one, at most 1 s")


@pytest.mark.parametrize("is_kept", [False, True])
def test_crawl_delays_that_are_not_kept_are_counted_at_the_end(
    server: Server, is_kept: bool
) -> None:
    """EXT-01: those of origins whose pages were let through, without the user's own."""
    delays = {"127.0.0.2": 0.02, "127.0.0.3": 0.1, "127.0.0.4": 0, "127.0.0.5": 0.3}
    sites = [
        server.site(host, f"User-agent: *\nCrawl-delay: {delay}\n")
        for host, delay in delays.items()
    ]
    urls = [site.url(f"/{n}") for site in sites for n in range(2)]
    overrides = {"127.0.0.5": {"crawl_delay": 0}}
    settings = {"ROBOTSPEC_CRAWL_DELAY": is_kept, "ROBOTSPEC_OVERRIDES": overrides}
    result = crawl(urls, settings)
    words = "crawl delay not kept: 2 origins ask for one, at most 0.1 s (ROBOTSPEC_CRAWL_DELAY)"
    assert len(result.lines(words)) == (0 if is_kept else 1)
    assert len(result.lines("crawl delay not kept")) == (0 if is_kept else 1)


@pytest.mark.parametrize("token", [{}, {TOKEN: "tests.crawl.tokens.by_user_agent"}], ids=str)
def test_redirects_and_retries_keep_the_first_token(server: Server, token: dict[str, str]) -> None:
    """UAG-01: also if another middleware sets a User-Agent after the first decision."""
    body = "User-agent: examplebot\nDisallow: /no\n\nUser-agent: otherbot\nDisallow: /retried\n"
    pages = {
        "/one": redirect("/two"),
        "/two": redirect("/no"),
        "/retried": in_turn(reply("", 503), reply("a page")),
    }
    site = server.site("127.0.0.2", body, pages=pages)
    settings = {
        "DOWNLOADER_MIDDLEWARES": {
            "scrapy.downloadermiddlewares.useragent.UserAgentMiddleware": None,
            "tests.crawl.middlewares.SetsUserAgent": 400,
        },
        **token,
    }
    result = crawl([site.url("/one"), site.url("/retried")], settings)
    assert sorted(site.pages_asked) == ["/one", "/retried", "/retried", "/two"]
    assert [error["type"] for error in result.errors.values()] == ["ForbiddenByRobots"]
    assert len(result.lines("WARNING", "UserAgentMiddleware is off")) == (0 if token else 1)


def test_a_request_with_the_meta_of_another_has_its_own_tokens(server: Server) -> None:
    """UAG-01: the tokens of a redirected request end with its response, or with its failure."""
    body = (
        "User-agent: examplebot-news\nDisallow: /news/\n\nUser-agent: examplebot\nDisallow: /no\n"
    )
    site = server.site("127.0.0.2", body, pages={"/old": redirect("/new")})
    settings = {TOKEN: "tests.crawl.tokens.by_section"}
    links = [site.url("/news/today"), site.url("/no")]
    result = crawl([site.url("/old")], settings, spider="follows_with_meta", more={"links": links})
    assert site.pages_asked == ["/old", "/new"]
    assert list(result.errors) == links
