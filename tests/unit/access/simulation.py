"""A simulated crawl of one origin: no clock, no network, weeks in milliseconds.

The origin is a function from a time to the result of a fetch at that time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import FetchResult
from scrapy_robotspec.access.policy import AccessPolicy, Plan
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.editions import get_edition

MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0
START = 1_800_000_000.0
ORIGIN = Origin("http", "example.com", 80)

FILE = FetchResult(status=200, body=b"User-agent: *\nDisallow: /private\n")
MISSING = FetchResult(status=404, body=b"<html>not here</html>")
DOWN = FetchResult(status=503)
DEAD = FetchResult(error="DNS lookup failed")


def policy(edition: str | dict[str, object] = "google-2019", **settings: object) -> AccessPolicy:
    return AccessPolicy(edition=get_edition(edition), **settings)  # type: ignore[arg-type]


@dataclass
class Life:
    """Asks the policy as the lookup does: an attempt that is due ends at once."""

    policy: AccessPolicy
    answer: Callable[[float], FetchResult]
    record: RobotsRecord | None = None
    now: float = START
    jitter: float = 0.0
    attempts: list[float] = field(default_factory=list)

    @property
    def held(self) -> RobotsRecord:
        """The record, where there has to be one."""
        assert self.record is not None
        return self.record

    def ask(self) -> Plan:
        """A request comes by: fetch if the plan says so, and return the plan that then holds."""
        plan = self.policy.plan(self.record, self.now)
        if plan.ask:
            self.attempts.append(self.now)
            attempt = self.answer(self.now)
            self.record = self.policy.apply(self.record, ORIGIN, attempt, self.now, self.jitter)
            plan = self.policy.plan(self.record, self.now)
        return plan

    def live(self, seconds: float, every: float = MINUTE) -> list[tuple[float, str]]:
        """A request comes *every* few seconds: (seconds since START, action), changes only."""
        end = self.now + seconds
        stances: list[tuple[float, str]] = []
        while self.now < end:
            action = self.ask().action.value
            if not stances or stances[-1][1] != action:
                stances.append((self.now - START, action))
            self.now += every
        return stances
