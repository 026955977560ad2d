"""OriginQueues: one queue of requests for each download slot and origin.

The gate says which origins' requests may go; this module chooses among those. The order is that of
Scrapy's own queue: the download slot with the fewest downloads comes first, in it the queue with
the best priority, and of equal ones the queue that has waited longest. A choice does not grow with
the number of queues.
"""

from __future__ import annotations

import heapq
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

    __slots__ = ("name", "origin", "rank", "requests", "size", "slot", "state")

    def __init__(self, slot: str, origin: Origin | None, requests: Any, state: QueueState) -> None:
        self.slot = slot
        self.origin = origin
        self.requests = requests
        """A ``ScrapyPriorityQueue``; ``curprio`` is the negated priority of the next request."""
        self.size = len(requests)
        self.state = state
        self.name = ""
        """Its owner's name for it."""
        self.rank = 0
        """The priority under which a :class:`RankedQueues` has it; the lowest comes first."""


class RankedQueues:
    """Queues by the priority of their next request, then by arrival."""

    __slots__ = ("_ranks", "by_rank")

    def __init__(self) -> None:
        self.by_rank: dict[int, OrderedDict[OriginQueue, None]] = {}
        self._ranks: list[int] = []
        """A heap with every key of ``by_rank``, and some that have gone."""

    def add(self, queue: OriginQueue) -> None:
        """Add *queue* behind those of equal priority."""
        queue.rank = queue.requests.curprio or 0
        equals = self.by_rank.get(queue.rank)
        if equals is None:
            equals = self.by_rank[queue.rank] = OrderedDict()
            heapq.heappush(self._ranks, queue.rank)
        equals[queue] = None

    def discard(self, queue: OriginQueue) -> None:
        """Remove *queue*."""
        equals = self.by_rank.get(queue.rank)
        if equals is not None:
            equals.pop(queue, None)
            if not equals:
                del self.by_rank[queue.rank]

    def renew(self, queue: OriginQueue) -> None:
        """*queue*, whose next request may be another, comes last among equals."""
        # hot path
        if queue.requests.curprio == queue.rank:
            self.by_rank[queue.rank].move_to_end(queue)
        else:
            self.discard(queue)
            self.add(queue)

    def best(self, *, newest: bool = False) -> OriginQueue:
        """A queue with the best priority: the oldest, or the *newest*."""
        while self._ranks[0] not in self.by_rank:
            heapq.heappop(self._ranks)
        equals = self.by_rank[self._ranks[0]]
        return next(reversed(equals) if newest else iter(equals))


class SlotTable:
    """Download slots with queues, the one that was served longest ago first."""

    def __init__(self, downloads: DownloadSlots) -> None:
        self._downloads = downloads
        self.slots: OrderedDict[str, RankedQueues] = OrderedDict()

    def add(self, queue: OriginQueue) -> None:
        queues = self.slots.get(queue.slot)
        if queues is None:
            queues = self.slots[queue.slot] = RankedQueues()
        queues.add(queue)

    def discard(self, queue: OriginQueue) -> None:
        queues = self.slots.get(queue.slot)
        if queues is not None:
            queues.discard(queue)
            if not queues.by_rank:
                del self.slots[queue.slot]

    def renew(self, queue: OriginQueue) -> None:
        """*queue* and its slot come last from now on among equals."""
        self.slots[queue.slot].renew(queue)
        self.slots.move_to_end(queue.slot)

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
        self._ready: SlotTable = SlotTable(downloads)
        self._unknown: SlotTable = SlotTable(downloads)
        self._fetches = 0
        if gate is not None:
            gate.attach(self)

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
        self.size += queue.size
        self._place(queue)
        return queue

    def push(self, queue: OriginQueue, request: Request) -> None:
        """Add *request* to *queue*."""
        queue.requests.push(request)
        queue.size += 1
        self.size += 1
        if queue.state is QueueState.HELD:
            self._count_waiting(1)
            return
        if queue.state is QueueState.UNKNOWN:  # the newest
            self._unknown.renew(queue)
        elif queue.requests.curprio != queue.rank:
            self._ready.slots[queue.slot].renew(queue)

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
        return sum(queue.size for queue in self._queues.get(origin, {}).values())

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
                return self._best_in(slot, newest=newest)
        return None if ready is None else self._ready.slots[ready[1]].best()

    def _best_in(self, slot: str, *, newest: bool) -> OriginQueue:
        """The best queue of *slot*, which has one that needs a fetch."""
        to_fetch = self._unknown.slots[slot].best(newest=newest)
        if slot in self._ready.slots:
            ready = self._ready.slots[slot].best()
            if ready.rank < to_fetch.rank:
                return ready
        return to_fetch

    def _pop_from(self, queue: OriginQueue) -> Request | None:
        try:
            request: Request | None = queue.requests.pop()
            if request is None:  # Scrapy's priority queue has an empty queue for one priority
                request = queue.requests.pop()
        except Exception:
            size = len(queue.requests)
            self.size += size - queue.size
            queue.size = size
            raise
        if request is None and queue.size:
            logger.error(
                "%d requests of %s cannot be read from their queue",
                queue.size,
                queue.origin or queue.slot,
            )
        size = 0 if request is None else queue.size - 1
        self.size += size - queue.size
        queue.size = size
        self._after_pop(queue, request)
        return request

    def _after_pop(self, queue: OriginQueue, request: Request | None) -> None:
        """Let *queue* and its slot come last among equals; a request may leave alone."""
        if queue.size:
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
        elif gate.is_spaced is not None and gate.is_spaced(origin):
            gate.leave(origin, request)

    # --- places

    def _place(self, queue: OriginQueue) -> None:
        if queue.state is QueueState.HELD:
            self._count_waiting(queue.size)
        elif queue.state is QueueState.UNKNOWN:
            self._unknown.add(queue)
        else:
            self._ready.add(queue)

    def _displace(self, queue: OriginQueue) -> None:
        if queue.state is QueueState.HELD:
            self._count_waiting(-queue.size)
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
