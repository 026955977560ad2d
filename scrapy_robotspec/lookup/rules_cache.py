"""What the lookup answers, and the answers it keeps at hand with their parsed rules.

Nothing here asks, waits or decides. An answer that falls out is made again from its record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy_robotspec.access.backoff import SKEW
from scrapy_robotspec.access.decision import facts
from scrapy_robotspec.access.policy import Action
from scrapy_robotspec.lookup.results import Resolved
from scrapy_robotspec.protocol.groups import may_have_other_lines
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

if TYPE_CHECKING:
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.plan import Plan
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.editions import Edition

#: Files that are kept compiled.
COMPILED = 2000
#: Octets of files that are kept compiled. The rules of the worst file take 15 times its octets.
COMPILED_BYTES = 2**24


class RulesCache:
    """The answers given last. ``most`` bounds their number and ``octets`` the size of their files.

    ``max_size`` is the parsing limit in octets, None for the edition's.
    """

    def __init__(self, most: int, max_bytes: int, max_size: int | None) -> None:
        self._max_count = most
        self._max_bytes = max_bytes
        self._max_size = max_size
        self._bytes = 0
        self._resolved: dict[Origin, Resolved] = {}  # the one given last at the end

    def get(self, origin: Origin) -> Resolved | None:
        """The answer at hand, whether or not it holds any more."""
        return self._resolved.get(origin)

    def get_valid(self, origin: Origin, now: float) -> Resolved | None:
        """The answer that holds at *now*, if there is one; it falls out last from now on."""
        resolved = self._resolved.get(origin)
        if resolved is None:
            return None
        begins, ends = resolved.span
        if not begins <= now < ends:  # holds_at(), without a call on the way of every request
            return None
        del self._resolved[origin]
        self._resolved[resolved.origin] = resolved
        return resolved

    def put(self, resolved: Resolved) -> Resolved:
        """Have *known* at hand, and no more of them than are allowed."""
        self.discard(resolved.origin)
        self._resolved[resolved.origin] = resolved
        self._bytes += _bytes_of(resolved)
        while len(self._resolved) > self._max_count or self._bytes > self._max_bytes:
            if len(self._resolved) == 1:
                break
            self.discard(next(iter(self._resolved)))
        return resolved

    def discard(self, origin: Origin) -> None:
        resolved = self._resolved.pop(origin, None)
        if resolved is not None:
            self._bytes -= _bytes_of(resolved)

    def make(self, record: RobotsRecord, plan: Plan, edition: Edition, now: float) -> Resolved:
        """An answer from *record* as *plan* takes it; the same file is not compiled twice."""
        robots = self._rules(record, edition) if plan.action is Action.RULES else None
        extensions: dict[Any, Any] | None = None
        if robots is not None and may_have_other_lines(robots.body):
            extensions = {}
        failed = record.unreachable_since is not None
        told = facts(record, plan.standing, now)
        span = (now - SKEW, plan.until)
        return Resolved(record.origin, plan.standing, robots, failed, told, span, extensions)

    def parse(self, record: RobotsRecord, edition: Edition) -> RobotsTxt:
        """The rules in *record*."""
        return RobotsTxt.parse(record.body, edition, limit=self._max_size)

    def _rules(self, record: RobotsRecord, edition: Edition) -> RobotsTxt:
        rules = self.parse(record, edition)
        before = self._resolved.get(record.origin)
        held = before.robots if before is not None else None
        if held is None or (held.body, held.truncated) != (rules.body, rules.truncated):
            return rules
        return held


def _bytes_of(resolved: Resolved) -> int:
    return 0 if resolved.robots is None else len(resolved.robots.body)
