"""Extensions of a request, computed once (EXT-01, EXT-03)."""

from __future__ import annotations

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


def policy_of(**settings: object) -> RequestPolicy:
    crawler = crawler_with(settings)
    checked = Settings.from_scrapy(crawler.settings)
    return RequestPolicy(checked, TokenSelector(crawler, checked), ftp=False)


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
