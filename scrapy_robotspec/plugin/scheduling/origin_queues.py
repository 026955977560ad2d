"""OriginQueues: one queue of requests for each download slot and origin.

The gate says which origins' requests may go; this module chooses among those. The order is that of
Scrapy's own queue: the download slot with the fewest downloads comes first, in it the queue with
the best priority, and of equal ones the queue that has waited longest.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.lookup.live_origins import QueueState

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.plugin._compat import DownloadSlots
    from scrapy_robotspec.plugin.scheduling.gate import Gate

logger = logging.getLogger("scrapy_robotspec")


class OriginQueue:
    """Requests of one download slot and origin."""

    __slots__ = ("name", "origin", "rank", "requests", "slot", "state")

    def __init__(self, slot: str, origin: Origin | None, requests: Any, state: QueueState) -> None:
        self.slot = slot
        self.origin = origin
        self.requests = requests
        """A ``ScrapyPriorityQueue``; ``curprio`` is the negated priority of the next request."""
        self.state = state
        self.name = ""
        """Its owner's name for it."""
        self.rank = 0
        """The priority under which a :class:`SlotTable` has it; the lowest comes first."""


class SlotTable:
    """Queues by download slot, then by the priority of their next request, then by arrival.

    The slot that was served longest ago comes first.
    """

    def __init__(self, downloads: DownloadSlots) -> None:
        self._downloads = downloads
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
        # hot path
        self.discard(queue)
        self.add(queue)
        self.slots.move_to_end(queue.slot)

    def best(self, slot: str, *, newest: bool = False) -> OriginQueue:
        """A queue of *slot* with the best priority: the oldest, or the *newest*."""
        ranks = self.slots[slot]
        equals = ranks[min(ranks)]
        return next(reversed(equals) if newest else iter(equals))

    def least_busy(self, *, newest: bool = False) -> tuple[int, str]:
        """The slot with the fewest downloads, and their number.

        Looks at one slot more than are busy. *newest*: of equal ones the one served last.
        """
        best: tuple[int, str] | None = None
        for slot in reversed(self.slots) if newest else iter(self.slots):
            active = self._downloads.active_in(slot)
            if best is None or active < best[0]:
                best = active, slot
            if not active:
                break
        assert best is not None
        return best


class OriginQueues:
    """The queues of one scheduler queue. ``gate`` None: every request may go.

    ``on_empty`` is called with each queue that has become empty.
    """

    def __init__(
        self,
        gate: Gate | None,
        downloads: DownloadSlots,
        on_empty: Callable[[OriginQueue], None],
    ) -> None:
        self._gate = gate
        self._downloads = downloads
        self._on_empty = on_empty
        self._queues: dict[Origin | None, dict[str, OriginQueue]] = {}
        self.size = 0
        """Number of requests."""
        self._ready = SlotTable(downloads)
        self._unknown = SlotTable(downloads)
        self._fetches = 0
        if gate is not None:
            gate.queues.append(self)

    # --- requests

    def get(self, slot: str, origin: Origin | None) -> OriginQueue | None:
        """The queue of *slot* and *origin*, if it has requests."""
        queues = self._queues.get(origin)
        return None if queues is None else queues.get(slot)

    def open(self, slot: str, origin: Origin | None, requests: Any) -> OriginQueue:
        """Add a queue with the requests that it already contains."""
        state = QueueState.READY
        if origin is not None and self._gate is not None:
            state = self._gate.enter(origin)
        queue = OriginQueue(slot, origin, requests, state)
        self._queues.setdefault(origin, {})[slot] = queue
        self.size += len(requests)
        self._place(queue)
        return queue

    def push(self, queue: OriginQueue, request: Request) -> None:
        """Add *request* to *queue*."""
        queue.requests.push(request)
        self.size += 1
        if queue.state is QueueState.HELD:
            self._count_waiting(1)
        elif queue.state is QueueState.UNKNOWN:  # the newest
            self._unknown.renew(queue)
        elif queue.requests.curprio != queue.rank:
            self._ready.discard(queue)
            self._ready.add(queue)

    def pop(self) -> Request | None:
        """The next request that may go, or None."""
        while (queue := self.choose()) is not None:
            request = self._pop_from(queue)
            if request is not None:
                return request
        return None

    def may_go(self) -> bool:
        """Whether :meth:`pop` returns a request."""
        return bool(self._ready.slots) or self.choose() is not None

    def clear(self) -> None:
        """Forget all queues."""
        self._queues.clear()
        self._ready.slots.clear()
        self._unknown.slots.clear()
        self.size = 0

    # --- what the gate calls

    def on_state(self, origin: Origin, state: QueueState) -> None:
        for queue in self._queues.get(origin, {}).values():
            self._displace(queue)
            queue.state = state
            self._place(queue)

    def count(self, origin: Origin) -> int:
        return sum(len(queue.requests) for queue in self._queues.get(origin, {}).values())

    # --- choice

    def choose(self) -> OriginQueue | None:
        """The queue of the next request that may go, or None.

        It is the least busy slot's best; of equal ones one whose robots.txt is to be fetched.
        """
        # hot path
        gate = self._gate
        if gate is not None and gate.left:
            gate.return_lost(self._downloads.is_active)
        ready = self._ready.least_busy() if self._ready.slots else None
        if self._unknown.slots and gate is not None and gate.may_fetch():
            # A site found now does not wait behind thousands of silent ones.
            newest = self._fetches % 2 == 1
            busy, slot = self._unknown.least_busy(newest=newest)
            if ready is None or busy <= ready[0]:
                best = [self._unknown.best(slot, newest=newest)]
                if slot in self._ready.slots:
                    best.append(self._ready.best(slot))
                return min(best, key=lambda queue: queue.rank)
        return None if ready is None else self._ready.best(ready[1])

    def _pop_from(self, queue: OriginQueue) -> Request | None:
        requests = queue.requests
        size = len(requests)
        try:
            request: Request | None = requests.pop()
            if request is None:  # Scrapy's priority queue has an empty queue for one priority
                request = requests.pop()
        finally:
            left = len(requests)
            self.size += left - size
        if request is None and left:
            logger.error(
                "%d requests of %s cannot be read from their queue",
                left,
                queue.origin or queue.slot,
            )
            self.size -= left
        self._after_pop(queue, request)
        return request

    def _after_pop(self, queue: OriginQueue, request: Request | None) -> None:
        """Let *queue* and its slot come last among equals; a request may leave alone."""
        if request is not None and len(queue.requests):
            table = self._ready if queue.state is QueueState.READY else self._unknown
            table.renew(queue)
        else:
            self._displace(queue)
            self._close(queue)
        gate, origin = self._gate, queue.origin
        if gate is None or origin is None:
            return
        if request is None:
            gate.update(origin)
        elif queue.state is QueueState.UNKNOWN:
            self._fetches += 1
            gate.leave(origin, request)
        elif gate.is_spaced(origin):
            gate.leave(origin, request)

    # --- places

    def _place(self, queue: OriginQueue) -> None:
        if queue.state is QueueState.HELD:
            self._count_waiting(len(queue.requests))
        elif queue.state is QueueState.UNKNOWN:
            self._unknown.add(queue)
        else:
            self._ready.add(queue)

    def _displace(self, queue: OriginQueue) -> None:
        if queue.state is QueueState.HELD:
            self._count_waiting(-len(queue.requests))
        elif queue.state is QueueState.UNKNOWN:
            self._unknown.discard(queue)
        else:
            self._ready.discard(queue)

    def _count_waiting(self, change: int) -> None:
        if self._gate is not None:
            self._gate.count_waiting(change)

    def _close(self, queue: OriginQueue) -> None:
        queues = self._queues[queue.origin]
        del queues[queue.slot]
        if not queues:
            del self._queues[queue.origin]
        self._on_empty(queue)
