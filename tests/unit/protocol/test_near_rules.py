"""Rules found without compiling decide as all rules do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from scrapy_robotspec.editions import EDITIONS, Edition, Slashless
from scrapy_robotspec.protocol.agent_index import rule_around, rules_in
from scrapy_robotspec.protocol.lines import RawRule
from scrapy_robotspec.protocol.near_rules import find_uncompiled, near_rules
from scrapy_robotspec.protocol.paths import path_of
from scrapy_robotspec.protocol.precedence import best_key, forbids
from scrapy_robotspec.protocol.robots_file import RobotsFile
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from tests.support import reference
from tests.support.tokens import accepted
from tests.unit.protocol.strategies import (
    PLAIN,
    bodies,
    some_tokens,
    urls,
)

if TYPE_CHECKING:
    from scrapy_robotspec.protocol.agent_index import Spans


@pytest.mark.parametrize("name", PLAIN)
@given(body=bodies, tokens=some_tokens, url=urls)
def test_the_prefilter_keeps_every_rule_that_matches(
    name: str, body: bytes, tokens: list[str], url: str
) -> None:
    """PRE-01: of the rules read line by line, those that the prefilter drops do not match."""
    edition = PLAIN[name]
    path = path_of(url, edition)
    spans = RobotsFile(body, edition).follow(accepted(tokens, edition)).rules.spans
    rules = rules_in(body, spans)
    found = near_rules(body, spans, path.encode("ascii"), edition)
    assert found == [rule for rule in rules if rule in found]
    assert best_key(found, path, edition) == best_key(rules, path, edition)


@pytest.mark.parametrize("name", PLAIN)
@given(body=bodies, tokens=some_tokens, url=urls)
def test_the_bytes_of_rules_decide_as_the_rules(
    name: str, body: bytes, tokens: list[str], url: str
) -> None:
    """PRE-01, PRE-02, PRE-05: without compiling."""
    edition = PLAIN[name]
    asked = accepted(tokens, edition)
    spans = RobotsFile(body, edition).follow(asked).rules.spans
    key = find_uncompiled(body, spans, url, edition)
    assert key is not None
    assert forbids(key) is not reference.rule_on(body, url, asked, edition).allowed


def test_rules_without_a_slash_are_not_passed_over() -> None:
    """RUL-04: where the slash is assumed, the prefilter must not miss the rule."""
    edition = EDITIONS["google-2010"]
    assert edition.slashless is Slashless.ASSUMED
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: fish/\nDisallow: *.gif$", edition)
    for _ in range(2):
        assert not robots.allowed("http://example.com/fish/", "a")
        assert not robots.allowed("http://example.com/x.gif", "a")
        assert robots.allowed("http://example.com/fish", "a")


@pytest.mark.parametrize("line", [b":" * 99, b"Sitemap: https://h/a:b", b"# a:b:c", b"Host:h:1"])
def test_no_line_is_made_of_a_colon_behind_another_field(
    line: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SAF-02: a file of colons cost a look at the line around each."""
    made: list[int] = []

    def counted(body: bytes, begin: int, colon: int, end: int) -> RawRule | None:
        made.append(colon)
        return rule_around(body, begin, colon, end)

    monkeypatch.setattr("scrapy_robotspec.protocol.near_rules.rule_around", counted)
    body = b"User-agent: *\nDisallow: a\nAllow \t:a\n" + line * 9
    for edition in PLAIN.values():
        made.clear()
        assert find_uncompiled(body, ((13, len(body)),), "https://h/a", edition) is not None
        assert len(made) <= 2


@pytest.mark.parametrize("length", [2, 32, 500, 4000])
@pytest.mark.parametrize("number", [1, 16, 200, 2_000, 20_000])
def test_many_rules_near_a_path_are_compiled_instead(
    number: int, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SAF-02: the rules that are tried one by one, times the length of the path, are bounded."""
    tried: list[int] = []

    def counted(rules: list[RawRule], path: str, edition: Edition) -> int:
        tried.append(len(rules) * len(path))
        return best_key(rules, path, edition)

    monkeypatch.setattr("scrapy_robotspec.protocol.near_rules.best_key", counted)
    robots = RobotsTxt.parse(b"User-agent: *\n" + b"Disallow: /a*b\n" * number)
    assert not robots.allowed(f"https://h/{'ab' * length}", "x")
    assert sum(tried) <= 65_536
    assert bool(tried) is (number * max(2 * length + 1, 32) <= 65_536)


@pytest.mark.parametrize(("length", "is_searched"), [(100, True), (100_000, False)])
def test_a_long_path_is_not_searched_for_in_a_long_file(
    length: int, is_searched: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SAF-02: the bytes to search, times the length of the path, are bounded."""
    searched: list[int] = []

    def counted(body: bytes, spans: Spans, path: bytes, edition: Edition) -> list[RawRule]:
        searched.append(len(body) * len(path))
        return near_rules(body, spans, path, edition)

    monkeypatch.setattr("scrapy_robotspec.protocol.near_rules.near_rules", counted)
    robots = RobotsTxt.parse(b"User-agent: *\n" + b"Disallow: /b\n" * 30_000)
    assert robots.allowed(f"https://h/{'a' * length}", "x")
    assert bool(searched) is is_searched
    assert sum(searched) <= 70_000_000
