"""The token hook: which product tokens a request asks with, and what the user is told."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.crawler import Crawler

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.plugin.deciding.token_selector import TokenSelector
from scrapy_robotspec.plugin.settings.product_tokens import product_name, tokens_from_user_agent
from scrapy_robotspec.plugin.settings.settings import Settings

URL = "http://example.com/page"
FULL = "Mozilla/5.0 (compatible; FooBot/2.1; +http://foo.example/bot.html)"


class Plain(Spider):
    name = "plain"


def hook(spider: type[Spider] = Plain, /, **settings: Any) -> TokenSelector:
    settings.setdefault("USER_AGENT", "homebot/1.0")
    crawler = Crawler(spider, settings)
    crawler.spider = spider()
    return TokenSelector(Settings.from_scrapy(crawler.settings), crawler)


def by_meta(token: object) -> Request:
    return Request(URL, meta={"robotspec_user_agent_token": token})


def by_header(user_agent: str | bytes) -> Request:
    return Request(URL, headers={"User-Agent": user_agent})


def by_language(request: Request, crawler: Crawler) -> list[str]:
    """A user's function, found by its import path below."""
    return ["foobot-fr", "foobot"] if "/fr/" in request.url else ["foobot"]


PATH = f"{__name__}.by_language"


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        ("foobot", "foobot"),
        ("foobot/1.0", "foobot"),
        ("foobot (+https://foo.example)", "foobot"),
        (FULL, "FooBot"),
        ("Mozilla/5.0 (Compatible ;FooBot)", "FooBot"),
        ("Mozilla/5.0 AppleWebKit/537.36 (KHTML; compatible; foobot/2.0) Safari/5", "foobot"),
        ("Mozilla/5.0 (compatible; )", "Mozilla"),
        ("Mozilla/5.0 (X11; Linux x86_64) Chrome/120", "Mozilla"),
        ("Scrapy/2.19.0 (+https://scrapy.org)", "Scrapy"),
        ("Foo Bot/1.0", "Foo Bot"),
        ("MJ12bot/v1.4.8", "MJ12bot"),
        ("", ""),
        ("/1.0", ""),
        ("(+https://foo.example)", ""),
    ],
    ids=repr,
)
def test_the_product_is_found_in_a_user_agent(user_agent: str, name: str) -> None:
    assert product_name(user_agent) == name


@pytest.mark.parametrize(
    ("user_agent", "tokens", "in_classic"),
    [
        ("foobot-news_x/1.0", ("foobot-news_x",), ("foobot-news_x",)),
        ("MJ12bot/v1.4.8", ("MJ",), ("MJ12bot",)),
        ("Foo Bot/1.0", ("Foo",), ("Foo Bot",)),
        ("UnicödeBöt", ("Unic",), ("UnicödeBöt",)),
        ("360Spider", (), ("360Spider",)),
        ("*", (), ()),
        ("", (), ()),
    ],
    ids=repr,
)
def test_a_name_is_cut_to_a_token_where_the_edition_has_tokens(
    user_agent: str, tokens: tuple[str, ...], in_classic: tuple[str, ...]
) -> None:
    """UAG-03 cuts, UAG-10 compares whole names."""
    assert tokens_from_user_agent(user_agent, EDITIONS["google-2019"]) == tokens
    assert tokens_from_user_agent(user_agent, EDITIONS["classic"]) == in_classic


@pytest.mark.parametrize(
    ("settings", "request_", "tokens"),
    [
        ({}, Request(URL), ("homebot",)),
        ({"USER_AGENT": FULL}, Request(URL), ("FooBot",)),
        ({}, by_header(FULL), ("FooBot",)),
        ({}, by_header(b"\xff\xfe/1.0"), ()),
        ({"DEFAULT_REQUEST_HEADERS": {"user-agent": "bar/1"}}, Request(URL), ("bar",)),
        ({"DEFAULT_REQUEST_HEADERS": {"User-Agent": None}}, Request(URL), ("homebot",)),
        ({"ROBOTSTXT_USER_AGENT": "txtbot/3"}, Request(URL), ("txtbot",)),
        ({"ROBOTSTXT_USER_AGENT": "txtbot"}, by_header(FULL), ("txtbot",)),
        ({"ROBOTSTXT_USER_AGENT": "*"}, Request(URL), ()),
        ({"ROBOTSPEC_USER_AGENT_TOKEN": "own"}, by_header(FULL), ("own",)),
        (
            {"ROBOTSPEC_USER_AGENT_TOKEN": ["own-a", "own"], "ROBOTSTXT_USER_AGENT": "txtbot"},
            Request(URL),
            ("own-a", "own"),
        ),
        ({"ROBOTSPEC_USER_AGENT_TOKEN": by_language}, Request(URL), ("foobot",)),
        ({"ROBOTSPEC_USER_AGENT_TOKEN": PATH}, Request(URL + "/fr/"), ("foobot-fr", "foobot")),
        ({"ROBOTSPEC_USER_AGENT_TOKEN": lambda r, c: "one"}, Request(URL), ("one",)),
        ({"ROBOTSPEC_USER_AGENT_TOKEN": lambda r, c: FULL}, Request(URL), ("FooBot",)),
        ({"ROBOTSPEC_USER_AGENT_TOKEN": "own"}, by_meta("metabot"), ("metabot",)),
        ({"ROBOTSPEC_USER_AGENT_TOKEN": by_language}, by_meta(["x", "y"]), ("x", "y")),
        ({}, by_meta(["x", "y", "x"]), ("x", "y")),
        ({}, by_meta("*"), ()),
        ({}, by_meta(None), ("homebot",)),
        (
            {
                "ROBOTSPEC_USER_AGENT_TOKEN": "own",
                "ROBOTSPEC_OVERRIDES": {"Example.com": {"token": "hostbot"}},
            },
            Request(URL),
            ("hostbot",),
        ),
        (
            {"ROBOTSPEC_OVERRIDES": {"example.com": {"token": "hostbot"}}},
            Request("http://other.example/"),
            ("homebot",),
        ),
        (
            {"ROBOTSPEC_OVERRIDES": {"example.com": {"token": "hostbot"}}},
            by_meta("metabot"),
            ("metabot",),
        ),
        ({"ROBOTSPEC_EDITION": "classic", "USER_AGENT": "Foo 2/1"}, Request(URL), ("Foo 2",)),
        ({"ROBOTSPEC_EDITION": "classic"}, by_meta("mon robot"), ("mon robot",)),
    ],
)
def test_the_most_particular_word_counts(
    settings: dict[str, Any], request_: Request, tokens: tuple[str, ...]
) -> None:
    assert hook(**settings)(request_) == tokens


def test_a_spider_may_have_a_user_agent_of_its_own() -> None:
    class Named(Plain):
        user_agent = "spiderbot/1.0"

    assert hook(Named)(Request(URL)) == ("spiderbot",)


def test_the_function_is_given_request_and_crawler() -> None:
    seen = []

    def choose(request: Request, crawler: Crawler) -> str:
        seen.append((request, crawler))
        return "foobot"

    chosen = hook(ROBOTSPEC_USER_AGENT_TOKEN=choose)
    request = Request(URL)
    chosen(request)
    ((given_request, given_crawler),) = seen
    assert given_request is request
    assert isinstance(given_crawler, Crawler)


@pytest.mark.parametrize("bad", [None, "", [], "foo bot", 7, ["foobot", None], b"foobot"], ids=repr)
def test_what_is_no_token_never_becomes_a_guess(bad: object) -> None:
    """A request must not be crawled as nobody in particular because a function went wrong."""
    with pytest.raises(ConfigurationError, match="ROBOTSPEC_USER_AGENT_TOKEN"):
        hook(ROBOTSPEC_USER_AGENT_TOKEN=lambda request, crawler: bad)(Request(URL))
    if bad is not None:
        with pytest.raises(ConfigurationError, match="robotspec_user_agent_token"):
            hook()(by_meta(bad))


def test_errors_of_the_function_are_its_own() -> None:
    def broken(request: Request, crawler: Crawler) -> str:
        raise KeyError("nothing here")

    with pytest.raises(KeyError, match="nothing here"):
        hook(ROBOTSPEC_USER_AGENT_TOKEN=broken)(Request(URL))


def notices(caplog: pytest.LogCaptureFixture) -> list[tuple[int, str]]:
    return [
        (record.levelno, record.getMessage())
        for record in caplog.records
        if record.name == "scrapy_robotspec"
    ]


def test_what_was_derived_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    asked = hook()
    for _ in range(3):
        asked(Request(URL))
        asked(by_header("homebot/1.0"))
        asked(by_header("homebot/2.0"))
    ((level, message),) = notices(caplog)
    assert level == logging.INFO
    assert "homebot" in message
    assert "USER_AGENT" in message


@pytest.mark.parametrize(
    ("user_agent", "words"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64) Chrome/120", "'Mozilla'"),
        ("Scrapy/2.19.0 (+https://scrapy.org)", "'Scrapy'"),
        ("MJ12bot/1.0", "'MJ'"),
        ("Foo Bot/1.0", "no legal product token"),
        ("360Spider", "no product token"),
        ("", "no product token"),
    ],
)
def test_a_doubtful_name_is_warned_of_once(
    user_agent: str, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    asked = hook(USER_AGENT=user_agent)
    for _ in range(3):
        asked(Request(URL))
    ((level, message),) = notices(caplog)
    assert level == logging.WARNING
    assert words in message
    assert "ROBOTSPEC_USER_AGENT_TOKEN" in message


def test_a_doubtful_robotstxt_user_agent_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    hook(ROBOTSTXT_USER_AGENT="MJ12bot")
    ((level, message),) = notices(caplog)
    assert level == logging.WARNING
    assert "ROBOTSTXT_USER_AGENT" in message


@pytest.mark.parametrize(
    "settings",
    [
        {"ROBOTSPEC_USER_AGENT_TOKEN": "Mozilla"},
        {"ROBOTSPEC_USER_AGENT_TOKEN": by_language},
        {"ROBOTSTXT_USER_AGENT": "txtbot"},
        {"ROBOTSTXT_USER_AGENT": "*"},
        {"ROBOTSPEC_EDITION": "classic", "ROBOTSTXT_USER_AGENT": "mon robot 2"},
    ],
)
def test_what_was_named_needs_no_words(
    settings: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    hook(**settings)(Request(URL))
    assert notices(caplog) == []


def test_changing_headers_do_not_fill_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    asked = hook()
    letters = "abcdefghijklmnopqrstuvwxyz"
    for first in letters:
        for second in letters:
            asked(by_header(f"{first}{second}/1.0"))
    assert len(notices(caplog)) < 50


def test_a_name_from_a_header_cannot_steer_the_terminal(caplog: pytest.LogCaptureFixture) -> None:
    """SAF-04."""
    hook(USER_AGENT="bot\x1b[31m\u202ered/1.0", ROBOTSPEC_EDITION="classic")
    hook(USER_AGENT="bot\x1b[31m\u202ered/1.0")
    text = "".join(message for _, message in notices(caplog))
    assert "bot" in text
    assert text.isprintable()
