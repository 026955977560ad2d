"""Lines and paths that the linter takes for usual have no remark, and are read as all lines are."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from itertools import chain

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_robotspec.editions import EDITIONS, Edition
from scrapy_robotspec.protocol.lines import Line, read_lines
from scrapy_robotspec.protocol.lint.line_checks import (
    check_bytes,
    check_colon,
    check_field,
    check_form,
)
from scrapy_robotspec.protocol.lint.redundancy import reads_alike
from scrapy_robotspec.protocol.lint.rule_checks import check_path, usual_path
from scrapy_robotspec.protocol.lint.usual_lines import SomeLines, read_some_lines

PRESETS = list(EDITIONS.values())
#: Editions of users, in which a line that is usual elsewhere may have a remark.
OWN = [
    replace(EDITIONS["google-2019"], name="short", max_line=9),
    replace(EDITIONS["google-2019"], name="odd", whitespace=b"/"),
    replace(EDITIONS["google"], name="few", known_fields=((b"user", "user-agent"),)),
]

blanks = st.text(" \t", max_size=2)
fields = st.sampled_from(
    ["User-agent", "user-agent", "Disallow", "ALLOW", "Sitemap", "Host", "disalow", "User agent"]
)
texts = st.text('a/*$%#:"é[ \t\0\x7f\v=A1', max_size=8)
lines = st.one_of(
    st.tuples(blanks, fields, blanks, st.just(":"), blanks, texts, blanks).map("".join),
    texts,
    st.integers(1890, 2100).map(lambda length: "Allow: /".ljust(length, "a")),
)
ends = st.sampled_from(["\n", "\r", "\r\n", ""])
bodies = st.lists(st.tuples(lines, ends).map("".join), max_size=6).map("".join).map(str.encode)


def read(body: bytes, edition: Edition) -> SomeLines:
    """All lines of a file at once."""
    some = list(read_some_lines(body, edition))
    return SomeLines(
        list(chain.from_iterable(each.lines for each in some)),
        list(chain.from_iterable(each.unusual for each in some)),
    )


@pytest.mark.parametrize("edition", PRESETS + OWN, ids=lambda edition: edition.name)
@given(body=bodies)
@example(b"\xef\xbb\xbfAllow: /\n")
@example(b"\xefAllow: /\n")
@example(b"\n\r\r\n \n")
def test_lines_are_those_of_the_plain_reading(edition: Edition, body: bytes) -> None:
    """The offset aside, which the linter needs of the first line only."""
    expected = [line._replace(start=0) for line in read_lines(body, edition)]
    assert [line._replace(start=0) for line in read(body, edition).lines] == expected


@pytest.mark.parametrize("edition", PRESETS + OWN, ids=lambda edition: edition.name)
@given(body=bodies)
def test_usual_line_has_no_remark_about_its_form(edition: Edition, body: bytes) -> None:
    found, unusual = read(body, edition)
    for line in set(found) - set(unusual):
        remarks = [check_bytes(line, edition), check_form(line, edition)]
        if line.name:
            remarks += [check_field(line, edition), check_colon(line, edition, may_replace=True)]
        assert not list(chain.from_iterable(remarks)), line


@pytest.mark.parametrize("edition", PRESETS, ids=lambda edition: edition.name)
@given(body=bodies)
def test_usual_line_is_read_alike_by_every_edition(edition: Edition, body: bytes) -> None:
    found, unusual = read(body, edition)
    for line in set(found[1:]) - set(unusual):
        assert not line.text.strip(b" \t") or reads_alike(line)


def test_most_lines_are_usual() -> None:
    """Otherwise the other tests here prove little."""
    body = b"# A\nUser-agent: *\n\n  disallow: /a*b$ \nAllow:\t/%20\nSitemap: https://a/s.xml\r\n\t"
    for edition in PRESETS:
        unusual = [line.text for line in read(body, edition).unusual]
        assert unusual == ([b"Sitemap: https://a/s.xml"] if edition.name == "classic" else [])


def test_file_longer_than_one_step_is_read_whole() -> None:
    """Line ends of every kind, at every place where a step may end."""
    body = b"".join(b"Allow: /%d%s" % (at, (b"\n", b"\r\n", b"\r")[at % 3]) for at in range(20_000))
    edition = EDITIONS["google-2019"]
    expected = [line._replace(start=0) for line in read_lines(body, edition)]
    assert read(body, edition).lines == expected
    assert len(list(read_some_lines(body, edition))) > 2
    only_returns = body.replace(b"\n", b"\r")
    assert len(read(only_returns, edition).lines) == len(list(read_lines(only_returns, edition)))


@pytest.mark.parametrize("edition", PRESETS, ids=lambda edition: edition.name)
@given(path=st.text('a/*$%2F #:"é[?=~', max_size=8).map(str.encode))
@example(b"//a")
@example(b"/a*$")
def test_usual_path_has_no_remark(edition: Edition, path: bytes) -> None:
    if usual_path(edition).fullmatch(path):
        line = Line(2, 0, b"Allow: " + path, b"Allow", "allow", path)
        assert not list(check_path(line, edition))


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_memory_is_bounded_whatever_ends_the_lines(end: bytes) -> None:
    """SAF-02: only some lines of a file are held at a time."""
    body = end * 200_000
    pieces = [len(some.lines) for some in read_some_lines(body, EDITIONS["google"])]
    assert sum(pieces) == 200_000
    assert max(pieces) < 20_000


def test_many_wildcards_take_no_more_memory_than_the_path() -> None:
    """A repeated group of an expression takes memory for each repetition."""
    path = b"/" + b"*a" * 200_000
    tracemalloc.start()
    try:
        usual_path(EDITIONS["google-2019"]).fullmatch(path)
        assert tracemalloc.get_traced_memory()[1] < len(path)
    finally:
        tracemalloc.stop()
