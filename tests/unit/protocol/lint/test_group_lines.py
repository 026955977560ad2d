"""Lines of groups, and lines outside (GRP-01 to GRP-06)."""

from __future__ import annotations

import pytest
from hypothesis import given

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.agents import named_agent
from scrapy_robotspec.protocol.groups import AllGroups
from scrapy_robotspec.protocol.lines import Line, read_lines
from scrapy_robotspec.protocol.lint.group_lines import GroupLines, read_groups
from tests.unit.protocol.strategies import EVERY, bodies


def read(body: bytes, edition: str = "google-2019") -> tuple[list[GroupLines], list[Line]]:
    """The groups of a file with their lines, and the lines outside."""
    lines = list(read_lines(body, EVERY[edition], every=True))
    groups, outside = read_groups(lines, AllGroups(body, EVERY[edition]).groups, EVERY[edition])
    return list(groups), list(outside)


@pytest.mark.parametrize("name", EVERY)
@given(body=bodies)
def test_each_line_is_in_a_group_or_outside(name: str, body: bytes) -> None:
    """GRP-01: the lines of a group are those that the reader of groups counts as its own."""
    edition = EVERY[name]
    groups, outside = read(body, name)
    lines = list(read_lines(body, edition, every=True))
    inside = [line for group in groups for line in (*group.agents, *group.rules)]
    inside += [line for group in groups for line, _ in group.others]
    aside = [line for line in lines if line.field in ("", "sitemap")]
    wanted = [line for line in lines if line not in aside]
    assert sorted({*inside, *outside} - set(aside)) == wanted
    assert not set(inside) & set(outside)
    assert not any(line.field == "user-agent" for line in outside)
    for group, raw in zip(groups, AllGroups(body, edition).groups, strict=True):
        starts = [(line.field == "allow", line.value, line.start) for line in group.rules]
        assert starts == raw.rules
        named = (named_agent(line.value, edition) for line in group.agents)
        assert [each for each in named if each is not None] == raw.names
        assert [(line.number, line.field) for line, _ in group.others] == [
            (other.number, other.field) for other in raw.others
        ]
        assert group.first.number == raw.first_line
        assert set(group.parted) <= set(group.agents[1:])
        assert 0 <= group.compared <= len(group.rules)


BLANKS = b"Allow: /\nUser-agent: a\n\nUser-agent: b\nDisallow: /x\n\nDisallow: /y\nCrawl-delay: 1\n"


def test_a_blank_line_parts_names_and_rules() -> None:
    """GRP-03: the group goes on in most editions, and ends in one."""
    (group,), outside = read(BLANKS)
    assert [line.number for line in outside] == [1]
    assert [line.number for line in group.parted] == [4]
    assert [line.number for line in group.rules] == [5, 7]
    assert group.compared == 0  # the one edition that ends groups there reads none in it
    first, second = read(BLANKS, "classic")[0]
    assert [line.number for line in read(BLANKS, "classic")[1] if line.field] == [1, 7, 8]
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
    groups, _ = read(b"User-agent: a\n" + between + b"User-agent: b\nDisallow: /\n", edition)
    if len(groups) == 1:
        assert bool(groups[0].parted) is is_parted


def test_a_default_group_is_shared_with_names_below_a_parting_line() -> None:
    """UAG-05: the last line of ``*`` counts, and names beside it part nothing."""
    edition = EVERY["google-2019"]
    for body, shared in (
        (b"User-agent: *\n\nUser-agent: a\nDisallow: /\n", 1),
        (b"User-agent: *\nUser-agent: a\n\nUser-agent: *\nDisallow: /\n", None),
        (b"User-agent: *\nUser-agent: a\nDisallow: /\n", None),
        (b"User-agent: a\n\nUser-agent: b\nDisallow: /\n", None),
    ):
        (group,), _ = read(body)
        found = group.shared_default(edition)
        assert (found and found.number) == shared
