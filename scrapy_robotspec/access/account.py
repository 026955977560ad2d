"""The account of a crawl: one outcome for each request, counted.

Log, stats, report, JSON and evidence are views of these counts; ``reasons.py`` contains the words.
A retry and a redirect are requests of their own. Requests for a robots.txt, probes, questions of a
spider and the further requests of a browser's page are not part of the account.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from scrapy_robotspec.access.outcome import Meaning
from scrapy_robotspec.access.reasons import (
    ANSWERS,
    ENDS,
    EXEMPT,
    NO_RULES,
    OUTCOMES,
    Group,
    failure_words,
)
from scrapy_robotspec.protocol.file_kind import has_rules

if TYPE_CHECKING:
    from scrapy_robotspec.access.record import RobotsRecord

#: Reason of a :class:`~scrapy_robotspec.access.decision.Decision` that allows -> its outcome.
_ALLOWED = {
    **dict.fromkeys(("rule", "no_rule", "no_group", "robots_txt_itself"), "rules"),
    **{name: name for name in ("unavailable", "override", "unreachable", EXEMPT)},
    "limit_passed": "unreachable",
}
_REFUSED = {
    name.removeprefix("refused_"): name
    for name, row in OUTCOMES.items()
    if row.group is Group.REFUSED
}


def outcome_of(allowed: bool, reason: str, doubt: object = None) -> str:
    """The name of the outcome of a decision.

    *doubt*: whether, or why, the response behind it is not a robots.txt file (FET-20). Raises
    ``KeyError`` for an unknown reason.
    """
    outcome = (_ALLOWED if allowed else _REFUSED)[reason]
    return "unavailable" if doubt and outcome == "rules" else outcome


#: Name of :attr:`RequestCounts.answered` in stats, JSON and evidence.
ANSWERED = "answered_by_middleware"


class PageCounter(Counter[str]):
    """Counter for each page: adding 1 costs a third.

    ``Counter`` has a deletion in Python, so Python makes each assignment a call, too.
    """

    __delitem__ = dict.__delitem__  # type: ignore[assignment]


@dataclass(slots=True)
class RequestCounts:
    """Requests by outcome, of a crawl or of one origin.

    Let through + not checked + :attr:`after_sending` is the number of pages that left, of those
    :attr:`answered`, and of those :attr:`not_sent`.
    """

    by_outcome: Counter[str] = field(default_factory=PageCounter)
    sent: int = 0
    """Pages that left for a server."""
    after_sending: int = 0
    """Pages that left before their request was refused, by a final URL or a usage header."""
    answered: int = 0
    """Pages of another middleware, which may have downloaded them: nothing was seen leaving."""

    def undo(self, outcome: str, *, sent: bool = False) -> None:
        """Take a request out, which goes back or is decided again.

        *sent*: it is refused, and its page has left.
        """
        self.by_outcome[outcome] -= 1
        self.after_sending += sent

    def include(self, other: RequestCounts) -> None:
        """Add the requests of *other*, which another thread may count meanwhile."""
        self.by_outcome.update(dict(other.by_outcome))
        self.sent += other.sent
        self.after_sending += other.after_sending
        self.answered += other.answered

    def in_group(self, group: Group) -> int:
        """Number of requests of *group*."""
        return sum(self.by_outcome[name] for name, row in OUTCOMES.items() if row.group is group)

    @property
    def not_sent(self) -> int:
        """Requests that may leave and did not.

        The HTTP cache answered, another middleware dropped them, or they still wait in a slot.
        """
        may_leave = self.in_group(Group.LET_THROUGH) + self.in_group(Group.NOT_CHECKED)
        return may_leave + self.after_sending - self.sent - self.answered

    def to_json(self) -> dict[str, int]:
        """All counts by name."""
        return {
            **{name: self.by_outcome[name] for name in OUTCOMES},
            "after_sending": self.after_sending,
            ANSWERED: self.answered,
            "not_sent": self.not_sent,
        }


# --- origins


def answer_in_words(record: RobotsRecord) -> str:
    """The result after the latest attempt: a meaning, or a doubt."""
    meaning = "unreachable" if record.is_unreachable else meaning_of(record)
    doubt = record.doubt_in_words if meaning not in ("unreachable", "disallow") else None
    if doubt is not None and meaning == Meaning.ALLOW.value:
        return f"{doubt} (all allowed)"
    return doubt or ANSWERS[meaning].short


def meaning_of(record: RobotsRecord) -> str:
    """The meaning of the copy; a file may have no rules (FET-20)."""
    meaning = "unreachable" if record.meaning is None else record.meaning.value
    return NO_RULES if meaning == "rules" and not has_rules(record.body) else meaning


@dataclass(frozen=True, slots=True)
class WaitEnd:
    """The end of a wait for a robots.txt."""

    end: Literal["answered", "given_up", "copy"]
    """``"copy"``: the origin is unreachable, and the last good copy decides."""
    attempts: int
    """Attempts in the outage, the last one included."""
    failure: str | None
    """Cause of the last failure; None: there was none."""

    @property
    def words(self) -> str:
        """``given up after 3 attempts (HTTP status 503)``; the failure is escaped."""
        words = ENDS[self.end]
        if self.attempts > 1 or self.end != "answered":
            words += f" after {self.attempts:,} attempt{'s' if self.attempts > 1 else ''}"
        if self.end == "answered" and self.failure is None:
            return words
        return f"{words} ({failure_words(self.failure)})"

    def result(self, record: RobotsRecord, *, allows: bool) -> str:
        """The consequence in words; *allows*: no rules apply."""
        if self.end == "copy":
            return "its last copy decides"
        if self.end == "answered":
            return answer_in_words(record)
        return "no restrictions" if allows else ANSWERS[meaning_of(record)].short


@dataclass(frozen=True, slots=True)
class Outlook:
    """The further attempts for an origin whose requests wait after a failure."""

    failure: str
    """Cause of the last failure, in printable ASCII."""
    next_attempt: float
    """Epoch seconds."""
    attempts_left: int | None
    """Attempts until it is given up; None: time decides."""
    ends: float
    """When it is given up where time decides (epoch seconds)."""

    def words(self, now: float) -> str:
        """``next attempt in 4.0 s, given up after 2 more attempts``."""
        until = f"in {max(0.0, self.ends - now):.0f} s"
        if (left := self.attempts_left) is not None:
            until = f"after {left} more attempt{'' if left == 1 else 's'}"
        return f"next attempt in {max(0.0, self.next_attempt - now):.1f} s, given up {until}"


def wait_end(before: RobotsRecord | None, record: RobotsRecord, reason: str) -> WaitEnd:
    """The end of a wait whose last attempt turned *before* into *record*.

    *reason*: that of the plan. A temporary status that stands is given up when it counts (FET-19).
    """
    if record.has_failed:
        is_given_up = reason in ("unreachable", "limit_passed")
        attempts = record.failures or 1 + (before.failures if before else 0)
        return WaitEnd("given_up" if is_given_up else "copy", attempts, record.failure)
    if before is None or not before.failures:
        return WaitEnd("answered", 1, None)
    stands = before.temporary and before.failure_status == record.status
    return WaitEnd("given_up" if stands else "answered", before.failures + 1, before.failure)
