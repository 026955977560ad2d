"""The contracts of stores: records, leases and page slots.

A crawl calls its ``CrawlStore``, which returns records at once. Behind it may be a ``RecordStore``
that processes share: its calls block, and a crawl makes them one at a time, in a thread of their
own. The constructor connects to nothing: the first call does, and the first one after a failure. A
store decides nothing; ``access`` interprets a record.

Page slots (EXT-01): an origin has one queue for all processes. A slot is the time of one page,
reserved at most ``HORIZON`` ahead, so that a process that dies loses one slot and nothing else.
Further ahead there are only positions in the queue: the time of a probable slot, for which nothing
is kept free. A process that asks when no slot is reserved gets one, so a queue of dead processes
ends by itself. ``reserve`` is the arithmetic for stores in Python; ``redis.py`` does the
same in a script.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from twisted.internet.defer import Deferred

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord

#: Max records of an origin that depend on the User-Agent.
MAX_AGENTS = 8
#: A lease that ends later is of no fetch (seconds).
LONGEST_LEASE = 3600.0
#: Records are deleted this long after their last attempt or their expiry (seconds): while an origin
#: is unreachable the last good copy may count for weeks.
KEPT = 60 * 86_400.0
#: Slots are reserved at most this far ahead (seconds).
HORIZON = 1.0
#: A queue is kept this long after its end (seconds).
QUEUE_KEPT = 3600.0
#: Longest time that counts: a hundred years (seconds). Redis accepts no expiry that ends its clock.
LONGEST = 100 * 365 * 86_400.0


class Claim(NamedTuple):
    """The reply to a process that wants to fetch an origin."""

    granted: bool
    """Whether the caller holds the lease now."""
    record: RobotsRecord | None = None
    """The stored record, if it is newer than the caller's."""


class SlotRequest(NamedTuple):
    """A process's request for a slot.

    Times are seconds of the store's clock, 0.0 for none.
    """

    spacing: float
    """Seconds from the slot to the next one."""
    position: float = 0.0
    """The caller's position in the queue."""
    given_up: float = 0.0
    """The slot that the caller had and did not use."""
    seen: float = 0.0
    """Time of the last reply to the caller: an older queue, or none, shows that data was lost."""
    within: float = HORIZON
    """How far ahead the slot may be; below ``HORIZON`` it is then or never, without a position."""


class Reservation(NamedTuple):
    """The store's reply."""

    granted: bool
    """Whether the slot is the caller's."""
    at: float
    """The slot, or the caller's position (seconds of the store's clock)."""
    now: float
    """The store's clock at the time of the call (seconds)."""


class SlotQueue(NamedTuple):
    """The state of an origin. Times are seconds of the store's clock.

    A store that others can write to may contain anything in their places.
    """

    next: float
    """When the last slot ends."""
    tail: float
    """When the last position's slot would end; 0.0: no process waits."""
    written: float
    """When this was written."""

    def is_valid(self, now: float, spacing: float) -> bool:
        """Whether :func:`reserve` can have returned this queue (SAF-05).

        *spacing* is the caller's. A queue that was written later than *now* shows that the store's
        clock was put back.
        """
        # A position may be far ahead: workers x delay.
        limits = SlotQueue(now + HORIZON + max(spacing, QUEUE_KEPT), now + LONGEST, now)
        return all(
            isinstance(each, int | float) and 0 <= each <= limit
            for each, limit in zip(self, limits, strict=True)
        )


def reserve(
    queue: SlotQueue | None, now: float, asked: SlotRequest
) -> tuple[SlotQueue, Reservation]:
    """The queue from now on, and the reply to *asked* at *now*.

    Pass None as *queue* if the store has none. An invalid one counts as lost.
    """
    spacing, position = asked.spacing, asked.position
    next_ = tail = 0.0
    # A reply later than now was before the store's clock was put back.
    seen = asked.seen if asked.seen <= now else 0.0
    if queue is not None and queue.is_valid(now, spacing) and queue.written >= seen:
        next_, tail = queue.next, queue.tail
    elif queue is not None or asked.seen:
        # Other processes may have slots, and a page may have been sent just now.
        next_ = now + HORIZON + spacing
    if asked.given_up and next_ == asked.given_up + spacing:
        next_ = asked.given_up
    if next_ < now:
        tail = 0.0
    at = max(now, next_)
    stays = asked.within >= HORIZON
    is_first = tail <= at or bool(position and position - HORIZON <= now)
    is_due = is_first or bool(asked.given_up) or not stays
    granted = is_due and at - now <= asked.within
    if granted:
        next_ = at + spacing
    elif stays and (is_due or not position):
        position = max(tail, at)
        tail = position + spacing
    return SlotQueue(next_, tail, now), Reservation(granted, at if granted else position, now)


def has_expired(queue: SlotQueue, now: float) -> bool:
    """Whether *queue* may be deleted."""
    return max(queue.next, queue.tail) + QUEUE_KEPT < now


def may_put(
    record: RobotsRecord, stored: RobotsRecord | None, known: float | None, *, has_lease: bool
) -> bool:
    """Whether *record* may replace *stored*, which its agent reads now.

    Without the lease only the record with the ``updated_at`` *known* is replaced. A failure
    replaces no other copy, either.
    """
    if stored is None or stored.updated_at == known:
        return True
    return has_lease and (record.failed_at is None or stored.fetched_at is None)


class CrawlStore(Protocol):
    """The store of one crawl: memory, or a tiered store."""

    def get(self, origin: Origin) -> RobotsRecord | None:
        """Return the record of *origin*."""

    def put(self, record: RobotsRecord) -> None:
        """Keep *record* in place of the one of its origin."""

    def share(self, record: RobotsRecord, known: RobotsRecord | None) -> None:
        """Replace *known* by *record* in a shared store; release the lease."""

    def release(self, origin: Origin) -> None:
        """Release the lease on *origin*, if there is one."""

    def reserve(self, origin: Origin, asked: SlotRequest) -> Reservation | Deferred[Reservation]:
        """Reserve a slot of *origin*, or a position in its queue."""

    def close(self) -> Deferred[None] | None:
        """Release files and connections."""


class RecordStore(ABC):
    """Keeps records of origins, and leases on the right to fetch them.

    An origin has one record, and one for each product name where its response depends on the
    User-Agent (CAC-04), at most ``MAX_AGENTS``. A process with the name *agent* reads the one of
    both with the greater ``rank``. Damaged records are absent. Every exception in one of these
    methods counts as a failure of the store. Times are epoch seconds of the caller's clock, unless
    a method says otherwise.
    """

    name = ""
    """Name of the store in messages; empty for that of its class."""

    @abstractmethod
    def get(
        self, origin: Origin, agent: str = "", known: float | None = None
    ) -> RobotsRecord | None:
        """Return the record of *origin* for *agent*, unless it is *known*.

        None if none is readable. *known* as in :meth:`claim`.
        """

    @abstractmethod
    def claim(
        self,
        origin: Origin,
        owner: str,
        now: float,
        seconds: float,
        known: float | None,
        agent: str = "",
    ) -> Claim:
        """Return the record, or take the lease, in one atomic step.

        *known* is the ``updated_at`` of the record that the caller knows, None for no record. The
        lease is *owner*'s until ``now + seconds``; an owner that asks again prolongs it.
        """

    @abstractmethod
    def put(self, record: RobotsRecord, owner: str, known: float | None) -> None:
        """Store *record* and release the lease of *owner*, in one atomic step.

        A record that another process has stored meanwhile stays, see :func:`may_put`.
        """

    @abstractmethod
    def release(self, origin: Origin, owner: str) -> None:
        """Release the lease on *origin* if *owner* holds it."""

    @abstractmethod
    def reserve(self, origin: Origin, asked: SlotRequest) -> Reservation:
        """Reserve a slot of *origin*, or a position in its queue, atomically.

        The store's own clock decides.
        """

    def node_of(self, origin: Origin) -> str | None:
        """The node of *origin*, where a back end has several."""
        return None

    @abstractmethod
    def close(self) -> None:
        """Release files and connections. Closing twice is harmless."""
