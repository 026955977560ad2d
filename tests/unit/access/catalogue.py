"""What the specification catalogue says of a history of answers, in its own words.

Written from ``docs/specification.md`` (FET-07 to FET-14, FET-19, FET-20, CAC-01 to CAC-03) and not
from the code: nothing of ``access/policy.py`` is used.
"""

from __future__ import annotations

from dataclasses import dataclass, field

MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0

#: FET-13 and FET-12 by edition: how long closed with a copy and without one, and after how long an
#: outage is beyond the limit.
CLOSED = dict.fromkeys(("google-2019", "rfc9309", "google-2010", "classic"), 30 * DAY)
CLOSED["google"] = 12 * HOUR
LIMIT = dict.fromkeys(CLOSED, 30 * DAY) | {"google": 30 * DAY + 12 * HOUR}

TEMPORARY = (408, 421, 425, 429)
#: Status of a redirect that is not followed.
REDIRECT = 301

#: Stances: a copy's meaning, or one of these.
ASK, CLOSED_NOW, OPEN = "ask", "closed", "open"


@dataclass(frozen=True)
class Answer:
    """One attempt: a status, or None for no answer, with what counts of its headers."""

    status: int | None
    retry_after: float = 0.0
    max_age: float | None = None


@dataclass
class Walk:
    """What is known after some attempts."""

    copy: str | None = None
    copy_status: int = 0
    copied: float = 0.0
    expires: float = 0.0
    lifetime: float = 0.0
    outage: list[float] = field(default_factory=list)
    """Times of the failures of the outage, without those before a gap."""
    row: list[float] = field(default_factory=list)
    """Times of the latest temporary statuses in a row."""
    errors: int = 0
    """Server errors in the outage, those that a temporary status stands for among them."""
    outlasts: bool = False
    """A temporary status stands, and the copy decides on."""
    fails: int | None = None
    """Status of the latest failure; 0 for none at all."""


@dataclass
class Catalogue:
    """One crawl's settings, and what its attempts so far have shown."""

    edition: str
    hold: float
    retries: int
    policy: dict[int | str, str]
    """FET-09."""
    waits: bool = True
    """``ROBOTSPEC_UNREACHABLE``."""
    known: Walk = field(default_factory=Walk)
    page: float | None = None
    """When a page last answered (epoch seconds)."""

    def meaning(self, status: int | None) -> str:
        """FET-02, FET-07 to FET-10, FET-14, FET-16."""
        if status is None:
            return "unreachable"
        status = 404 if status == REDIRECT else status  # FET-03
        for key in (status, f"{status // 100}xx"):
            if key in self.policy:
                return self.policy[key]
        if status in (304, 407, 511) or (status == 429 and self.edition == "google"):
            return "unreachable"
        return {2: "rules", 3: "allow", 4: "allow"}.get(status // 100, "unreachable")

    def take(self, now: float, answer: Answer) -> None:
        """Take the answer to an attempt."""
        self._take(self.known, now, answer)

    def _take(self, known: Walk, now: float, answer: Answer) -> None:
        status, found = answer.status, self.meaning(answer.status)
        if status not in TEMPORARY or status in self.policy:
            known.outlasts = known.outlasts and found != "unreachable"
            if found == "unreachable":
                self._fail(known, now, status)
                known.row, known.errors = [], known.errors + 1
            else:
                self._answer(known, now, answer, found)
            return
        stood = known.outlasts or (known.copy_status in TEMPORARY and not known.outage)
        self._fail(known, now, status)
        known.row.append(now)
        left = known.row[0] + self.hold - now
        demanded = min(answer.retry_after, DAY)
        is_over = len(known.row) > self.retries or left <= 0 or demanded > left
        if not (stood or is_over or not self.waits):
            return
        if found == "unreachable":
            known.errors += 1
            known.outlasts = False
        elif known.copy is None or known.copy_status in TEMPORARY:
            self._answer(known, now, answer, found)
        else:
            known.outage, known.errors, known.outlasts = [], 0, True

    def _fail(self, known: Walk, now: float, status: int | None) -> None:
        """FET-12: a gap of more than two days begins an outage anew, and so does a clock."""
        if known.outage and not known.outage[0] <= now <= known.outage[-1] + 2 * DAY:
            known.outage, known.row, known.errors = [], [], 0
        if known.outlasts:
            known.row = known.row[-1:]
        known.outage.append(now)
        known.fails = status

    def _answer(self, known: Walk, now: float, answer: Answer, found: str) -> None:
        """CAC-01, CAC-03, FET-20: a new result, and its lifetime."""
        status = answer.status
        assert status is not None
        fresh_for = DAY if answer.max_age is None else min(max(answer.max_age, 300.0), DAY)
        if 400 <= status < 500 and status not in (404, 410) and found != "rules":
            again = known.copy_status == status and status not in TEMPORARY
            doubled = max(HOUR, 2 * known.lifetime) if again else HOUR
            fresh_for = min(fresh_for, doubled, DAY)
        if status in TEMPORARY:  # FET-19: its Retry-After holds
            fresh_for = max(fresh_for, min(answer.retry_after, DAY))
        known.__init__(found, status, now, now + fresh_for, fresh_for)  # type: ignore[misc]

    def stance(self, now: float) -> str:
        """What requests meet at *now*: a copy's meaning, ASK, CLOSED_NOW or OPEN."""
        known, copy = self.known, self.known.copy
        if copy is not None and known.copied - MINUTE <= now < known.expires:
            return copy
        if known.outlasts:  # FET-19
            assert copy is not None
            return copy
        if not known.outage:
            return ASK
        closed = CLOSED_NOW if self.waits else OPEN
        if not known.errors:  # nothing but temporary statuses that do not stand yet
            in_use = copy is not None and known.outage[0] < known.expires
            return copy if in_use and copy is not None else closed
        lasted = known.outage[-1] - known.outage[0]
        if lasted > LIMIT[self.edition] and self.edition == "google":
            is_seen = self.page is not None and now < self.page + DAY
            return OPEN if is_seen else closed
        if lasted >= CLOSED[self.edition]:
            return OPEN if copy is None else copy
        return closed

    def may_ask_from(self, now: float, answer: Answer) -> float:
        """FET-11: no attempt before this time, where nobody waits for it."""
        known = self.known
        is_result = not known.outage and not known.outlasts
        if answer.status is None or (is_result and answer.status not in TEMPORARY):
            return now
        return now + min(answer.retry_after, DAY)
