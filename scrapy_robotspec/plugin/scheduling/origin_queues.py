"""A queue for each download slot and origin, and which comes next.

``OriginQueues`` have a queue for each download slot and origin, and choose among those whose
requests may go. The order is that of Scrapy's own queue: the download slot with the fewest
downloads comes first, in it the queue with the best priority, and of equal ones the queue that has
waited longest.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.lookup.live_origins import QueueState

if TYPE_CHECKING:
    from collections.abc import Collection

    from scrapy import Request

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.plugin._compat import DownloadSlots
    from scrapy_robotspec.plugin.scheduling.gate import Gate

logger = logging.getLogger("scrapy_robotspec")


@dataclass(slots=True, eq=False)
class OriginQueue:
    """Requests of one download slot and origin."""

    slot: str
    origin: Origin | None
    requests: Any
    """A ``ScrapyPriorityQueue``; ``curprio`` is the negated priority of the next request."""
    name: str
    """Its name in ``JOBDIR``."""
    table: SlotTable
    """Those of its state, this one among them."""
    size: int = 0
    """Number of requests. Scrapy's queue adds up its parts for each ``len()``."""
    rank: int = 0
    """The priority under which the table has it; the lowest comes first."""


class SlotTable:
    """Queues by download slot, priority of the next request, and arrival.

    The slot that was served longest ago comes first.
    """

    def __init__(self, downloads: DownloadSlots, due: Collection[str]) -> None:
        self._downloads = downloads
        self._due = due
        self.slots: OrderedDict[str, dict[int, OrderedDict[OriginQueue, None]]] = OrderedDict()

    def add(self, queue: OriginQueue) -> None:
        """Add *queue* behind those of equal priority."""
        queue.rank = queue.requests.curprio or 0
        ranks = self.slots.setdefault(queue.slot, {})
        ranks.setdefault(queue.rank, OrderedDict())[queue] = None

    def discard(self, queue: OriginQueue) -> None:
        """Remove *queue*."""
        ranks = self.slots[queue.slot]
        del ranks[queue.rank][queue]
        if not ranks[queue.rank]:
            del ranks[queue.rank]
        if not ranks:
            del self.slots[queue.slot]

    def renew(self, queue: OriginQueue) -> None:
        """*queue* and its slot come last from now on among equals."""
        # hot path: most requests have one priority
        if queue.requests.curprio == queue.rank:
            self.slots[queue.slot][queue.rank].move_to_end(queue)
        else:
            self.discard(queue)
            self.add(queue)
        self.slots.move_to_end(queue.slot)

    def best(self, slot: str, newest: bool = False) -> OriginQueue:
        """The oldest or *newest* queue of *slot* with the best priority."""
        ranks = self.slots[slot]
        equals = ranks[min(ranks)]
        return next(reversed(equals) if newest else iter(equals))

    def least_busy(self, newest: bool = False) -> tuple[int, str] | None:
        """The slot with the fewest downloads, and their number, or None.

        Looks at one slot more than are busy. *newest*: of equal ones the one served last.
        """
        best: tuple[int, str] | None = None
        for slot in reversed(self.slots) if newest else iter(self.slots):
            if slot in self._due:
                continue
            active = self._downloads.active_in(slot)
            if best is None or active < best[0]:
                best = active, slot
            if not active:
                break
        return best


class OriginQueues:
    """The queues of one scheduler queue."""

    def __init__(self, gate: Gate, downloads: DownloadSlots) -> None:
        self._gate = gate
        self._queues: dict[Origin | None, dict[str, OriginQueue]] = {}
        self.size = 0
        """Number of requests."""
        self._tables = {state: SlotTable(downloads, gate.due_slots) for state in QueueState}
        self._ready, self._unknown, self._held = self._tables.values()
        self._fetches = 0
        gate.queues.append(self)

    # --- requests

    def queue_of(self, slot: str, origin: Origin | None) -> OriginQueue | None:
        """The queue of *slot* and *origin*, if it has requests."""
        return self._queues.get(origin, {}).get(slot)

    def add_queue(self, slot: str, origin: Origin | None, requests: Any, name: str = "") -> None:
        """Add a queue with the requests that it already contains."""
        state = QueueState.READY if origin is None else self._gate.enter(origin)
        queue = OriginQueue(slot, origin, requests, name, self._tables[state])
        self._queues.setdefault(origin, {})[slot] = queue
        queue.table.add(queue)
        self._resize(queue, len(requests))

    def add_request(self, queue: OriginQueue, request: Request) -> None:
        """Add *request* to *queue*."""
        queue.requests.push(request)
        self._resize(queue, 1)
        if queue.table is self._unknown:  # the newest
            queue.table.renew(queue)
        elif queue.requests.curprio != queue.rank:
            queue.table.discard(queue)
            queue.table.add(queue)

    def pop(self) -> Request | None:
        """The next request that may go, or None."""
        while (queue := self.choose()) is not None:
            request = self._pop_from(queue)
            if request is not None:
                return request
        return None

    def may_go(self) -> bool:
        """Whether :meth:`pop` returns a request."""
        is_plain = self._ready.slots and not self._gate.due_slots
        return bool(is_plain) or self.choose() is not None

    def remove(self, queue: OriginQueue) -> None:
        """Close *queue*, which has become empty. One in memory needs nothing."""

    def clear(self) -> None:
        """Forget all queues."""
        self._queues.clear()
        for table in self._tables.values():
            table.slots.clear()
        self.size = 0

    def on_state(self, origin: Origin, state: QueueState) -> None:
        """Called by the gate when *origin* comes into *state*."""
        for queue in self._queues.get(origin, {}).values():
            size = queue.size
            self._resize(queue, -size)
            queue.table.discard(queue)
            queue.table = self._tables[state]
            queue.table.add(queue)
            self._resize(queue, size)

    # --- choice

    def choose(self) -> OriginQueue | None:
        """The queue of the next request that may go, or None.

        It is the least busy slot's best; of equal ones one whose robots.txt is to be fetched.
        """
        # hot path
        if self._gate.popped:
            self._gate.return_lost()
        ready = self._ready.least_busy() if self._ready.slots else None
        if self._unknown.slots and self._gate.may_fetch():
            # A site found now does not wait behind thousands of silent ones.
            newest = self._fetches % 2 == 1
            unknown = self._unknown.least_busy(newest=newest)
            if unknown is not None and (ready is None or unknown[0] <= ready[0]):
                slot = unknown[1]
                best = [self._unknown.best(slot, newest=newest)]
                if slot in self._ready.slots:
                    best.append(self._ready.best(slot))
                return min(best, key=lambda queue: queue.rank)
        return None if ready is None else self._ready.best(ready[1])

    def _pop_from(self, queue: OriginQueue) -> Request | None:
        """The next request of *queue*, which comes last among equals from now on.

        It may leave alone.
        """
        requests, gate, origin = queue.requests, self._gate, queue.origin
        request: Request | None = None
        try:
            request = requests.pop()
            if request is None:  # Scrapy's priority queue has an empty queue for one priority
                request = requests.pop()
        finally:
            left = len(requests) if request is None else queue.size - 1
            self._resize(queue, left - queue.size)
        is_unknown = queue.table is self._unknown
        if request is not None and left:
            queue.table.renew(queue)
        else:
            self._forget(queue)
        if origin is None:
            return request
        if request is None:
            gate.update(origin)
        elif is_unknown or gate.is_spaced(origin):
            self._fetches += is_unknown
            gate.leave(origin, request)
        return request

    # --- tables

    def _resize(self, queue: OriginQueue, change: int) -> None:
        # hot path
        queue.size += change
        self.size += change
        if queue.table is not self._ready:
            assert queue.origin is not None
            self._gate.count_queued(queue.origin, change, held=queue.table is self._held)

    def _forget(self, queue: OriginQueue) -> None:
        if queue.size:
            logger.error(
                "%d requests of %s cannot be read from their queue",
                queue.size,
                queue.origin or queue.slot,
            )
            self._resize(queue, -queue.size)
        queue.table.discard(queue)
        queues = self._queues[queue.origin]
        del queues[queue.slot]
        if not queues:
            del self._queues[queue.origin]
        self.remove(queue)
