"""RobotSpecParser behind Scrapy's parser interface, the contract that Scrapy's own tests check."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.robotstxt import RobotParser
from scrapy.utils.misc import load_object

from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.plugin.robotparser import RobotSpecParser
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

SITE = "https://www.site.local"


def parse(body: bytes, **settings: Any) -> RobotSpecParser:
    crawler = Crawler(Spider, settings) if settings else None
    return RobotSpecParser.from_crawler(crawler=crawler, robotstxt_body=body)


def test_scrapy_finds_it_by_its_setting() -> None:
    assert load_object("scrapy_robotspec.RobotSpecParser") is RobotSpecParser
    assert issubclass(RobotSpecParser, RobotParser)


@pytest.mark.parametrize("user_agent", ["*", b"*", "foobot/1.0 (+http://foo.example)", ""])
def test_urls_and_agents_come_as_text_or_bytes(user_agent: str | bytes) -> None:
    parser = parse(b"User-agent: *\nDisallow: /disallowed\nAllow: /disallowed/but\nCrawl-delay: 10")
    for url, allowed in [("/allowed", True), ("/disallowed", False), ("/disallowed/but", True)]:
        assert parser.allowed(SITE + url, user_agent) is allowed
        assert parser.allowed((SITE + url).encode(), user_agent) is allowed
    assert parser.crawl_delay(user_agent) == 10.0


@pytest.mark.parametrize("body", [b"", b"GIF89a\xd3\xfe\x00\xa2", b"\x00" * 1000, b"<html>"])
def test_what_is_no_robots_txt_allows(body: bytes) -> None:
    """FMT-03, FMT-04."""
    parser = parse(body)
    assert parser.allowed(SITE, "*")
    assert parser.allowed(SITE + "/index.html", "chrome")
    assert parser.crawl_delay("*") is None


@pytest.mark.parametrize("encoding", [None, "utf-8"])
def test_names_are_cut_on_both_sides(encoding: str | None) -> None:
    """UAG-03: a group for UnicödeBöt is one for Unic, and so is the crawler's name."""
    text = "User-Agent: *\nDisallow: /\n\nUser-Agent: UnicödeBöt\nDisallow: /some/randome/page.html"
    parser = parse(text.encode())
    name: str | bytes = "UnicödeBöt/1.0" if encoding is None else "UnicödeBöt/1.0".encode(encoding)
    assert parser.allowed(SITE + "/", name)
    assert not parser.allowed(SITE + "/some/randome/page.html", name)
    assert not parser.allowed(SITE + "/", "*")


GROUPS = (
    b"User-agent: a\nDisallow: /a\nCrawl-delay: 1\n\nUser-agent: b\nDisallow: /b\nCrawl-delay: 2"
)


def test_the_agent_asked_for_chooses_the_group() -> None:
    parser = parse(GROUPS)
    assert [parser.allowed(SITE + "/a", agent) for agent in ("a/1", "b/1", "a/1")] == [
        False,
        True,
        False,
    ]
    assert [parser.crawl_delay(agent) for agent in ("a", "b", "c")] == [1.0, 2.0, None]


@pytest.mark.parametrize("token", ["b", ["c", "b"], "b, c"])
def test_the_token_setting_counts_more_than_the_agent(token: object) -> None:
    parser = parse(GROUPS, ROBOTSPEC_USER_AGENT_TOKEN=token)
    assert parser.allowed(SITE + "/a", "a")
    assert not parser.allowed(SITE + "/b", "a")
    assert parser.crawl_delay("a") == 2.0


def test_a_function_as_token_is_refused_at_start() -> None:
    with pytest.raises(ConfigurationError, match="use the add-on"):
        parse(b"", ROBOTSPEC_USER_AGENT_TOKEN=lambda request, crawler: "foobot")


def test_a_wrong_setting_is_refused_at_start() -> None:
    with pytest.raises(ConfigurationError, match="ROBOTSPEC_EDITION"):
        parse(b"", ROBOTSPEC_EDITION="google-1998")


def test_the_edition_setting_is_obeyed() -> None:
    body = b"User-agent: *\nDisallow: /*.gif"
    assert not parse(body).allowed(SITE + "/x.gif", "foobot")
    assert parse(body, ROBOTSPEC_EDITION="classic").allowed(SITE + "/x.gif", "foobot")


def test_the_size_setting_is_obeyed() -> None:
    """FMT-12."""
    body = b"User-agent: *\nDisallow: /a\nDisallow: /b\n"
    assert parse(body, ROBOTSPEC_MAX_SIZE=30).allowed(SITE + "/b", "foobot")


def test_it_wraps_a_parsed_file_as_it_is() -> None:
    robots = RobotsTxt.parse(GROUPS)
    assert RobotSpecParser(robots).robots is robots
    assert not RobotSpecParser(robots).allowed(SITE + "/a", "a")
    assert RobotSpecParser(robots, ("b",)).allowed(SITE + "/a", "a")
    assert RobotSpecParser(robots, ()).allowed(SITE + "/a", "a")
