"""Extensions of a request, computed once (EXT-01, EXT-03)."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.policy import Action, Plan
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.lookup import Resolved
from scrapy_robotspec.lookup.rules_cache import RulesCache
from scrapy_robotspec.plugin.deciding.request_policy import (
    MOST_LINES,
    NO_EXTENSIONS,
    Extensions,
    RequestPolicy,
)
from scrapy_robotspec.plugin.deciding.tokens import TokenSelector
from scrapy_robotspec.plugin.settings.settings import Settings
from scrapy_robotspec.protocol.usage import Usage
from tests.unit.plugin.scheduling.crawlers import crawler_with

GROUPS = b"""\
User-agent: foo
Content-Usage: train-ai=n
Crawl-delay: 1
content-usage: search=y
crawl-delay: 2.5
Disallow: /foo

User-agent: *
Disallow: /
Request-rate: 1/5
"""


def known(body: bytes, action: Action = Action.RULES) -> Resolved:
    record = RobotsRecord(Origin("http", "example.com", 80), body=body)
    plan = Plan(action, "", False, 0.0)
    return RulesCache().make(record, plan, EDITIONS["google-2019"], 0.0)


def policy_of(*, ftp: bool = False, **settings: object) -> RequestPolicy:
    crawler = crawler_with(settings)
    checked = Settings.from_scrapy(crawler.settings)
    return RequestPolicy(checked, TokenSelector(crawler, checked), ftp=ftp)


def extensions_for(found: Resolved, tokens: tuple[str, ...]) -> Extensions:
    request = Request("http://example.com/", meta={"robotspec_user_agent_token": tokens})
    return policy_of().by_rules(found, request, 0.0).extensions


def test_the_group_followed_speaks() -> None:
    """EXT-03: every value, as it stands, in the order of the file; fields in lower case."""
    found = known(GROUPS)
    assert extensions_for(found, ("foo",)).fields == {
        "content-usage": ("train-ai=n", "search=y"),
        "crawl-delay": ("1", "2.5"),
    }
    assert extensions_for(found, ("foo",)).crawl_delay == 2.5
    assert extensions_for(found, ("bar",)).fields == {"request-rate": ("1/5",)}
    assert extensions_for(found, ("bar",)).crawl_delay is None


@pytest.mark.parametrize(
    "found", [known(b""), known(b"User-agent: *\nDisallow: /\n"), known(GROUPS, Action.ALLOW)]
)
def test_a_plain_file_and_one_that_does_not_decide_have_none(found: Resolved) -> None:
    assert found.extensions is None
    assert extensions_for(found, ("foo",)) is NO_EXTENSIONS


def test_many_tokens_do_not_pile_up() -> None:
    found, policy = known(GROUPS), policy_of()
    for number in range(1000):
        tokens = (f"foo{'x' * number}",)
        request = Request("http://example.com/", meta={"robotspec_user_agent_token": tokens})
        policy.by_rules(found, request, 0.0)
    assert found.extensions is not None
    assert len(found.extensions) < 20
    assert extensions_for(found, ("foo",)) is extensions_for(found, ("foo",))


def test_the_extensions_of_a_few_crawlers_are_kept() -> None:
    found = known(GROUPS)
    crawlers = [(f"foo{letter}",) for letter in "abcdefghi"]
    first = [extensions_for(found, tokens) for tokens in crawlers[:8]]
    assert [extensions_for(found, tokens) for tokens in crawlers[:8]] == first
    assert all(
        extensions_for(found, each) is kept for each, kept in zip(crawlers, first, strict=False)
    )
    extensions_for(found, crawlers[8])
    assert found.extensions is not None
    assert list(found.extensions) == [crawlers[8]]


def test_a_hostile_file_gives_few_lines() -> None:
    """SAF-02: meta is copied for every request."""
    found = known(b"User-agent: *\n" + b"".join(b"x%d: y\n" % n for n in range(10_000)))
    assert len(extensions_for(found, ("foo",)).fields) == MOST_LINES


def test_the_text_of_an_override_is_read_once() -> None:
    """Not for each page: what depends on the file alone is kept with it."""
    policy = policy_of(
        ROBOTSPEC_OVERRIDES={"example.com": GROUPS.decode()}, ROBOTSPEC_USER_AGENT_TOKEN="foo"
    )
    pages = [Request(f"http://example.com/{n}") for n in range(2)]
    first, second = (policy.by_override(Origin("http", "example.com", 80), page) for page in pages)
    assert first is not None
    assert second is not None
    assert first.extensions.crawl_delay == 2.5
    assert first.extensions is second.extensions


# --- the origin

SITE = Origin("http", "example.com", 80)
PAGE = Request("http://example.com/a")


@pytest.mark.parametrize("ftp", [False, True])
@pytest.mark.parametrize(
    ("url", "meta", "expected"),
    [
        ("http://example.com/a", {}, "http://example.com"),
        ("http://example.com/a", {"dont_obey_robotstxt": False}, "http://example.com"),
        ("http://example.com/a", {"dont_obey_robotstxt": True}, None),
        ("https://example.com:8443/", {}, "https://example.com:8443"),
        ("data:,page", {}, None),
        ("ftp://example.com/a", {}, "ftp://example.com"),
    ],
)
def test_a_request_is_governed_by_the_robots_txt_of_its_origin(
    url: str, meta: dict[str, bool], expected: str | None, ftp: bool
) -> None:
    """APP-01, LOC-11, LOC-12: that of FTP only where the crawl asks such servers."""
    found = policy_of(ftp=ftp).origin(Request(url, meta=meta))
    if url.startswith("ftp") and not ftp:
        expected = None
    assert (None if found is None else str(found)) == expected


# --- overrides


@pytest.mark.parametrize(
    ("override", "allowed"),
    [
        (None, None),
        ({"crawl_delay": 1}, None),
        ("ignore", True),
        ("disallow", False),
        ("User-agent: foo\nDisallow: /a", False),
        ("User-agent: foo\nDisallow: /b", True),
    ],
)
def test_an_override_that_replaces_the_file_decides(override: object, allowed: bool | None) -> None:
    """Another override changes how the file is asked for or used."""
    host = "other.example" if override is None else "example.com"
    policy = policy_of(
        ROBOTSPEC_OVERRIDES={host: override or "disallow"}, ROBOTSPEC_USER_AGENT_TOKEN="foo"
    )
    answer = policy.by_override(SITE, PAGE)
    assert (None if answer is None else answer.decision.allowed) == allowed
    assert answer is None or answer.found is None
    assert policy_of().by_override(SITE, PAGE) is None


def test_a_word_needs_no_token() -> None:
    def fail(request: Request, crawler: object) -> str:
        raise AssertionError("a token was asked for")

    policy = policy_of(
        ROBOTSPEC_OVERRIDES={"example.com": "disallow"}, ROBOTSPEC_USER_AGENT_TOKEN=fail
    )
    answer = policy.by_override(SITE, PAGE)
    assert answer is not None
    assert answer.decision.reason == "override"


# --- crawl delays

DELAY = b"User-agent: *\nCrawl-delay: 5\n"


@pytest.mark.parametrize(
    ("settings", "body", "expected", "spaces"),
    [
        ({}, DELAY, None, False),
        ({"ROBOTSPEC_CRAWL_DELAY": True}, DELAY, 5.0, True),
        ({"ROBOTSPEC_CRAWL_DELAY": True, "ROBOTSPEC_CRAWL_DELAY_MAX": 2}, DELAY, 2.0, True),
        ({"ROBOTSPEC_CRAWL_DELAY": True}, b"", None, True),
        ({"ROBOTSPEC_CRAWL_DELAY": True, "ROBOTSPEC_DEFAULT_CRAWL_DELAY": 3}, b"", 3.0, True),
        ({"ROBOTSPEC_CRAWL_DELAY": True, "ROBOTSPEC_DEFAULT_CRAWL_DELAY": 3}, DELAY, 5.0, True),
        ({"ROBOTSPEC_DEFAULT_CRAWL_DELAY": 3}, DELAY, 3.0, True),
        ({"ROBOTSPEC_OVERRIDES": {"example.com": {"crawl_delay": 7}}}, DELAY, 7.0, True),
        ({"ROBOTSPEC_OVERRIDES": {"other.example": {"crawl_delay": 7}}}, DELAY, None, True),
        (
            {
                "ROBOTSPEC_CRAWL_DELAY": True,
                "ROBOTSPEC_OVERRIDES": {"example.com": {"crawl_delay": 0}},
            },
            DELAY,
            0.0,
            True,
        ),
        (
            {"ROBOTSPEC_CRAWL_DELAY": True, "ROBOTSPEC_OVERRIDES": {"example.com": {"token": "x"}}},
            DELAY,
            5.0,
            True,
        ),
    ],
)
def test_a_delay_is_that_of_the_override_then_of_the_file_then_the_default(
    settings: dict[str, Any], body: bytes, expected: float | None, spaces: bool
) -> None:
    """EXT-01. Where no setting asks for one, none is looked for."""
    policy = policy_of(**settings)
    assert policy.delay(policy.by_rules(known(body), PAGE, 0.0)) == expected
    assert policy.spaces is spaces


def test_what_is_refused_or_needs_no_file_has_no_delay() -> None:
    policy = policy_of(
        ROBOTSPEC_DEFAULT_CRAWL_DELAY=3, ROBOTSPEC_OVERRIDES={"example.com": "ignore"}
    )
    ignored = policy.by_override(SITE, PAGE)
    assert ignored is not None
    refused = policy_of(ROBOTSPEC_DEFAULT_CRAWL_DELAY=3)
    answer = refused.by_rules(known(b"User-agent: *\nDisallow: /\n"), PAGE, 0.0)
    assert (policy.delay(ignored), refused.delay(answer)) == (None, None)
    unspaced = policy_of()
    assert unspaced.delay(unspaced.by_rules(known(DELAY), PAGE, 0.0)) is None


# --- usage preferences

STATED = b"User-agent: *\nContent-Usage: train-ai=n\nDisallow: /no\n"
USE = {"ROBOTSPEC_USAGE": ["train-ai"], "ROBOTSPEC_USAGE_POLICY": "refuse-disallowed"}


@pytest.mark.parametrize("settings", [{}, USE])
def test_usage_is_stated_for_pages_that_may_be_crawled(settings: dict[str, Any]) -> None:
    """USE-03; it refuses a page only where the crawl says what it is for (USE-05)."""
    policy, found = policy_of(**settings), known(STATED)
    stated = policy.by_rules(found, PAGE, 0.0)
    assert stated.usage is not None
    assert stated.usage.preferences == {"train-ai": "disallow"}
    assert stated.decision.reason == ("usage" if settings else "no_rule")
    refused = policy.by_rules(found, Request("http://example.com/no"), 0.0)
    assert (refused.usage, refused.decision.reason) == (None, "rule")
    unstated = policy.by_rules(known(DELAY), PAGE, 0.0)
    assert (unstated.usage, unstated.extensions.usage) == (None, None)
    assert unstated.decision.allowed


@pytest.mark.parametrize(
    ("settings", "is_refused"),
    [
        ({}, False),
        (USE, True),
        (USE | {"ROBOTSPEC_OVERRIDES": {"other.example": "ignore"}}, True),
        (USE | {"ROBOTSPEC_OVERRIDES": {"example.com": "ignore"}}, False),
        (USE | {"ROBOTSPEC_OVERRIDES": {"example.com": {"token": "foo"}}}, True),
    ],
)
def test_a_page_is_refused_by_its_header_unless_its_host_is_ignored(
    settings: dict[str, Any], is_refused: bool
) -> None:
    usage = Usage.from_header(b"train-ai=n")
    assert bool(policy_of(**settings).refusal_of_page(usage, SITE)) is is_refused
