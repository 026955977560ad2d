"""The account of a crawl: one outcome for each request, counted.

Log, stats, report, JSON and evidence are views of these counts; ``reasons.py`` contains the words.
A retry and a redirect are requests of their own. Requests for a robots.txt, probes, questions of a
spider and the further requests of a browser's page are not part of the account.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from scrapy_robotspec.protocol.file_kind import has_rules

if TYPE_CHECKING:
    from scrapy_robotspec.access.outcome import Meaning
    from scrapy_robotspec.access.record import RobotsRecord


class Group(Enum):
    """The outcomes that a reader adds up first."""

    LET_THROUGH = "let_through"
    REFUSED = "refused"
    NOT_CHECKED = "not_checked"
    NO_ROBOTS_TXT = "no_robots_txt"


class RequestOutcome(NamedTuple):
    """A row of the table of outcomes."""

    name: str
    """Its name in stats, JSON and evidence."""
    group: Group
    reasons: tuple[str, ...]
    """The reasons of a :class:`~scrapy_robotspec.access.decision.Decision` with this outcome."""


#: ``request.meta["dont_obey_robotstxt"]``; also the reason of such a request in the evidence.
EXEMPT = "dont_obey_robotstxt"
#: A URL that no robots.txt governs (LOC-11, LOC-12).
NO_ROBOTS_TXT = "no_robots_txt"

#: Every outcome, in the order of all views.
OUTCOMES = (
    RequestOutcome(
        "rules", Group.LET_THROUGH, ("rule", "no_rule", "no_group", "robots_txt_itself")
    ),
    RequestOutcome("unavailable", Group.LET_THROUGH, ("unavailable",)),
    RequestOutcome("override", Group.LET_THROUGH, ("override",)),
    RequestOutcome("unreachable", Group.LET_THROUGH, ("unreachable", "limit_passed")),
    RequestOutcome(EXEMPT, Group.NOT_CHECKED, (EXEMPT,)),
    RequestOutcome(NO_ROBOTS_TXT, Group.NO_ROBOTS_TXT, ()),
    RequestOutcome("refused_rule", Group.REFUSED, ("rule",)),
    RequestOutcome("refused_policy", Group.REFUSED, ("policy",)),
    RequestOutcome("refused_override", Group.REFUSED, ("override",)),
    RequestOutcome("refused_usage", Group.REFUSED, ("usage",)),
    RequestOutcome("refused_unreachable", Group.REFUSED, ("unreachable",)),
)

#: The outcome by the reason of a decision that allows or refuses.
_ALLOWED, _REFUSED = (
    {
        reason: row.name
        for row in OUTCOMES
        if (row.group is Group.REFUSED) is refuses
        for reason in row.reasons
    }
    for refuses in (False, True)
)


def outcome_of(allowed: bool, reason: str) -> str:
    """The name of the outcome of a decision.

    Raises ``KeyError`` for an unknown reason.
    """
    return (_ALLOWED if allowed else _REFUSED)[reason]


@dataclass(slots=True)
class RequestCounts:
    """Requests by outcome, of a crawl or of one origin.

    Let through + not checked + :attr:`after_sending` is the number of pages that left, and of those
    :attr:`not_sent`.
    """

    by_outcome: Counter[str] = field(default_factory=Counter)
    sent: int = 0
    """Pages that left for a server."""
    after_sending: int = 0
    """Pages that left before their request was refused, by a final URL or a usage header."""

    def add(self, outcome: str) -> None:
        """A request has been decided about."""
        self.by_outcome[outcome] += 1

    def undo(self, outcome: str, *, sent: bool = False) -> None:
        """Take a request out, which goes back or is decided again.

        *sent*: it is refused, and its page has left.
        """
        self.by_outcome[outcome] -= 1
        self.after_sending += sent

    def include(self, other: RequestCounts) -> None:
        """Add the requests of *other*."""
        self.by_outcome.update(other.by_outcome)
        self.sent += other.sent
        self.after_sending += other.after_sending

    def of(self, group: Group) -> int:
        """Number of requests of *group*."""
        return sum(self.by_outcome[row.name] for row in OUTCOMES if row.group is group)

    @property
    def not_sent(self) -> int:
        """Requests that may leave and did not.

        A cache answered, another middleware dropped them, or they still wait in a download slot.
        """
        may_leave = self.of(Group.LET_THROUGH) + self.of(Group.NOT_CHECKED)
        return may_leave + self.after_sending - self.sent

    def to_json(self) -> dict[str, int]:
        """All counts by name."""
        counts = {row.name: self.by_outcome[row.name] for row in OUTCOMES}
        return {**counts, "after_sending": self.after_sending, "not_sent": self.not_sent}


# --- origins

#: A file without a rule (FET-20).
NO_RULES = "no_rules"


def answer_of(record: RobotsRecord) -> str:
    """Result of the latest attempt: a meaning, or a doubt in words."""
    if record.meaning is None or has_failed(record):
        return "unreachable"
    return record.doubt_in_words or meaning_of(record, record.meaning)


def meaning_of(record: RobotsRecord, meaning: Meaning) -> str:
    """The value of *meaning*, which is that of the copy in *record*.

    A file may have no rules (FET-20).
    """
    return NO_RULES if meaning.value == "rules" and not has_rules(record.body) else meaning.value


def has_failed(record: RobotsRecord) -> bool:
    """Whether the latest attempt failed."""
    return record.fetched_at is None or (record.failed_at or 0.0) >= record.fetched_at


class End(str, Enum):
    """How a wait for a robots.txt ended."""

    ANSWERED = "answered"
    GIVEN_UP = "given_up"
    COPY = "copy"
    """The origin is unreachable, and the last good copy decides."""


class WaitEnd(NamedTuple):
    """The end of a wait for a robots.txt."""

    end: End
    attempts: int
    """Attempts in the outage, the last one included."""
    failure: str | None
    """Cause of the last failure; None: there was none."""


def wait_end(before: RobotsRecord | None, record: RobotsRecord, reason: str) -> WaitEnd:
    """The end of a wait whose last attempt turned *before* into *record*.

    *reason*: that of the plan. A temporary status that stands is given up when it counts (FET-19).
    """
    if has_failed(record):
        is_given_up = reason in ("unreachable", "limit_passed")
        end = End.GIVEN_UP if is_given_up else End.COPY
        return WaitEnd(end, record.failures, record.failure)
    if before is None or not before.failures:
        return WaitEnd(End.ANSWERED, 1, None)
    stands = before.temporary and before.failure_status == record.status
    end = End.GIVEN_UP if stands else End.ANSWERED
    return WaitEnd(end, before.failures + 1, before.failure)
