"""A path pattern: what its ``*`` and ``$`` mean, its length, and whether it matches a path.

One pattern at a time; choosing among rules is ``ruleset.py``'s. Paths come from ``paths.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.editions import Slashless
from scrapy_robotspec.protocol import google
from scrapy_robotspec.protocol.paths import LITERAL, normalise

if TYPE_CHECKING:
    from scrapy_robotspec.editions import Edition


class Pattern(NamedTuple):
    """A path pattern, ready to match."""

    literals: tuple[str, ...]
    """The parts between the ``*``: the first at the path's start, the others anywhere after."""
    anchored: bool
    """A final ``$``: the last literal stands at the path's end (PAT-02)."""
    length: int
    """What PRE-01 compares."""

    @property
    def text(self) -> str:
        """The pattern in its one form; a star keeps a last ``$`` that is none from being one."""
        stays = "*" if self.literals[-1].endswith("$") else ""
        return "*".join(self.literals) + ("$" if self.anchored else stays)

    def matches(self, path: str) -> bool:
        """Whether a normalised path matches.

        Each literal is looked for as far to the left as it can stand, so no turn is ever taken
        back: if any placing works, this one does (PAT-11).
        """
        if not path.startswith(self.literals[0]):
            return False
        end = len(self.literals[0])
        if len(self.literals) == 1:
            return not self.anchored or end == len(path)
        for literal in self.literals[1:-1]:
            place = path.find(literal, end)
            if place < 0:
                return False
            end = place + len(literal)
        last = self.literals[-1]
        if self.anchored:
            return path.endswith(last) and len(path) - len(last) >= end
        return path.find(last, end) >= 0


def read_pattern(value: bytes, edition: Edition) -> Pattern | None:
    """The pattern of a rule's value, or None for one that can never match (RUL-04)."""
    if not value.startswith(b"/") and not _starts_as_pattern(value, edition):
        if edition.slashless is not Slashless.ASSUMED:
            return None
        value = b"/" + value
    return _compile(normalise(value, edition), edition)


def _starts_as_pattern(value: bytes, edition: Edition) -> bool:
    return value.startswith(b"*") and edition.slashless is Slashless.PATTERN


def _compile(text: str, edition: Edition) -> Pattern:
    if not edition.wildcards:
        return Pattern((_literally(text, edition),), False, len(text))
    anchored = text.endswith("$")
    content = text[:-1] if anchored else text.rstrip("*")  # PAT-03
    length = len(text) if anchored or edition.count_trailing_star else len(content)
    return Pattern(tuple(_literally(content, edition).split("*")), anchored, length)


def _literally(text: str, edition: Edition) -> str:
    """Special characters that are none here, as a URL's path spells them (PAT-06)."""
    if not edition.decode_unreserved:
        return text
    return text.translate(LITERAL) if not edition.wildcards else text.replace("$", "%24")


def index_page_pattern(value: bytes, edition: Edition) -> Pattern | None:
    """What an allow rule for an index page matches besides (PRE-05)."""
    directory = google.directory_of_index_page(normalise(value, edition))
    return None if directory is None else _compile(directory, edition)
