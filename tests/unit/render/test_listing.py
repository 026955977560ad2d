"""A robots.txt as numbered lines: their kinds, and what is left out of a long one."""

from __future__ import annotations

import pytest

from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.render import listing
from scrapy_robotspec.render.listing import Notes
from scrapy_robotspec.render.parsed_file import ParsedFile


def parsed(body: bytes) -> ParsedFile:
    return ParsedFile(RobotsTxt.parse(body))


def test_every_line_has_its_kind() -> None:
    file = parsed(b"# a\nUser-agent: x\nDisallow: /1\nno field here\nAllow : /2\n\nNoise: 1")
    kinds = [row.style for row in listing.listing(file, Notes())]
    assert kinds == ["comment", "user-agent", "disallow", "invalid", "allow", "blank", "other"]


@pytest.mark.parametrize("more", [0, 1])
def test_a_longer_file_is_cut_behind_its_beginning(more: int) -> None:
    file = parsed(b"\n" * (listing.MOST_LINES + more))
    left_out = sum(row.left_out for row in listing.listing(file, Notes()))
    assert left_out == (len(file.lines) - listing.BEGINNING if more else 0)
