"""Google-specific leniencies that no specification has (REF).

A field of the edition guards every function here; the preset ``google`` sets them all.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy_robotspec.editions import Edition

#: In place of RFC 9309's *WS ":" *WS: 1*WS, where the line has two words and no colon (FMT-11).
#: Only SP and HTAB part them, though more is stripped around them.
_TWO_WORDS = re.compile(rb"([^ \t]+)[ \t]+([^ \t]+)")
#: In a pattern, it may open a directory (PRE-05).
INDEX_PAGE = "/index.htm"


def partial_mark(body: bytes, mark: bytes) -> int:
    """Length of a complete or partial byte order mark (FMT-05)."""
    return next((n for n in range(len(mark), 0, -1) if body.startswith(mark[:n])), 0)


def readable_part(text: bytes, edition: Edition) -> bytes:
    """Cut a line at the buffer's end and at NUL (FMT-13)."""
    text = text[: edition.max_line]
    return text.partition(b"\0")[0] if edition.nul_ends_line else text


def split_without_colon(content: bytes, white: bytes) -> tuple[bytes, bytes] | None:
    """Field and value of a stripped line of exactly two words (FMT-11)."""
    words = _TWO_WORDS.fullmatch(content)
    return (words[1].rstrip(white), words[2].lstrip(white)) if words else None


def may_open_directories(body: bytes, edition: Edition) -> bool:
    """Whether some rule of a file may open a directory (PRE-05)."""
    return INDEX_PAGE.encode() in body or (edition.decode_unreserved and b"%" in body)


def directory_of_index_page(pattern: str) -> str:
    """The directory that an index page also opens (PRE-05), or ``""``."""
    slash = pattern.rfind("/")
    if slash < 0 or not pattern.startswith(INDEX_PAGE, slash):
        return ""
    return pattern[: slash + 1] + "$"
