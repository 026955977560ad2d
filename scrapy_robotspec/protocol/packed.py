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
    from scrapy_robotspec.protocol.fast.packed_rules import PackedRules
    from scrapy_robotspec.protocol.models import Kind

#: A precedence key, whether its rule allows, and the fields of the rule.
PackedVerdict = tuple[int, bool, tuple["Kind", str, int, str]]
#: Whether the file is truncated, the crawler's tokens, its groups, their rules, and verdicts.
PackedFile = tuple[bool, "Tokens", tuple[str, ...], "PackedRules", tuple[PackedVerdict, ...]]

#: Max verdicts among the values.
_MAX_VERDICTS = 4
#: Memory of a file made from values, and for each verdict and pattern with a star (bytes).
_PER_FILE, _PER_VERDICT, _PER_PATTERN = 768, 384, 384


def is_compiled(robots: RobotsTxt) -> bool:
    """Whether the rules for the crawler that asked last are compiled."""
    return robots._rules is not None


def pack(robots: RobotsTxt, url: str) -> PackedFile | None:
    """The values for the crawler that asked last.

    A rule for *url*, which few rules should be about, decides about most other URLs, too. None if
    no crawler has asked, or if *robots* was made from such values.
    """
    selection = robots._selection
    if robots._compiled is None or selection is None:
        return None
    rules = robots._compiled.rules_of(selection)
    key = rules.find(url)
    if key not in selection.verdicts:
        robots._verdict_of(selection, key)
    verdicts = tuple(
        (key, verdict.allowed, astuple(verdict.rule))
        for key, verdict in selection.verdicts.items()
        if verdict.rule is not None
    )
    recent = verdicts[-_MAX_VERDICTS:]
    return robots.truncated, robots._tokens, selection.names, fast.pack(rules), recent


def memory_of(packed: PackedFile) -> int:
    """Estimated memory of a file made from *packed*, besides the values (bytes)."""
    *_, rules, verdicts = packed
    pattern_keys = rules[-1]  # eight bytes each
    return _PER_FILE + _PER_VERDICT * len(verdicts) + _PER_PATTERN * len(pattern_keys) // 8


class UnpackedRobotsTxt(RobotsTxt):
    """A file made from the values of :func:`pack`.

    *load* returns its body, which is needed for another crawler, for a rule without a verdict among
    the values, and for everything but verdicts. The body is not kept: it may be far longer than the
    values.
    """

    __slots__ = ("_load",)

    def __init__(self, packed: PackedFile, edition: Edition, load: Callable[[], bytes]) -> None:
        truncated, tokens, names, rules, verdicts = packed
        super().__init__(b"", edition, truncated)
        self._load = load
        self._tokens = tokens
        self._selection = kept = fast.unpack(names, rules, edition)
        self._rules = kept.rules.compiled
        kept.verdicts = without_rule(names, edition.name)
        if verdicts:
            by_key = {
                key: Verdict(allowed, "rule", Rule(*rule), names, edition.name)
                for key, allowed, rule in verdicts
            }
            kept.verdicts = {**kept.verdicts, **by_key}

    @property
    def body(self) -> bytes:
        """The bytes that are read, cut to the parsing limit."""
        return self._load()
