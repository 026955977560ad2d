"""Lines of groups, and lines outside (GRP-01 to GRP-06, EXT-01, SAF-02)."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import inf
from unittest.mock import patch
from urllib.parse import SplitResult, urlsplit

import pytest
from hypothesis import given

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol import (
    groups,
)
from scrapy_robotspec.protocol.agents import key_of, named_agent
from scrapy_robotspec.protocol.groups import AllGroups
from scrapy_robotspec.protocol.lines import read_lines
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from tests.unit.protocol.strategies import EVERY, bodies


def read(body: bytes, edition: str = "google-2019") -> AllGroups:
    """The groups of a file, from every line of it."""
    return AllGroups(body, EVERY[edition], read_lines(body, EVERY[edition], every=True))


@pytest.mark.parametrize("name", EVERY)
@given(body=bodies)
def test_each_line_is_in_a_group_or_outside(name: str, body: bytes) -> None:
    """GRP-01, GRP-05: sitemaps aside, and lines without a field."""
    edition = EVERY[name]
    every = read(body, name)
    inside = [line for group in every.groups for line in (*group.agents, *group.rules)]
    inside += [other.line for group in every.groups for other in group.others]
    fields = [line for line in read_lines(body, edition, every=True) if line.field]
    found = {*inside, *every.outside}
    assert [line for line in fields if line not in found] == [
        line for line in fields if line.field == "sitemap" and line not in found
    ]
    assert len(found) == len(inside) + len(every.outside)
    assert not any(line.field == "user-agent" for line in every.outside)
    for group in every.groups:
        assert {line.field for line in group.agents} == {"user-agent"}
        assert {line.field for line in group.rules} <= {"allow", "disallow"}
        named = (named_agent(line.value, edition) for line in group.agents)
        assert [each for each in named if each is not None] == group.names
        assert [key_of(each, edition) for each in group.names] == group.keys
        assert {*group.parted} <= {*pairwise(group.agents)}
        assert group.agents[0].start < group.blank
        assert all(line.start < group.end for line in group.rules)


BLANKS = b"Allow: /\nUser-agent: a\n\nUser-agent: b\nDisallow: /x\n\nDisallow: /y\nCrawl-delay: 1\n"


def test_a_blank_line_parts_names_and_rules() -> None:
    """GRP-03: the group goes on in most editions, and ends in one."""
    every = read(BLANKS)
    (group,) = every.groups
    assert [line.number for line in every.outside] == [1]
    assert [(above.number, line.number) for above, line in group.parted] == [(2, 4)]
    assert [line.number for line in group.rules] == [5, 7]
    assert group.blank < group.rules[0].start  # the edition that ends groups there reads no rule
    every = read(BLANKS, "classic")
    first, second = every.groups
    assert [line.number for line in every.outside] == [1, 7, 8]
    assert not first.rules
    assert not first.parted
    assert [line.number for line in second.rules] == [5]


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize(
    ("between", "is_parted"),
    [(b"", False), (b"# c\n", False), (b"Sitemap: https://h/s\n", True), (b" \n", True)],
)
def test_names_are_parted_by_what_is_no_comment(
    between: bytes, is_parted: bool, edition: str
) -> None:
    """GRP-02: invalid lines and comments are no lines at all."""
    found = read(b"User-agent: a\n" + between + b"User-agent: b\nDisallow: /\n", edition).groups
    if len(found) == 1:
        assert bool(found[0].parted) is is_parted


def test_a_parting_line_counts_in_its_own_group_alone() -> None:
    """GRP-02: neither one above the group nor one among its rules."""
    found = read(
        b"\nSitemap: https://h/s\nUser-agent: a\nUser-agent: b\nDisallow: /\n\nNoindex: /\n"
        b"User-agent: c\nUser-agent: d\nDisallow: /\n"
    ).groups
    assert [group.parted for group in found] == [[], []]
    assert [group.blank for group in found] == [found[0].rules[0].start + 12, inf]


@pytest.mark.parametrize("edition", EDITIONS)
def test_agents_and_other_lines_are_not_multiplied(edition: str) -> None:
    """EXT-01, SAF-02: 2,000 agents in turn with 2,000 delays; each name is read a few times."""
    body = b"".join(
        b"User-agent: a%s\nCrawl-delay: %d\n" % (b"-" * (n % 9), n) for n in range(2_000)
    )
    robots = RobotsTxt.parse(body + b"Allow: /\n", replace(EDITIONS[edition], other_fields=True))
    with patch.object(groups, "key_of", wraps=key_of) as reads:
        assert robots.crawl_delay("a") == 1_999
        assert len(robots.other("a")) == 2_000
    assert reads.call_count <= 4 * 2_000 * 2


def test_a_host_without_end_is_not_normalized(monkeypatch: pytest.MonkeyPatch) -> None:
    """SAF-02, SIT-03: the time that a run of combining characters takes grows with its square."""
    read: list[int] = []

    def counted(url: str) -> SplitResult:
        read.append(len(url))
        return urlsplit(url)

    monkeypatch.setattr(groups, "urlsplit", counted)
    host = "a" + "\u0301\u0327" * 10_000
    long = f"https://a.example/{'x' * 10_000}"
    lines = [f"Sitemap: https://{host}/", f"License: https://{host}/", f"Sitemap: {long}"]
    lines.append("Sitemap: https://\u00e9.example:81/")
    robots = RobotsTxt.parse("\n".join(lines).encode())
    assert robots.sitemaps == (long, "https://\u00e9.example:81/")
    assert robots.licenses == ()
    assert {each.line for each in robots.lint() if each.code in ("RS401", "RS404")} == {1, 2}
    assert max(read) < 100
