"""The plain reading: every line and rule, in every edition.

Written to be read beside the specification. ``fast/`` gives the same verdicts sooner, and property
tests compare the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.protocol.groups import AllGroups
from scrapy_robotspec.protocol.paths import ROBOTS_TXT, path_of
from scrapy_robotspec.protocol.patterns import matches
from scrapy_robotspec.protocol.precedence import ITSELF, best_key

__all__ = ["Decided", "decide", "matches"]

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.editions import Edition


class Decided(NamedTuple):
    """The groups that a crawler follows, and what decides about a URL."""

    names: tuple[str, ...]
    """Names of the groups as first written; ``("*",)`` for the default, ``()`` for none."""
    key: int
    """Precedence key of the deciding rule, ``NO_RULE`` or ``ITSELF``."""


def decide(body: bytes, url: str | bytes, tokens: Sequence[str], edition: Edition) -> Decided:
    """The deciding rule for a URL and tokens (PRE-01, PRE-04)."""
    selected = AllGroups(body, edition).follow(tuple(tokens))
    path = path_of(url, edition)
    if path == ROBOTS_TXT and edition.robots_txt_allowed:
        return Decided(selected.names, ITSELF)
    return Decided(selected.names, best_key(selected.rules, path, edition))
