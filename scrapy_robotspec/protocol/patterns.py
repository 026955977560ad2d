"""Path patterns: canonical spelling, length and match.

A canonical pattern is text: literals with a ``*`` between each two, and a final ``$`` only as an
anchor. It ends with ``*`` only after a ``$`` that is not an anchor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.editions import Slashless
from scrapy_robotspec.protocol.paths import (
    LITERAL_DOLLAR,
    QUERY_APOSTROPHE,
    escape_specials,
    escapes_specials,
    find_apostrophes,
    join_apostrophes,
    join_escapes,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy_robotspec.editions import Edition

#: A canonical pattern, and the length that PRE-01 compares.
Measured = tuple[str, int]

#: Most apostrophes of a pattern that may be in a path or in a query; it bounds the patterns made.
MAX_APOSTROPHES = 4


def canonical_pattern(text: str, edition: Edition) -> Measured | None:
    """The pattern of a canonical value; None: never matches (RUL-04)."""
    first = text[:1]
    if first != "/" and not (first == "*" and edition.slashless is Slashless.PATTERN):
        if edition.slashless is not Slashless.ASSUMED:
            return None
        text = "/" + text
    if "%2" in text and escapes_specials(edition):
        text = join_escapes(text)
    if "?" in text and edition.decode_unreserved:
        text = join_apostrophes(text)
    length = len(text)
    if "*" not in text and "$" not in text:  # usual
        return text, length
    if not edition.wildcards:
        return escape_specials(text), length
    if text.endswith("$"):
        content, end = text[:-1], "$"
    else:
        content, end = text.rstrip("*"), ""  # PAT-03
        if not edition.count_trailing_star:
            length -= len(text) - len(content)
    if "$" in content:
        if escapes_specials(edition):
            content = content.replace("$", LITERAL_DOLLAR)  # PAT-06
        elif not end and content.endswith("$"):
            end = "*"
    return content + end, length


def in_components(text: str, edition: Edition) -> Iterator[str]:
    """A canonical pattern with its last apostrophes in path or query (PAT-12).

    Only those behind a star may be in either.
    """
    yield text
    star, query = text.find("*"), text.find("?")
    if star < 0 or not edition.decode_unreserved:
        return
    places = [*find_apostrophes(text, star, len(text) if query < 0 else query)]
    for place in places[: -MAX_APOSTROPHES - 1 : -1]:
        text = text[: place.start()] + QUERY_APOSTROPHE + text[place.end() :]
        yield text


def literals_of(text: str) -> list[str]:
    """The literals of a pattern, in order."""
    return text.removesuffix("$").split("*")


def matches(text: str, path: str) -> bool:
    """Whether a canonical path matches a canonical pattern (PAT-02).

    Each literal takes its leftmost place, without backtracking: if any placing works, this
    one does (PAT-11).
    """
    first, *others = literals_of(text)
    anchored = text.endswith("$")
    if not path.startswith(first):
        return False
    end = len(first)
    if not others:
        return not anchored or end == len(path)
    last = others.pop()
    for literal in others:
        place = path.find(literal, end)
        if place < 0:
            return False
        end = place + len(literal)
    if anchored:
        return path.endswith(last) and len(path) - len(last) >= end
    return path.find(last, end) >= 0
