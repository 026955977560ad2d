"""The public API as a type checker sees it. Never run: test_public_api.py gives it to mypy."""

from __future__ import annotations

from collections.abc import Mapping

from scrapy.settings import BaseSettings
from typing_extensions import assert_type

import scrapy_robotspec
from scrapy_robotspec import (
    EDITIONS,
    Addon,
    Decision,
    Edition,
    Finding,
    ForbiddenByRobots,
    Group,
    Origin,
    OtherLine,
    RobotSpecMiddleware,
    RobotSpecParser,
    RobotsTxt,
    RobotsUnreachable,
    Rule,
    SitemapsFromRobots,
    Usage,
    Verdict,
    WaitingPriorityQueue,
    get_edition,
)


def reading(robots: RobotsTxt, verdict: Verdict) -> None:
    assert_type(RobotsTxt.parse(b"", "rfc9309"), RobotsTxt)
    assert_type(robots.allowed("http://example.com/", "foobot"), bool)
    assert_type(robots.allowed(b"http://example.com/", ["foobot-news", "foobot"]), bool)
    assert_type(robots.explain("http://example.com/", ("foobot",)), Verdict)
    assert_type(robots.sitemaps, tuple[str, ...])
    assert_type(robots.groups, tuple[Group, ...])
    assert_type(robots.crawl_delay("foobot"), float | None)
    assert_type(robots.other("foobot"), tuple[OtherLine, ...])
    assert_type(robots.usage("http://a/", "foobot"), Usage)
    assert_type(robots.licenses, tuple[str, ...])
    assert_type(robots.lint(), tuple[Finding, ...])
    assert_type(robots.truncated, bool)
    assert_type(verdict.rule, Rule | None)
    assert_type(verdict.group, tuple[str, ...])


def values() -> None:
    assert_type(Origin.of("http://example.com/"), Origin | None)
    assert_type(EDITIONS, Mapping[str, Edition])
    assert_type(get_edition("google"), Edition)


async def crawling(
    middleware: RobotSpecMiddleware, settings: BaseSettings, parser: RobotSpecParser
) -> None:
    assert_type(await middleware.decision("http://example.com/"), Decision)
    assert_type(await middleware.sitemaps("http://example.com/"), tuple[str, ...])
    assert_type(await middleware.crawl_delay("http://example.com/"), float | None)
    assert_type(Addon().update_settings(settings), None)
    assert_type(parser.allowed("http://example.com/", "foobot"), bool)
    assert_type(WaitingPriorityQueue, type[WaitingPriorityQueue])
    assert_type(SitemapsFromRobots, type[SitemapsFromRobots])


def refusals(forbidden: ForbiddenByRobots, unreachable: RobotsUnreachable) -> None:
    assert_type(forbidden.decision, Decision)
    assert_type(forbidden.decision.verdict, Verdict | None)
    assert_type(unreachable.decision.origin, Origin | None)


def misspelled() -> None:
    scrapy_robotspec.RobotsTXT  # type: ignore[attr-defined]  # noqa: B018
