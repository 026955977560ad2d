"""What follows for one request: the verdict of the rules, or the reason why they were not asked.

Only the last step of the road is here; it is the value that users see.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrapy_robotspec.access.outcome import Outcome
from scrapy_robotspec.access.plan import Stance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.outcome import Hop
    from scrapy_robotspec.access.plan import Standing
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
    from scrapy_robotspec.protocol.values import Verdict


# Read once, because a function in Python reads the value of an enum's member.
_SUCCESSFUL = Outcome.SUCCESSFUL.value
_UNAVAILABLE = Outcome.UNAVAILABLE.value
_UNREACHABLE = Outcome.UNREACHABLE.value


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a request may go, and all that led to it (EXT-02)."""

    allowed: bool
    reason: str
    """The verdict's, or ``"unavailable"``, ``"unreachable"``, ``"limit_passed"``, ``"policy"``,
    ``"override"``."""
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
    failure: str | None = None
    """Why there is no usable answer, in one short line; given with the outcome
    ``"unreachable"``."""


def decide(
    record: RobotsRecord | None,
    standing: Standing,
    robots: RobotsTxt | None,
    url: str,
    tokens: Sequence[str],
    now: float,
) -> Decision:
    """The decision about *url* as its origin stands; *robots* holds the rules where they decide.

    Where requests wait or are refused it is a refusal: whoever can wait does so before asking.
    """
    verdict: Verdict | None = None
    allowed, reason = standing.stance is Stance.ALLOW, standing.reason or _UNREACHABLE
    if standing.stance is Stance.RULES and robots is not None:
        verdict = robots.explain(url, tokens)
        allowed, reason = verdict.allowed, verdict.reason
    if record is None:
        return Decision(allowed, reason, verdict)
    outcome, status, failure = _what_counts(record, standing, now)
    age = None if record.fetched_at is None else max(0.0, now - record.fetched_at)
    hops, origin = record.hops, record.origin
    return Decision(allowed, reason, verdict, outcome, status, age, hops, origin, failure)


def _what_counts(
    record: RobotsRecord, standing: Standing, now: float
) -> tuple[str | None, int | None, str | None]:
    """Outcome, status and failure: a failure counts unless a fresh copy makes it unimportant."""
    fresh = record.expires_at is not None and now < record.expires_at
    if record.unreachable_since is not None and not fresh:
        return _UNREACHABLE, record.failure_status, record.failure
    # What the answer meant to us; who fetched it may have had another status policy.
    if standing.stance is Stance.RULES:
        return _SUCCESSFUL, record.status, None
    answered = standing.stance in (Stance.ALLOW, Stance.DISALLOW)
    return (_UNAVAILABLE if answered else None), record.status, None
