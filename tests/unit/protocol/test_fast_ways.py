"""Each fast way gives what its plain counterpart gives.

``groups.select_groups`` and ``patterns.matches`` are the plain ones, written to be read. Sizes from
which the others apply are not waited for: each structure is made directly, with few entries.
"""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.editions import EDITIONS, Edition, Slashless
from scrapy_robotspec.protocol.fast import wildcards
from scrapy_robotspec.protocol.fast.index import Columns, has_plain_lines, rules_in, scan
from scrapy_robotspec.protocol.fast.prefixes import PackedPrefixes, SortedPrefixes
from scrapy_robotspec.protocol.fast.ruleset import RuleSet
from scrapy_robotspec.protocol.fast.uncompiled import (
    match_uncompiled,
    prefilter_bytes,
    prefilter_rules,
)
from scrapy_robotspec.protocol.fast.wildcards import HeadedWildcards, IndexedWildcards, Wildcards
from scrapy_robotspec.protocol.groups import select_groups
from scrapy_robotspec.protocol.lines import field_reader, meaning
from scrapy_robotspec.protocol.paths import ROBOTS_TXT, base_of, canonical_path, path_of
from scrapy_robotspec.protocol.patterns import matches
from scrapy_robotspec.protocol.plain import best_key
from scrapy_robotspec.protocol.precedence import ITSELF
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from tests.support.tokens import accepted
from tests.unit.protocol.strategies import bodies, paths, raw_rules, some_tokens, texts, urls

PLAIN = {name: edition for name, edition in EDITIONS.items() if has_plain_lines(edition)} | {
    "case-sensitive": replace(EDITIONS["google-2019"], case_sensitive_tokens=True),
}


def test_the_default_edition_has_plain_lines() -> None:
    """The fast reader serves most editions; the others have lines it would misread."""
    assert set(PLAIN) >= {"google-2019", "rfc9309", "google-2010"}
    assert not has_plain_lines(EDITIONS["google"])
    assert not has_plain_lines(EDITIONS["classic"])


SPELLINGS = sorted({spelling for each in EDITIONS.values() for spelling, _ in each.known_fields})
names = st.one_of(
    st.binary(max_size=12),
    st.builds(
        lambda spelling, more: spelling.upper() + more,
        st.sampled_from(SPELLINGS),
        st.binary(max_size=3),
    ),
)


@pytest.mark.parametrize("name", EDITIONS)
@given(field=names)
def test_one_look_tells_what_no_known_field_begins_like(name: str, field: bytes) -> None:
    """FMT-08, FMT-10, FMT-14."""
    assert field_reader(EDITIONS[name])(field) == meaning(field, EDITIONS[name])


def scanned(
    body: bytes, tokens: tuple[str, ...], edition: Edition
) -> tuple[tuple[str, ...], list[tuple[bool, bytes, int]]]:
    """Names and rules by the fast reader."""
    names, spans = scan(body, tokens, edition)
    return names, list(zip(*rules_in(body, spans), strict=True))


@pytest.mark.parametrize("name", PLAIN)
@given(body=bodies, tokens=some_tokens)
def test_scanning_finds_the_rules_that_reading_finds(
    name: str, body: bytes, tokens: list[str]
) -> None:
    """GRP-01 to GRP-05, GRP-08, UAG-01 to UAG-05, UAG-07: one group, the same rules."""
    edition = PLAIN[name]
    followed = select_groups(body, tokens, edition)
    assert scanned(body, tuple(tokens), edition) == (followed.names, followed.rules)


@pytest.mark.parametrize(
    ("body", "values"),
    [
        (b"User-agent: a\nAllow: /x\nUser-agent: b\nAllow: /y", [b"/x"]),
        (b"User-agent: b\nAllow: /y\nUser-agent: a\nAllow: /x\n", [b"/x"]),
        (b"User-agent: a\n# a comment\nUser-agent: b\nAllow: /x", [b"/x"]),
        (b"User-agent: a\nAllow: /x\n# User-agent: b\nAllow: /y", [b"/x", b"/y"]),
        (
            b"User-agent: a\nAllow: /x\nUser-agent: *\nAllow: /y\nUser-agent: A\nAllow: /z",
            [b"/x", b"/z"],
        ),
        (b"User-agent: *\nAllow: /y\n user-agent\t:\ta\nAllow: /x", [b"/x"]),
        (b"User-agent: *\nAllow:\nUser-agent: b\nAllow: /x", [b""]),
        (b"Allow: /x\nUser-agent: b\nAllow: /y", []),
    ],
)
def test_a_group_ends_where_it_ends(body: bytes, values: list[bytes]) -> None:
    """GRP-01, GRP-02, GRP-04, GRP-05, GRP-08: said outright, where generated files may be lucky."""
    edition = EDITIONS["google-2019"]
    assert [value for _, value, _ in scanned(body, ("a",), edition)[1]] == values
    assert [value for _, value, _ in select_groups(body, ["a"], edition).rules] == values


@pytest.mark.parametrize("name", PLAIN)
@given(body=bodies, tokens=some_tokens, url=urls)
def test_a_glance_overlooks_no_rule_that_matches(
    name: str, body: bytes, tokens: list[str], url: str
) -> None:
    """PRE-01: of the rules read line by line, those that a glance leaves out do not match."""
    edition = PLAIN[name]
    path = path_of(url, edition)
    _names, spans = scan(body, tuple(tokens), edition)
    rules = list(zip(*rules_in(body, spans), strict=True))
    found = prefilter_bytes(body, spans, path.encode("ascii"), edition)
    assert found is not None
    assert found == [rule for rule in rules if rule in found]
    assert best_key(found, path, edition) == best_key(rules, path, edition)


@pytest.mark.parametrize("name", EDITIONS)
@given(rules=raw_rules, url=urls)
def test_trying_once_and_compiling_decide_alike(
    name: str, rules: list[tuple[bool, bytes, int]], url: str
) -> None:
    """PRE-01, PRE-02, PRE-05, SAF-03: with and without a structure the same rule decides."""
    edition = EDITIONS[name]
    path = path_of(url, edition)
    expected = best_key(rules, path, edition)
    sifted = prefilter_rules(rules, path, edition)
    assert sifted is not None
    assert (
        match_uncompiled(sifted, path, edition)
        == match_uncompiled(rules, path, edition)
        == expected
    )
    if path == ROBOTS_TXT and edition.robots_txt_allowed:
        expected = ITSELF
    assert RuleSet(Columns.of(rules), edition).find(url) == expected


@given(some=st.sets(texts(stars=False)), path=paths)
def test_sorted_and_packed_prefixes_find_the_longest(some: set[str], path: str) -> None:
    """SAF-03: the longest prefix of all, as a search through all of them finds it."""
    prefixes = sorted(some)
    longest = max((prefix for prefix in prefixes if path.startswith(prefix)), key=len, default=None)
    expected = -1 if longest is None else prefixes.index(longest)
    assert SortedPrefixes(prefixes).longest(path) == expected
    assert PackedPrefixes(prefixes).longest(path) == expected


@given(some=st.sets(texts(stars=False)))
def test_prefixes_take_over_the_best_of_those_they_start_with(some: set[str]) -> None:
    """PRE-01: where lengths and literals differ, a shorter prefix may still outrank."""
    prefixes = sorted(some)
    values = list(range(len(prefixes), 0, -1))
    spread = list(values)
    SortedPrefixes(prefixes).spread(spread)
    assert spread == [
        min(
            value for other, value in zip(prefixes, values, strict=True) if prefix.startswith(other)
        )
        for prefix in prefixes
    ]


@given(some=st.sets(texts(stars=True), min_size=1), path=paths, bound=st.integers(0, 40))
def test_wildcards_find_the_best_that_matches(some: set[str], path: str, bound: int) -> None:
    """PAT-02, PAT-11: one by one and by the index, also below a bound."""
    ranked = list(enumerate(sorted(some)))
    expected = min((rank for rank, text in ranked if matches(text, path)), default=bound)
    assert Wildcards(ranked).best(path, bound) == min(expected, bound)
    assert IndexedWildcards(ranked).best(path, bound) == min(expected, bound)
    for many, very_many in ((0, 8192), (0, 0), (1024, 8192)):  # as with ever more patterns
        with (
            patch.multiple(wildcards, _FEW=0, _SHARING=1, _FEW_SHARE=1),
            patch.multiple(wildcards, _MANY=many, _VERY_MANY=very_many),
        ):
            assert IndexedWildcards(ranked).best(path, bound) == min(expected, bound)


@given(some=st.sets(texts(stars=True), min_size=1), path=paths)
def test_wildcards_under_their_heads_find_the_best_that_matches(some: set[str], path: str) -> None:
    """PAT-02: known by the literal before the first star, the same pattern is found."""
    heads = sorted({text.partition("*")[0] for text in some})
    prefixes = SortedPrefixes(heads)
    ranked = list(enumerate(sorted(some)))
    headed = sorted((heads.index(text.partition("*")[0]), rank, text) for rank, text in ranked)
    expected = min((rank for rank, text in ranked if matches(text, path)), default=1 << 62)
    parents = prefixes.parents or [-1] * len(heads)
    found = HeadedWildcards(headed, parents).best_under(
        prefixes.longest(path), prefixes.parents, path, 1 << 62
    )
    assert found == expected


@pytest.mark.parametrize("name", EDITIONS)
@given(body=bodies, some=st.lists(urls, min_size=1, max_size=5), tokens=some_tokens)
def test_a_question_is_answered_alike_however_often_it_is_asked(
    name: str, body: bytes, some: list[str], tokens: list[str]
) -> None:
    """EXT-02: first asked, compiled, after other URLs and other tokens; allowed and explained."""
    tokens = list(accepted(tokens, name))
    asked_often = RobotsTxt.parse(body, EDITIONS[name])
    for url in [*some, *some]:
        fresh = RobotsTxt.parse(body, EDITIONS[name]).explain(url, tokens)
        assert asked_often.explain(url, tokens) == fresh
        assert asked_often.allowed(url, tokens) == fresh.allowed
        asked_often.allowed(url, "someone-else")
        assert asked_often.explain(url.encode("utf-8", "surrogatepass"), tuple(tokens)) == fresh
        rules = asked_often.matches(url, tokens)
        assert fresh.rule is None or rules[0] == fresh.rule


@pytest.mark.parametrize("name", EDITIONS)
@given(url=urls, tail=st.text(st.sampled_from("/?#;:ab%"), max_size=6))
def test_the_path_of_another_url_begins_at_the_same_slash(name: str, url: str, tail: str) -> None:
    """PAT-01, PAT-08: what is remembered of one URL holds for every other that begins alike."""
    base = base_of(url)
    if base:
        other = base + tail
        assert path_of(other, EDITIONS[name]) == path_of("http://x/" + tail, EDITIONS[name])


@pytest.mark.parametrize("name", EDITIONS)
def test_a_path_that_needs_no_spelling_is_told_rightly(name: str) -> None:
    """PAT-04 to PAT-06: each octet as it stands, and its escapes, as octets and as text."""
    edition = EDITIONS[name]
    for octet in range(256):
        for piece in (f"%{octet:02X}", f"%{octet:02x}", chr(octet), f"%{octet:02X}"[:2]):
            path = f"/a{piece}b"
            assert canonical_path(path, edition) == canonical_path(path.encode(), edition)


def test_rules_without_a_slash_are_not_passed_over() -> None:
    """RUL-04: where the slash is assumed, the glance at a rule's beginning must not miss it."""
    edition = EDITIONS["google-2010"]
    assert edition.slashless is Slashless.ASSUMED
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: fish/\nDisallow: *.gif$", edition)
    for _ in range(2):
        assert not robots.allowed("http://example.com/fish/", "a")
        assert not robots.allowed("http://example.com/x.gif", "a")
        assert robots.allowed("http://example.com/fish", "a")


@pytest.mark.parametrize("rule", ["/*caf\u00e9", "/x/*%C3%A9", "/caf\u00e9", "/*/b%20b"])
def test_one_escape_anywhere_has_paths_spelt(rule: str) -> None:
    """PAT-04, PAT-12: also where only a wildcard holds it, and also once compiled."""
    robots = RobotsTxt.parse(f"User-agent: *\nDisallow: /zzz\nDisallow: {rule}".encode())
    path = rule.replace("*", "a").replace("%C3%A9", "\u00e9").replace("%20", " ")
    for _ in range(3):
        assert not robots.allowed(f"http://example.com{path}", "a")
        assert robots.allowed("http://example.com/caf", "a")


def test_a_separator_in_a_path_hides_no_prefix() -> None:
    """SAF-01: blocks are parted by an octet that a URL may hold all the same."""
    prefixes = PackedPrefixes([f"/{letter}" for letter in "abcdefgh"])
    assert prefixes.longest("/a\0") == 0
    assert prefixes.longest("/e\0x") == 4
    assert prefixes.longest("/\0") == -1


def test_a_worse_pattern_never_stands_in_for_a_better_rule() -> None:
    """PRE-01: a pattern that matches, but ranks below what is known already, is not the answer."""
    for kind in (Wildcards, IndexedWildcards):
        assert kind([(5, "/*abcd")]).best("/xabcd", 3) == 3
        assert kind([(1, "/*none"), (5, "/*abcd")]).best("/xabcd", 3) == 3
        assert kind([(1, "/*none"), (5, "/*abcd")]).best("/xabcd", 9) == 5
