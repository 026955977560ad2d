"""The rules that hold while robots.txt is unreachable (FET-10 to FET-13).

The outage lasts from its first failure to its last one, not to now: nothing is allowed without
another attempt, and a clock that jumps changes nothing by itself.

| the outage has lasted                       | a copy is held | no copy is held |
|---------------------------------------------|----------------|-----------------|
| less than `stale_after`                     | closed         |                 |
| `stale_after` or longer                     | copy           |                 |
| less than `allow_without_copy_after`        |                | closed          |
| `allow_without_copy_after` or longer        |                | unrestricted    |
| longer than the limit: `COPY_OR_ALLOW`      | copy           | unrestricted    |
| … `ALLOW_IF_PAGES_ANSWER`, and pages answer | unrestricted   | unrestricted    |
| … `ALLOW_IF_PAGES_ANSWER`, and none answers | closed         | closed          |
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from scrapy_robotspec.editions import DAY, AfterLimit

if TYPE_CHECKING:
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.editions import Edition

#: Two failures further apart (seconds) belong to two outages: only attempts witness one (FET-12).
MAX_GAP = DAY


class Substitute(Enum):
    """The substitute for the file during an outage."""

    CLOSED = "closed"  #: full disallow
    COPY = "copy"  #: the last good copy
    UNRESTRICTED = "unrestricted"  #: no restrictions


def during_outage(edition: Edition, record: RobotsRecord, *, has_copy: bool) -> Substitute:
    """The substitute during the outage in *record*.

    *has_copy*: the last good answer means something under *edition*.
    """
    assert record.failed_at is not None
    assert record.unreachable_since is not None
    if record.local:  # nothing is known of the origin itself
        return Substitute.CLOSED
    lasted = record.failed_at - record.unreachable_since
    substitute = Substitute.COPY if has_copy else Substitute.UNRESTRICTED
    if lasted > _limit(edition):
        if edition.after_limit is AfterLimit.COPY_OR_ALLOW:
            return substitute
        return Substitute.UNRESTRICTED if _pages_answer(record) else Substitute.CLOSED
    closed_for = edition.stale_after if has_copy else edition.allow_without_copy_after
    return substitute if lasted >= closed_for else Substitute.CLOSED


def outage_start(record: RobotsRecord | None, now: float) -> float:
    """Start of the outage that a failure at *now* continues (FET-12).

    It restarts after a gap without attempts, or where a clock was put back: an outage may be
    counted too short, never too long.
    """
    if record is None or record.unreachable_since is None or record.failed_at is None:
        return now
    witnessed = record.unreachable_since <= now <= record.failed_at + MAX_GAP
    return record.unreachable_since if witnessed else now


def _pages_answer(record: RobotsRecord) -> bool:
    """Whether a page of the origin has answered during this outage."""
    page, since = record.pages_answered_at, record.unreachable_since
    return page is not None and since is not None and page >= since


def _limit(edition: Edition) -> float:
    """Seconds from the first failure to the edition's limit (FET-12)."""
    begins = edition.stale_after if edition.limit_begins_stale else 0.0
    return begins + edition.unreachable_limit
