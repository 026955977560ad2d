"""RulesCache: resolved origins with parsed rules, bounded by bytes."""

from __future__ import annotations

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

#: Estimated memory of a file and of all that follows from it (bytes): of its objects, of each line,
#: agent and wildcard, of the first wildcard of a line; where it has other lines, of each line again
#: and of each that states preferences or a license. No file is known that takes more.
_PER_FILE, _PER_LINE, _PER_AGENT, _PER_WILDCARD, _PER_NEEDLE = 2400, 110, 190, 10, 290
_PER_OTHER_LINE, _PER_STATEMENT = 350, 900
#: The body, and the text of its rules, which takes more where it is escaped.
_PER_BYTE, _PER_ESCAPED_BYTE = 2, 5


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
    wildcards = text.count(b"*")
    size = OVERHEAD + _PER_FILE + _PER_LINE * lines + _PER_AGENT * text.count(b"agent")
    size += (_PER_BYTE if text.isascii() else _PER_ESCAPED_BYTE) * len(text)
    size += _PER_WILDCARD * wildcards + _PER_NEEDLE * min(wildcards, lines)
    if resolved.extensions is not None:
        statements = sum(map(text.count, (b"usage", b"signal", b"license")))
        size += _PER_OTHER_LINE * lines + _PER_STATEMENT * statements
    return size
