"""The class of a text's rules, worked out once for each."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from scrapy_robotspec.editions import Edition, has_plain_lines
from scrapy_robotspec.protocol.agent_index import rules_in
from scrapy_robotspec.protocol.extent import Extent, Rules
from scrapy_robotspec.protocol.precedence import forbids
from scrapy_robotspec.protocol.robots_file import RobotsFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.protocol.lines import RawRule

#: Max texts that are remembered, and max length of each (bytes): thousands of files share a few.
_KNOWN = 4096
_MAX_KNOWN = 4096
#: Rules that are tried first: mostly, one of them makes an exception.
_FEW = 8
#: Bytes of a value that may match ``/``.
_WIDE = b"/*$"


def extent_of(text: bytes, edition: Edition) -> Extent:
    """How much of a site a text's default group leaves open."""
    return (_extent_once if len(text) <= _MAX_KNOWN else _extent)(text, edition)


def _extent(text: bytes, edition: Edition) -> Extent:
    if has_plain_lines(edition):  # hot path
        return _extent_of(rules_in(text, ((0, len(text)),)), edition)
    return _extent_of(RobotsFile(text, edition).follow(()).rules.rules, edition)


_extent_once = lru_cache(_KNOWN)(_extent)


def _extent_of(rules: Sequence[RawRule], edition: Edition) -> Extent:
    # All that may allow a page or decide about the root is among them: if that is allowed and
    # they forbid a page, all rules do.
    few = [rule for rule in rules[_FEW:] if rule[0] or not rule[1].strip(_WIDE)]
    found = Rules([*rules[:_FEW], *few], edition)
    is_found = found.extent == "some" and not forbids(found.root)
    if is_found or len(found.rules) == len(rules):
        return found.extent
    return Rules(rules, edition).extent
