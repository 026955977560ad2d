"""Laws that hold for every file, whatever is in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from tests.support.tokens import accepted
from tests.unit.protocol.property.strategies import (
    NAMES,
    PIECES,
    Case,
    cases,
    patterns,
    patterns_for,
    pieces,
    tokens,
    urls_for,
    wild_bodies,
    wild_tokens,
    wild_urls,
)

in_every_edition = pytest.mark.parametrize("edition", EDITIONS)
Tokens = tuple[str, ...]
Rules = list[tuple[str, str]]
Group = tuple[list[str], Rules]
Asked = tuple[list[Group], str, Tokens]


@in_every_edition
@given(body=wild_bodies, url=wild_urls, names=wild_tokens)
def test_nothing_raises(edition: str, body: bytes, url: str | bytes, names: Tokens | str) -> None:
    """SAF-01, FMT-03: any bytes, any URL, any token, any question."""
    robots = RobotsTxt.parse(body, edition)
    names = accepted(names, edition)
    verdict = robots.explain(url, names)
    for other in ("/", "/another"):  # another URL has the rules compiled
        robots.allowed(other, names)
        assert robots.allowed(url, names) is verdict.allowed
        assert robots.explain(url, names) == verdict
    assert (verdict.rule is not None) == (verdict.reason == "rule")
    assert robots.usage(url, names).applies is verdict.allowed
    assert (robots.crawl_delay(names) or 0) >= 0
    assert all(line.line >= 1 for line in robots.other(names))
    assert all(finding.line >= 0 for finding in robots.lint())
    assert all("://" in url for url in robots.sitemaps)
    assert all(group.first_line >= 1 for group in robots.groups)


@in_every_edition
@given(case=cases)
def test_the_deciding_rule_is_the_first_that_matches_in_the_file(edition: str, case: Case) -> None:
    """EXT-02, RUL-01: ``matches`` begins with the rule that ``explain`` names, and repeats none.

    What forbids is a disallow line of a group as written, and nothing else.
    """
    body, url, names = case
    names = accepted(names, edition)
    robots = RobotsTxt.parse(body, edition)
    matching = robots.matches(url, names)
    verdict = robots.explain(url, names)
    if verdict.reason != "robots_txt_itself":
        assert verdict.rule == (matching[0] if matching else None)
    assert len({rule.line for rule in matching}) == len(matching)
    assert verdict.rule is None or any(verdict.rule in group.rules for group in robots.groups)
    if not verdict.allowed:
        assert verdict.rule is not None
        assert verdict.rule.kind == "disallow"
        assert verdict.group


def groups_for(parts: list[str]) -> st.SearchStrategy[list[Group]]:
    """Groups with rules for the path made of ``parts``."""
    names = st.sampled_from(["foo", "*", "foo", "*", *NAMES])
    rules = st.tuples(st.sampled_from(["Allow", "Disallow"]), patterns_for(parts))
    group = st.tuples(
        st.lists(names, min_size=1, max_size=2), st.lists(rules, min_size=1, max_size=4)
    )
    return st.lists(group, min_size=1, max_size=4)


def written(parts: list[Group]) -> list[str]:
    """The lines of some groups."""
    lines: list[str] = []
    for names, rules in parts:
        lines += [f"User-agent: {name}" for name in names]
        lines += [f"{kind}: {path}" for kind, path in rules]
    return lines


def as_file(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


asked = pieces.flatmap(lambda parts: st.tuples(groups_for(parts), urls_for(parts), tokens))


@in_every_edition
@given(case=asked, data=st.data())
def test_order_of_groups_is_irrelevant(edition: str, case: Asked, data: st.DataObject) -> None:
    """GRP-07, GRP-08: groups in any order allow and forbid the same."""
    parts, url, names = case
    names = accepted(names, edition)
    other = data.draw(st.permutations(parts))
    here = RobotsTxt.parse(as_file(written(parts)), edition).explain(url, names)
    there = RobotsTxt.parse(as_file(written(other)), edition).explain(url, names)
    assert here.allowed is there.allowed
    assert {name.lower() for name in here.group} == {name.lower() for name in there.group}


NOTHING = [
    "# a comment",
    " \t# another",
    "Noindex: /",
    "Crawl-delay: 3",
    "no line at all, to be sure",
]


@in_every_edition
@given(case=asked, data=st.data())
def test_lines_that_mean_nothing_change_nothing(
    edition: str, case: Asked, data: st.DataObject
) -> None:
    """GRP-03, GRP-04, FMT-07, FMT-14: comments, unknown fields and the like, anywhere."""
    parts, url, names = case
    names = accepted(names, edition)
    lines = written(parts)
    means_nothing = NOTHING if edition == "classic" else [*NOTHING, "", " \t"]
    place = data.draw(st.integers(0, len(lines)))
    more = [*lines[:place], data.draw(st.sampled_from(means_nothing)), *lines[place:]]
    here = RobotsTxt.parse(as_file(lines), edition).explain(url, names)
    there = RobotsTxt.parse(as_file(more), edition).explain(url, names)
    assert (here.allowed, here.reason, here.group) == (there.allowed, there.reason, there.group)


plain_paths = st.text("ab/.-_~", min_size=1, max_size=8).map(lambda text: "/" + text)


@in_every_edition
@given(path=plain_paths, kinds=st.permutations(["Allow", "Disallow"]), data=st.data())
def test_longer_rule_never_loses(
    edition: str, path: str, kinds: list[str], data: st.DataObject
) -> None:
    """PRE-01: of two rules that match, the longer decides, in either order."""
    short = data.draw(st.integers(1, len(path) - 1))
    long = data.draw(st.integers(short + 1, len(path)))
    rules = data.draw(st.permutations([(kinds[0], path[:short]), (kinds[1], path[:long])]))
    body = as_file(["User-agent: *", *(f"{kind}: {prefix}" for kind, prefix in rules)])
    robots = RobotsTxt.parse(body, edition)
    assert robots.allowed(f"http://example.com{path}", "foo") is (kinds[1] == "Allow")


@in_every_edition
@given(rules=st.lists(st.tuples(st.sampled_from(["Allow", "Disallow"]), patterns)), data=st.data())
def test_scheme_host_and_fragment_play_no_part(
    edition: str, rules: Rules, data: st.DataObject
) -> None:
    """PAT-01: only path and query are compared."""
    robots = RobotsTxt.parse(as_file(written([(["*"], rules)])), edition)
    path = "/" + "".join(data.draw(st.lists(st.sampled_from(PIECES), max_size=4)))
    here = robots.explain(f"http://example.com{path}", "foo")
    assert here == robots.explain(f"https://user@other.example:8080{path}", "foo")
    assert here == robots.explain(f"http://example.com{path}#/ab", "foo")
