"""Each fast way gives what its plain counterpart gives.

``groups.select_groups`` and ``patterns.matches`` are the plain ones, written to be read. Sizes from
which the others apply are not waited for: each structure is made directly, with few entries.
"""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import product
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_robotspec.bulk.spans import follow
from scrapy_robotspec.editions import EDITIONS, Edition, Slashless
from scrapy_robotspec.protocol.agent_index import (
    OTHER_BEGINNINGS,
    has_plain_lines,
    index_agents,
    rules_in,
)
from scrapy_robotspec.protocol.agents import beginnings, followed_keys
from scrapy_robotspec.protocol.directives import DirectiveReader
from scrapy_robotspec.protocol.fast import compiled, literals, needles, places, wildcards
from scrapy_robotspec.protocol.fast.literals import Literals
from scrapy_robotspec.protocol.fast.places import Places
from scrapy_robotspec.protocol.fast.prefixes import parents_of, spread
from scrapy_robotspec.protocol.fast.ruleset import RuleSet
from scrapy_robotspec.protocol.fast.uncompiled import find_uncompiled, prefilter_bytes
from scrapy_robotspec.protocol.fast.wildcards import END, Wildcards, matching, with_end
from scrapy_robotspec.protocol.groups import select_groups
from scrapy_robotspec.protocol.lines import (
    field_reader,
    meaning,
    read_lines,
    skip_byte_order_mark,
)
from scrapy_robotspec.protocol.paths import ROBOTS_TXT, base_of, canonical_path, path_of
from scrapy_robotspec.protocol.patterns import matches
from scrapy_robotspec.protocol.plain import decide
from scrapy_robotspec.protocol.precedence import (
    ITSELF,
    NO_RULE,
    best_key,
    forbids,
    keyed_patterns,
    matching_keys,
)
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from tests.support.tokens import accepted
from tests.unit.protocol.strategies import bodies, paths, raw_rules, some_tokens, texts, urls

PLAIN = {name: edition for name, edition in EDITIONS.items() if has_plain_lines(edition)} | {
    "case-sensitive": replace(EDITIONS["google-2019"], case_sensitive_tokens=True),
}

EVERY = {**EDITIONS, **PLAIN}


def test_the_default_edition_has_plain_lines() -> None:
    """The fast reader serves most editions; the others have lines it would misread."""
    assert set(PLAIN) >= {"google-2019", "rfc9309", "google-2010"}
    assert not has_plain_lines(EDITIONS["google"])
    assert not has_plain_lines(EDITIONS["classic"])


@pytest.mark.parametrize("edition", EVERY.values(), ids=EVERY)
def test_an_edition_is_read_as_quickly_in_another_process(edition: Edition) -> None:
    """Pickling makes other objects of its values."""
    assert has_plain_lines(pickle.loads(pickle.dumps(edition))) is has_plain_lines(edition)


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


@pytest.mark.parametrize("name", EVERY)
@given(body=bodies)
def test_directives_are_the_valid_lines(name: str, body: bytes) -> None:
    """FMT-01 to FMT-16: as one line after the other is read, and some fields alone."""
    edition = EVERY[name]
    begin = skip_byte_order_mark(body, edition)
    lines = [(each.start, each.field, each.value) for each in read_lines(body, edition)]
    expected = [line for line in lines if line[1]]
    found = DirectiveReader(edition).read(body, begin, len(body))
    assert [directive for directive in found if directive[1]] == expected
    fields = [pair for pair in edition.known_fields if pair[1] == "allow"]
    found = DirectiveReader(edition, tuple(fields)).read(body, begin, len(body))
    assert [each for each in found if each[1] == "allow"] == [
        each for each in expected if each[1] == "allow"
    ]


def indexed(
    body: bytes, tokens: tuple[str, ...], edition: Edition, wanted: tuple[bytes, ...] = ()
) -> tuple[tuple[str, ...], list[tuple[bool, bytes, int]]]:
    """Names and rules by the index of user-agent lines."""
    index = index_agents(body, edition, wanted)
    names, spans = follow(index, followed_keys(index, tokens, edition))
    return names, rules_in(body, spans, edition)


@pytest.mark.parametrize("name", EVERY)
@given(body=bodies, tokens=some_tokens)
def test_index_leads_to_the_rules_that_reading_finds(
    name: str, body: bytes, tokens: list[str]
) -> None:
    """GRP-01 to GRP-05, GRP-08, UAG-01 to UAG-07: with and without the names asked for."""
    edition = EVERY[name]
    asked = accepted(tokens, edition)
    selected = select_groups(body, asked, edition)
    wanted = (*beginnings(asked, edition), *OTHER_BEGINNINGS)
    assert indexed(body, asked, edition) == (selected.names, selected.rules)
    assert indexed(body, asked, edition, wanted) == (selected.names, selected.rules)


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
        (b"User-agent: *\nAllow: /z\nUser-agent: b\nAllow: /x", [b"/z"]),
        (b"Allow: /x\nUser-agent: b\nAllow: /y", []),
        (b"User-agent: a allow: /x\nAllow: /y", [b"/y"]),
        (b"User-agent: a\nUser-agent: b\tallow: /x\nAllow: /y", [b"/y"]),
        (b"User-agent: a\nAllow: /x\nUser-agent: a\nUser-agent: b\nAllow: /y", [b"/x", b"/y"]),
        (
            b"User-agent: a\nAllow: /x\nUser-agent: ?\nAllow: /y\nUser-agent: a\nAllow: /z",
            [b"/x", b"/z"],
        ),
        (b"User-agent: a\nAllow: /x\nUser-agent: a allow: /y\nAllow: /z", [b"/x", b"/z"]),
    ],
)
def test_a_group_ends_where_it_ends(body: bytes, values: list[bytes]) -> None:
    """GRP-01, GRP-02, GRP-04, GRP-05, GRP-08: said outright, where generated files may be lucky."""
    for edition in (EDITIONS["google-2019"], replace(EDITIONS["google-2019"], max_line=1_000)):
        assert [value for _, value, _ in indexed(body, ("a",), edition)[1]] == values
        assert [value for _, value, _ in select_groups(body, ["a"], edition).rules] == values


@pytest.mark.parametrize("name", PLAIN)
@given(body=bodies, tokens=some_tokens, url=urls)
def test_the_prefilter_keeps_every_rule_that_matches(
    name: str, body: bytes, tokens: list[str], url: str
) -> None:
    """PRE-01: of the rules read line by line, those that the prefilter drops do not match."""
    edition = PLAIN[name]
    path = path_of(url, edition)
    index = index_agents(body, edition)
    _, spans = follow(index, followed_keys(index, accepted(tokens, edition), edition))
    rules = rules_in(body, spans, edition)
    found = prefilter_bytes(body, spans, path.encode("ascii"), edition)
    assert found == [rule for rule in rules if rule in found]
    assert best_key(found, path, edition) == best_key(rules, path, edition)


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
    assert RuleSet(rules, edition).find(url) == expected


@pytest.mark.parametrize("name", EDITIONS)
@given(body=bodies, tokens=some_tokens, url=urls)
def test_the_bytes_of_rules_decide_as_the_rules(
    name: str, body: bytes, tokens: list[str], url: str
) -> None:
    """PRE-01, PRE-02, PRE-05: without compiling."""
    edition = EDITIONS[name]
    asked = accepted(tokens, edition)
    path = path_of(url, edition)
    index = index_agents(body, edition)
    _, spans = follow(index, followed_keys(index, asked, edition))
    expected = best_key(select_groups(body, asked, edition).rules, path, edition)
    assert find_uncompiled(body, spans, path, edition) == expected


@given(some=st.sets(texts(stars=False)))
def test_parent_of_a_prefix_is_the_longest_other_it_starts_with(some: set[str]) -> None:
    """SAF-03: as a comparison of all pairs finds it."""
    prefixes = sorted(some)
    expected = [
        max(
            (at for at, other in enumerate(prefixes[:here]) if prefix.startswith(other)),
            key=lambda at: len(prefixes[at]),
            default=-1,
        )
        for here, prefix in enumerate(prefixes)
    ]
    found = parents_of(prefixes)
    assert (list(found) if found is not None else [-1] * len(prefixes)) == expected


@given(some=st.sets(texts(stars=False)))
def test_prefixes_take_over_the_best_of_those_they_start_with(some: set[str]) -> None:
    """PRE-01: where lengths and literals differ, a shorter prefix may still outrank."""
    prefixes = sorted(some)
    values = list(range(len(prefixes), 0, -1))
    taken_over = list(values)
    spread(taken_over, parents_of(prefixes) or [-1] * len(prefixes))
    assert taken_over == [
        min(
            value for other, value in zip(prefixes, values, strict=True) if prefix.startswith(other)
        )
        for prefix in prefixes
    ]


@given(some=st.sets(texts(stars=True), min_size=1), path=paths, bound=st.integers(0, 40))
def test_wildcards_find_the_best_that_matches(some: set[str], path: str, bound: int) -> None:
    """PAT-02, PAT-11: one by one and by the index, with a bounded search too, and below a bound."""
    keys = {text: key for key, text in enumerate(sorted(some))}
    expected = min((key for text, key in keys.items() if matches(text, path)), default=bound)
    patterns = {with_end(text): key for text, key in keys.items()}
    assert Wildcards(patterns).best(path + END, bound) == min(expected, bound)
    for needle, start, heavy, sample in product((1, 2, 64), (1, 4), (0, 1 << 23), (1, 64)):
        with (
            patch.multiple(needles, _NEEDLE=needle, _START=start),
            patch.multiple(wildcards, INDEX_FROM=0, _HEAVY=heavy, _LONG=0, _SAMPLE=sample),
        ):
            assert Wildcards(patterns).best(path + END, bound) == min(expected, bound)


@pytest.mark.parametrize("long", [0, 3, 4096])
@pytest.mark.parametrize("short", [0, 1, 3])
@pytest.mark.parametrize("often", [0, 2, 1 << 20])
@given(some=st.sets(texts(stars=True), min_size=1), path=paths)
def test_patterns_match_by_the_places_of_their_literals(
    long: int, short: int, often: int, some: set[str], path: str
) -> None:
    """PAT-11: places as a list, in a table and as flags, and patterns that are not indexed."""
    patterns = [with_end(text) for text in some]
    expected = [number for number, text in enumerate(some) if matches(text, path)]
    with patch.multiple(literals, _LONG=long, _SHORT=short), patch.object(places, "_OFTEN", often):
        found = Places(path + END, Literals(patterns))
        assert list(found.matching(len(patterns))) == expected
        assert list(found.matching(1)) == [number for number in expected if number < 1]
    assert [literals.matches(text, path + END) for text in patterns] == [
        number in expected for number in range(len(patterns))
    ]


@pytest.mark.parametrize("name", EDITIONS)
@given(rules=raw_rules, url=urls)
def test_all_matching_rules_are_those_of_the_plain_reading(
    name: str, rules: list[tuple[bool, bytes, int]], url: str
) -> None:
    """PAT-11: also where the places of literals are indexed."""
    edition = EDITIONS[name]
    path = path_of(url, edition)
    expected = [key for key, text in keyed_patterns(rules, edition) if matches(text, path)]
    for heavy in (1 << 23, 0):
        with patch.object(wildcards, "_HEAVY", heavy):
            assert list(matching_keys(rules, path, edition, matching)) == expected


@pytest.mark.parametrize("name", EDITIONS)
@given(body=bodies, some=st.lists(urls, min_size=1, max_size=5), tokens=some_tokens)
def test_a_question_is_answered_alike_however_often_it_is_asked(
    name: str, body: bytes, some: list[str], tokens: list[str]
) -> None:
    """EXT-02: first asked, compiled, after other URLs and other tokens; allowed and explained."""
    tokens = list(accepted(tokens, name))
    asked_often = RobotsTxt.parse(body, EDITIONS[name])
    for url in some * compiled.COMPILE_AFTER:
        fresh = RobotsTxt.parse(body, EDITIONS[name]).explain(url, tokens)
        assert asked_often.explain(url, tokens) == fresh
        assert asked_often.allowed(url, tokens) == fresh.allowed
        asked_often.allowed(url, "someone-else")
        assert asked_often.explain(url.encode("utf-8", "surrogatepass"), tuple(tokens)) == fresh
        rules = asked_often.matches(url, tokens)
        assert fresh.rule is None or rules[0] == fresh.rule


@pytest.mark.parametrize("name", EDITIONS)
@given(body=bodies, some=st.lists(urls, max_size=9), tokens=some_tokens)
def test_many_urls_are_answered_as_one_by_one(
    name: str, body: bytes, some: list[str], tokens: list[str]
) -> None:
    """EXT-02: before and after the rules are compiled, and after another crawler's question."""
    asked = accepted(tokens, name)
    fresh, robots = (RobotsTxt.parse(body, EDITIONS[name]) for _ in range(2))
    expected = [fresh.explain(url, asked) for url in some]
    for _ in range(2):
        keys, verdicts = robots.explain_all(some, asked)
        assert [verdicts[key] for key in keys] == expected
        assert set(keys) == set(verdicts)
        robots.allowed("/", "someone-else")


@pytest.mark.parametrize("name", EDITIONS)
@given(rules=raw_rules, some=st.lists(st.sampled_from(["/robots.txt", "é"]) | paths, max_size=5))
@example(rules=[(False, b"/*b$", 0)], some=["/ab", "/abc"])
def test_urls_of_one_site_are_matched_together_as_alone(
    name: str, rules: list[tuple[bool, bytes, int]], some: list[str]
) -> None:
    """PRE-01: with few and many wildcards, and if some of the URLs must be rewritten."""
    urls = ["http://x" + path for path in ["/", *some]]
    for few in (64, 0):
        with patch.object(wildcards, "INDEX_FROM", few):
            together, alone = (RuleSet(rules, EDITIONS[name]) for _ in range(2))
        together.find(urls[0])  # their common beginning
        expected = [alone.find(url) for url in urls]
        assert together.find_all(urls) == expected
        assert together.find_all([url.encode() for url in urls]) == expected


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
    """PAT-04 to PAT-06: each byte as it stands, and its escapes, as bytes and as text."""
    edition = EDITIONS[name]
    for octet in range(256):
        for piece in (f"%{octet:02X}", f"%{octet:02x}", chr(octet), f"%{octet:02X}"[:2]):
            path = f"/a{piece}b"
            assert canonical_path(path, edition) == canonical_path(path.encode(), edition)


#: Pieces of a path: each byte as it stands, and the beginnings of escapes.
_bytes = st.lists(
    st.one_of(st.integers(0, 255).map(lambda octet: bytes([octet])), st.sampled_from([b"%", b"*"])),
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
    for part in (path, rule):
        for url in ("http://x/" + part.decode("latin-1"), b"http://x/" + part):
            key = decide(body, url, ["a"], edition).key
            for _ in range(3):
                assert robots.allowed(url, "a") is not forbids(key)


def test_rules_without_a_slash_are_not_passed_over() -> None:
    """RUL-04: where the slash is assumed, the prefilter must not miss the rule."""
    edition = EDITIONS["google-2010"]
    assert edition.slashless is Slashless.ASSUMED
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: fish/\nDisallow: *.gif$", edition)
    for _ in range(2):
        assert not robots.allowed("http://example.com/fish/", "a")
        assert not robots.allowed("http://example.com/x.gif", "a")
        assert robots.allowed("http://example.com/fish", "a")


@pytest.mark.parametrize("rule", ["/*caf\u00e9", "/x/*%C3%A9", "/caf\u00e9", "/*/b%20b"])
def test_one_escape_anywhere_makes_paths_canonical(rule: str) -> None:
    """PAT-04, PAT-12: also where only a wildcard holds it, and also once compiled."""
    robots = RobotsTxt.parse(f"User-agent: *\nDisallow: /zzz\nDisallow: {rule}".encode())
    path = rule.replace("*", "a").replace("%C3%A9", "\u00e9").replace("%20", " ")
    for _ in range(3):
        assert not robots.allowed(f"http://example.com{path}", "a")
        assert robots.allowed("http://example.com/caf", "a")


@pytest.mark.parametrize(
    ("rule", "path"),
    [("/*A", "/\u00e9"), ("/*9$", "/\u00e9"), ("/*0b", "/a b")],
)
def test_a_literal_may_be_the_end_of_an_escape(rule: str, path: str) -> None:
    """PAT-04, PAT-12: also once compiled, and though no rule contains an escape."""
    robots = RobotsTxt.parse(f"User-agent: *\nDisallow: {rule}".encode())
    for _ in range(2 * compiled.COMPILE_AFTER):
        assert not robots.allowed(f"http://example.com{path}", "a")


def test_a_url_of_a_wrong_type_leaves_no_answer_behind() -> None:
    """SAF-01: the next crawler of the file is answered as if nothing had happened."""
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: /")
    with pytest.raises(TypeError):
        robots.allowed(None, "a")  # type: ignore[arg-type]
    assert not robots.allowed(b"", "b")


@pytest.mark.parametrize(
    ("tokens", "kind"),
    [(None, "NoneType"), (5, "int"), (b"examplebot", "bytes"), (["examplebot", None], "NoneType")],
)
@pytest.mark.parametrize("ask", ["allowed", "explain", "usage", "crawl_delay", "other"])
def test_tokens_of_a_wrong_type_are_named(ask: str, tokens: object, kind: str) -> None:
    """SAF-01: also by an object that has answered for a right one before."""
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: /\nCrawl-delay: 1")
    assert not robots.allowed("/a", "b")
    url = ["/a"] * (ask in ("allowed", "explain", "usage"))
    with pytest.raises(TypeError, match=f"must be str.* not {kind}"):
        getattr(robots, ask)(*url, tokens)


def test_a_worse_pattern_never_stands_in_for_a_better_rule() -> None:
    """PRE-01: a pattern that matches, but ranks below what is known already, is not the answer."""
    assert Wildcards({"/*abcd": 5}).best("/xabcd#", 3) == 3
    assert Wildcards({"/*none": 1, "/*abcd": 5}).best("/xabcd#", 3) == 3
    assert Wildcards({"/*none": 1, "/*abcd": 5}).best("/xabcd#", 9) == 5


@pytest.mark.parametrize("name", EDITIONS)
@given(body=bodies, some=st.lists(urls, min_size=1, max_size=3), crawlers=st.lists(some_tokens))
def test_many_crawlers_get_the_plain_verdict(
    name: str, body: bytes, some: list[str], crawlers: list[list[str]]
) -> None:
    """UAG-01, UAG-07: crawlers in turn, who share rules and remembered URLs, over and over."""
    edition = EDITIONS[name]
    robots = RobotsTxt.parse(body, edition)
    for tokens in crawlers * compiled.COMPILE_AFTER:
        asked = accepted(tokens, edition)
        for url in some:
            verdict = robots.explain(url, asked)
            decided = decide(robots.body, url, asked, edition)
            assert verdict.group == decided.names
            assert verdict.allowed is not forbids(decided.key)
            assert (verdict.rule is not None) == (decided.key not in (NO_RULE, ITSELF))
