"""What follows for one request: the verdict of the rules, or the reason why they were not asked.

Only the last step of the road is here; it is the value that users see.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrapy_robotspec.access.outcome import Outcome, outcome_of
from scrapy_robotspec.access.plan import Stance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.outcome import Hop
    from scrapy_robotspec.access.plan import Plan
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
    from scrapy_robotspec.protocol.values import Verdict


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
    """The redirects on the way to the copy."""
    origin: Origin | None = None


def decide(
    record: RobotsRecord | None,
    plan: Plan,
    robots: RobotsTxt | None,
    url: str,
    tokens: Sequence[str],
    now: float,
) -> Decision:
    """The decision about *url* under *plan*; *robots* holds the rules where the plan wants them.

    A plan that waits or refuses yields a refusal: whoever can wait does so before asking here.
    """
    verdict: Verdict | None = None
    allowed, reason = plan.stance is Stance.ALLOW, plan.reason or Outcome.UNREACHABLE.value
    if plan.stance is Stance.RULES and robots is not None:
        verdict = robots.explain(url, tokens)
        allowed, reason = verdict.allowed, verdict.reason
    if record is None:
        return Decision(allowed, reason, verdict)
    outcome, status = _origin_of_plan(record, now)
    age = None if record.fetched_at is None else max(0.0, now - record.fetched_at)
    return Decision(allowed, reason, verdict, outcome, status, age, record.hops, record.origin)


def _origin_of_plan(record: RobotsRecord, now: float) -> tuple[str | None, int | None]:
    """Outcome and status that count: a failure's, unless a fresh copy makes it unimportant."""
    fresh = record.expires_at is not None and now < record.expires_at
    if record.unreachable_since is not None and not fresh:
        return Outcome.UNREACHABLE.value, record.failure_status
    if record.meaning is None:
        return None, None
    return outcome_of(record.meaning).value, record.status
