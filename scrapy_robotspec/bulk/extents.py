"""The class of a text's rules, worked out once for each."""

from __future__ import annotations

from functools import lru_cache

from scrapy_robotspec.editions import Edition, has_plain_lines
from scrapy_robotspec.protocol.agent_index import rules_in
from scrapy_robotspec.protocol.extent import Extent, Rules
from scrapy_robotspec.protocol.precedence import forbids
from scrapy_robotspec.protocol.robots_file import RobotsFile

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
        rules = rules_in(text, ((0, len(text)),))
    else:
        rules = RobotsFile(text, edition).follow(()).rules.rules
    # All that may allow a page or decide about the root is among them: if that is allowed and
    # they forbid a page, all rules do.
    few = [rule for rule in rules[_FEW:] if rule[0] or not rule[1].strip(_WIDE)]
    found = Rules([*rules[:_FEW], *few], edition)
    if found.extent == "some" and not forbids(found.root):
        return "some"
    return Rules(rules, edition).extent


_extent_once = lru_cache(_KNOWN)(_extent)
