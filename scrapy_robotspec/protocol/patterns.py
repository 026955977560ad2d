"""A path pattern: what its ``*`` and ``$`` mean, its length, and whether it matches a path.

One pattern at a time; choosing among rules is ``ruleset.py``'s. Paths come from ``paths.py``.

A pattern's one form is text: literals with a ``*`` between each two, and a final ``$`` where it is
an anchor. Nothing in it is left to spell otherwise, and it ends with ``*`` only where the ``$``
before is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.editions import Slashless
from scrapy_robotspec.protocol import google
from scrapy_robotspec.protocol.paths import literally, spells_specials

if TYPE_CHECKING:
    from scrapy_robotspec.editions import Edition

#: A pattern in its one form, and what PRE-01 compares.
Measured = tuple[str, int]


def one_form(text: str, edition: Edition) -> Measured | None:
    """The pattern of a rule's normalised value, or None for one that can never match (RUL-04)."""
    if not text.startswith("/") and not _starts_as_pattern(text, edition):
        if edition.slashless is not Slashless.ASSUMED:
            return None
        text = "/" + text
    if not edition.wildcards:
        return literally(text), len(text)
    if text.endswith("$"):
        content, end, length = text[:-1], "$", len(text)
    else:
        content, end = text.rstrip("*"), ""  # PAT-03
        length = len(text) if edition.count_trailing_star else len(content)
    if "$" in content:
        if spells_specials(edition):
            content = content.replace("$", "%24")  # PAT-06
        elif not end and content.endswith("$"):
            end = "*"
    return content + end, length


def index_page_form(text: str, edition: Edition) -> Measured | None:
    """What an allow rule for an index page matches besides (PRE-05)."""
    directory = google.directory_of_index_page(text)
    return None if directory is None else one_form(directory, edition)


def _starts_as_pattern(text: str, edition: Edition) -> bool:
    return text.startswith("*") and edition.slashless is Slashless.PATTERN


def literals_of(text: str) -> list[str]:
    """The literals of a pattern in its one form: the first begins the path, the others follow."""
    return text.removesuffix("$").split("*")


def matches(text: str, path: str) -> bool:
    """Whether a path matches a pattern, both in their one form (PAT-02).

    Each literal is looked for as far to the left as it can stand, so no turn is ever taken back:
    if any placing works, this one does (PAT-11).
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
