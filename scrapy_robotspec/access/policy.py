"""AccessPolicy: what a record allows now, and how fetches change it.

Pure functions: the time is an argument, nothing is read and nothing is kept. ``outcome.py`` holds
the meaning of one response, ``outage.py`` that of many failures.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Literal

from scrapy_robotspec.access.outcome import (
    NO_POLICY,
    NOT_FROM_THE_SITE,
    SUCCESS,
    TEMPORARY,
    Meaning,
    StatusPolicy,
    challenge,
    doubt,
    is_temporary,
    lifetime,
    meaning,
    retry_after,
    status_meaning,
)
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.editions import DAY, HOUR, Edition

if TYPE_CHECKING:
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.outcome import FetchResult

#: Clocks of machines that share a store may differ by this (seconds).
SKEW = 60.0

#: Longest Retry-After that is obeyed, once the origin is given up (seconds; FET-11).
MAX_RETRY_AFTER = DAY

#: Part of a pause that jitter leaves.
_MIN_PAUSE = 0.5

#: A copy in use is refreshed from this part of its lifetime on.
REFRESH_FROM = 0.8

#: Max stored length of a Content-Type (characters).
_MAX_CONTENT_TYPE = 200


class Action(Enum):
    """The treatment of an origin's requests."""

    RULES = "rules"  #: the rules of the copy decide
    ALLOW = "allow"
    DISALLOW = "disallow"
    WAIT = "wait"  #: nothing is known yet, or a failure may pass soon
    REFUSE = "refuse"  #: unreachable for too long to wait


@dataclass(frozen=True, slots=True)
class Plan:
    """The treatment of an origin's requests, and the next fetch."""

    action: Action
    reason: str
    """``""`` (the rules decide, or a first answer is awaited), ``"unavailable"``,
    ``"unreachable"``, ``"limit_passed"`` or ``"policy"``."""
    ask: bool
    """An attempt is due; the caller starts one unless one is under way."""
    until: float
    """Make a new plan at this time (epoch seconds); inf: only an attempt changes anything."""


#: Nothing usable is known: one attempt has to end first (CAC-05).
ASK_FIRST = Plan(Action.WAIT, "", ask=True, until=math.inf)

#: Action and reason with a copy that may be used, by what the copy means.
_BY_COPY = {
    Meaning.RULES: (Action.RULES, ""),
    Meaning.ALLOW: (Action.ALLOW, "unavailable"),
    Meaning.DISALLOW: (Action.DISALLOW, "policy"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessPolicy:
    """Decides what a record is worth (:meth:`plan`) and how it changes (:meth:`apply`)."""

    edition: Edition
    """``stale_after``, ``unreachable_limit`` and what follows them are its fields."""
    ttl: float = DAY
    """Lifetime (seconds) of a response whose headers name none (CAC-01)."""
    min_ttl: float = 300.0
    max_ttl: float = DAY
    """Bounds of the lifetime that headers may name (seconds; CAC-03)."""
    doubtful_ttl: float = HOUR
    """Longest lifetime of the first doubtful response (seconds; FET-20)."""
    status_policy: StatusPolicy = field(default_factory=lambda: NO_POLICY)
    """Statuses with a meaning other than the edition's (FET-09)."""
    unreachable: Literal["wait", "allow"] = "wait"
    """Whether requests wait or go while the origin is closed (FET-10)."""

    hold_timeout: float = 300.0
    """An origin that answers 5xx keeps its requests waiting for this time."""
    retry_times: int = 2
    """Further attempts for an origin that gives no HTTP answer, or a temporary status."""
    retry_delay: float = 1.0
    """First pause between attempts; the pause doubles with each failure."""
    retry_max_delay: float = 60.0
    """Longest pause that we choose ourselves, and the pause between probes."""

    # --- what a record is worth

    def plan(self, record: RobotsRecord | None, now: float) -> Plan:
        """The plan for *record* at *now* (epoch seconds)."""
        if record is None:
            return ASK_FIRST
        copy = self._copy(record)
        if copy is not None and self._is_fresh(record, now):
            return self._with_fresh_copy(record, copy, now)
        return self._without_fresh_copy(record, copy, now)

    def _with_fresh_copy(self, record: RobotsRecord, copy: Meaning, now: float) -> Plan:
        """A fresh copy is used, whether refreshing it succeeds or fails."""
        assert record.fetched_at is not None
        expires = self._expires(record)
        refresh = record.fetched_at + REFRESH_FROM * (expires - record.fetched_at)
        if record.next_attempt is not None:  # refreshing has failed, and is paced
            refresh = max(refresh, record.next_attempt)
        ask = now >= refresh
        return Plan(*_BY_COPY[copy], ask, expires if ask else min(refresh, expires))

    def _without_fresh_copy(self, record: RobotsRecord, copy: Meaning | None, now: float) -> Plan:
        """Recent failures decide; without any, an attempt has to (CAC-05)."""
        retry_at = record.next_attempt
        if retry_at is None or self.clock_was_put_back(record, now):
            return ASK_FIRST
        overdue = self.recent_until(record)
        if now >= overdue:  # an old failure says nothing about today
            return ASK_FIRST
        ask = now >= retry_at
        return Plan(*self._in_outage(record, copy), ask, overdue if ask else retry_at)

    def _in_outage(self, record: RobotsRecord, copy: Meaning | None) -> tuple[Action, str]:
        """Action and reason while the origin is unreachable."""
        if copy is not None and record.temporary:  # FET-19
            return _BY_COPY[copy]
        from scrapy_robotspec.access.outage import Substitute, during_outage  # few origins fail

        substitute = during_outage(self.edition, record, has_copy=copy is not None)
        if substitute is Substitute.COPY:
            assert copy is not None
            return _BY_COPY[copy]
        if substitute is Substitute.UNRESTRICTED:
            return Action.ALLOW, "limit_passed"
        if self.unreachable == "allow":
            return Action.ALLOW, "unreachable"
        return (Action.REFUSE if self.given_up(record) else Action.WAIT), "unreachable"

    def _copy(self, record: RobotsRecord) -> Meaning | None:
        """The meaning of the last good answer to this process; None: there is none to rely on.

        Judged again, because a stored response may have been fetched under another edition or
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
        """When the copy expires; no later than our own settings could have set it."""
        assert record.fetched_at is not None
        assert record.expires_at is not None
        return min(record.expires_at, record.fetched_at + max(self.ttl, self.max_ttl))

    def _is_fresh(self, record: RobotsRecord, now: float) -> bool:
        """A copy from the future (a clock was put back) is not fresh."""
        assert record.fetched_at is not None
        return record.fetched_at - SKEW <= now < self._expires(record)

    # --- how a record changes

    def apply(
        self,
        record: RobotsRecord | None,
        origin: Origin,
        result: FetchResult,
        now: float,
        jitter: float,
    ) -> RobotsRecord:
        """*record* after the attempt that ended at *now* with *result*.

        *jitter* in [0, 1) spreads the retries.
        """
        found = meaning(result, self.edition, self.status_policy)
        temporary = is_temporary(result, self.status_policy) and challenge(result) is None
        if found is Meaning.UNREACHABLE or (temporary and self._asks_again(record, result, now)):
            held = record or RobotsRecord(origin)
            return self._failed(held, result, now, jitter, temporary=temporary)
        return self._answered(record, origin, result, found, now)

    def _asks_again(self, record: RobotsRecord | None, result: FetchResult, now: float) -> bool:
        """Whether a temporary status changes nothing but the time of the next attempt (FET-19)."""
        if record is not None and self._copy(record) is not None:
            return record.status not in TEMPORARY  # else it stood before, and stands again
        return self.unreachable == "wait" and self.may_ask_again(record, result, now)

    def _answered(
        self,
        held: RobotsRecord | None,
        origin: Origin,
        result: FetchResult,
        found: Meaning,
        now: float,
    ) -> RobotsRecord:
        """A new answer, which replaces all that was *held* before (CAC-06)."""
        fresh_for = lifetime(
            result.headers, now, ttl=self.ttl, min_ttl=self.min_ttl, max_ttl=self.max_ttl
        )
        doubtful = doubt(result, found)
        if doubtful is not None:
            fresh_for = min(fresh_for, self._doubtful_lifetime(held, result.status, doubtful))
        rules = found is Meaning.RULES
        return RobotsRecord(
            origin,
            meaning=found,
            status=result.status,
            body=result.body if rules else b"",
            truncated=rules and result.truncated,
            doubt=doubtful,
            hops=result.hops,
            redirect_error=result.redirect_error,
            fetched_at=now,
            expires_at=now + fresh_for,
            agent=result.agent if result.varies else None,
            content_type=result.headers.get("content-type", "")[:_MAX_CONTENT_TYPE],
        )

    def _doubtful_lifetime(
        self, held: RobotsRecord | None, status: int | None, doubtful: str
    ) -> float:
        """Longest lifetime of a doubtful response, doubled while the same comes again (FET-20)."""
        if held is None or (held.status, held.doubt) != (status, doubtful):
            return min(self.doubtful_ttl, self.ttl)
        assert held.fetched_at is not None
        assert held.expires_at is not None
        before = held.expires_at - held.fetched_at
        return min(max(self.doubtful_ttl, 2 * before), self.ttl)

    def _failed(
        self,
        record: RobotsRecord,
        result: FetchResult,
        now: float,
        jitter: float,
        *,
        temporary: bool,
    ) -> RobotsRecord:
        """The copy stays (CAC-02), the failure is counted; it has no lifetime (CAC-06)."""
        from scrapy_robotspec.access.outage import outage_start

        has_copy = self._copy(record) is not None
        ends_outage = has_copy and temporary != bool(record.temporary)  # FET-12
        if ends_outage or (record.local and not result.local):
            record = record.without_failures()
        asked = record.temporary + temporary
        if temporary and not self.may_ask_again(record, result, now):
            asked = max(asked, self.retry_times + 1)  # nothing waits for it any longer
        failed = replace(
            record,
            hops=result.hops if record.fetched_at is None else record.hops,
            unreachable_since=outage_start(record, now),
            failed_at=now,
            failures=record.failures + 1,
            unanswered=0 if result.answered else record.unanswered + 1,
            temporary=asked,
            failure=_in_words(result),
            failure_status=result.status,
            local=result.local and (record.local or not record.failures),
        )
        retry_at = self.next_attempt(failed, result, jitter)
        if temporary and has_copy and self.given_up(failed):
            retry_at = max(retry_at, now + min(self.doubtful_ttl, self.ttl))
        return replace(failed, next_attempt=retry_at)

    def page_answered(self, record: RobotsRecord, now: float) -> RobotsRecord:
        """*record* once a page of the origin has answered below 500 (FET-12).

        Returns the same object where that says nothing new.
        """
        since, noted = record.unreachable_since, record.pages_answered_at
        if since is None or (noted is not None and noted >= since):
            return record
        return replace(record, pages_answered_at=now)

    # --- pauses between attempts while an origin is unreachable (FET-11, FET-19)
    #
    # An origin that answers (5xx, or another status by policy) keeps its requests waiting for
    # ``hold_timeout`` after the first failure. One that gives no HTTP answer, or 408, 425 or 429,
    # gets ``retry_times`` further attempts. After that the origin is *given up*: its requests are
    # refused, and it is probed every ``retry_max_delay``, or as rarely as its Retry-After demands.

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
        return record.next_attempt + max(self._own_longest_pause, SKEW)

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


def _in_words(result: FetchResult) -> str:
    if result.error is not None:
        return result.error
    if result.status in NOT_FROM_THE_SITE:
        return f"HTTP status {result.status} from a proxy"
    if (named := challenge(result)) is not None:
        return f"HTTP status {result.status}, a challenge ({named})"
    if result.status in SUCCESS and not result.complete:
        return "incomplete response"
    if result.status in SUCCESS:
        return f"HTTP status {result.status}, unreachable by the status policy"
    return f"HTTP status {result.status}{' through a proxy' if result.local else ''}"
