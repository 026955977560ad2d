"""A rank -> what it says to a person: the rule with its line, and the verdict.

Ranks come from ``ranks.py``, which knows neither texts nor line numbers; here both are looked up
in the octets again, so that none has to be kept for any rule.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from scrapy_robotspec.protocol.lines import meaning, number_at, numbers_at, split_line, text_at
from scrapy_robotspec.protocol.ranks import ITSELF, NO_RULE, forbids, line_start
from scrapy_robotspec.protocol.values import Kind, Rule, Verdict, decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scrapy_robotspec.editions import Edition


def verdict_of(rank: int, names: tuple[str, ...], body: bytes, edition: Edition) -> Verdict:
    """The verdict by a rank in the group of the names followed (EXT-02)."""
    if rank in (ITSELF, NO_RULE):
        return without_rule(names, edition.name)[rank]
    start = line_start(rank)
    rule = _rule_at(start, number_at(body, start), body, edition)
    return Verdict(not forbids(rank), "rule", rule, names, edition.name)


@lru_cache(maxsize=256)
def without_rule(names: tuple[str, ...], edition: str) -> Mapping[int, Verdict]:
    """The verdicts, by rank, that no file has to be looked into for; all files share them."""
    return {
        NO_RULE: Verdict(True, "no_rule" if names else "no_group", None, names, edition),
        ITSELF: Verdict(True, "robots_txt_itself", None, names, edition),
    }


def rules_at(starts: Iterable[int], body: bytes, edition: Edition) -> dict[int, Rule]:
    """The rules whose lines begin at some offsets, by offset and in that order."""
    starts = dict.fromkeys(starts)
    numbers = numbers_at(body, starts)
    return {start: _rule_at(start, numbers[start], body, edition) for start in starts}


def _rule_at(start: int, number: int, body: bytes, edition: Edition) -> Rule:
    text = text_at(body, start)
    name, value = split_line(text, edition) or (b"", b"")
    kind: Kind = "allow" if meaning(name, edition) == "allow" else "disallow"
    return Rule(kind, decode(value), number, decode(text))
