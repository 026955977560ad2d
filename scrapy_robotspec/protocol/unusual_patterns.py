"""Canonical patterns of unusual values (PAT-03, PAT-07, PAT-12, PRE-05, RUL-04).

They have an anchor, an escape of a special character, an apostrophe, a cut escape, an index page,
or no slash at the beginning. Those of usual values are made in ``precedence.py``.
"""

from __future__ import annotations

import re

from scrapy_robotspec.editions import SLASH_ASSUMED, Edition
from scrapy_robotspec.protocol.paths import (
    INCOMPLETE,
    LITERAL_DOLLAR,
    QUERY_APOSTROPHE,
    escape_specials,
    escapes_specials,
    find_apostrophes,
    join_apostrophes,
    join_escapes,
)
from scrapy_robotspec.protocol.patterns import END, INDEX_PAGE

#: A canonical pattern, and the length that PRE-01 compares.
Measured = tuple[str, int]

#: Most apostrophes of a pattern that may be in a path or in a query; it bounds the patterns made.
MAX_APOSTROPHES = 4
#: Most patterns of a rule for incomplete escapes in URLs.
MAX_PATTERNS = 4

_STARS = re.compile(r"\*+")
_CUT = re.compile(rf"{INCOMPLETE}(?=\*|\Z)")
_CUT_BEHIND_DIGIT = re.compile(rf"{INCOMPLETE}(?=[0-9A-F](?:\*|\Z))")


def patterns_of(text: str, edition: Edition, *, allow: bool) -> list[Measured]:
    """The patterns of a canonical value, usually one (PAT-07, PAT-12, PRE-05).

    *allow*: whether it is that of an allow line.
    """
    opened = directory_of_index_page(text) if allow and edition.index_html else ""
    found: list[Measured] = []
    for each in (text, opened) if opened else (text,):
        pattern = canonical_pattern(each, edition)
        if pattern is None:
            continue
        canonical, length = pattern
        if "'" in canonical or "%27" in canonical or INCOMPLETE in canonical:
            spellings = in_components(canonical, edition)
            for spelling in spellings:
                escaped = with_escapes(spelling, MAX_PATTERNS // len(spellings))
                found += [(text, length) for text in escaped]
        else:
            found.append(pattern)
    return found


def directory_of_index_page(pattern: str) -> str:
    """The directory that an index page also opens (PRE-05), or ``""``."""
    slash = pattern.rfind("/")
    if slash < 0 or not pattern.startswith(INDEX_PAGE, slash):
        return ""
    return pattern[: slash + 1] + "$"


def canonical_pattern(text: str, edition: Edition) -> Measured | None:
    """The pattern of a canonical value; None: never matches (RUL-04)."""
    first = text[:1]
    if first != "/" and not (first == "*" and edition.star_begins_path):
        if edition.slashless is not SLASH_ASSUMED:
            return None
        text = "/" + text
    if "%2" in text and escapes_specials(edition):
        text = join_escapes(text)
    if "?" in text and edition.decode_unreserved:
        text = join_apostrophes(text)
    length = len(text) - text.count(INCOMPLETE)
    if "*" not in text and "$" not in text:  # usual
        return text, length
    if not edition.wildcards:
        return escape_specials(text), length
    is_anchored = text.endswith("$")
    text = text.removesuffix("$")
    content = text.rstrip("*")  # PAT-03
    if len(content) < len(text):
        if not is_anchored and not edition.count_trailing_star:
            length -= len(text) - len(content)
        is_anchored = False  # any end will do
    if "**" in content:
        content = _STARS.sub("*", content)
    if escapes_specials(edition):
        content = content.replace("$", LITERAL_DOLLAR)  # PAT-06
    return content + END if is_anchored else content, length


def in_components(text: str, edition: Edition) -> list[str]:
    """A canonical pattern with its last apostrophes in path or query (PAT-12).

    Only those behind a star may be in either.
    """
    found = [text]
    star = text.find("*")
    if star >= 0 and edition.decode_unreserved:
        places = [*find_apostrophes(text.partition("?")[0], star)]
        for place in places[: -MAX_APOSTROPHES - 1 : -1]:
            text = text[: place.start()] + QUERY_APOSTROPHE + text[place.end() :]
            found.append(text)
    return found


def with_escapes(text: str, most: int) -> list[str]:
    """A canonical pattern, cut inside escapes as a rule is (PAT-07).

    With a digit, the incomplete escape of a URL has another spelling: two patterns for each of the
    last ones, *most* in all.
    """
    *parts, last = _CUT_BEHIND_DIGIT.split(_CUT.sub("", text))
    found = [last]
    while parts and len(found) < most:
        part = parts.pop()
        found = [part + mark + rest for mark in ("", INCOMPLETE) for rest in found]
    first = "".join(parts)
    return [first + rest for rest in found]
