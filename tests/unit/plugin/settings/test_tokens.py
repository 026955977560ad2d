"""The product tokens of a request, and what the log says of them."""

from __future__ import annotations

import json
import logging
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.plugin.settings.settings import Settings
from scrapy_robotspec.plugin.settings.tokens import TokenSelector
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
    return TokenSelector(crawler, read.edition, read.user_agent_token, read.overrides)


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
    """A request must not be crawled under the default group because a function failed."""
    with pytest.raises(ConfigurationError, match="ROBOTSPEC_USER_AGENT_TOKEN"):
        hook(ROBOTSPEC_USER_AGENT_TOKEN=lambda request, crawler: bad)(Request(URL))
    if bad is not None:
        with pytest.raises(ConfigurationError, match="robotspec_user_agent_token"):
            hook()(by_meta(bad))


def test_an_error_in_the_function_names_the_setting() -> None:
    def broken(request: Request, crawler: Crawler) -> str:
        raise KeyError("nothing here")

    with pytest.raises(ConfigurationError, match=r"ROBOTSPEC_USER_AGENT_TOKEN.*KeyError.*nothing"):
        hook(ROBOTSPEC_USER_AGENT_TOKEN=broken)(Request(URL))


def test_the_function_may_ignore_a_request() -> None:
    def ignoring(request: Request, crawler: Crawler) -> str:
        raise IgnoreRequest("not this one")

    with pytest.raises(IgnoreRequest, match="not this one"):
        hook(ROBOTSPEC_USER_AGENT_TOKEN=ignoring)(Request(URL))


def sent(request: Request, user_agent: str) -> Request:
    """*request* after another middleware has given it a User-Agent."""
    request.headers["User-Agent"] = user_agent
    return request


def test_repetitions_of_a_request_keep_its_first_tokens() -> None:
    """Redirects, retries and new decisions (CAC-07), whatever User-Agent is set meanwhile.

    Queues may store requests as JSON, which has no tuples.
    """
    names = iter(["one", "two"])
    for select in (hook(), hook(ROBOTSPEC_USER_AGENT_TOKEN=lambda request, crawler: next(names))):
        request = Request(URL)
        first = select(request)
        for _ in range(3):
            assert select(sent(request, "random/1")) == first
            request = request.replace(meta=json.loads(json.dumps(request.meta)))


def test_explicit_tokens_win_over_kept_ones() -> None:
    select = hook()
    request = Request(URL)
    select(request)
    meta = {**request.meta, "robotspec_user_agent_token": "metabot"}
    assert select(request.replace(meta=meta)) == ("metabot",)


def by_folder(request: Request, crawler: Crawler) -> str:
    """The first folder of the URL."""
    return request.url.split("/")[3]


#: A step from one request to the next: a repetition of the same request, or a new one.
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["redirect", "retry", "new"]),
        st.sampled_from(["a", "b", "c"]),
        st.booleans(),
    ),
    max_size=12,
)


@given(STEPS)
def test_chosen_tokens_outlive_a_request_only_along_its_repetitions(
    steps: list[tuple[str, str, bool]],
) -> None:
    """UAG-01: a new request has tokens of its own, also one with the meta of a response.

    A host with an override needs no decision and no tokens.
    """
    select = hook(ROBOTSPEC_USER_AGENT_TOKEN=by_folder)
    request = Request("http://example.com/a/")
    chosen = select(request)
    for step, folder, is_decided in steps:
        url = f"http://example.com/{folder}/"
        if step == "new":
            select.responded(request)
            request, chosen = Request(url, meta=dict(request.meta)), (folder,)
        else:
            request = request.replace(url=url) if step == "redirect" else request.copy()
        if is_decided or step == "new":
            assert select(request) == chosen


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
        (lambda: "x", "too many positional arguments"),
        (partial(three, 1, 2), "too many positional arguments"),
        (Callable, "not the class Callable"),
        (coroutine, "without 'async'"),
        (partial(coroutine), "without 'async'"),
        (Awaitable(), "without 'async'"),
        (generator, "without 'async' and 'yield'"),
        (f"{__name__}.three", "missing a required argument"),
        (f"{__name__}.Callable", "not the class Callable"),
        (f"{__name__}.no_such", "no_such"),
        ("no.such.module", "import path"),
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
    assert hook(ROBOTSPEC_USER_AGENT_TOKEN=value)(Request(URL)) == (token,)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"ROBOTSPEC_USER_AGENT_TOKEN": "own"}, ["ROBOTSPEC_USER_AGENT_TOKEN is 'own'"]),
        ({"ROBOTSPEC_USER_AGENT_TOKEN": ["own-a", "own"]}, ["'own-a', 'own'", "USER_AGENT"]),
        ({"ROBOTSTXT_USER_AGENT": "txtbot"}, ["ROBOTSTXT_USER_AGENT is 'txtbot'"]),
        (
            {
                "ROBOTSPEC_USER_AGENT_TOKEN": "homebot",
                "DEFAULT_REQUEST_HEADERS": {"User-Agent": "bar/1"},
            },
            ["'bar/1'", "DEFAULT_REQUEST_HEADERS"],
        ),
    ],
)
def test_a_token_that_is_no_part_of_the_user_agent_is_warned_of_once(
    settings: dict[str, Any], words: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """UAG-12."""
    select = hook(**settings)
    for _ in range(3):
        select(Request(URL))
    ((level, message),) = notices(caplog)
    assert level == logging.WARNING
    assert all(word in message for word in [*words, "not part of the User-Agent"])


@pytest.mark.parametrize("token", ["homebot", "HomeBot", ["home-images", "homebot"], "*", "home"])
def test_a_token_that_is_part_of_the_user_agent_is_not_warned_of(
    token: object, caplog: pytest.LogCaptureFixture
) -> None:
    """UAG-12: case aside; of a list one is enough."""
    hook(ROBOTSPEC_USER_AGENT_TOKEN=token)
    assert notices(caplog) == []


STOCK = "scrapy.downloadermiddlewares.useragent.UserAgentMiddleware"


def test_a_derived_token_without_the_stock_user_agent_middleware_is_warned_of(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Another middleware sets the User-Agent, which is unknown at the first decision."""
    off = {"DOWNLOADER_MIDDLEWARES": {STOCK: None}}
    hook(**off)
    ((level, message),) = notices(caplog)
    assert level == logging.WARNING
    assert "UserAgentMiddleware is off" in message
    assert "'homebot'" in message
    caplog.clear()
    hook(**off, ROBOTSPEC_USER_AGENT_TOKEN="own")
    assert notices(caplog) == []


def notices(caplog: pytest.LogCaptureFixture) -> list[tuple[int, str]]:
    return [
        (record.levelno, record.getMessage())
        for record in caplog.records
        if record.name == "scrapy_robotspec"
    ]


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


def test_a_derived_token_without_doubt_is_not_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    asked = hook()
    for header in ("homebot/1.0", "homebot/2.0"):
        asked(by_header(header))
    assert notices(caplog) == []


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
    hook(ROBOTSTXT_USER_AGENT="MJ12bot", USER_AGENT="MJ12bot/1.4")
    ((level, message),) = notices(caplog)
    assert level == logging.WARNING
    assert "ROBOTSTXT_USER_AGENT" in message


@pytest.mark.parametrize(
    "settings",
    [
        {"ROBOTSPEC_USER_AGENT_TOKEN": "Mozilla", "USER_AGENT": "Mozilla/5.0"},
        {"ROBOTSPEC_USER_AGENT_TOKEN": by_language},
        {"ROBOTSTXT_USER_AGENT": "txtbot", "USER_AGENT": "TxtBot/1"},
        {"ROBOTSTXT_USER_AGENT": "*"},
        {
            "ROBOTSPEC_EDITION": "classic",
            "ROBOTSTXT_USER_AGENT": "mon robot 2",
            "USER_AGENT": "Mon Robot 2/1",
        },
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
