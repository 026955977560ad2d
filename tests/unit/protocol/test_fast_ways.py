"""Each fast way gives what its plain counterpart gives.

``groups.AllGroups`` and ``patterns.matches`` are the plain ones, written to be read. Sizes from
which the others apply are not waited for: each structure is made directly, with few entries.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, product
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_robotspec.editions import EDITIONS, Edition, Slashless
from scrapy_robotspec.protocol import patterns
from scrapy_robotspec.protocol.agent_index import (
    OTHER_BEGINNINGS,
    Place,
    groups_of,
    has_plain_lines,
    index_agents,
    rules_in,
)
from scrapy_robotspec.protocol.agents import asked_keys, beginning_of, followed_keys
from scrapy_robotspec.protocol.fast import needles, searched_path, wildcards
from scrapy_robotspec.protocol.fast.compiled import find_uncompiled, prefilter_bytes
from scrapy_robotspec.protocol.fast.needles import needle_of, parents_of
from scrapy_robotspec.protocol.fast.ruleset import RuleSet
from scrapy_robotspec.protocol.fast.wildcards import Wildcards
from scrapy_robotspec.protocol.groups import AllGroups
from scrapy_robotspec.protocol.lines import (
    field_for,
    read_lines,
    read_statements,
    skip_byte_order_mark,
    split_line,
    text_at,
)
from scrapy_robotspec.protocol.paths import ROBOTS_TXT, base_of, path_of
from scrapy_robotspec.protocol.patterns import END, canonical_pattern, matches
from scrapy_robotspec.protocol.plain import decide
from scrapy_robotspec.protocol.precedence import (
    ITSELF,
    best_key,
    forbids,
)
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from tests.support.tokens import accepted
from tests.unit.protocol.strategies import bodies, paths, raw_rules, some_tokens, texts, urls

PLAIN = {name: edition for name, edition in EDITIONS.items() if has_plain_lines(edition)} | {
    "case-sensitive": replace(EDITIONS["google-2019"], case_sensitive_tokens=True),
}

EVERY = {**EDITIONS, **PLAIN}


@pytest.mark.parametrize("edition", EVERY.values(), ids=EVERY)
def test_an_edition_is_read_as_quickly_in_another_process(edition: Edition) -> None:
    """Pickling makes other objects of its values."""
    assert has_plain_lines(pickle.loads(pickle.dumps(edition))) is has_plain_lines(edition)


@pytest.mark.parametrize("name", EVERY)
@given(body=bodies)
def test_each_line_is_read_as_by_itself(name: str, body: bytes) -> None:
    """FMT-01 to FMT-16: whatever lines are above it, and in parts of a file too."""
    edition = EVERY[name]
    statements = list(
        read_statements(body, skip_byte_order_mark(body, edition), len(body), edition)
    )
    lines = list(read_lines(body, edition))
    with_field = [(line.field, line.value, line.start) for line in lines if line.field]
    assert with_field == [each for each in statements if each.field]
    for line in lines:
        pair = split_line(line.text, edition)
        name_, value = pair or (b"", b"")
        assert (line.name, line.value) == (name_, value)
        assert line.field == (field_for(name_, edition) if pair else "")
        assert text_at(body, line.start) == line.text
        again = list(read_statements(body, line.start, line.start + len(line.text), edition))
        assert [each for each in again if each.field] == (
            [(line.field, line.value, line.start)] if line.field else []
        )


@pytest.mark.parametrize("name", EVERY)
@given(body=bodies)
def test_lines_that_are_left_out_are_empty(name: str, body: bytes) -> None:
    """FMT-02: of empty lines in a row the first is read; a group ends at each blank line."""
    edition = EVERY[name]
    begin = skip_byte_order_mark(body, edition)
    texts = {
        number: raw.rstrip(b"\r\n")
        for number, raw in enumerate(body[begin:].splitlines(keepends=True), 1)
    }
    read = {line.number: line.text for line in read_lines(body, edition)}
    assert all(read.get(number, b"") == text for number, text in texts.items())
    assert all(number in read or not texts[number - 1] for number in texts)
    starts = [line.start for line in read_lines(body, edition)]
    ends = [
        each.start for each in read_statements(body, begin, len(body), edition) if not each.field
    ]
    assert set(ends) <= set(starts)
    assert bool(ends) <= edition.blank_line_ends_group


def follow(
    index: Mapping[str, Place], keys: Sequence[str]
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Names and spans of the groups with some keys, in file order."""
    groups = {group for key in keys for group in groups_of(index[key][1])}
    return tuple(index[key][0] for key in keys), tuple(chain.from_iterable(sorted(groups)))


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
    selected = AllGroups(body, edition).follow(asked)
    named = [beginning_of(key, edition) for key in asked_keys(asked, edition)]
    wanted = (*named, *OTHER_BEGINNINGS)
    assert indexed(body, asked, edition) == (selected.names, selected.rules)
    assert indexed(body, asked, edition, wanted) == (selected.names, selected.rules)


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


@pytest.mark.parametrize("name", PLAIN)
@given(body=bodies, tokens=some_tokens, url=urls)
def test_the_bytes_of_rules_decide_as_the_rules(
    name: str, body: bytes, tokens: list[str], url: str
) -> None:
    """PRE-01, PRE-02, PRE-05: without compiling."""
    edition = PLAIN[name]
    asked = accepted(tokens, edition)
    index = index_agents(body, edition)
    _, spans = follow(index, followed_keys(index, asked, edition))
    assert find_uncompiled(body, spans, url, edition) == decide(body, url, asked, edition).key


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


@given(some=st.sets(texts(stars=True), min_size=1), path=paths, bound=st.integers(0, 40))
def test_wildcards_find_the_best_that_matches(some: set[str], path: str, bound: int) -> None:
    """PAT-02, PAT-11: one by one and by their needles, in long paths too, and below a bound."""
    edition = EDITIONS["google"]  # literals stay as they are
    measured = [pattern for text in sorted(some) if (pattern := canonical_pattern(text, edition))]
    keys = {text: key for key, (text, _) in reversed(list(enumerate(measured)))}  # the least stays
    ended = path + END
    found = (key for text, key in keys.items() if placed(text, ended))
    expected = min((bound, *found))
    for text in keys:
        assert matches(text, ended) == placed(text, ended)
    for index, sort, needle, start in product((0, 64), (0, 1, 16), (1, 2, 64), (1, 4)):
        with (
            patch.multiple(needles, _NEEDLE=needle, _START=start),
            patch.multiple(wildcards, INDEX_FROM=index, SORT_FROM=sort),
        ):
            wild = Wildcards(keys)
            assert wild.best(ended, bound) == expected
            for length, kept in product((1, 2, 64), (2, 3, 64)):
                with (
                    patch.multiple(searched_path, _LENGTH=length, _KEPT=kept),
                    patch.object(patterns, "MAX_PRODUCT", 0),
                ):
                    assert wild.best(ended, bound) == expected


def placed(pattern: str, path: str) -> bool:
    """Whether a pattern matches, by every place of its literals."""
    first, *literals = pattern.split("*")
    ends = {len(first)} if path.startswith(first) else set()
    for literal in literals:
        ends = (
            {
                place + len(literal)
                for place in range(len(path))
                if path.startswith(literal, place) and any(end <= place for end in ends)
            }
            if literal
            else ends
        )
    return bool(ends)


@given(some=st.sets(texts(stars=True), min_size=1))
def test_needle_is_the_longest_literal(some: set[str]) -> None:
    """PAT-11: the one that the fewest other paths contain."""
    for text in some:
        assert len(needle_of(text)) == max(map(len, text[1:].split("*")))
        assert needle_of(text) in text[1:].split("*")
    long = "/a*" + "b" * 40
    assert needle_of(long) == "b" * 32


@pytest.mark.parametrize("name", EDITIONS)
@given(url=urls, tail=st.text(st.sampled_from("/?#;:ab%"), max_size=6))
def test_the_path_of_another_url_begins_at_the_same_slash(name: str, url: str, tail: str) -> None:
    """PAT-01, PAT-08: what is remembered of one URL holds for every other that begins alike."""
    base = base_of(url)
    if base:
        other = base + tail
        assert path_of(other, EDITIONS[name]) == path_of("http://x/" + tail, EDITIONS[name])


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
        assert robots.allowed(url, "a") is not forbids(decide(body, url, ["a"], edition).key)


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


def test_rules_without_a_slash_are_not_passed_over() -> None:
    """RUL-04: where the slash is assumed, the prefilter must not miss the rule."""
    edition = EDITIONS["google-2010"]
    assert edition.slashless is Slashless.ASSUMED
    robots = RobotsTxt.parse(b"User-agent: *\nDisallow: fish/\nDisallow: *.gif$", edition)
    for _ in range(2):
        assert not robots.allowed("http://example.com/fish/", "a")
        assert not robots.allowed("http://example.com/x.gif", "a")
        assert robots.allowed("http://example.com/fish", "a")


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
    assert Wildcards({"/*abcd": 5}).best("/xabcd#", 3) == 3
    assert Wildcards({"/*none": 1, "/*abcd": 5}).best("/xabcd#", 3) == 3
    assert Wildcards({"/*none": 1, "/*abcd": 5}).best("/xabcd#", 9) == 5
