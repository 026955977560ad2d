"""Compiled rules decide as rules tried one by one, and look at few of many."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.paths import ROBOTS_TXT, path_of
from scrapy_robotspec.protocol.precedence import DISALLOWS, ITSELF, best_key, keyed_patterns
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.protocol.ruleset import RuleSet
from scrapy_robotspec.protocol.wildcards import Wildcards
from tests.support import reference
from tests.unit.protocol.counting import CountedText
from tests.unit.protocol.strategies import (
    HOST,
    raw_rules,
    urls,
)


@pytest.mark.parametrize("name", EDITIONS)
@given(rules=raw_rules, url=urls)
def test_compiled_rules_decide_as_the_plain_ones(
    name: str, rules: list[tuple[bool, bytes, int]], url: str
) -> None:
    """PRE-01, PRE-02, PRE-05, SAF-03."""
    edition = EDITIONS[name]
    path = path_of(url, edition)
    expected = best_key(rules, path, edition)
    if path == ROBOTS_TXT and edition.robots_txt_allowed:
        expected = ITSELF
    assert RuleSet(keyed_patterns(rules, edition), edition).find(url) == expected


#: Pieces of a path: each byte as it stands, and the beginnings of escapes.
_bytes = st.lists(
    st.one_of(st.integers(0, 255).map(lambda byte: bytes([byte])), st.sampled_from([b"%", b"*"])),
    min_size=1,
    max_size=4,
).map(b"".join)


@pytest.mark.parametrize("name", EDITIONS)
@given(rule=_bytes, more=st.lists(_bytes, max_size=2), path=_bytes)
@example(rule=b"%", more=[], path=b"\x7f")
def test_every_byte_is_decided_alike_however_often_it_is_asked(
    name: str, rule: bytes, more: list[bytes], path: bytes
) -> None:
    """PAT-04 to PAT-07, PAT-12: raw in a rule and in a URL, before and after compiling."""
    edition = EDITIONS[name]
    rules = b"".join(b"Disallow: /" + value + b"\n" for value in [rule, *more])
    body = b"User-agent: *\n" + rules
    robots = RobotsTxt.parse(body, edition)
    written = [b"http://x/" + part for part in (path, rule)]
    urls: list[str | bytes] = [*written, *(url.decode("latin-1") for url in written)]
    for url in urls:
        assert robots.allowed(url, "a") is reference.rule_on(body, url, ["a"], edition).allowed


@pytest.mark.parametrize(
    ("rule", "path"),
    [("/*A", "/\u00e9"), ("/*9$", "/\u00e9"), ("/*0b", "/a b")],
)
def test_a_literal_may_be_the_end_of_an_escape(rule: str, path: str) -> None:
    """PAT-04, PAT-12: also once compiled, and though no rule contains an escape."""
    robots = RobotsTxt.parse(f"User-agent: *\nDisallow: {rule}".encode())
    for url in (path, "/other", path):
        assert robots.allowed(f"http://example.com{url}", "a") is (url == "/other")


def test_a_worse_pattern_never_stands_in_for_a_better_rule() -> None:
    """PRE-01: a pattern that matches, but ranks below what is known already, is not the answer."""
    assert next(Wildcards({"/*abcd": 5}).matching("/xabcd#", 3), 3) == 3
    assert next(Wildcards({"/*none": 1, "/*abcd": 5}).matching("/xabcd#", 3), 3) == 3
    assert next(Wildcards({"/*none": 1, "/*abcd": 5}).matching("/xabcd#", 9), 9) == 5


def test_a_path_is_compared_with_few_of_many_prefixes() -> None:
    """SAF-03: of 20,000 prefixes a binary search sees no more than its depth."""
    values = [f"/dir{n % 97}/page{n}" for n in range(20_000)]
    keyed = [(DISALLOWS - n, CountedText(value)) for n, value in enumerate(values)]
    rules = RuleSet(keyed, EDITIONS["rfc9309"])
    for path in ("/dir5/page5/x", "/dir96/page", "/", "/zzz"):
        CountedText.steps = 0
        rules.find(HOST + path)
        assert 0 < CountedText.steps <= 20
