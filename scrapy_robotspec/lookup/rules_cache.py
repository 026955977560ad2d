"""Resolved origins with their parsed rules, the least recently used out first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy_robotspec.access.backoff import SKEW
from scrapy_robotspec.access.decision import provenance
from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.lookup.results import Resolved
from scrapy_robotspec.protocol.groups import may_have_other_lines
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

if TYPE_CHECKING:
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.policy import Plan
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.editions import Edition

#: Size of the origins that are kept (bytes of their files, and ``_OVERHEAD`` for each). The rules
#: of a usual file take as much again as the file, those of the worst one 15 times as much.
MAX_BYTES = 2**25

#: Size of an origin besides its file (bytes).
_OVERHEAD = 1024


class RulesCache:
    """Keeps resolved origins of *max_bytes* in all; a dropped one is made again from its record.

    *max_size* is the parsing limit in bytes, None for the edition's.
    """

    def __init__(self, max_bytes: int = MAX_BYTES, max_size: int | None = None) -> None:
        self._max_bytes = max_bytes
        self._max_size = max_size
        self._bytes = 0
        self._resolved: dict[Origin, Resolved] = {}  # least recently used first

    def get(self, origin: Origin) -> Resolved | None:
        """What is kept of *origin*, valid or not."""
        return self._resolved.get(origin)

    def get_valid(self, origin: Origin, now: float) -> Resolved | None:
        """What is valid for *origin* at *now*, which becomes the most recently used."""
        # hot path
        resolved = self._resolved.get(origin)
        if resolved is None or not resolved.valid_from <= now < resolved.valid_until:
            return None
        del self._resolved[origin]
        self._resolved[resolved.origin] = resolved
        return resolved

    def put(self, resolved: Resolved) -> Resolved:
        """Keep *resolved*, and drop the least recently used for which there is no room."""
        self.discard(resolved.origin)
        self._resolved[resolved.origin] = resolved
        self._bytes += _size_of(resolved)
        while self._bytes > self._max_bytes and len(self._resolved) > 1:
            self.discard(next(iter(self._resolved)))
        return resolved

    def discard(self, origin: Origin) -> None:
        """Drop *origin*, if it is kept."""
        resolved = self._resolved.pop(origin, None)
        if resolved is not None:
            self._bytes -= _size_of(resolved)

    def make(self, record: RobotsRecord, plan: Plan, edition: Edition, now: float) -> Resolved:
        """*record* as *plan* uses it from *now* on. The rules of a file that is kept are reused."""
        robots = self.parse(record, edition) if plan.action is Action.RULES else None
        extensions: dict[Any, Any] | None = None
        if robots is not None and may_have_other_lines(robots.body):
            extensions = {}
        return Resolved(
            record.origin,
            plan.action,
            plan.reason,
            robots,
            record.unreachable_since is not None,
            provenance(record, plan, now),
            record.fetched_at,
            now - SKEW,
            plan.until,
            extensions,
        )

    def parse(self, record: RobotsRecord, edition: Edition) -> RobotsTxt:
        """The rules in *record*: those that are kept, if the file is the same."""
        rules = RobotsTxt.parse(record.body, edition, limit=self._max_size)
        kept = self._resolved.get(record.origin)
        held = None if kept is None else kept.robots
        if held is None or (held.body, held.truncated) != (rules.body, rules.truncated):
            return rules
        return held


def _size_of(resolved: Resolved) -> int:
    return _OVERHEAD + (0 if resolved.robots is None else len(resolved.robots.body))
