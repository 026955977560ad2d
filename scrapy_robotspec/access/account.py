"""The account of a crawl: one outcome for each request, counted.

Log, stats, report, JSON and evidence are views of these counts; ``reasons.py`` contains the words.
A retry and a redirect are requests of their own. Requests for a robots.txt, probes, questions of a
spider and the further requests of a browser's page are not part of the account.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Group(Enum):
    """The outcomes that a reader adds up first."""

    LET_THROUGH = "let through"
    NOT_CHECKED = "not checked"
    NO_ROBOTS_TXT = "without a robots.txt"
    REFUSED = "refused"


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


class RequestCounts:
    """Requests by outcome, of a crawl or of one origin.

    ``let_through + not_checked + after_sending`` is the number of pages requested from servers and
    of those ``not_sent``.
    """

    __slots__ = ("after_sending", "by_outcome", "sent")

    def __init__(self) -> None:
        self.by_outcome = {row.name: 0 for row in OUTCOMES}
        self.sent = 0
        """Pages that left for a server."""
        self.after_sending = 0
        """Refused requests whose page had left, by a final URL or a usage header."""

    def add(self, outcome: str) -> None:
        """A request has been decided about."""
        self.by_outcome[outcome] += 1

    def undo(self, outcome: str) -> None:
        """A request goes back to the scheduler before it was sent."""
        self.by_outcome[outcome] -= 1

    def move(self, before: str, outcome: str, *, sent: bool) -> None:
        """A request is decided again; *sent*: its page has left."""
        self.by_outcome[before] -= 1
        self.by_outcome[outcome] += 1
        self.after_sending += sent and outcome in _REFUSED.values()

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

    def to_json(self) -> Mapping[str, int]:
        """All counts by name."""
        marks = {"after_sending": self.after_sending, "not_sent": self.not_sent}
        return {**self.by_outcome, **marks}
