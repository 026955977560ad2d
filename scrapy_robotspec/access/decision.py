"""What follows for one request: the verdict of the rules, or the reason why they were not asked.

Only the last step of the road is here: what a decision rests on, and the value that users see.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.access.outcome import Outcome
from scrapy_robotspec.access.plan import Action

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.outcome import Hop
    from scrapy_robotspec.access.plan import Standing
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.access.usage_policy import UsageRefusal
    from scrapy_robotspec.protocol.models import Verdict
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt

# Read once, because a function in Python reads the value of an enum's member.
_SUCCESSFUL = Outcome.SUCCESSFUL.value
_UNAVAILABLE = Outcome.UNAVAILABLE.value
_UNREACHABLE = Outcome.UNREACHABLE.value


class Decision(NamedTuple):
    """Whether a request may go, and all that led to it (EXT-02)."""

    allowed: bool
    """Whether it may go."""
    reason: str
    """The verdict's, or ``"unavailable"``, ``"unreachable"``, ``"limit_passed"``, ``"policy"``,
    ``"override"``, ``"usage"``."""
    verdict: Verdict | None = None
    """What the rules say; None where they were not asked."""
    outcome: str | None = None
    """``"successful"``, ``"unavailable"`` or ``"unreachable"``; None: never fetched."""
    status: int | None = None
    """HTTP status of the answer, or of the failure, that the outcome comes from."""
    age: float | None = None
    """Seconds since the copy held was fetched; None: there is none."""
    hops: tuple[Hop, ...] = ()
    """The redirects on the way to the copy; where there is none, those of the last attempt."""
    origin: Origin | None = None
    """The origin whose robots.txt governs the URL."""
    failure: str | None = None
    """Why there is no usable answer, in one short line; given with the outcome
    ``"unreachable"``."""
    usage: UsageRefusal | None = None
    """The declared use that is not allowed; given with the reason ``"usage"``."""


#: Outcome, status, failure and hops as in a Decision; when the copy was fetched (epoch seconds), if
#: there is one.
Facts = tuple[str | None, int | None, str | None, "tuple[Hop, ...]", float | None]


@dataclass(frozen=True, slots=True)
class Ground:
    """What every decision about an origin rests on, as long as its record stands as it does.

    A crawl holds thousands of them. So what is only passed on is one plain tuple: the garbage
    collector follows each field of an object in every pass, and of such a tuple none.
    """

    origin: Origin
    standing: Standing
    robots: RobotsTxt | None
    """The rules; None unless they decide."""
    unreachable: bool
    """Whether its origin has been unreachable since the last answer."""
    facts: Facts

    def decide(self, url: str, tokens: Sequence[str], now: float) -> Decision:
        """The decision about *url* at *now* (epoch seconds).

        Where requests wait or are refused it is a refusal: whoever can wait does so before asking.
        """
        outcome, status, failure, hops, fetched_at = self.facts
        age = None if fetched_at is None else max(0.0, now - fetched_at)
        verdict: Verdict | None = None
        reason: str
        if self.robots is not None:
            verdict = self.robots.explain(url, tokens)
            allowed, reason = verdict.allowed, verdict.reason
        else:
            action, reason = self.standing
            allowed, reason = action is Action.ALLOW, reason or _UNREACHABLE
        origin = self.origin
        return Decision(allowed, reason, verdict, outcome, status, age, hops, origin, failure)

    @property
    def fetched_at(self) -> float | None:
        """When the copy was fetched (epoch seconds); None: there is none."""
        return self.facts[4]


def facts(record: RobotsRecord, standing: Standing, now: float) -> Facts:
    """What is to be told of *record* with every decision, as its origin stands from *now* on."""
    outcome, status, failure = _what_counts(record, standing, now)
    return (outcome, status, failure, record.hops, record.fetched_at)


def _what_counts(
    record: RobotsRecord, standing: Standing, now: float
) -> tuple[str | None, int | None, str | None]:
    """Outcome, status and failure: a failure counts unless a fresh copy makes it unimportant."""
    fresh = record.expires_at is not None and now < record.expires_at
    if record.unreachable_since is not None and not fresh:
        return _UNREACHABLE, record.failure_status, record.failure
    # What the answer meant to us; who fetched it may have had another status policy.
    if standing.action is Action.RULES:
        return _SUCCESSFUL, record.status, None
    answered = standing.action in (Action.ALLOW, Action.DISALLOW)
    return (_UNAVAILABLE if answered else None), record.status, None
