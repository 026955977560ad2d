"""Google's leniencies, each by the field of an edition that guards it (REF)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.google import (
    directory_of_index_page,
    partial_mark,
    readable_part,
    split_without_colon,
)


@pytest.mark.parametrize(("body", "length"), [(b"\xef\xbb\xbfa", 3), (b"\xefa", 1), (b"a", 0)])
def test_a_part_of_a_mark_is_skipped(body: bytes, length: int) -> None:
    """FMT-05."""
    assert partial_mark(body, b"\xef\xbb\xbf") == length


def test_a_line_ends_at_the_buffer_and_at_nul() -> None:
    """FMT-13, FMT-14."""
    edition = replace(EDITIONS["google"], max_line=5)
    assert readable_part(b"a: bcdef", edition) == b"a: bc"
    assert readable_part(b"a:\0bcd", edition) == b"a:"
    assert readable_part(b"a:\0bcd", EDITIONS["google-2019"]) == b"a:\0bcd"


@pytest.mark.parametrize(
    ("content", "pair"),
    [
        (b"Disallow /x", (b"Disallow", b"/x")),
        (b"Disallow \t /x", (b"Disallow", b"/x")),
        (b"Disallow /x /y", None),
        (b"Disallow", None),
    ],
)
def test_two_words_need_no_colon(content: bytes, pair: tuple[bytes, bytes] | None) -> None:
    """FMT-11."""
    assert split_without_colon(content, EDITIONS["google"].whitespace) == pair


@pytest.mark.parametrize(
    ("pattern", "directory"),
    [("/a/index.html", "/a/$"), ("/index.htm", "/$"), ("/a/xindex.htm", ""), ("index.htm", "")],
)
def test_an_index_page_opens_its_directory(pattern: str, directory: str) -> None:
    """PRE-05."""
    assert directory_of_index_page(pattern) == directory
