"""FMT: limits, bytes and line ends that the table of cases cannot show."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

in_every_edition = pytest.mark.parametrize("edition", EDITIONS)
URL = "http://example.com"
LIMIT = 512_000


def filled(size: int, tail: bytes) -> bytes:
    """A file of ``size`` bytes that forbids /a, ends in ``tail``, and is comment in between."""
    head = b"User-agent: *\nDisallow: /a\n#"
    return head + b"x" * (size - len(head) - len(tail)) + tail


@in_every_edition
def test_limit_is_500_kibibytes(edition: str) -> None:
    """FMT-12: a file of exactly the limit is read whole, and not said to be cut."""
    robots = RobotsTxt.parse(filled(LIMIT, b"\nDisallow: /b"), edition)
    assert not robots.truncated
    assert not robots.allowed(f"{URL}/b", "FooBot")


@in_every_edition
def test_one_line_longer_than_the_limit_says_nothing(edition: str) -> None:
    """FMT-12: without any line end within the limit no line is left."""
    robots = RobotsTxt.parse(b"User-agent: *" + b"x" * LIMIT + b"\nDisallow: /\n", edition)
    assert robots.truncated
    assert robots.explain(URL, "FooBot").reason == "no_group"


def test_limit_can_be_set() -> None:
    """FMT-12: by argument, or as a value of one's own edition."""
    body = b"User-agent: *\nDisallow: /a\nDisallow: /b\n"
    small = replace(EDITIONS["google-2019"], parsing_limit=30)
    for robots in (RobotsTxt.parse(body, limit=30), RobotsTxt.parse(body, small)):
        assert robots.truncated
        assert not robots.allowed(f"{URL}/a", "FooBot")
        assert robots.allowed(f"{URL}/b", "FooBot")


def test_limit_can_be_raised() -> None:
    """FMT-12: a larger limit reads on."""
    body = filled(LIMIT, b"\n") + b"Disallow: /b\n"
    assert RobotsTxt.parse(body).allowed(f"{URL}/b", "FooBot")
    assert not RobotsTxt.parse(body, limit=LIMIT * 2).allowed(f"{URL}/b", "FooBot")


def test_standard_knows_a_least_limit() -> None:
    """FMT-12: in ``rfc9309`` no setting goes below 500 KiB."""
    body = b"User-agent: *\nDisallow: /a\nDisallow: /b\n"
    robots = RobotsTxt.parse(body, "rfc9309", limit=30)
    assert not robots.truncated
    assert not robots.allowed(f"{URL}/b", "FooBot")


@in_every_edition
def test_no_other_byte_ends_a_line(edition: str) -> None:
    """FMT-02: behind a comment sign, only CR and LF bring the next line."""
    for byte in set(range(0x80)) - {0x0A, 0x0D}:
        body = b"User-agent: *\n# x%cDisallow: /a\n" % byte
        assert RobotsTxt.parse(body, edition).allowed(f"{URL}/a", "FooBot"), byte


@in_every_edition
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_file_is_read_as_utf8_and_nothing_else(edition: str, encoding: str) -> None:
    """FMT-01: a file in another encoding holds no line that can be read."""
    body = "User-agent: *\nDisallow: /\n".encode(encoding)
    assert RobotsTxt.parse(body, edition).allowed(f"{URL}/", "FooBot")


def test_parse_takes_bytes_only() -> None:
    """FMT-01: text has no encoding left to be read by."""
    with pytest.raises(TypeError):
        RobotsTxt.parse("User-agent: *")  # type: ignore[arg-type]


@in_every_edition
@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"], ids=["LF", "CR", "CRLF"])
def test_line_that_the_limit_cuts_is_not_read(edition: str, end: bytes) -> None:
    """FMT-12: Disallow: /b2 is not read as Disallow: /b, and what stands before is."""
    robots = RobotsTxt.parse(filled(LIMIT, end + b"Disallow: /b") + b"2\n", edition)
    assert robots.truncated
    assert robots.allowed(f"{URL}/b", "FooBot")
    assert not robots.allowed(f"{URL}/a", "FooBot")
    assert len(robots.body) == LIMIT - len(b"Disallow: /b")


@in_every_edition
@pytest.mark.parametrize("rest", [b" \n", b"\t\n", b"#", b"  # x\n", b" " * 100 + b"\r\n", b"\n"])
@pytest.mark.parametrize("within", [b"", b" ", b"#", b" # comment"])
def test_line_whose_value_is_whole_is_read(edition: str, within: bytes, rest: bytes) -> None:
    """FMT-12: the limit cuts white space or a comment, not the value."""
    body = filled(LIMIT, b"\nDisallow: /b" + within)
    robots = RobotsTxt.parse(body + rest + b"Disallow: /c\n", edition)
    assert robots.truncated
    assert not robots.allowed(f"{URL}/b", "FooBot")
    assert robots.allowed(f"{URL}/c", "FooBot")


@in_every_edition
@pytest.mark.parametrize("rest", [b"2", b" c", b"\t /c # x", b" " * 100 + b"c"])
def test_line_whose_value_goes_on_is_not_read(edition: str, rest: bytes) -> None:
    """FMT-12: white space within a value is not its end."""
    robots = RobotsTxt.parse(filled(LIMIT, b"\nDisallow: /b") + rest + b"\n", edition)
    assert robots.allowed(f"{URL}/b", "FooBot")
    assert not robots.allowed(f"{URL}/a", "FooBot")
