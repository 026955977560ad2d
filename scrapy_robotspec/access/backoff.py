"""Pauses between attempts while an origin is unreachable (FET-11, FET-19).

An origin that answers (5xx, or another status by policy) keeps its requests waiting for
``hold_timeout`` after the first failure. One that gives no HTTP answer, or 408, 425 or 429, gets
``retry_times`` further attempts. After that the origin is *given up*: its requests are refused, and
it is probed every ``retry_max_delay``, or as rarely as its Retry-After demands.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrapy_robotspec.access.freshness import retry_after
from scrapy_robotspec.editions import DAY

if TYPE_CHECKING:
    from scrapy_robotspec.access.outcome import FetchResult
    from scrapy_robotspec.access.record import RobotsRecord

#: Clocks of machines that share a store may differ by this (seconds).
SKEW = 60.0

#: Longest Retry-After that is obeyed, once the origin is given up (seconds; FET-11).
MAX_RETRY_AFTER = DAY

#: Part of a pause that jitter leaves.
_MIN_PAUSE = 0.5

#: A failure stays recent until its next attempt is overdue by this, at least (seconds).
_RECENT = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """Settings of waits and attempts; all times in seconds."""

    hold_timeout: float = 300.0
    """An origin that answers 5xx keeps its requests waiting for this time."""
    retry_times: int = 2
    """Further attempts for an origin that gives no HTTP answer, or a temporary status."""
    retry_delay: float = 1.0
    """First pause between attempts; the pause doubles with each failure."""
    retry_max_delay: float = 60.0
    """Longest pause that we choose ourselves, and the pause between probes."""

    def given_up(self, record: RobotsRecord) -> bool:
        """Whether the last failed attempt was the last that requests waited for.

        Judged by that attempt's time, not by now: the hold never ends without a last attempt.
        """
        assert record.failed_at is not None
        assert record.unreachable_since is not None
        if max(record.unanswered, record.temporary) > self.retry_times:
            return True
        if _never_answered(record):
            return False
        if record.failures > self._max_attempts:
            return True
        return record.failed_at >= record.unreachable_since + self.hold_timeout

    def may_ask_again(self, record: RobotsRecord | None, result: FetchResult, now: float) -> bool:
        """Whether requests wait for another attempt after a temporary status (FET-19)."""
        since = None if record is None else record.unreachable_since
        left = (now if since is None else since) + self.hold_timeout - now
        asked = 0 if record is None else record.temporary
        demanded = retry_after(result.headers, now) or 0.0
        return asked < self.retry_times and left > 0 and demanded <= left

    def next_attempt(self, record: RobotsRecord, result: FetchResult, jitter: float) -> float:
        """Time of the next attempt after the failed *result*.

        The pause doubles, and *jitter* in [0, 1) leaves out up to half of it; a longer Retry-After
        wins. While requests wait, the last attempt comes as the hold ends.
        """
        assert record.failed_at is not None
        assert record.unreachable_since is not None
        is_given_up = self.given_up(record)
        pause = self.retry_max_delay
        if not is_given_up:
            doubled = self.retry_delay * 2.0 ** min(record.failures - 1, 60)
            pause = min(doubled, pause) * (1 - jitter * (1 - _MIN_PAUSE))
        demanded = retry_after(result.headers, record.failed_at)
        if demanded is not None:
            longest = MAX_RETRY_AFTER if is_given_up else self._own_longest_pause
            pause = max(pause, min(demanded, longest))
        later = record.failed_at + pause
        if is_given_up or _never_answered(record):
            return later
        return min(later, record.unreachable_since + self.hold_timeout)

    def clock_was_put_back(self, record: RobotsRecord, now: float) -> bool:
        """Whether the times in *record* lie impossibly far ahead of *now*."""
        assert record.failed_at is not None
        assert record.next_attempt is not None
        longest = max(self._own_longest_pause, MAX_RETRY_AFTER)
        return record.failed_at > now + SKEW or record.next_attempt > now + longest + SKEW

    def recent_until(self, record: RobotsRecord) -> float:
        """Time until which the last failure says something about the origin.

        Later the next attempt is long overdue, as after a crawl that was stopped and resumed.
        """
        assert record.next_attempt is not None
        return record.next_attempt + max(self._own_longest_pause, _RECENT)

    @property
    def _max_attempts(self) -> float:
        """Failures that no hold has room for: an outage that restarts is not held again."""
        doublings = math.log2(max(1.0, self.retry_max_delay / self.retry_delay))
        return 3 + doublings + self.hold_timeout / (_MIN_PAUSE * self.retry_max_delay)

    @property
    def _own_longest_pause(self) -> float:
        """Longest pause between two attempts that no Retry-After demands (seconds)."""
        return max(self.hold_timeout, self.retry_max_delay)


def _never_answered(record: RobotsRecord) -> bool:
    """No failure so far was an HTTP answer: only the number of attempts counts."""
    return record.unanswered == record.failures
