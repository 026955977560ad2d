"""The prefilter that spares most files a second reading for other lines (EXT-03)."""

from __future__ import annotations

import pytest
from hypothesis import given

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.groups import may_have_other_lines
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from tests.support.tokens import accepted
from tests.unit.protocol.property.strategies import wild_bodies, wild_tokens

PLAIN = [
    b"",
    b"\xef\xbb\xbfUser-agent: *\r\nDisallow: /\r\n\r\n# x: y\r\nSitemap: http://example.com/s.xml",
    b"user-agent: *\rallow : /\rDISALLOW\t: /a",
    b"User-agent: *\nDisallow: /\n\n",
]


@pytest.mark.parametrize("body", PLAIN)
def test_a_plain_file_is_passed_over(body: bytes) -> None:
    assert not may_have_other_lines(body)


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
@pytest.mark.parametrize("line", [b"Crawl-delay: 1", b" x: y", b"disallowed: /", b"x y"])
def test_anything_else_is_looked_at(line: bytes, end: bytes) -> None:
    for lines in ([line], [b"User-agent: *", line], [line, b"Disallow:"]):
        assert may_have_other_lines(end.join(lines))


@pytest.mark.parametrize("edition", EDITIONS)
@given(body=wild_bodies, names=wild_tokens)
def test_no_other_line_is_ever_overlooked(
    edition: str, body: bytes, names: tuple[str, ...] | str
) -> None:
    """EXT-03: in every edition and for every token."""
    robots = RobotsTxt.parse(body, edition)
    assert may_have_other_lines(robots.body) or not robots.other(accepted(names, edition))
