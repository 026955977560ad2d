"""A robots.txt as numbered lines: excerpts, groups, and the parts of a line."""

from __future__ import annotations

import pytest

from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.render import listing
from scrapy_robotspec.render.listing import Notes, excerpt, rows_at
from scrapy_robotspec.render.parsed_file import ParsedFile

BODY = b"# a\nUser-agent: x\nDisallow: /1\nno field here\nAllow : /2"


def parsed(body: bytes = BODY) -> ParsedFile:
    return ParsedFile(RobotsTxt.parse(body))


@pytest.mark.parametrize(
    ("number", "shown"), [(1, [1, 2]), (2, [1, 2, 3]), (3, [2, 3, 4]), (5, [4, 5])]
)
def test_an_excerpt_has_the_lines_beside_a_line(number: int, shown: list[int]) -> None:
    """Only the line itself has the style."""
    rows = excerpt(parsed(), number, "decides-bad")
    assert [row.number for row in rows] == shown
    assert [row.number for row in rows if "decides-bad" in row.style] == [number]


@pytest.mark.parametrize(
    ("number", "parts", "style"),
    [
        (1, ("# a", "", ""), "comment"),
        (3, ("", "Disallow", ": /1"), "disallow"),
        (4, ("no field here", "", ""), "invalid"),
        (5, ("", "Allow", " : /2"), "allow"),
    ],
)
def test_the_name_of_a_field_is_a_part_of_its_own(
    number: int, parts: tuple[str, str, str], style: str
) -> None:
    [row] = rows_at(parsed(), [number], Notes())
    assert (row.before, row.name, row.after) == parts
    assert row.style == style


@pytest.mark.parametrize("more", [0, 3])
def test_a_group_names_the_first_crawlers_that_follow_it(more: int) -> None:
    names = [f"bot{number}" for number in range(listing.MOST_FOLLOWERS + more)]
    blocks = listing.listing(parsed(), Notes(followed={2: names}))
    [block] = [block for block in blocks if block.names]
    assert list(block.followers) == names[: listing.MOST_FOLLOWERS]
    assert block.more_followers == more


@pytest.mark.parametrize("more", [0, 1])
def test_a_longer_file_is_cut_behind_its_beginning(more: int) -> None:
    file = parsed(b"\n" * (listing.MOST_LINES + more))
    rows = [row for block in listing.listing(file, Notes()) for row in block.rows]
    left_out = sum(row.left_out for row in rows)
    assert left_out == (len(file.lines) - listing.BEGINNING if more else 0)
