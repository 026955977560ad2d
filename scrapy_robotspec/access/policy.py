"""AccessPolicy: what a record allows now, and how fetches change it.

Pure functions: the time is an argument, nothing is read and nothing is kept. ``outcome.py`` holds
the meaning of one response.
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
    FetchResult,
    Meaning,
    StatusPolicy,
    challenge,
    doubt,
    is_temporary,
    meaning,
    retry_after,
    stated_lifetime,
    status_meaning,
)
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.editions import DAY, HOUR, AfterLimit, Edition

if TYPE_CHECKING:
    from scrapy_robotspec.access.origin import Origin

#: Clocks of machines that share a store may differ by this (seconds).
SKEW = 60.0

#: Two failures further apart (seconds) belong to two outages: only attempts witness one (FET-12).
MAX_GAP = DAY

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
_UNRESTRICTED = (Action.ALLOW, "limit_passed")


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
        return self._by_fresh_copy(record, copy, now) or self._by_failure(record, copy, now)

    def _by_fresh_copy(self, record: RobotsRecord, copy: Meaning | None, now: float) -> Plan | None:
        """A fresh copy is used, whether refreshing it succeeds or fails; None without one."""
        fetched_at, expires = record.fetched_at, record.expires_at
        if copy is None or fetched_at is None or expires is None:
            return None
        # Another crawl may have set a later time. One from the future: a clock was put back.
        expires = min(expires, fetched_at + max(self.ttl, self.max_ttl))
        if not fetched_at - SKEW <= now < expires:
            return None
        refresh = fetched_at + REFRESH_FROM * (expires - fetched_at)
        if record.next_attempt is not None:  # refreshing has failed, and is paced
            refresh = max(refresh, record.next_attempt)
        ask = now >= refresh
        return Plan(*_BY_COPY[copy], ask, expires if ask else min(refresh, expires))

    def _by_failure(self, record: RobotsRecord, copy: Meaning | None, now: float) -> Plan:
        """Recent failures decide; without any, an attempt has to (CAC-05)."""
        retry_at, failed_at = record.next_attempt, record.failed_at
        if retry_at is None or failed_at is None:
            return ASK_FIRST
        longest = max(self.hold_timeout, self.retry_max_delay)
        # Later the next attempt is long overdue, as after a crawl that was stopped and resumed.
        overdue = retry_at + max(longest, SKEW)
        was_put_back = now + SKEW < max(failed_at, retry_at - max(longest, MAX_RETRY_AFTER))
        if now >= overdue or was_put_back:  # such a failure says nothing about today
            return ASK_FIRST
        ask = now >= retry_at
        return Plan(*self._in_outage(record, copy), ask, overdue if ask else retry_at)

    # | the outage has lasted                       | a copy is held | no copy is held |
    # |---------------------------------------------|----------------|-----------------|
    # | less than `stale_after`                     | closed         |                 |
    # | `stale_after` or longer                     | copy           |                 |
    # | less than `allow_without_copy_after`        |                | closed          |
    # | `allow_without_copy_after` or longer        |                | unrestricted    |
    # | longer than the limit: `COPY_OR_ALLOW`      | copy           | unrestricted    |
    # | … `ALLOW_IF_PAGES_ANSWER`, and pages answer | unrestricted   | unrestricted    |
    # | … `ALLOW_IF_PAGES_ANSWER`, and none answers | closed         | closed          |

    def _in_outage(self, record: RobotsRecord, copy: Meaning | None) -> tuple[Action, str]:
        """Action and reason while the origin is unreachable (FET-10 to FET-13).

        The outage lasts from its first failure to its last one, not to now: nothing is allowed
        without another attempt, and a clock that jumps changes nothing by itself.
        """
        if copy is not None and record.temporary:  # FET-19
            return _BY_COPY[copy]
        assert record.failed_at is not None
        assert record.unreachable_since is not None
        edition, lasted = self.edition, record.failed_at - record.unreachable_since
        substitute = _UNRESTRICTED if copy is None else _BY_COPY[copy]
        closed_for = edition.allow_without_copy_after if copy is None else edition.stale_after
        begins = edition.stale_after if edition.limit_begins_stale else 0.0
        if lasted > begins + edition.unreachable_limit:
            closed_for = 0.0
            if edition.after_limit is AfterLimit.ALLOW_IF_PAGES_ANSWER:
                substitute = _UNRESTRICTED
                page = record.pages_answered_at
                if page is None or page < record.unreachable_since:
                    closed_for = math.inf
        if lasted >= closed_for and not record.local:  # else nothing is known of the origin itself
            return substitute
        if self.unreachable == "allow":
            return Action.ALLOW, "unreachable"
        return (Action.REFUSE if self._given_up(record) else Action.WAIT), "unreachable"

    def _copy(self, record: RobotsRecord) -> Meaning | None:
        """The meaning of the last good answer to this process; None: there is none to rely on.

        Judged again, because a stored response may have been fetched under another edition or
        another status policy.
        """
        status = record.status if record.redirect_error is None else 404
        own = status_meaning(status, self.edition, self.status_policy)
        lacks_body = own is Meaning.RULES and record.meaning is not Meaning.RULES
        if record.meaning is None or own is Meaning.UNREACHABLE or lacks_body:
            return None
        return own

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
        held = record or RobotsRecord(origin)
        found = meaning(result, self.edition, self.status_policy)
        temporary = is_temporary(result, self.status_policy)
        if found is Meaning.UNREACHABLE or (temporary and self._asks_again(held, result, now)):
            return self._failed(held, result, now, jitter, temporary=temporary)
        return self._answered(held, result, found, now)

    def _asks_again(self, record: RobotsRecord, result: FetchResult, now: float) -> bool:
        """Whether a temporary status changes nothing but the time of the next attempt (FET-19)."""
        if self._copy(record) is not None:
            return record.status not in TEMPORARY  # else it stood before, and stands again
        return self.unreachable == "wait" and self._may_ask_again(record, result, now)

    def _answered(
        self, held: RobotsRecord, result: FetchResult, found: Meaning, now: float
    ) -> RobotsRecord:
        """A new answer, which replaces all that was *held* before (CAC-06)."""
        stated = stated_lifetime(result.headers, now)
        fresh_for = self.ttl if stated is None else min(max(stated, self.min_ttl), self.max_ttl)
        doubtful = doubt(result, found)
        if doubtful is not None:
            fresh_for = min(fresh_for, self._doubtful_lifetime(held, result.status, doubtful))
        rules = found is Meaning.RULES
        return RobotsRecord(
            held.origin,
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

    def _doubtful_lifetime(self, held: RobotsRecord, status: int | None, doubtful: str) -> float:
        """Longest lifetime of a doubtful response, doubled while the same comes again (FET-20)."""
        is_same = (held.status, held.doubt) == (status, doubtful)
        doubled = 2 * (held.lifetime or 0.0) if is_same else 0.0
        return min(max(self.doubtful_ttl, doubled), self.ttl)

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
        has_copy = self._copy(record) is not None
        ends_outage = has_copy and temporary != bool(record.temporary)  # FET-12
        if ends_outage or (record.local and not result.local):
            record = replace(record, unreachable_since=None, failures=0, unanswered=0, temporary=0)
        asked = record.temporary + temporary
        if temporary and not self._may_ask_again(record, result, now):
            asked = max(asked, self.retry_times + 1)  # nothing waits for it any longer
        failed = replace(
            record,
            hops=result.hops if record.fetched_at is None else record.hops,
            unreachable_since=_outage_start(record, now),
            failed_at=now,
            failures=record.failures + 1,
            unanswered=0 if result.answered else record.unanswered + 1,
            temporary=asked,
            failure=_in_words(result),
            failure_status=result.status,
            local=result.local and (record.local or not record.failures),
        )
        retry_at = self._next_attempt(failed, result, now, jitter)
        if temporary and has_copy and self._given_up(failed):
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

    def _given_up(self, record: RobotsRecord) -> bool:
        """Whether the last failed attempt was the last that requests waited for.

        Judged by that attempt's time, not by now: the hold never ends without a last attempt.
        """
        assert record.failed_at is not None
        assert record.unreachable_since is not None
        if max(record.unanswered, record.temporary) > self.retry_times:
            return True
        has_answered = record.unanswered < record.failures  # else the number of attempts counts
        return has_answered and record.failed_at >= record.unreachable_since + self.hold_timeout

    def _may_ask_again(self, record: RobotsRecord, result: FetchResult, now: float) -> bool:
        """Whether requests wait for another attempt after a temporary status (FET-19)."""
        since = now if record.unreachable_since is None else record.unreachable_since
        left = since + self.hold_timeout - now
        demanded = retry_after(result.headers, now)
        return record.temporary < self.retry_times and 0 < left >= demanded

    def _next_attempt(
        self, record: RobotsRecord, result: FetchResult, now: float, jitter: float
    ) -> float:
        """Time of the next attempt after the failed *result*.

        The pause doubles, and *jitter* in [0, 1) leaves out up to half of it; a longer Retry-After
        wins. While requests wait, the last attempt comes as the hold ends.
        """
        assert record.unreachable_since is not None
        demanded = retry_after(result.headers, now)
        if self._given_up(record):
            return now + max(self.retry_max_delay, min(demanded, MAX_RETRY_AFTER))
        doubled = self.retry_delay * 2.0 ** min(record.failures - 1, 60)
        pause = min(doubled, self.retry_max_delay) * (1 - jitter * (1 - _MIN_PAUSE))
        longest = max(self.hold_timeout, self.retry_max_delay)
        retry_at = now + max(pause, min(demanded, longest))
        if record.unanswered == record.failures:
            return retry_at
        return min(retry_at, record.unreachable_since + self.hold_timeout)


def _outage_start(record: RobotsRecord, now: float) -> float:
    """Start of the outage that a failure at *now* continues (FET-12).

    It restarts after a gap without attempts, or where a clock was put back: an outage may be
    counted too short, never too long.
    """
    since, failed_at = record.unreachable_since, record.failed_at
    if since is None or failed_at is None or not since <= now <= failed_at + MAX_GAP:
        return now
    return since


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
