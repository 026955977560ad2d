"""RulesCache: resolved origins with parsed rules, bounded by bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.access.resolved import Resolved, resolve
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.store.memory import GRANTED, OVERHEAD, SizedTable

if TYPE_CHECKING:
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.policy import Plan
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.editions import Edition

#: Memory for resolved origins (bytes, estimated).
MAX_BYTES = GRANTED

#: Estimated memory of a file and of all that follows from it (bytes): of its objects, of each line
#: and agent, of the first wildcard of a line; where it has other lines, of each line again and of
#: each that states preferences. The text of rules is counted besides. No file is known that takes
#: more.
_PER_FILE, _PER_LINE, _PER_AGENT, _PER_WILDCARD = 2100, 72, 340, 180
_PER_OTHER_LINE, _PER_STATEMENT = 20, 1000
#: Finds what gives a rule several patterns (PAT-07, PAT-12, PRE-05), and how many it has at most.
_find_spelled = re.compile(rb"'|%27|%(?![0-9a-f]{2})|/index\.htm").findall
_SPELLINGS = 5
#: Length of an escaped byte.
_ESCAPED = 3


@dataclass(frozen=True, slots=True)
class Pending:
    """An origin that cannot be decided before ``until``."""

    origin: Origin
    until: float
    """Epoch seconds. inf: until the fetch in progress ends. A time that has passed: no slot was
    free for a fetch."""
    preempted: bool = False
    """Its fetch was cancelled in favour of another origin's."""


class RulesCache(SizedTable[Resolved]):
    """Keeps resolved origins of about *max_bytes* in all.

    An evicted one is made again from its record. *parsing_limit* is in bytes, None for the
    edition's.
    """

    def __init__(self, max_bytes: int = MAX_BYTES, parsing_limit: int | None = None) -> None:
        super().__init__(_size_of, max_bytes)
        self._parsing_limit = parsing_limit

    def get_valid(self, origin: Origin, now: float) -> Resolved | None:
        """The resolved *origin*, if it is valid at *now*."""
        # hot path
        resolved = self.entries.get(origin)
        if resolved is None or not resolved.valid_from <= now < resolved.valid_until:
            return None
        return resolved

    def make(self, record: RobotsRecord, plan: Plan, edition: Edition, now: float) -> Resolved:
        """Resolve *record* under *plan*; an unchanged file is not parsed again."""
        robots = self.parse(record, edition) if plan.action is Action.RULES else None
        return resolve(record, plan, robots, now)

    def parse(self, record: RobotsRecord, edition: Edition) -> RobotsTxt:
        """The rules in *record*, from the cache if unchanged."""
        rules = RobotsTxt.parse(record.body, edition, limit=self._parsing_limit)
        kept = self.entries.get(record.origin)
        held = None if kept is None else kept.robots
        if held is None or (held.body, held.truncated) != (rules.body, rules.truncated):
            return rules
        return held


def _size_of(resolved: Resolved) -> int:
    """Estimated memory of *resolved*: no less than it takes after all questions of a crawl."""
    if resolved.robots is None:
        return OVERHEAD
    text = resolved.robots.body.lower()
    lines = text.count(b"\n") + text.count(b"\r") + 1
    spelled = len(_find_spelled(text))
    patterns = lines + spelled
    size = OVERHEAD + _PER_FILE + _PER_LINE * patterns + _PER_AGENT * text.count(b"agent")
    size += _PER_WILDCARD * min(text.count(b"*") + spelled, patterns)
    copies = min(1 + spelled, _SPELLINGS) * (1 if text.isascii() else _ESCAPED)
    size += (1 + copies) * len(text)
    if resolved.extensions is not None:
        statements = sum(map(text.count, (b"usage", b"signal")))
        size += _PER_OTHER_LINE * lines + _PER_STATEMENT * statements
    return size
