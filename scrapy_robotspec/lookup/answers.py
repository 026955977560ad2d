"""What the lookup answers, and the answers it keeps at hand with their parsed rules.

Nothing here asks, waits or decides. An answer that falls out is made again from its record.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.access.policy import Stance
from scrapy_robotspec.access.retrying import SKEW
from scrapy_robotspec.protocol.others import may_hold_others
from scrapy_robotspec.protocol.robotstxt import RobotsTxt

if TYPE_CHECKING:
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.plan import Plan, Standing
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.editions import Edition

#: Files that are kept compiled.
COMPILED = 2000
#: Octets of files that are kept compiled. The rules of the worst file take 15 times its octets.
COMPILED_OCTETS = 2**24


@dataclass(frozen=True, slots=True)
class Known:
    """An answer: how the origin stands by its record; ``robots`` holds the rules if they count."""

    origin: Origin
    record: RobotsRecord | None
    standing: Standing
    robots: RobotsTxt | None
    until: float
    """When it runs out (epoch seconds)."""
    made: float
    """When it was made; at an earlier time, of a clock that was put back, it says nothing."""
    aside: dict[Any, Any] | None = field(default=None, repr=False, compare=False)
    """For whoever answers with this object: what was worked out from its rules, gone with them.
    None where the file holds nothing but rules."""

    def holds_at(self, now: float) -> bool:
        """Whether it may be given at *now*."""
        return self.made - SKEW <= now < self.until


@dataclass(frozen=True, slots=True)
class Wait:
    """No answer before ``until`` (epoch seconds; ``inf``: before the flight under way has landed).

    A time that has come already means that no place was free to ask now. ``gave_way``: a fetch was
    called back for another's sake.
    """

    origin: Origin
    until: float
    record: RobotsRecord | None = None
    gave_way: bool = False

    @property
    def asked_before(self) -> bool:
        """Whether the origin was asked already and brought no answer in its time."""
        return self.gave_way or (self.record is not None and self.record.failures > 0)


class Answers:
    """The answers given last. ``most`` bounds their number and ``octets`` the size of their files.

    ``max_size`` is the parsing limit in octets, None for the edition's.
    """

    def __init__(self, most: int, octets: int, max_size: int | None) -> None:
        self._most = most
        self._most_octets = octets
        self._max_size = max_size
        self._octets = 0
        self._known: OrderedDict[Origin, Known] = OrderedDict()

    def get(self, origin: Origin) -> Known | None:
        """The answer at hand, whether or not it holds any more."""
        return self._known.get(origin)

    def give(self, origin: Origin, now: float) -> Known | None:
        """The answer that holds at *now*, if there is one; it falls out last from now on."""
        known = self._known.get(origin)
        if known is None or not known.holds_at(now):
            return None
        self._known.move_to_end(origin)
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

    def make(
        self, record: RobotsRecord | None, origin: Origin, plan: Plan, edition: Edition, now: float
    ) -> Known:
        """An answer from *record* as *plan* takes it; the same file is not parsed twice."""
        rules = None
        if record is not None and plan.stance is Stance.RULES:
            rules = self._held(record)
            rules = self.parse(record, edition) if rules is None else rules
        aside: dict[Any, Any] | None = None
        if rules is not None and may_hold_others(rules.body):
            aside = {}
        return Known(origin, record, plan.standing, rules, plan.until, now, aside)

    def parse(self, record: RobotsRecord, edition: Edition) -> RobotsTxt:
        """The rules in *record*."""
        return RobotsTxt.parse(record.body, edition, limit=self._max_size)

    def _held(self, record: RobotsRecord) -> RobotsTxt | None:
        before = self._known.get(record.origin)
        if before is None or before.record is None or before.record.body != record.body:
            return None
        return before.robots


def _octets_of(known: Known) -> int:
    return 0 if known.record is None else len(known.record.body)
