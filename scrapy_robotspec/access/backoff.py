"""Pauses between attempts while an origin is unreachable (FET-11).

An origin that answers (5xx, or 429 by policy) keeps its requests waiting for ``hold_timeout`` after
the first failure. One that gives no HTTP answer gets ``retry_times`` further attempts: dead hosts
are common. After that the origin is *given up*: its requests are refused, and it is probed every
``retry_max_delay``, or as rarely as its Retry-After demands.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from scrapy_robotspec.access.freshness import retry_after
from scrapy_robotspec.editions import DAY

if TYPE_CHECKING:
    from scrapy_robotspec.access.outcome import FetchResult
    from scrapy_robotspec.access.policy_settings import PolicySettings
    from scrapy_robotspec.access.record import RobotsRecord

#: Clocks of machines that share a store may differ by this (seconds).
SKEW = 60.0

#: Longest Retry-After that is obeyed, once the origin is given up (seconds; FET-11).
MAX_RETRY_AFTER = DAY

#: Part of a pause that jitter leaves.
_MIN_PAUSE = 0.5

#: A failure stays recent until its next attempt is overdue by this, at least (seconds).
_RECENT = 60.0


def given_up(settings: PolicySettings, record: RobotsRecord) -> bool:
    """Whether the last failed attempt was the last that requests waited for.

    Judged by that attempt's time, not by now: the hold never ends without a last attempt.
    """
    assert record.failed_at is not None
    assert record.unreachable_since is not None
    if record.unanswered > settings.retry_times:
        return True
    if _never_answered(record):
        return False
    if record.failures > _max_attempts(settings):
        return True
    return record.failed_at >= record.unreachable_since + settings.hold_timeout


def _max_attempts(settings: PolicySettings) -> float:
    """More failures than a hold has room for.

    Where a clock is put back repeatedly, each time the outage restarts, and only the
    number of failures ends the wait.
    """
    doublings = math.log2(max(1.0, settings.retry_max_delay / settings.retry_delay))
    return 3 + doublings + settings.hold_timeout / (_MIN_PAUSE * settings.retry_max_delay)


def next_attempt(
    settings: PolicySettings, record: RobotsRecord, result: FetchResult, jitter: float
) -> float:
    """Time of the next attempt after the failed *result*.

    The pause doubles, and *jitter* in [0, 1) leaves out up to half of it; a longer Retry-After
    wins. While requests wait, the last attempt comes as the hold ends.
    """
    assert record.failed_at is not None
    assert record.unreachable_since is not None
    is_given_up = given_up(settings, record)
    pause = settings.retry_max_delay
    if not is_given_up:
        doubled = settings.retry_delay * 2.0 ** min(record.failures - 1, 60)
        pause = min(doubled, pause) * (1 - jitter * (1 - _MIN_PAUSE))
    demanded = retry_after(result.headers, record.failed_at)
    if demanded is not None:
        longest = MAX_RETRY_AFTER if is_given_up else _own_longest_pause(settings)
        pause = max(pause, min(demanded, longest))
    later = record.failed_at + pause
    if is_given_up or _never_answered(record):
        return later
    return min(later, record.unreachable_since + settings.hold_timeout)


def clock_was_put_back(settings: PolicySettings, record: RobotsRecord, now: float) -> bool:
    """Whether the times in *record* lie impossibly far ahead of *now*."""
    assert record.failed_at is not None
    assert record.next_attempt is not None
    longest = max(_own_longest_pause(settings), MAX_RETRY_AFTER)
    return record.failed_at > now + SKEW or record.next_attempt > now + longest + SKEW


def recent_until(settings: PolicySettings, record: RobotsRecord) -> float:
    """Time until which the last failure says something about the origin.

    Later the next attempt is long overdue, as after a crawl that was stopped and resumed.
    """
    assert record.next_attempt is not None
    return record.next_attempt + max(_own_longest_pause(settings), _RECENT)


def _own_longest_pause(settings: PolicySettings) -> float:
    """Longest pause between two attempts that no Retry-After demands (seconds)."""
    return max(settings.hold_timeout, settings.retry_max_delay)


def _never_answered(record: RobotsRecord) -> bool:
    """No failure so far was an HTTP answer: only the number of attempts counts."""
    return record.unanswered == record.failures
