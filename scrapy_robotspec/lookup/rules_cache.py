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

#: Estimated memory of a file's object, of its rules for each byte of the file, and of the compiled
#: rules for each wildcard (bytes).
_PER_FILE, _PER_BYTE, _PER_WILDCARD = 128, 3, 64


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
    body = b"" if resolved.robots is None else resolved.robots.body
    return OVERHEAD + _PER_FILE + _PER_BYTE * len(body) + _PER_WILDCARD * body.count(b"*")
