"""The ladder of unreachability: what holds the longer robots.txt cannot be had (FET-10 to FET-13).

1. full disallow, until ``stale_after``;
2. then the last good copy; with none still full disallow (or, by edition, no restrictions);
3. past ``unreachable_limit`` what the edition's ``after_limit`` says.

The rung is judged at the *last failed attempt*, so nothing is allowed without having asked again,
and a clock that jumps climbs nothing by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy_robotspec.access.backoff import given_up
from scrapy_robotspec.access.plan import BY_COPY, Action, Standing
from scrapy_robotspec.editions import AfterLimit

if TYPE_CHECKING:
    from scrapy_robotspec.access.outcome import Meaning
    from scrapy_robotspec.access.policy import AccessPolicy
    from scrapy_robotspec.access.record import RobotsRecord

#: FET-12: nothing was to be had for longer than the edition cares.
LIMIT_PASSED = Standing(Action.ALLOW, "limit_passed")


def stand(policy: AccessPolicy, record: RobotsRecord, copy: Meaning | None) -> Standing:
    """How an origin that fails stands; *copy*: what its last good answer means."""
    assert record.failed_at is not None
    assert record.unreachable_since is not None
    edition, since, last = policy.edition, record.unreachable_since, record.failed_at
    stale_after = _or_edition(policy.stale_after, edition.stale_after)
    limit = _or_edition(policy.unreachable_limit, edition.unreachable_limit)
    if edition.limit_begins_stale:
        limit += stale_after
    if last > since + limit:
        return _after_limit(policy, record, copy)
    if copy is not None and last >= since + stale_after:
        return BY_COPY[copy]
    if copy is None and last >= since + edition.allow_without_copy_after:
        return LIMIT_PASSED
    return _closed(policy, record)


def _after_limit(policy: AccessPolicy, record: RobotsRecord, copy: Meaning | None) -> Standing:
    """FET-12."""
    if policy.edition.after_limit is AfterLimit.COPY_OR_ALLOW:
        return LIMIT_PASSED if copy is None else BY_COPY[copy]
    if record.pages_answered_at is not None:  # during this outage: an answer forgets it
        return LIMIT_PASSED
    return _closed(policy, record)


def _closed(policy: AccessPolicy, record: RobotsRecord) -> Standing:
    """Full disallow (FET-10): the requests wait as long as they are held."""
    if policy.unreachable == "allow":
        return Standing(Action.ALLOW, "unreachable")
    action = Action.REFUSE if given_up(policy, record) else Action.WAIT
    return Standing(action, "unreachable")


def _or_edition(setting: float | None, of_edition: float) -> float:
    return of_edition if setting is None else setting
