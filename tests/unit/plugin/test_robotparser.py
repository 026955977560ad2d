"""RobotSpecParser behind Scrapy's parser interface, the contract that Scrapy's own tests check."""

from __future__ import annotations

import asyncio
import gc
from types import SimpleNamespace
from typing import Any
from weakref import ref

import pytest
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.robotstxt import RobotParser
from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from scrapy_robotspec import signals
from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin import robotparser as module
from scrapy_robotspec.plugin.robotparser import RobotSpecParser
from scrapy_robotspec.plugin.settings.settings import Settings
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


GROUPS = (
    b"User-agent: a\nDisallow: /a\nCrawl-delay: 1\n\nUser-agent: b\nDisallow: /b\nCrawl-delay: 2"
)


def test_the_agent_chooses_the_group_unless_a_setting_does() -> None:
    parser = parse(GROUPS)
    for agent, delay in (("a/1", 1.0), ("b/1", 2.0), ("c/1", None), ("a/1", 1.0)):
        assert parser.crawl_delay(agent) == delay
        assert parser.allowed(SITE + "/a", agent) is (delay != 1.0)
    parser = parse(GROUPS, ROBOTSPEC_USER_AGENT_TOKEN=["c", "b"])
    assert parser.allowed(SITE + "/a", "a")
    assert parser.crawl_delay("a") == 2.0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"ROBOTSPEC_USER_AGENT_TOKEN": lambda request, crawler: "foobot"}, "use the add-on"),
        ({"ROBOTSPEC_EDITION": "google-1998"}, "ROBOTSPEC_EDITION"),
    ],
)
def test_a_wrong_setting_is_refused_at_start(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        parse(b"", **settings)


def test_edition_and_size_are_obeyed() -> None:
    """FMT-12."""
    body = b"User-agent: *\nDisallow: /*.gif\nDisallow: /b\n"
    assert not parse(body).allowed(SITE + "/x.gif", "foobot")
    assert parse(body, ROBOTSPEC_EDITION="classic").allowed(SITE + "/x.gif", "foobot")
    assert not parse(body).allowed(SITE + "/b", "foobot")
    assert parse(body, ROBOTSPEC_MAX_SIZE=32).allowed(SITE + "/b", "foobot")


def test_the_settings_of_a_crawler_are_converted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scrapy's own middleware makes a parser for each robots.txt."""
    converted: list[Any] = []
    convert = Settings.from_scrapy

    def noted(settings: BaseSettings) -> Settings:
        converted.append(settings)
        return convert(settings)

    monkeypatch.setattr(Settings, "from_scrapy", noted)
    one, other = (Crawler(Spider, {"ROBOTSPEC_USER_AGENT_TOKEN": name}) for name in "ab")
    for crawler in (one, other, one, other, one):
        parser = RobotSpecParser.from_crawler(crawler, GROUPS)
        assert parser.allowed(SITE + "/a", "x") is (crawler is other)
    assert len(converted) == 2
    left = ref(other)
    del crawler, other
    gc.collect()
    assert left() is None, "a crawler outlives its crawl"


@pytest.mark.parametrize("replaced", [None, RobotsTxt.parse(b"")])
@pytest.mark.parametrize(("fails", "delay"), [(False, 2.0), (True, 1.0)])
def test_new_rules_are_sent_and_a_change_only_of_older_ones(
    monkeypatch: pytest.MonkeyPatch, replaced: RobotsTxt | None, fails: bool, delay: float
) -> None:
    """The parser follows the tokens of the request, or the agent where a function fails."""
    sent: list[tuple[object, dict[str, Any]]] = []

    async def send(crawler: object, signal: object, **given: Any) -> None:
        sent.append((signal, given))

    def select(request: object) -> tuple[str, ...]:
        if fails:
            raise ValueError("the user's function")
        return ("b",)

    monkeypatch.setattr(module, "send_signal", send)
    robots, request = RobotsTxt.parse(GROUPS), Request("http://a.example/")
    tokens: Any = SimpleNamespace(select=select)
    found: Any = SimpleNamespace(robots=robots, origin="http://a.example")
    asyncio.run(module.send_rules(Crawler(Spider), tokens, found, request, replaced))
    signal, given = sent[0]
    assert (signal, given["request"]) == (_compat.robots_parsed, request)
    assert given["robotparser"].crawl_delay("a") == delay
    change = {"origin": "http://a.example", "old": replaced, "new": robots}
    assert sent[1:] == ([] if replaced is None else [(signals.robots_changed, change)])
