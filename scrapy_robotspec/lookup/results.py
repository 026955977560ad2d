"""Results of a lookup: resolved, pending, fetch done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.access.policy import Action

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy_robotspec.access.decision import Provenance
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.outcome import FetchResult
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt

#: The reason of a refusal where the policy gives none.
_UNREACHABLE = "unreachable"


class Resolved(NamedTuple):
    """An origin whose requests can be decided, until ``valid_until``.

    A crawl holds thousands, and makes many of them again for each round of requests.
    """

    origin: Origin
    action: Action
    reason: str
    """As in :class:`~scrapy_robotspec.access.policy.Plan`."""
    robots: RobotsTxt | None
    """The rules; None unless they decide."""
    unreachable: bool
    """Whether the last attempt failed."""
    provenance: Provenance
    fetched_at: float | None
    """When the copy was fetched (epoch seconds); None: no copy is held."""
    valid_from: float
    """Epoch seconds: a clock that is put back before this time makes the result invalid."""
    valid_until: float
    """Epoch seconds, exclusive."""
    extensions: dict[Any, Any] | None = None
    """Cache for values derived from the rules, discarded with them. None where the file contains
    nothing but rules."""
    record: RobotsRecord | None = None
    """The record that the plan was made for."""
    size: int = 0
    """Memory that it takes with its rules (bytes, estimated)."""

    def decide(self, url: str, tokens: Sequence[str], now: float) -> Decision:
        """The decision about *url* at *now* (epoch seconds).

        A refusal where requests wait; callers that can wait check the action first.
        """
        # hot path
        outcome, status, failure, hops = self.provenance
        fetched_at = self.fetched_at
        age = None if fetched_at is None else max(0.0, now - fetched_at)
        if self.robots is not None:
            verdict = self.robots.explain_served(url, tokens)
            allowed, reason = verdict.allowed, verdict.reason
            return Decision(
                allowed,
                reason,
                verdict,
                outcome,
                status,
                age,
                hops,
                self.origin,
                failure,
                None,
                now,
            )
        allowed, word = self.action is Action.ALLOW, self.reason or _UNREACHABLE
        return Decision(
            allowed, word, None, outcome, status, age, hops, self.origin, failure, None, now
        )


@dataclass(frozen=True, slots=True)
class Pending:
    """An origin that cannot be decided before ``until``."""

    origin: Origin
    until: float
    """Epoch seconds. inf: until the fetch in progress ends. A time that has passed: no slot was
    free for a fetch."""
    asked_before: bool = False
    """The origin was asked already, without an answer."""
    preempted: bool = False
    """Its fetch was cancelled in favour of another origin's."""


@dataclass(frozen=True, slots=True)
class FetchDone:
    """The end of a fetch or of a store lookup."""

    found: Resolved | Pending
    """The origin's state from now on."""
    record: RobotsRecord | None
    """The record behind it."""
    before: RobotsRecord | None
    """The record held when the fetch began."""
    result: FetchResult | None
    """The fetched response; None: preempted, or the shared store had a newer record."""
    seconds: float
    """Duration."""
    base: RobotsRecord | None = None
    """The record that the result was applied to."""
