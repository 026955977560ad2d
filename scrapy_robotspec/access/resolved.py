"""Resolved: what a record and its plan allow, until a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.access.policy import LIMIT_PASSED, SKEW, UNREACHABLE, Action, Plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt

#: The specifications' word for the response behind a plan.
_OUTCOMES = {
    Action.RULES: "successful",
    Action.ALLOW: "unavailable",
    Action.DISALLOW: "unavailable",
}


@dataclass(frozen=True, slots=True)
class Resolved:
    """An origin whose requests can be decided, until ``valid_until``.

    A crawl holds thousands, and makes many of them again for each round of requests.
    """

    origin: Origin
    shown_origin: str
    """``str(origin)``, which each page's request gets."""
    action: Action
    reason: str
    """As in :class:`~scrapy_robotspec.access.policy.Plan`."""
    robots: RobotsTxt | None
    """The rules; None unless they decide."""
    unreachable: bool
    """Whether the last attempt failed."""
    outcome: str | None
    """As in :class:`~scrapy_robotspec.access.decision.Decision`, like the next two."""
    status: int | None
    failure: str | None
    valid_from: float
    """Epoch seconds: a clock that is put back before this time makes the result invalid."""
    valid_until: float
    """Epoch seconds, exclusive."""
    record: RobotsRecord
    """The record that the plan was made for."""
    extensions: dict[Any, Any] | None = None
    """Cache for values derived from the rules, discarded with them. None where the file contains
    nothing but rules."""

    def decide(self, url: str, tokens: Sequence[str], now: float) -> Decision:
        """The decision about *url* at *now* (epoch seconds).

        A refusal where requests wait; callers that can wait check the action first.
        """
        # hot path
        record, fetched_at = self.record, self.record.fetched_at
        age = None
        if fetched_at is not None:
            age = now - fetched_at if now > fetched_at else 0.0
        if self.robots is None:
            verdict, allowed = None, self.action is Action.ALLOW
            reason = self.reason or "unreachable"
        else:
            verdict = self.robots.explain_served(url, tokens)
            allowed, reason = verdict.allowed, verdict.reason
        fields = (
            allowed,
            reason,
            verdict,
            self.outcome,
            self.status,
            age,
            record.hops,
            self.origin,
            self.failure,
            None,
            now,
        )
        return tuple.__new__(Decision, fields)  # as Decision(...), at half its cost


def resolve(record: RobotsRecord, plan: Plan, robots: RobotsTxt | None, now: float) -> Resolved:
    """Resolve *record* under *plan*; *robots*: its rules, where they decide."""
    has_other_lines = robots is not None and robots.file.may_have_others
    fails = record.failed_at is not None
    is_fresh = record.expires_at is not None and now < record.expires_at
    names_failure = fails and not is_fresh
    by_copy = plan.reason not in (UNREACHABLE, LIMIT_PASSED)
    return Resolved(
        record.origin,
        str(record.origin),
        plan.action,
        plan.reason,
        robots,
        fails,
        # As the plan reads the answer: the process that fetched it may have another policy.
        UNREACHABLE if names_failure else _OUTCOMES.get(plan.action),
        record.status if by_copy else record.failure_status,
        record.failure if names_failure else record.redirect_error,
        now - SKEW,
        plan.until,
        record,
        {} if has_other_lines else None,
    )
