"""RulesCache: resolved origins with parsed rules, bounded by bytes."""

from __future__ import annotations

import random
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

#: Memory for resolved origins (bytes, estimated).
MAX_BYTES = 2**26

#: Estimated memory of an origin, of a file and its rules for each byte of the file, and of the
#: compiled rules for each wildcard (bytes).
PER_ORIGIN, _PER_BYTE, _PER_WILDCARD = 1024, 3, 64

#: Share of the origins that are evicted at once. Choosing them takes one pass over the table.
_EVICTED = 1 / 256


class RulesCache:
    """Keeps resolved origins of about *max_bytes* in all.

    To make room, origins chosen at random are evicted, and made again from their records. So
    a crawl that visits more origins in turn than fit finds most of them, where the least recently
    used one would always be the next one needed. *max_size* is the parsing limit in bytes, None for
    the edition's.
    """

    def __init__(self, max_bytes: int = MAX_BYTES, max_size: int | None = None) -> None:
        self._max_bytes = max_bytes
        self._max_size = max_size
        self._bytes = 0
        self._resolved: dict[Origin, Resolved] = {}
        self._random = random.Random(0)

    def get(self, origin: Origin) -> Resolved | None:
        """The resolved *origin*, valid or not."""
        return self._resolved.get(origin)

    def get_valid(self, origin: Origin, now: float) -> Resolved | None:
        """The resolved *origin*, if it is valid at *now*."""
        # hot path: without a call of is_valid()
        resolved = self._resolved.get(origin)
        if resolved is None or not resolved.valid_from <= now < resolved.valid_until:
            return None
        return resolved

    def put(self, resolved: Resolved) -> Resolved:
        """Keep *resolved*, and evict others if they take too much memory."""
        self.discard(resolved.origin)
        self._resolved[resolved.origin] = resolved
        self._bytes += resolved.size
        while self._bytes > self._max_bytes and len(self._resolved) > 1:
            self._evict(resolved.origin)
        return resolved

    def _evict(self, newest: Origin) -> None:
        number = 1 + int(len(self._resolved) * _EVICTED)
        for origin in self._random.sample(list(self._resolved), number):
            if origin != newest:
                self.discard(origin)

    def discard(self, origin: Origin) -> None:
        """Drop *origin*, if it is kept."""
        resolved = self._resolved.pop(origin, None)
        if resolved is not None:
            self._bytes -= resolved.size

    def make(self, record: RobotsRecord, plan: Plan, edition: Edition, now: float) -> Resolved:
        """Resolve *record* under *plan*; an unchanged file is not parsed again."""
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
            record,
            _size_of(robots),
        )

    def parse(self, record: RobotsRecord, edition: Edition) -> RobotsTxt:
        """The rules in *record*, from the cache if unchanged."""
        rules = RobotsTxt.parse(record.body, edition, limit=self._max_size)
        kept = self._resolved.get(record.origin)
        held = None if kept is None else kept.robots
        if held is None or (held.body, held.truncated) != (rules.body, rules.truncated):
            return rules
        return held


def _size_of(robots: RobotsTxt | None) -> int:
    if robots is None:
        return PER_ORIGIN
    body = robots.body
    return PER_ORIGIN + _PER_BYTE * len(body) + _PER_WILDCARD * body.count(b"*")
