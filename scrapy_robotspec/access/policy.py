"""What the record of an origin allows us to do now, and what an attempt does to the record.

Lifetimes (CAC-*) belong here, and the settings. What one answer means is in ``outcome.py``, what
failures come to in ``ladder.py``, how often to ask in ``retrying.py``. All are pure functions:
the time comes in, nothing is read, nothing is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from scrapy_robotspec.access.backoff import SKEW, is_beyond, next_attempt, recent_until
from scrapy_robotspec.access.freshness import lifetime
from scrapy_robotspec.access.outage import stand
from scrapy_robotspec.access.outcome import (
    NOT_FROM_THE_SITE,
    Meaning,
    meaning,
    status_meaning,
)
from scrapy_robotspec.access.plan import ASK_FIRST, BY_COPY, Action, Plan
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.editions import DAY, HOUR, Edition

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.outcome import FetchResult

__all__ = ["AccessPolicy", "Action", "Plan"]

#: From this part of its lifetime on a copy is refreshed while it stays in use.
REFRESH_FROM = 0.8

#: Of a Content-Type so much is kept (characters).
_LONGEST_TYPE = 200

#: A page that answered within this time need not be noted again (seconds).
_NOTED = HOUR


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessPolicy:
    """The settings that decide about access; all times in seconds."""

    edition: Edition
    ttl: float = DAY
    min_ttl: float = 300.0
    max_ttl: float = DAY
    status_policy: Mapping[int, Meaning] = field(default_factory=lambda: MappingProxyType({}))
    unreachable: Literal["wait", "allow"] = "wait"
    hold_timeout: float = 300.0
    retry_times: int = 2
    retry_delay: float = 1.0
    retry_max_delay: float = 60.0
    stale_after: float | None = None
    """None: the edition's (FET-13)."""
    unreachable_limit: float | None = None
    """None: the edition's (FET-12)."""

    # --- how to take a record

    def plan(self, record: RobotsRecord | None, now: float) -> Plan:
        """What *record* allows at *now*."""
        if record is None:
            return ASK_FIRST
        copy = self._copy(record)
        if copy is not None and self._is_fresh(record, now):
            return self._with_fresh_copy(record, copy, now)
        return self._without(record, copy, now)

    def _with_fresh_copy(self, record: RobotsRecord, copy: Meaning, now: float) -> Plan:
        """A fresh copy is used whatever its refreshing comes to."""
        assert record.fetched_at is not None
        expires = self._expires(record)
        refresh = record.fetched_at + REFRESH_FROM * (expires - record.fetched_at)
        if record.next_attempt is not None:  # refreshing has failed, and is paced
            refresh = max(refresh, record.next_attempt)
        ask = now >= refresh
        return Plan(BY_COPY[copy], ask, expires if ask else min(refresh, expires))

    def _without(self, record: RobotsRecord, copy: Meaning | None, now: float) -> Plan:
        """No fresh copy: recent failures decide, else an attempt has to."""
        again = record.next_attempt
        if again is None or is_beyond(self, again, now) or now >= recent_until(self, record):
            return ASK_FIRST  # CAC-05; and an old failure says nothing about today
        standing = stand(self, record, copy)
        ask = now >= again
        return Plan(standing, ask, recent_until(self, record) if ask else again)

    def _copy(self, record: RobotsRecord) -> Meaning | None:
        """What the last good answer means to *us*; None: there is nothing to rely on.

        Judged anew, because a stored answer may have been fetched under another edition or
        another status policy.
        """
        if record.meaning is None:
            return None
        own = status_meaning(record.status, record.redirect_error, self.edition, self.status_policy)
        if own is Meaning.UNREACHABLE:
            return None
        if own is Meaning.RULES and record.meaning is not Meaning.RULES:
            return None  # its body was not kept
        return own

    def _expires(self, record: RobotsRecord) -> float:
        """When the copy runs out; no later than our own settings could have set it."""
        assert record.fetched_at is not None
        assert record.expires_at is not None
        return min(record.expires_at, record.fetched_at + max(self.ttl, self.max_ttl))

    def _is_fresh(self, record: RobotsRecord, now: float) -> bool:
        """A copy from the future (a clock was put back) is not fresh."""
        assert record.fetched_at is not None
        return record.fetched_at - SKEW <= now < self._expires(record)

    # --- what happened

    def apply(
        self,
        record: RobotsRecord | None,
        origin: Origin,
        attempt: FetchResult,
        now: float,
        jitter: float,
    ) -> RobotsRecord:
        """*record* after *attempt* has ended at *now*; *jitter* in [0, 1) spreads the retries."""
        found = meaning(attempt, self.edition, self.status_policy)
        if found is Meaning.UNREACHABLE:
            return self._failed(record or RobotsRecord(origin), attempt, now, jitter)
        return self._answered(origin, attempt, found, now)

    def _answered(
        self, origin: Origin, attempt: FetchResult, found: Meaning, now: float
    ) -> RobotsRecord:
        """A result, of which nothing older is left (CAC-06)."""
        fresh_for = lifetime(
            attempt.headers, now, ttl=self.ttl, min_ttl=self.min_ttl, max_ttl=self.max_ttl
        )
        rules = found is Meaning.RULES
        return RobotsRecord(
            origin,
            meaning=found,
            status=attempt.status,
            body=attempt.body if rules else b"",
            truncated=rules and attempt.truncated,
            hops=attempt.hops,
            redirect_error=attempt.redirect_error,
            fetched_at=now,
            expires_at=now + fresh_for,
            content_type=attempt.headers.get("content-type", "")[:_LONGEST_TYPE],
        )

    def _failed(
        self, record: RobotsRecord, attempt: FetchResult, now: float, jitter: float
    ) -> RobotsRecord:
        """The copy stays (CAC-02), the failure is noted; it has no lifetime (CAC-06)."""
        since = record.unreachable_since
        if since is None or since > now:  # a clock was put back: count anew, never too much
            since = now
        failed = replace(
            record,
            hops=attempt.hops if record.fetched_at is None else record.hops,
            unreachable_since=since,
            failed_at=now,
            failures=record.failures + 1,
            unanswered=0 if attempt.answered else record.unanswered + 1,
            failure=_in_words(attempt),
            failure_status=attempt.status,
        )
        return replace(failed, next_attempt=next_attempt(self, failed, attempt, jitter))

    def page_answered(self, record: RobotsRecord, now: float) -> RobotsRecord:
        """*record* once a page of the origin has answered below 500 (FET-12).

        The same object comes back where that says nothing new.
        """
        noted = record.pages_answered_at
        if record.unreachable_since is None or (noted is not None and 0 <= now - noted < _NOTED):
            return record
        return replace(record, pages_answered_at=now)


def _in_words(attempt: FetchResult) -> str:
    if attempt.error is not None:
        return attempt.error
    if attempt.status in NOT_FROM_THE_SITE:
        return f"HTTP status {attempt.status} from a proxy"
    if attempt.status is not None and attempt.status < 300:
        return "incomplete response"
    return f"HTTP status {attempt.status}"
