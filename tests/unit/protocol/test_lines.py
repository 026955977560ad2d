"""Lines as fields and values, and what is made of lines without (FMT-01 to FMT-16)."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol import (
    lines,
)
from scrapy_robotspec.protocol.groups import AllGroups
from scrapy_robotspec.protocol.lines import (
    field_for,
    read_lines,
    skip_byte_order_mark,
    split_line,
)
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from tests.unit.protocol.strategies import (
    EVERY,
    HOST,
    bodies,
)


@pytest.mark.parametrize("name", EVERY)
@given(body=bodies)
def test_each_line_is_read_as_by_itself(name: str, body: bytes) -> None:
    """FMT-01 to FMT-16: whatever lines are above it, and in parts of a file too."""
    edition = EVERY[name]
    with_field = [line for line in read_lines(body, edition) if line.field]
    every = list(read_lines(body, edition, every=True))
    assert with_field == [line for line in every if line.field]
    for line in every:
        pair = split_line(line.text, edition)
        name_, value = pair or (b"", b"")
        assert (line.name, line.value) == (name_, value)
        assert line.field == (field_for(name_, edition) if pair else "")
        assert body[line.start :].startswith(line.text)


@pytest.mark.parametrize("name", EVERY)
@given(body=bodies)
def test_groups_may_be_read_from_every_line(name: str, body: bytes) -> None:
    """FMT-03, FMT-15: comments, blank and invalid lines change nothing."""
    edition = EVERY[name]
    every = AllGroups(body, edition, read_lines(body, edition, every=True))
    alone = AllGroups(body, edition)
    for group, other in zip(every.groups, alone.groups, strict=True):
        assert (group.agents, group.rules, group.others) == (
            other.agents,
            other.rules,
            other.others,
        )
        assert (group.names, group.firsts, group.end) == (other.names, other.firsts, other.end)
    assert every.places == alone.places
    assert every.written == alone.written
    assert (every.signals, every.licenses) == (alone.signals, alone.licenses)


@pytest.mark.parametrize("name", EVERY)
@given(body=bodies)
def test_lines_that_are_left_out_are_blank(name: str, body: bytes) -> None:
    """FMT-02: of blank lines in a row the first is read; a group ends at each of them."""
    edition = EVERY[name]
    begin = skip_byte_order_mark(body, edition)
    texts = {
        number: raw.rstrip(b"\r\n")
        for number, raw in enumerate(body[begin:].splitlines(keepends=True), 1)
    }
    blank = {number for number, text in texts.items() if not text.strip(edition.whitespace)}
    read = {line.number: line for line in read_lines(body, edition, every=True)}
    assert all(texts[number] == line.text for number, line in read.items())
    assert set(texts) - set(read) == {number for number in blank if number - 1 in blank}
    ends = {line.number for line in read_lines(body, edition) if not line.field}
    assert ends <= blank & set(read)
    assert bool(ends) <= edition.blank_line_ends_group


#: Lines without a field.
FIELDLESS = [b"\n", b"\r", b"\r\n", b" \n", b"\t\r", b"#\n", b"# a: b\r\n", b"\n\n#\n \n"]


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("filler", FIELDLESS, ids=repr)
def test_nothing_is_made_for_lines_without_a_field(filler: bytes, edition: str) -> None:
    """SAF-02: half a million of them cost little more than finding their ends."""
    body = b"User-agent: a\n%bDisallow: /\n%b" % (filler * 500, filler * 500)
    robots = RobotsTxt.parse(body, edition)
    with patch.object(lines, "_new", wraps=tuple.__new__) as made:
        robots.allowed(HOST + "/a", "a")
        most = 2 * 3
        assert made.call_count <= most
        questions = (robots.other, robots.crawl_delay, robots.usage_rules)
        for ask in (*questions, lambda tokens: robots.groups):
            made.reset_mock()
            ask("a")
            assert made.call_count <= most


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"], ids=repr)
def test_the_linter_reads_blank_lines_in_a_row_once(end: bytes, edition: str) -> None:
    """SAF-02: and numbers the lines below them right."""
    robots = RobotsTxt.parse(end * 500 + b"User-agent: a%bDisalow: /%b" % (end, end), edition)
    with patch.object(lines, "_new", wraps=tuple.__new__) as made:
        assert {finding.line for finding in robots.lint()} >= {502}
    assert made.call_count <= 2 * 3  # groups are read besides in some editions
