"""What the lookup answers, and the answers it keeps at hand with their parsed rules.

Nothing here asks, waits or decides. An answer that falls out is made again from its record.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.access.decision import Ground, facts
from scrapy_robotspec.access.policy import Stance
from scrapy_robotspec.access.retrying import SKEW
from scrapy_robotspec.protocol.others import may_hold_others
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

if TYPE_CHECKING:
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.plan import Plan
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.editions import Edition

#: Files that are kept compiled.
COMPILED = 2000
#: Octets of files that are kept compiled. The rules of the worst file take 15 times its octets.
COMPILED_OCTETS = 2**24


@dataclass(frozen=True, slots=True)
class Known(Ground):
    """An answer: what decisions about its origin rest on, and for how long."""

    span: tuple[float, float]
    """From when until when it may be given (epoch seconds). A clock that was put back before it was
    made makes it say nothing."""
    aside: dict[Any, Any] | None = field(default=None, repr=False, compare=False)
    """For whoever answers with this object: what was worked out from its rules, gone with them.
    None where the file holds nothing but rules."""

    def holds_at(self, now: float) -> bool:
        """Whether it may be given at *now*."""
        begins, ends = self.span
        return begins <= now < ends


@dataclass(frozen=True, slots=True)
class Wait:
    """No answer before ``until`` (epoch seconds; ``inf``: before the flight under way has landed).

    A time that has come already means that no place was free to ask now. ``asked_before``: the
    origin was asked already and brought no answer in its time. ``gave_way``: a fetch was called
    back for another's sake.
    """

    origin: Origin
    until: float
    asked_before: bool = False
    gave_way: bool = False


@dataclass(frozen=True, slots=True)
class Landing:
    """The end of a flight."""

    found: Known | Wait
    """What is answered from now on."""
    record: RobotsRecord | None
    """What that rests on."""
    before: RobotsRecord | None
    """What was held when the flight began."""
    seconds: float
    """How long it took."""


class Answers:
    """The answers given last. ``most`` bounds their number and ``octets`` the size of their files.

    ``max_size`` is the parsing limit in octets, None for the edition's.
    """

    def __init__(self, most: int, octets: int, max_size: int | None) -> None:
        self._most = most
        self._most_octets = octets
        self._max_size = max_size
        self._octets = 0
        self._known: dict[Origin, Known] = {}  # the one given last at the end

    def get(self, origin: Origin) -> Known | None:
        """The answer at hand, whether or not it holds any more."""
        return self._known.get(origin)

    def give(self, origin: Origin, now: float) -> Known | None:
        """The answer that holds at *now*, if there is one; it falls out last from now on."""
        known = self._known.get(origin)
        if known is None:
            return None
        begins, ends = known.span
        if not begins <= now < ends:  # holds_at(), without a call on the way of every request
            return None
        del self._known[origin]
        self._known[known.origin] = known
        return known

    def keep(self, known: Known) -> Known:
        """Have *known* at hand, and no more of them than are allowed."""
        self.forget(known.origin)
        self._known[known.origin] = known
        self._octets += _octets_of(known)
        while len(self._known) > self._most or self._octets > self._most_octets:
            if len(self._known) == 1:
                break
            self.forget(next(iter(self._known)))
        return known

    def forget(self, origin: Origin) -> None:
        known = self._known.pop(origin, None)
        if known is not None:
            self._octets -= _octets_of(known)

    def make(self, record: RobotsRecord, plan: Plan, edition: Edition, now: float) -> Known:
        """An answer from *record* as *plan* takes it; the same file is not compiled twice."""
        robots = self._rules(record, edition) if plan.stance is Stance.RULES else None
        aside: dict[Any, Any] | None = None
        if robots is not None and may_hold_others(robots.body):
            aside = {}
        failed = record.unreachable_since is not None
        told = facts(record, plan.standing, now)
        span = (now - SKEW, plan.until)
        return Known(record.origin, plan.standing, robots, failed, told, span, aside)

    def parse(self, record: RobotsRecord, edition: Edition) -> RobotsTxt:
        """The rules in *record*."""
        return RobotsTxt.parse(record.body, edition, limit=self._max_size)

    def _rules(self, record: RobotsRecord, edition: Edition) -> RobotsTxt:
        rules = self.parse(record, edition)
        before = self._known.get(record.origin)
        held = before.robots if before is not None else None
        if held is None or (held.body, held.truncated) != (rules.body, rules.truncated):
            return rules
        return held


def _octets_of(known: Known) -> int:
    return 0 if known.robots is None else len(known.robots.body)
