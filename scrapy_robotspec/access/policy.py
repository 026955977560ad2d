"""AccessPolicy: what a record allows now, and how fetches change it.

Pure functions: the time is an argument, nothing is read and nothing is kept. ``outcome.py`` holds
the meaning of one response. An origin is in one of these states:

    UNKNOWN   nothing usable is known: requests wait for one attempt
    FRESH     the copy decides
    AGAIN     a temporary status is asked again (FET-19): a copy that was fresh at the first one
              decides, else requests wait
    STANDS    a temporary status stands: the copy decides, expired or not
    OUTAGE    server errors: closed, then by the copy or without restrictions (FET-12, FET-13)

    event                                        UNKNOWN  FRESH    AGAIN    STANDS   OUTAGE
    ---------------------------------------------------------------------------------------
    a result                                     FRESH    FRESH    FRESH    FRESH    FRESH
    a server error, or no answer                 OUTAGE   OUTAGE*  OUTAGE   OUTAGE   OUTAGE
    a temporary status that does not stand yet   AGAIN    AGAIN*   AGAIN    -        OUTAGE
    one that stands: it means a server error     OUTAGE   OUTAGE*  OUTAGE   OUTAGE   OUTAGE
        it means anything else, and a copy is    STANDS   STANDS   STANDS   STANDS   STANDS
        held; or none is                         FRESH    FRESH    FRESH    -        FRESH
    the copy expires                             -        UNKNOWN  -        -        -
    the next attempt is long overdue             -        -        UNKNOWN  UNKNOWN  UNKNOWN

    * the failure is noted, and the copy decides until it expires.

An outage has counted nothing after a gap without attempts (FET-12), in STANDS, and as the origin
itself fails for the first time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal

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
from scrapy_robotspec.access.reasons import IMPOSSIBLE_HOST
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.editions import DAY, HOUR, AfterLimit, Edition

if TYPE_CHECKING:
    from scrapy_robotspec.access.origin import Origin

#: Clocks of machines that share a store may differ by this (seconds).
SKEW = 60.0

#: Two failures further apart (seconds) belong to two outages: only attempts witness one (FET-12).
MAX_GAP = 2 * DAY

#: A page that answered this long ago (seconds) shows that the origin's pages answer (FET-12), and
#: after how long another one is noted: a note on every page would be a write on every page.
PAGE_COUNTS, PAGE_NOTED = DAY, 60.0

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
#: Reasons of plans by which no copy decides.
UNREACHABLE, LIMIT_PASSED = "unreachable", "limit_passed"
_UNRESTRICTED = (Action.ALLOW, LIMIT_PASSED)
#: The counts of an outage that has ended.
_ENDED: dict[str, Any] = {
    **dict.fromkeys(("failures", "unanswered", "temporary"), 0),
    **dict.fromkeys(("unreachable_since", "temporary_since")),
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
        return self._by_fresh_copy(record, copy, now) or self._by_failure(record, copy, now)

    def _by_fresh_copy(self, record: RobotsRecord, copy: Meaning | None, now: float) -> Plan | None:
        """A fresh copy is used, whether refreshing it succeeds or fails; None without one."""
        fetched_at, expires = record.fetched_at, record.expires_at
        if copy is None or fetched_at is None or expires is None:
            return None
        # Another crawl may have set a later time. One from the future: a clock was put back.
        demanded = MAX_RETRY_AFTER if record.status in TEMPORARY else 0.0
        expires = min(expires, fetched_at + max(self.ttl, self.max_ttl, demanded))
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
        ask, until = now >= retry_at, overdue if now >= retry_at else retry_at
        if (page := record.pages_answered_at) is not None and now < page + PAGE_COUNTS:
            until = min(until, page + PAGE_COUNTS)
        if copy is not None and self._is_in_use(record):
            return Plan(*_BY_COPY[copy], ask, until)
        if record.unreachable_since is None:  # STANDS, and nothing to us
            return ASK_FIRST
        return Plan(*self._in_outage(record, copy, now), ask, until)

    def _is_in_use(self, record: RobotsRecord) -> bool:
        """Whether temporary statuses leave the copy in use, expired or not (FET-19)."""
        since, expires = record.unreachable_since, record.expires_at
        if since is None or record.temporary > self.retry_times:
            found = status_meaning(record.failure_status, self.edition, self.status_policy)
            return found is not Meaning.UNREACHABLE
        return self._is_asked_again(record) and expires is not None and since < expires

    def _is_asked_again(self, record: RobotsRecord) -> bool:
        """Whether all that failed is temporary, and does not stand yet (FET-19)."""
        return record.failures == record.temporary <= self.retry_times

    # | the outage has lasted                       | a copy is held | no copy is held |
    # |---------------------------------------------|----------------|-----------------|
    # | less than `stale_after`                     | closed         |                 |
    # | `stale_after` or longer                     | copy           |                 |
    # | less than `allow_without_copy_after`        |                | closed          |
    # | `allow_without_copy_after` or longer        |                | unrestricted    |
    # | longer than the limit: `COPY_OR_ALLOW`      | copy           | unrestricted    |
    # | … `ALLOW_IF_PAGES_ANSWER`, and pages answer | unrestricted   | unrestricted    |
    # | … `ALLOW_IF_PAGES_ANSWER`, and none answers | closed         | closed          |

    def _in_outage(
        self, record: RobotsRecord, copy: Meaning | None, now: float
    ) -> tuple[Action, str]:
        """Action and reason while the origin is unreachable (FET-10 to FET-13).

        The outage lasts from its first failure to its last one, not to now: nothing is allowed
        without another attempt, and a clock that jumps changes nothing by itself.
        """
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
                if page is None or now >= page + PAGE_COUNTS:
                    closed_for = math.inf
        # Failures on our side, and temporary statuses, open nothing.
        if lasted >= closed_for and not (record.local or self._is_asked_again(record)):
            return substitute
        if self.unreachable == "allow":
            return Action.ALLOW, UNREACHABLE
        return (Action.REFUSE if self._given_up(record) else Action.WAIT), UNREACHABLE

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
        demanded = min(retry_after(result.headers, now), MAX_RETRY_AFTER)
        temporary = is_temporary(result, self.status_policy)
        if found is not Meaning.UNREACHABLE and not temporary:
            return self._answered(held, result, found, now, demanded)
        failed = _failed(held, result, now, temporary=temporary)
        if result.error == IMPOSSIBLE_HOST:
            failed = replace(failed, unanswered=max(failed.unanswered, self.retry_times + 1))
        if temporary and self._stands(held, failed, now, demanded):
            if found is not Meaning.UNREACHABLE:
                if self._copy(held) is None or held.status in TEMPORARY:
                    return self._answered(held, result, found, now, demanded)
                pause = max(demanded, min(self.doubtful_ttl, self.ttl, DAY), self.retry_max_delay)
                return replace(failed, **_ENDED, next_attempt=now + pause)
            failed = replace(failed, temporary=max(failed.temporary, self.retry_times + 1))
        return replace(failed, next_attempt=self._next_attempt(failed, now, demanded, jitter))

    def _stands(
        self, held: RobotsRecord, failed: RobotsRecord, now: float, demanded: float
    ) -> bool:
        """Whether nothing waits for another attempt after a temporary status (FET-19).

        *held* becomes *failed*. One that stood before stands again.
        """
        assert failed.temporary_since is not None
        left = failed.temporary_since + self.hold_timeout - now
        stood = held.unreachable_since is None and (held.failure_status or held.status) in TEMPORARY
        is_last = failed.temporary > self.retry_times or not 0 < left >= demanded
        return stood or is_last or self.unreachable == "allow"

    def _answered(
        self,
        held: RobotsRecord,
        result: FetchResult,
        found: Meaning,
        now: float,
        demanded: float,
    ) -> RobotsRecord:
        """A new answer, which replaces all that was *held* before (CAC-06).

        *demanded*: its Retry-After (seconds), which counts after a temporary status (FET-19).
        """
        stated = stated_lifetime(result.headers, now)
        fresh_for = self.ttl if stated is None else min(max(stated, self.min_ttl), self.max_ttl)
        doubtful = doubt(result, found)
        if doubtful is not None:
            fresh_for = min(fresh_for, self._doubtful_lifetime(held, result.status, doubtful))
        if result.counted_status not in TEMPORARY:
            demanded = 0.0
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
            expires_at=now + max(fresh_for, demanded),
            next_attempt=now + demanded if demanded else None,
            agent=result.agent if result.varies else None,
            content_type=result.headers.get("content-type", "")[:_MAX_CONTENT_TYPE],
        )

    def _doubtful_lifetime(self, held: RobotsRecord, status: int | None, doubtful: str) -> float:
        """Longest lifetime of a doubtful response, doubled while the same comes again (FET-20)."""
        is_same = (held.status, held.doubt) == (status, doubtful) and status not in TEMPORARY
        doubled = 2 * (held.lifetime or 0.0) if is_same else 0.0
        return min(max(self.doubtful_ttl, doubled), self.ttl)

    def page_answered(self, record: RobotsRecord, now: float) -> RobotsRecord:
        """*record* once a page of the origin has answered below 500 (FET-12).

        Returns the same object where that says nothing new.
        """
        noted = record.pages_answered_at
        is_new = noted is None or not noted <= now < noted + PAGE_NOTED
        if record.unreachable_since is None or not is_new:
            return record
        return replace(record, pages_answered_at=now)

    # --- pauses between attempts while an origin is unreachable (FET-11, FET-19)
    #
    # An origin that answers (5xx, or another status by policy) keeps its requests waiting for
    # ``hold_timeout`` after the first failure. One that gives no HTTP answer gets ``retry_times``
    # further attempts; a temporary status gets both. After that the origin is *given up*: its
    # requests are refused, and it is probed every ``retry_max_delay``, or as rarely as its
    # Retry-After demands.

    def _given_up(self, record: RobotsRecord) -> bool:
        """Whether the last failed attempt was the last that requests waited for.

        Judged by that attempt's time, not by now: the hold never ends without a last attempt.
        """
        assert record.failed_at is not None
        assert record.unreachable_since is not None
        if max(record.unanswered, record.temporary) > self.retry_times:
            return True
        has_answered = record.unanswered < record.failures  # else the number of attempts counts
        ends = record.unreachable_since + self.hold_timeout
        # A Retry-After goes beyond the hold only where a copy was in use: nothing waits for it.
        is_over = record.failed_at >= ends or (record.next_attempt or 0.0) > ends
        return has_answered and is_over

    def _next_attempt(
        self, record: RobotsRecord, now: float, demanded: float, jitter: float
    ) -> float:
        """Time of the next attempt after one that failed; *demanded* by its Retry-After.

        The pause doubles, and *jitter* in [0, 1) leaves out up to half of it; a longer Retry-After
        wins. While requests wait, the last attempt comes as the hold ends.
        """
        assert record.unreachable_since is not None
        doubled = min(self.retry_delay * 2.0 ** min(record.failures - 1, 60), self.retry_max_delay)
        pause = doubled * (1 - jitter * (1 - _MIN_PAUSE))
        if self._given_up(record):
            pause = self.retry_max_delay
        if self.plan(record, now).action is not Action.WAIT:
            return now + max(pause, demanded)
        retry_at = now + max(pause, min(demanded, max(self.hold_timeout, self.retry_max_delay)))
        if record.unanswered == record.failures:
            return retry_at
        return min(retry_at, record.unreachable_since + self.hold_timeout)


def _failed(
    held: RobotsRecord, result: FetchResult, now: float, *, temporary: bool
) -> RobotsRecord:
    """The copy stays (CAC-02), the failure is counted; it has no lifetime (CAC-06)."""
    if _begins_anew(held, now) or (held.local and not result.local):
        held = replace(held, **(_ENDED | {"unreachable_since": now, "local": True}))
    row = now
    if held.temporary:  # an earlier release noted no beginning
        row = held.temporary_since or held.unreachable_since or now
    return replace(
        held,
        hops=result.hops if held.fetched_at is None else held.hops,
        failed_at=now,
        failures=held.failures + 1,
        unanswered=0 if result.answered else held.unanswered + 1,
        temporary=held.temporary + 1 if temporary else 0,
        temporary_since=row if temporary else None,
        failure=_in_words(result),
        failure_status=result.status,
        local=result.local and held.local,
        next_attempt=now,
    )


def _begins_anew(record: RobotsRecord, now: float) -> bool:
    """Whether a failure at *now* begins an outage (FET-12).

    One restarts after a gap without attempts, or where a clock was put back: it may be counted too
    short, never too long.
    """
    since, failed_at = record.unreachable_since, record.failed_at
    return since is None or failed_at is None or not since <= now <= failed_at + MAX_GAP


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
