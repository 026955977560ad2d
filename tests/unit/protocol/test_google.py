"""Google's leniencies, each by the field of an edition that guards it (REF)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scrapy_robotspec.editions import EDITIONS
from scrapy_robotspec.protocol.lines import skip_byte_order_mark, split_line

GOOGLE = EDITIONS["google"]


@pytest.mark.parametrize(
    ("body", "length"),
    [(b"\xef\xbb\xbfa", 3), (b"\xef\xbba", 2), (b"\xefa", 1), (b"\xbba", 0), (b"a", 0)],
)
def test_a_part_of_a_mark_is_skipped(body: bytes, length: int) -> None:
    """FMT-05."""
    assert skip_byte_order_mark(body, GOOGLE) == length
    assert skip_byte_order_mark(body, EDITIONS["google-2019"]) == (3 if length == 3 else 0)


def test_a_line_ends_at_the_buffer_and_at_nul() -> None:
    """FMT-13, FMT-14."""
    edition = replace(GOOGLE, max_line=5)
    assert split_line(b"a: bcdef", edition) == (b"a", b"bc")
    assert split_line(b"a:\0bcd", edition) == (b"a", b"")
    assert split_line(b"a:\0bcd", EDITIONS["google-2019"]) == (b"a", b"\0bcd")


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
    assert split_line(content, GOOGLE) == pair
    assert split_line(content, EDITIONS["google-2019"]) is None
