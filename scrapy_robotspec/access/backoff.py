"""The pace of attempts while an origin is unreachable, and how long its requests wait (FET-11).

Two clocks run: an origin that answers (5xx, or 429 by policy) holds its requests for
``hold_timeout`` after the first failure; one that gives no HTTP answer at all gets ``retry_times``
further attempts, because dead hosts are not worth minutes. Whoever used up theirs is *given up*:
refused, and probed once every ``retry_max_delay``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from scrapy_robotspec.access.freshness import retry_after

if TYPE_CHECKING:
    from scrapy_robotspec.access.outcome import FetchResult
    from scrapy_robotspec.access.policy import AccessPolicy
    from scrapy_robotspec.access.record import RobotsRecord

#: Clocks of machines that share a store may differ by so much (seconds).
SKEW = 60.0

#: Jitter takes at most the rest of a pause away.
_LEAST_PAUSE = 0.5

#: A failure is recent at least until its next attempt is overdue by so much (seconds).
_RECENT = 60.0


def given_up(policy: AccessPolicy, record: RobotsRecord) -> bool:
    """Whether the last failed attempt was the last that requests waited for.

    Judged by that attempt's time, not by now: the hold never ends without a last attempt.
    """
    assert record.failed_at is not None
    assert record.unreachable_since is not None
    if record.unanswered > policy.retry_times:
        return True
    if _never_answered(record):
        return False
    if record.failures > _most_attempts(policy):
        return True
    return record.failed_at >= record.unreachable_since + policy.hold_timeout


def _most_attempts(policy: AccessPolicy) -> float:
    """More failures than there is room for in the hold: the clock was put back again and again.

    Each time the outage seems to begin anew, and nothing but their number ends the wait.
    """
    doublings = math.log2(max(1.0, policy.retry_max_delay / policy.retry_delay))
    return 3 + doublings + policy.hold_timeout / (_LEAST_PAUSE * policy.retry_max_delay)


def next_attempt(
    policy: AccessPolicy, record: RobotsRecord, attempt: FetchResult, jitter: float
) -> float:
    """When to ask again after the failed *attempt* that *record* already counts.

    The pause doubles, up to half of it left out by *jitter*; a longer Retry-After wins. What is
    held is asked once more as the hold ends.
    """
    assert record.failed_at is not None
    assert record.unreachable_since is not None
    is_given_up = given_up(policy, record)
    if is_given_up:
        pause = policy.retry_max_delay
    else:
        doubled = policy.retry_delay * 2.0 ** min(record.failures - 1, 60)
        pause = min(doubled, policy.retry_max_delay) * (1 - jitter * (1 - _LEAST_PAUSE))
    asked = retry_after(attempt.headers, record.failed_at)
    if asked is not None:
        pause = max(pause, min(asked, longest_pause(policy)))
    later = record.failed_at + pause
    if is_given_up or _never_answered(record):
        return later
    return min(later, record.unreachable_since + policy.hold_timeout)


def longest_pause(policy: AccessPolicy) -> float:
    """No pause between two attempts is longer (seconds)."""
    return max(policy.hold_timeout, policy.retry_max_delay)


def is_beyond(policy: AccessPolicy, time: float, now: float) -> bool:
    """Whether *time* is further ahead than any pause of ours: a clock has been put back."""
    return time > now + longest_pause(policy) + SKEW


def recent_until(policy: AccessPolicy, record: RobotsRecord) -> float:
    """Until when the last failure says something about the origin.

    Later the next attempt is long overdue, as after a crawl that was stopped and taken up again.
    """
    assert record.next_attempt is not None
    return record.next_attempt + max(longest_pause(policy), _RECENT)


def _never_answered(record: RobotsRecord) -> bool:
    """No failure so far was an HTTP answer: only the number of attempts counts."""
    return record.unanswered == record.failures
