"""Page slots: one line per origin for all processes (EXT-01).

A slot is the time of one page. It is reserved at most ``HORIZON`` ahead, so that a process that
dies loses one slot and nothing else. Further ahead there are only places in line, called tickets:
the time of a probable slot, for which nothing is kept free. A process that asks when no slot
is reserved gets one, so a line of dead processes ends by itself.

This is the arithmetic for stores in Python; ``redis.py`` does the same in a script.
"""

from __future__ import annotations

from typing import NamedTuple

#: Slots are reserved at most this far ahead (seconds).
HORIZON = 1.0
#: A line is kept this long after its end (seconds).
LINE_KEPT = 3600.0


class SlotRequest(NamedTuple):
    """A process's request for a slot.

    Times are seconds of the store's clock, 0.0 for none.
    """

    spacing: float
    """Seconds from the slot to the next one."""
    ticket: float = 0.0
    """The caller's place in line."""
    given_up: float = 0.0
    """The slot that the caller had and did not use."""
    returning: bool = False
    """Whether the caller has asked lately: then an absent line was lost with the store's data."""
    within: float = HORIZON
    """How far ahead the slot may be; below ``HORIZON`` it is then or never, without a ticket."""


class Reservation(NamedTuple):
    """The store's reply."""

    granted: bool
    """Whether the slot is the caller's."""
    at: float
    """The slot, or the caller's ticket (seconds of the store's clock)."""
    now: float
    """The store's clock at the time of the call (seconds)."""


class Line(NamedTuple):
    """The state of an origin. Times are seconds of the store's clock."""

    next: float
    """When the last slot ends."""
    tail: float
    """When the last ticket's slot would end; 0.0: no process waits."""
    written: float
    """When this was written."""


def reserve(line: Line | None, now: float, asked: SlotRequest) -> tuple[Line, Reservation]:
    """The line from now on, and the reply to *asked* at *now*.

    Pass None as *line* if the store has none.
    """
    spacing, ticket = asked.spacing, asked.ticket
    if line is not None and line.written <= now:
        next_, tail, lost = line.next, line.tail, False
    else:  # a line written in the future: the store's clock was put back
        next_, tail, lost = 0.0, 0.0, asked.returning or line is not None
    if lost:  # other processes may have slots, and a page may have been sent just now
        next_ = now + HORIZON + spacing
    if asked.given_up and next_ == asked.given_up + spacing:
        next_ = asked.given_up
    if next_ < now:
        tail = 0.0
    at = max(now, next_)
    stays = asked.within >= HORIZON
    is_first = tail <= at or bool(ticket and ticket - HORIZON <= now)
    is_due = is_first or bool(asked.given_up) or not stays
    granted = is_due and at - now <= asked.within
    if granted:
        next_ = at + spacing
    elif stays and (is_due or not ticket):
        ticket = max(tail, at)
        tail = ticket + spacing
    return Line(next_, tail, now), Reservation(granted, at if granted else ticket, now)


def has_expired(line: Line, now: float) -> bool:
    """Whether *line* may be deleted."""
    return max(line.next, line.tail) + LINE_KEPT < now
