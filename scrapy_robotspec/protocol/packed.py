"""Plain values in place of a file, for one crawler.

They answer the crawler that asked last. They are shorter than the file, and rules are made from
them in less time than from the file. ``lookup`` keeps them for origins that are visited in turn.
"""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol import fast
from scrapy_robotspec.protocol.models import Rule, Verdict
from scrapy_robotspec.protocol.robotstxt import RobotsTxt, without_rule

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_robotspec.editions import Edition
    from scrapy_robotspec.protocol.agents import Tokens
    from scrapy_robotspec.protocol.fast.compiled import PackedSelection
    from scrapy_robotspec.protocol.models import Kind

#: A precedence key, whether its rule allows, and the fields of the rule.
PackedVerdict = tuple[int, bool, tuple["Kind", str, int, str]]
#: Whether the file is truncated, the crawler's tokens, its groups, and verdicts.
PackedFile = tuple[bool, "Tokens", "PackedSelection", tuple[PackedVerdict, ...]]

#: Max verdicts among the values, and a URL that few rules are about.
_MAX_VERDICTS = 4
_USUAL_URL = "x://x/~"


def pack(robots: RobotsTxt) -> PackedFile | None:
    """The values for the crawler that asked last.

    None if no crawler has asked, or if *robots* was made from such values.
    """
    selection = robots._selection
    if robots._compiled is None or selection is None:
        return None
    packed = robots._compiled.pack(selection)
    rules = fast.unpack(packed, robots.edition).rules.compiled
    assert rules is not None
    key = rules.find(_USUAL_URL)  # a rule for this URL decides about most others
    if key not in selection.verdicts:
        robots._verdict_of(selection, key)
    verdicts = tuple(
        (key, verdict.allowed, astuple(verdict.rule))
        for key, verdict in selection.verdicts.items()
        if verdict.rule is not None
    )
    return robots.truncated, robots._tokens, packed, verdicts[-_MAX_VERDICTS:]


class UnpackedRobotsTxt(RobotsTxt):
    """A file made from the values of :func:`pack`.

    *load* returns its body, which is needed for another crawler, for a rule without a verdict among
    the values, and for everything but verdicts.
    """

    __slots__ = ("_load",)

    def __init__(self, packed: PackedFile, edition: Edition, load: Callable[[], bytes]) -> None:
        truncated, tokens, selection, verdicts = packed
        super().__init__(b"", edition, truncated)
        self._load: Callable[[], bytes] | None = load
        self._tokens = tokens
        self._selection = kept = fast.unpack(selection, edition)
        self._rules = kept.rules.compiled
        kept.verdicts = without_rule(kept.names, edition.name)
        if verdicts:
            by_key = {
                key: Verdict(allowed, "rule", Rule(*rule), kept.names, edition.name)
                for key, allowed, rule in verdicts
            }
            kept.verdicts = {**kept.verdicts, **by_key}

    @property
    def body(self) -> bytes:
        """The bytes that are read, cut to the parsing limit."""
        if self._load is not None:
            self._body, self._load = self._load(), None
        return self._body
