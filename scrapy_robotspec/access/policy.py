"""What the record of an origin allows us to do now, and what an attempt does to the record.

The ladder of unreachability (FET-10 to FET-14) and the rules of freshness (CAC-*) belong here, as
pure functions: the time comes in, nothing is read, nothing is kept. What a single answer means is
``outcome.py``'s question.

**Where an origin stands changes with attempts, never with time alone.** Each stage of the ladder
is judged at the moment of the *last failed attempt* (``failed_at``), so no waiting request is
given up, and nothing is allowed, without having asked once more. It also means that a clock that
jumps decides nothing by itself: it only makes us ask.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from scrapy_robotspec.access.freshness import lifetime, retry_after
from scrapy_robotspec.access.outcome import Meaning, meaning, status_meaning
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.editions import DAY, HOUR, AfterLimit, Edition

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.outcome import Attempt


class Stance(Enum):
    """What to do with a request of the origin."""

    RULES = "rules"  #: the rules of the copy decide
    ALLOW = "allow"
    DISALLOW = "disallow"
    WAIT = "wait"  #: nothing is known yet, or a failure may pass soon
    REFUSE = "refuse"  #: unreachable for too long to wait


@dataclass(frozen=True, slots=True)
class Plan:
    """How the record is to be taken from now on."""

    stance: Stance
    reason: str
    """``""`` (the rules decide, or we wait for a first answer), ``"unavailable"``,
    ``"unreachable"``, ``"limit_passed"`` or ``"policy"``."""
    ask: bool
    """An attempt is due: the caller starts one unless one is under way."""
    until: float
    """Ask for a new plan at this time (epoch seconds); inf: only an attempt changes anything."""


#: How a copy is taken that may be relied on.
_COPY = {
    Meaning.RULES: (Stance.RULES, ""),
    Meaning.ALLOW: (Stance.ALLOW, "unavailable"),
    Meaning.DISALLOW: (Stance.DISALLOW, "policy"),
}

#: From this part of its lifetime on a copy is refreshed while it stays in use.
REFRESH_FROM = 0.8

#: Clocks of machines that share a store may differ by so much (seconds).
SKEW = 60.0

#: A failure whose next attempt is overdue by less is always recent (seconds).
_RECENT = 60.0

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
            return _ASK_FIRST
        copy = self._copy(record)
        if copy is not None and self._is_fresh(record, now):
            return self._with_fresh_copy(record, copy, now)
        if record.failed_at is None or not self._is_recent(record, now):
            return _ASK_FIRST  # CAC-05; and an old failure says nothing about today
        assert record.next_attempt is not None
        stance, reason = self._unreachable(record, copy)
        if now >= record.next_attempt or self._is_beyond(record.next_attempt, now):
            recent_until = record.next_attempt + max(self._longest_pause, _RECENT)
            return Plan(stance, reason, True, recent_until)
        return Plan(stance, reason, False, record.next_attempt)

    def _copy(self, record: RobotsRecord) -> Meaning | None:
        """What the last answer means to *us*; None: nothing to rely on.

        Judged anew, because a stored answer may have been fetched under another edition or
        status policy.
        """
        if record.meaning is None:
            return None
        own = status_meaning(record.status, record.ended, self.edition, self.status_policy)
        if own is Meaning.UNREACHABLE:
            return None
        if own is Meaning.RULES and record.meaning is not Meaning.RULES:
            return None  # its body was not kept
        return own

    def _with_fresh_copy(self, record: RobotsRecord, copy: Meaning, now: float) -> Plan:
        """A fresh copy is used whatever its refreshing comes to."""
        assert record.fetched_at is not None
        expires = self._expires(record)
        refresh = record.fetched_at + REFRESH_FROM * (expires - record.fetched_at)
        paced = record.next_attempt
        if paced is not None and not self._is_beyond(paced, now):
            refresh = max(refresh, paced)
        ask = now >= refresh
        return Plan(*_COPY[copy], ask, expires if ask else min(refresh, expires))

    def _expires(self, record: RobotsRecord) -> float:
        """When the copy runs out; no later than our own settings could have set it."""
        assert record.fetched_at is not None
        assert record.expires_at is not None
        return min(record.expires_at, record.fetched_at + max(self.ttl, self.max_ttl))

    def _is_fresh(self, record: RobotsRecord, now: float) -> bool:
        """A copy from the future (the clock was put back) is not fresh."""
        assert record.fetched_at is not None
        return record.fetched_at - SKEW <= now < self._expires(record)

    @property
    def _longest_pause(self) -> float:
        """No pause between attempts is longer."""
        return max(self.hold_timeout, self.retry_max_delay)

    def _is_beyond(self, time: float, now: float) -> bool:
        """*time* is further away than any pause of ours: it comes from a clock that jumped."""
        return time > now + self._longest_pause + SKEW

    def _is_recent(self, record: RobotsRecord, now: float) -> bool:
        """The failures go on: their next attempt is neither long overdue nor far away."""
        assert record.next_attempt is not None
        overdue = now >= record.next_attempt + max(self._longest_pause, _RECENT)
        return not overdue and not self._is_beyond(record.next_attempt, now)

    def _unreachable(self, record: RobotsRecord, copy: Meaning | None) -> tuple[Stance, str]:
        """The ladder: where the last failed attempt has left the origin."""
        assert record.failed_at is not None
        assert record.unreachable_since is not None
        edition, since, last = self.edition, record.unreachable_since, record.failed_at
        stale_after = edition.stale_after if self.stale_after is None else self.stale_after
        limit = (
            edition.unreachable_limit
            if self.unreachable_limit is None
            else (self.unreachable_limit)
        )
        if edition.limit_begins_stale:
            limit += stale_after
        if last > since + limit:
            return self._after_limit(record, copy)
        if last >= since + stale_after and copy is not None:
            return _COPY[copy]
        if last >= since + edition.allow_without_copy_after and copy is None:
            return Stance.ALLOW, "limit_passed"
        return self._closed(record)

    def _after_limit(self, record: RobotsRecord, copy: Meaning | None) -> tuple[Stance, str]:
        """FET-12."""
        if self.edition.after_limit is AfterLimit.ALLOW_IF_PAGES_ANSWER:
            assert record.unreachable_since is not None
            answered = record.pages_answered_at
            if answered is not None and answered >= record.unreachable_since:
                return Stance.ALLOW, "limit_passed"
            return self._closed(record)
        return (Stance.ALLOW, "limit_passed") if copy is None else _COPY[copy]

    def _closed(self, record: RobotsRecord) -> tuple[Stance, str]:
        """Full disallow (FET-10): the requests wait as long as the hold lasts."""
        if self.unreachable == "allow":
            return Stance.ALLOW, "unreachable"
        return (Stance.REFUSE if self._given_up(record) else Stance.WAIT), "unreachable"

    def _given_up(self, record: RobotsRecord) -> bool:
        assert record.failed_at is not None
        assert record.unreachable_since is not None
        if record.unanswered > self.retry_times:
            return True
        if record.unanswered == record.failures:  # never an HTTP answer: only attempts count
            return False
        return record.failed_at >= record.unreachable_since + self.hold_timeout

    # --- what happened

    def absorb(
        self,
        record: RobotsRecord | None,
        origin: Origin,
        attempt: Attempt,
        now: float,
        jitter: float,
    ) -> RobotsRecord:
        """*record* after *attempt* has ended at *now*; *jitter* in [0, 1) spreads the retries."""
        found = meaning(attempt, self.edition, self.status_policy)
        if found is Meaning.UNREACHABLE:
            return self._failed(record or RobotsRecord(origin), attempt, now, jitter)
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
            ended=attempt.ended,
            fetched_at=now,
            expires_at=now + fresh_for,
            content_type=attempt.headers.get("content-type", ""),
        )

    def _failed(
        self, record: RobotsRecord, attempt: Attempt, now: float, jitter: float
    ) -> RobotsRecord:
        """The copy stays (CAC-02), a failure is noted."""
        since = record.unreachable_since
        if since is None or since > now:  # the clock was put back: count anew, never less
            since = now
        failed = replace(
            record,
            unreachable_since=since,
            failed_at=now,
            failures=record.failures + 1,
            unanswered=record.unanswered + 1 if attempt.status is None else 0,
            failure=_in_words(attempt),
            failure_status=attempt.status,
        )
        return replace(failed, next_attempt=self._next_attempt(failed, attempt, now, jitter))

    def _next_attempt(
        self, record: RobotsRecord, attempt: Attempt, now: float, jitter: float
    ) -> float:
        """After a pause that doubles, or as Retry-After asks; while held, not after the hold."""
        doubled = self.retry_delay * 2.0 ** min(record.failures - 1, 60)
        pause = min(doubled, self.retry_max_delay) * (1 - jitter / 2)
        asked = retry_after(attempt.headers, now)
        if asked is not None:
            pause = max(pause, min(asked, self._longest_pause))
        if self._given_up(record) or record.unanswered == record.failures:
            return now + pause
        assert record.unreachable_since is not None
        return min(now + pause, record.unreachable_since + self.hold_timeout)

    def page_answered(self, record: RobotsRecord, now: float) -> RobotsRecord:
        """*record* once a page of the origin has answered below 500 (FET-12).

        The same object comes back where that says nothing new.
        """
        noted = record.pages_answered_at
        if record.unreachable_since is None or (noted is not None and 0 <= now - noted < _NOTED):
            return record
        return replace(record, pages_answered_at=now)


_ASK_FIRST = Plan(Stance.WAIT, "", True, math.inf)


def _in_words(attempt: Attempt) -> str:
    if attempt.error is not None:
        return attempt.error
    if not attempt.complete:
        return "the answer broke off"
    return f"HTTP status {attempt.status}"
