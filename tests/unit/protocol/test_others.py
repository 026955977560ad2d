"""The prefilter that spares most files a second reading for other lines (EXT-03)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.groups import AllGroups, is_absolute
from scrapy_robotspec.protocol.lines import read_lines
from scrapy_robotspec.protocol.models import decode
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from tests.unit.protocol.property.strategies import wild_bodies

_sitemap_lines = st.tuples(
    st.sampled_from(
        ["Sitemap", "sitemap", "SITEMAP", " Sitemap", "site-map", "#Sitemap", "Sitemaps"]
    ),
    st.sampled_from([": ", ":", " : ", ":\t", " ", ": \0", "::"]),
    st.sampled_from(
        [
            *("https://x.example/s.xml", "http://x/é", "ftp://x/", "/s.xml", "http://x/a b", "x"),
            *(
                "https://[::1]/s",
                "https://",
                "HTTP://X/",
                "https://x:0/",
                "http://x#y",
                "http://x/#y",
            ),
            *("https://-/", "https://x/" + "a" * 600, "https://x/" + "a" * 20_000, ""),
        ]
    ),
    st.sampled_from(["", "", " ", "#c", " # c", "\0", "\x0b"]),
    st.sampled_from(["\n", "\n", "\r\n", "\r", "\n\n", ""]),
).map("".join)
sitemap_files = st.one_of(
    wild_bodies,
    st.tuples(st.sampled_from(["", "\ufeff"]), st.lists(_sitemap_lines, max_size=8).map("".join))
    .map("".join)
    .map(str.encode),
)

PLAIN = [
    b"",
    b"\xef\xbb\xbfUser-agent: *\r\nDisallow: /\r\n\r\n# x: y\r\nSitemap: http://example.com/s.xml",
    b"user-agent: *\rallow : /\rDISALLOW\t: /a",
    b"User-agent: *\nDisallow: /\n\n",
]


@pytest.mark.parametrize("body", PLAIN)
def test_a_plain_file_is_passed_over(body: bytes) -> None:
    assert not RobotsTxt.parse(body).file.may_have_others


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
@pytest.mark.parametrize("line", [b"Crawl-delay: 1", b" x: y", b"disallowed: /", b"x y"])
def test_anything_else_is_looked_at(line: bytes, end: bytes) -> None:
    for lines in ([line], [b"User-agent: *", line], [line, b"Disallow:"]):
        assert RobotsTxt.parse(end.join(lines)).file.may_have_others


@pytest.mark.parametrize("edition", EDITIONS)
@given(body=wild_bodies)
def test_no_other_line_is_ever_overlooked(edition: str, body: bytes) -> None:
    """EXT-03, USE-06, USE-07: in every edition, above the groups, too."""
    robots = RobotsTxt.parse(body, edition)
    every = AllGroups(robots.body, robots.edition)
    lines = [*every.signals, *(line for group in every.groups for line in group.others)]
    assert robots.file.may_have_others or not (lines or every.licenses)


@pytest.mark.parametrize("edition", EDITIONS)
@given(body=sitemap_files)
def test_sitemaps_are_those_of_the_lines(edition: str, body: bytes) -> None:
    """Searching the bytes finds what reading every line finds (SIT-01)."""
    robots = RobotsTxt.parse(body, edition)
    lines = read_lines(robots.body, robots.edition) if robots.edition.other_fields else ()
    values = [decode(line.value) for line in lines if line.field == "sitemap"]
    assert list(robots.sitemaps) == [url for url in values if is_absolute(url)]


class Counted(bytes):
    """A file that counts how often it is searched."""

    searched = 0

    def lower(self) -> bytes:
        Counted.searched += 1
        return super().lower()


@pytest.mark.parametrize("line", [b"Crawl-delay: 1\n", b"Host: h\n", b""])
@pytest.mark.parametrize("edition", EDITIONS)
def test_a_file_is_searched_once_for_other_lines(edition: str, line: bytes) -> None:
    """SAF-02: however many crawlers are asked about."""
    Counted.searched = 0
    robots = RobotsTxt.parse(Counted(b"User-agent: *\n" + line + b"Disallow: /\n"), edition)
    for number in range(100):
        robots.crawl_delay("a" * (number + 1))
        robots.other("b" * (number + 1))
    assert Counted.searched <= 4


@pytest.mark.parametrize("tokens", ["a", "b", "*"])
def test_a_content_signal_above_all_groups_is_offered_to_all(tokens: str) -> None:
    """USE-07, EXT-03."""
    robots = RobotsTxt.parse(b"Content-Signal: search=no\nUser-agent: a\nHost: h\nDisallow: /\n")
    expected = ["content-signal", "host"] if tokens == "a" else ["content-signal"]
    assert [line.field for line in robots.other(tokens)] == expected
