"""The product tokens of a request, and what the log says of them."""

from __future__ import annotations

import json
import logging
from functools import partial
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.plugin.deciding import tokens as token_settings
from scrapy_robotspec.plugin.deciding.tokens import TokenSelector
from scrapy_robotspec.plugin.settings.settings import Settings
from scrapy_robotspec.protocol.agents import product_name, tokens_from_user_agent

URL = "http://example.com/page"
FULL = "Mozilla/5.0 (compatible; FooBot/2.1; +http://foo.example/bot.html)"


class Plain(Spider):
    name = "plain"


def hook(spider: type[Spider] = Plain, /, **settings: Any) -> TokenSelector:
    settings.setdefault("USER_AGENT", "homebot/1.0")
    crawler = Crawler(spider, settings)
    crawler.spider = spider()
    read = Settings.from_scrapy(crawler.settings)
    return TokenSelector(crawler, read)


def by_meta(token: object) -> Request:
    return Request(URL, meta={"robotspec_user_agent_token": token})


def by_header(user_agent: str | bytes) -> Request:
    return Request(URL, headers={"User-Agent": user_agent})


def by_language(request: Request, crawler: Crawler) -> list[str]:
    """A user's function, found by its import path below."""
    return ["foobot-fr", "foobot"] if "/fr/" in request.url else ["foobot"]


PATH = f"{__name__}.by_language"
BY_HOST = {"ROBOTSPEC_OVERRIDES": {"Example.com": {"token": "hostbot"}}}


@pytest.mark.parametrize(
    ("user_agent", "name", "token"),
    [
        ("foobot", "foobot", "foobot"),
        ("foobot-news_x/1.0", "foobot-news_x", "foobot-news_x"),
        ("foobot (+https://foo.example)", "foobot", "foobot"),
        (FULL, "FooBot", "FooBot"),
        ("Mozilla/5.0 (Compatible ;FooBot)", "FooBot", "FooBot"),
        ("Mozilla/5.0 AppleWebKit/537.36 (KHTML; compatible; a/2.0) Safari/5", "a", "a"),
        ("Mozilla/5.0 (compatible; )", "Mozilla", "Mozilla"),
        ("Foo Bot/1.0", "Foo Bot", "Foo"),
        ("MJ12bot/v1.4.8", "MJ12bot", "MJ"),
        ("UnicödeBöt", "UnicödeBöt", "Unic"),
        ("360Spider", "360Spider", None),
        ("*", "*", None),
        ("", "", None),
        ("/1.0", "", None),
        ("(+https://foo.example)", "", None),
    ],
    ids=repr,
)
def test_the_product_is_found_in_a_user_agent(
    user_agent: str, name: str, token: str | None
) -> None:
    """UAG-03 cuts it to a token, UAG-10 compares whole names."""
    assert product_name(user_agent) == name
    tokens = () if token is None else (token,)
    assert tokens_from_user_agent(user_agent, EDITIONS["google-2019"]) == tokens
    whole = (name,) if name not in ("", "*") else ()
    assert tokens_from_user_agent(user_agent, EDITIONS["classic"]) == whole


@pytest.mark.parametrize(
    ("settings", "request_", "tokens"),
    [
        ({}, Request(URL), ("homebot",)),
        ({"USER_AGENT": FULL}, Request(URL), ("FooBot",)),
        ({}, by_header(FULL), ("FooBot",)),
        ({}, by_header(b"\xff\xfe/1.0"), ()),
        ({"DEFAULT_REQUEST_HEADERS": {"user-agent": "bar/1"}}, Request(URL), ("bar",)),
        ({"DEFAULT_REQUEST_HEADERS": {"user-agent": None}}, Request(URL), ("homebot",)),
        ({"ROBOTSTXT_USER_AGENT": "txtbot/3"}, Request(URL), ("txtbot",)),
        ({"ROBOTSTXT_USER_AGENT": "txtbot"}, by_header(FULL), ("txtbot",)),
        ({"ROBOTSPEC_USER_AGENT_TOKEN": "own"}, by_header(FULL), ("own",)),
        (
            {"ROBOTSPEC_USER_AGENT_TOKEN": ["own-a", "own"], "ROBOTSTXT_USER_AGENT": "txtbot"},
            Request(URL),
            ("own-a", "own"),
        ),
        ({"ROBOTSPEC_USER_AGENT_TOKEN": PATH}, Request(URL + "/fr/"), ("foobot-fr", "foobot")),
        ({"ROBOTSPEC_USER_AGENT_TOKEN": lambda r, c: FULL}, Request(URL), ("FooBot",)),
        ({"ROBOTSPEC_USER_AGENT_TOKEN": by_language}, by_meta(["x", "y"]), ("x", "y")),
        ({}, by_meta("*"), ()),
        ({}, by_meta(None), ("homebot",)),
        ({"ROBOTSPEC_USER_AGENT_TOKEN": "own", **BY_HOST}, Request(URL), ("hostbot",)),
        (BY_HOST, Request("http://other.example/"), ("homebot",)),
        ({"ROBOTSPEC_OVERRIDES": {"example.com": {"crawl_delay": 3}}}, Request(URL), ("homebot",)),
        (BY_HOST, by_meta("metabot"), ("metabot",)),
        ({"ROBOTSPEC_EDITION": "classic", "USER_AGENT": "Foo 2/1"}, Request(URL), ("Foo 2",)),
        ({"ROBOTSPEC_EDITION": "classic"}, by_meta("mon robot"), ("mon robot",)),
    ],
)
def test_the_most_particular_word_counts(
    settings: dict[str, Any], request_: Request, tokens: tuple[str, ...]
) -> None:
    assert hook(**settings).select(request_) == tokens


def test_a_spider_may_have_a_user_agent_of_its_own() -> None:
    class Named(Plain):
        user_agent = "spiderbot/1.0"

    assert hook(Named).select(Request(URL)) == ("spiderbot",)


@pytest.mark.parametrize("bad", [None, "", [], "foo bot", 7, ["foobot", None], b"foobot"], ids=repr)
def test_what_is_no_token_never_becomes_a_guess(bad: object) -> None:
    """A request must not be crawled under the default group because a function failed."""
    with pytest.raises(ConfigurationError, match="ROBOTSPEC_USER_AGENT_TOKEN"):
        hook(ROBOTSPEC_USER_AGENT_TOKEN=lambda request, crawler: bad).select(Request(URL))
    if bad is not None:
        with pytest.raises(ConfigurationError, match="robotspec_user_agent_token"):
            hook().select(by_meta(bad))


def test_an_error_in_the_function_names_the_setting() -> None:
    """But the function may ignore a request."""

    def failing(request: Request, crawler: Crawler) -> str:
        raise {"/page": KeyError("here"), "/": IgnoreRequest()}[request.url[18:]]

    selector = hook(ROBOTSPEC_USER_AGENT_TOKEN=failing)
    with pytest.raises(ConfigurationError, match=r"ROBOTSPEC_USER_AGENT_TOKEN.*KeyError.*here"):
        selector.select(Request(URL))
    with pytest.raises(IgnoreRequest):
        selector.select(Request("http://example.com/"))


def sent(request: Request, user_agent: str) -> Request:
    """*request* after another middleware has given it a User-Agent."""
    request.headers["User-Agent"] = user_agent
    return request


def test_repetitions_of_a_request_keep_its_first_tokens() -> None:
    """Redirects, retries and new decisions (CAC-07), whatever User-Agent is set meanwhile.

    But for explicit ones. Queues may store requests as JSON, which has no tuples.
    """
    names = iter(["one", "two"])
    for selector in (hook(), hook(ROBOTSPEC_USER_AGENT_TOKEN=lambda request, crawler: next(names))):
        request = Request(URL)
        first = selector.select(request)
        for _ in range(3):
            assert selector.select(sent(request, "random/1")) == first
            request = request.replace(meta=json.loads(json.dumps(request.meta)))
        request.meta["robotspec_user_agent_token"] = "metabot"
        assert selector.select(request) == ("metabot",)


class Callable:
    def __call__(self, request: Request, crawler: Crawler) -> str:
        return "callablebot"


def three(a: object, b: object, c: object) -> str:
    return "x"


async def coroutine(request: Request, crawler: Crawler) -> str:
    return "x"


def generator(request: Request, crawler: Crawler) -> Any:
    yield "x"


class Awaitable:
    async def __call__(self, request: Request, crawler: Crawler) -> str:
        return "x"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (three, "missing a required argument: 'c'"),
        (lambda request: "x", "too many positional arguments"),
        (Callable, "not the class Callable"),
        (coroutine, "without 'async'"),
        (partial(coroutine), "without 'async'"),
        (Awaitable(), "without 'async'"),
        (generator, "without 'async' and 'yield'"),
        (f"{__name__}.three", "missing a required argument"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_a_function_that_cannot_work_stops_the_crawl_at_start(value: object, words: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        hook(ROBOTSPEC_USER_AGENT_TOKEN=value)
    assert str(caught.value).startswith("ROBOTSPEC_USER_AGENT_TOKEN = ")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("value", "token"),
    [
        (Callable(), "callablebot"),
        (partial(three, 1), "x"),
        (lambda *given: "y", "y"),
        (lambda request, crawler, extra=1: "z", "z"),
    ],
)
def test_any_callable_with_two_arguments_works(value: object, token: str) -> None:
    assert hook(ROBOTSPEC_USER_AGENT_TOKEN=value).select(Request(URL)) == (token,)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "homebot (USER_AGENT)"),
        ({"ROBOTSPEC_USER_AGENT_TOKEN": ["a-b", "a"]}, "a-b, a (ROBOTSPEC_USER_AGENT_TOKEN)"),
        ({"ROBOTSPEC_USER_AGENT_TOKEN": "*"}, "* (ROBOTSPEC_USER_AGENT_TOKEN)"),
        ({"ROBOTSTXT_USER_AGENT": "one"}, "one (ROBOTSTXT_USER_AGENT)"),
        (
            {"ROBOTSPEC_USER_AGENT_TOKEN": PATH},
            f"from function {PATH} (ROBOTSPEC_USER_AGENT_TOKEN)",
        ),
    ],
)
def test_a_log_line_names_tokens_and_their_source(settings: dict[str, Any], words: str) -> None:
    assert str(hook(**settings)) == words


def notices(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]


TOKEN, TXT, AGENT = "ROBOTSPEC_USER_AGENT_TOKEN", "ROBOTSTXT_USER_AGENT", "USER_AGENT"
STOCK = "scrapy.downloadermiddlewares.useragent.UserAgentMiddleware"
OFF = {"DOWNLOADER_MIDDLEWARES": {STOCK: None}}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        # tokens that no site may know
        ({AGENT: "Mozilla/5.0 (X11; Linux x86_64) Chrome/120"}, ["'Mozilla'", TOKEN]),
        ({AGENT: "Scrapy/2.19.0 (+https://scrapy.org)"}, ["'Scrapy'", TOKEN]),
        ({AGENT: "curl/8.5.0"}, ["'curl', which many crawlers share", TOKEN]),
        ({AGENT: "python-requests/2.31"}, ["'python-requests', which many crawlers", TOKEN]),
        ({AGENT: "Go-http-client/2.0"}, ["'Go-http-client', which many crawlers share", TOKEN]),
        ({AGENT: "MJ12bot/1.0"}, ["'MJ'", TOKEN]),
        ({AGENT: "Foo Bot/1.0"}, ["no legal product token", TOKEN]),
        ({AGENT: "360Spider"}, ["no product token", TOKEN]),
        ({AGENT: ""}, ["no product token", TOKEN]),
        ({TXT: "MJ12bot", AGENT: "MJ12bot/1.4"}, [TXT, TOKEN]),
        (OFF, ["UserAgentMiddleware is off", "'homebot'", TOKEN]),
        # SAF-04
        ({AGENT: "bot\x1b[31m\u202ered/1.0"}, ["bot"]),
    ],
)
def test_a_token_that_may_be_wrong_is_warned_of_once(
    settings: dict[str, Any], words: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    selector = hook(**settings)
    for _ in range(3):
        selector.select(Request(URL))
    (message,) = notices(caplog)
    assert all(word in message for word in words)
    assert message.isprintable()


OTHER = "tests.crawl.middlewares.Handler"


@pytest.mark.parametrize(
    ("settings", "sent", "words"),
    [
        ({TOKEN: "own"}, "homebot/1.0", [f"{TOKEN} is 'own'", "not part of the User-Agent sent"]),
        ({TOKEN: ["own-a", "own"]}, "homebot/1.0", ["'own-a', 'own'", "(USER_AGENT)"]),
        ({TXT: "txtbot"}, "homebot/1.0", [f"{TXT} is 'txtbot'", "Send one that contains"]),
        (
            {TOKEN: "homebot", "DEFAULT_REQUEST_HEADERS": {"User-Agent": "bar/1"}},
            "bar/1",
            ["'bar/1'", "(DEFAULT_REQUEST_HEADERS)"],
        ),
        (
            {TOKEN: "own"},
            "x" * 300,
            ["begins with '" + "x" * 40 + "' (set by a spider or middleware)"],
        ),
        ({TOKEN: "own"}, "\x1b[31m\u202e", ["\\x1b[31m\\u202e"]),  # SAF-04
        (
            {TOKEN: "own", "DOWNLOAD_HANDLERS": {"http": OTHER}},
            "homebot/1.0",
            ["the User-Agent of requests", f"; {OTHER} may change it."],
        ),
    ],
)
def test_a_header_that_was_sent_without_the_token_is_warned_of_once(
    settings: dict[str, Any], sent: str, words: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """UAG-12: that of a request, whatever other components have made of it."""
    selector = hook(**settings)
    assert notices(caplog) == []
    for _ in range(3):
        selector.compare(by_header(sent))
    (message,) = notices(caplog)
    assert all(word in message for word in words)
    assert message.isprintable()


def test_a_request_with_a_token_of_its_own_is_not_compared(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """UAG-12: the next one is; nor is one without the header."""
    selector = hook(**{TOKEN: "own"})
    own = by_header("special/1")
    own.meta["robotspec_user_agent_token"] = "special"
    for request in (own, Request(URL)):
        selector.compare(request)
        assert (selector.is_compared, notices(caplog)) == (False, [])
    selector.compare(by_header("other/1"))
    assert len(notices(caplog)) == 1


def test_a_header_that_another_middleware_has_changed_is_compared(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The token of the decision is kept, and is not part of the new header."""
    selector, request = hook(), Request(URL)
    assert selector.select(request) == ("homebot",)
    request.headers["User-Agent"] = "Mozilla/5.0"
    selector.compare(request)
    (message,) = notices(caplog)
    assert "USER_AGENT is 'homebot'" in message
    assert "'Mozilla/5.0' (set by a spider or middleware)" in message


@pytest.mark.parametrize(
    "settings",
    [
        *({TOKEN: token} for token in ("homebot", "HomeBot", ["home-images", "homebot"], "*")),
        {TOKEN: "Mozilla", AGENT: "Mozilla/5.0"},
        {TOKEN: by_language},
        {TXT: "txtbot", AGENT: "TxtBot/1"},
        {TXT: "*"},
        {"ROBOTSPEC_EDITION": "classic", TXT: "mon robot 2", AGENT: "Mon Robot 2/1"},
    ],
)
def test_a_token_that_was_named_needs_no_warning(
    settings: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    """UAG-12: case aside; of a list one is enough."""
    selector = hook(**settings)
    selector.select(Request(URL))
    selector.compare(by_header(selector._crawler.settings["USER_AGENT"]))
    assert notices(caplog) == []


def test_changing_headers_do_not_fill_the_log(caplog: pytest.LogCaptureFixture) -> None:
    asked = hook()
    for name in ("homebot", "otherbot", *(f"{number}bot" for number in range(100))):
        asked.select(by_header(f"{name}/1.0"))
    assert len(notices(caplog)) == 1


def test_the_tokens_of_a_bounded_number_of_headers_are_kept() -> None:
    tokens = hook()
    for number in range(2 * token_settings._MAX_HEADERS):
        letters = "".join(chr(ord("a") + int(digit)) for digit in str(number))
        for _ in range(2):
            assert tokens.select(Request(URL, headers={"User-Agent": f"{letters}bot/1.0"})) == (
                f"{letters}bot",
            )
    assert tokens._of_header.cache_info().currsize <= token_settings._MAX_HEADERS


def test_the_tokens_of_a_header_are_kept_and_few_headers_are() -> None:
    """A crawl may send a header of its own with each request."""
    selector, kept = hook(), []
    for number in range(token_settings._MAX_HEADERS + 2):
        header = f"foobot/{number}"
        assert selector.select(by_header(header)) == ("foobot",)
        kept.append(selector._of_header.cache_info().currsize)
    assert kept[:2] == [1, 2]
    assert max(kept) == token_settings._MAX_HEADERS
    first = selector._of_header(header.encode())
    assert selector.select(by_header(header)) is first
