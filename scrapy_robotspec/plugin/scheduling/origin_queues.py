"""OriginQueues: one queue of requests for each download slot and origin.

The gate (``gate.py``) says which origins' requests may go; this module chooses among those. A
choice does not grow with the number of queues: BLOCKED queues are in no set, and each set gives
its next queue without a search.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Generic, TypeVar

from scrapy_robotspec.plugin.scheduling.gate import State
from scrapy_robotspec.plugin.scheduling.ready_set import (
    AgeOrder,
    OriginQueue,
    ReadySet,
    RequestQueue,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy import Request

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.plugin.scheduling.gate import Gate
    from scrapy_robotspec.plugin.scheduling.ready_set import Downloads

logger = logging.getLogger("scrapy_robotspec")

_Q = TypeVar("_Q", bound=RequestQueue)

#: One fetch of this number starts for an origin whose last attempt failed, if there is one.
_RETRY_SHARE = 4


class OriginQueues(Generic[_Q]):
    """The queues of one scheduler queue. ``gate`` None: every request may go.

    ``on_empty`` is called with each queue that has become empty, ``count_waiting`` with each change
    of the number of requests whose origin is BLOCKED.
    """

    def __init__(
        self,
        gate: Gate | None,
        downloads: Downloads,
        on_empty: Callable[[OriginQueue[_Q]], None],
        count_waiting: Callable[[int], None],
    ) -> None:
        self._gate = gate
        self._downloads = downloads
        self._on_empty = on_empty
        self._count_waiting = count_waiting
        self._queues: dict[Origin | None, dict[str, OriginQueue[_Q]]] = {}
        self._size = 0
        self._ready: ReadySet[_Q] = ReadySet()
        self._delayed: AgeOrder[_Q] = AgeOrder()
        self._unknown: AgeOrder[_Q] = AgeOrder()
        self._retry_due: AgeOrder[_Q] = AgeOrder()
        self._sets: dict[State, ReadySet[_Q] | AgeOrder[_Q]] = {
            State.READY: self._ready,
            State.DELAYED: self._delayed,
            State.UNKNOWN: self._unknown,
            State.RETRY_DUE: self._retry_due,
        }
        self._fetches = 0
        #: Requests that went ahead of their queue and have not been seen by the gate yet.
        self._ahead: list[tuple[OriginQueue[_Q], Request]] = []
        if gate is not None:
            gate.attach(self)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[OriginQueue[_Q]]:
        return (queue for queues in self._queues.values() for queue in queues.values())

    # --- requests

    def get(self, slot: str, origin: Origin | None) -> OriginQueue[_Q] | None:
        """The queue of *slot* and *origin*, if it has requests."""
        queues = self._queues.get(origin)
        return None if queues is None else queues.get(slot)

    def open(self, slot: str, origin: Origin | None, requests: _Q) -> OriginQueue[_Q]:
        """Add a queue with the requests that it already contains."""
        state = State.READY
        if origin is not None and self._gate is not None:
            state = self._gate.enter(origin)
        queue = OriginQueue(slot, origin, requests, state)
        self._queues.setdefault(origin, {})[slot] = queue
        self._size += queue.size
        self._place(queue)
        return queue

    def push(self, queue: OriginQueue[_Q], request: Request) -> None:
        """Add *request* to *queue*."""
        queue.requests.push(request)
        queue.size += 1
        self._size += 1
        if queue.state is State.BLOCKED:
            self._count_waiting(1)
        elif queue.state is State.UNKNOWN:
            self._unknown.renew(queue)

    def pop(self) -> Request | None:
        """The next request that may go, or None."""
        while (queue := self._choose()) is not None:
            request = self._pop_from(queue)
            if request is not None:
                return request
        return None

    def peek(self) -> OriginQueue[_Q] | None:
        """The queue of the next request that may go, or None."""
        return self._choose()

    def may_go(self) -> bool:
        """Whether :meth:`pop` returns a request."""
        return bool(self._ready) or self._choose() is not None

    def clear(self) -> None:
        """Forget all queues."""
        self._queues.clear()
        self._ahead.clear()
        self._size = 0
        for queues in self._sets.values():
            queues.clear()

    # --- what the gate calls

    def on_state(self, origin: Origin, state: State) -> None:
        if self._ahead:
            self._ahead = [entry for entry in self._ahead if entry[0].origin != origin]
        for queue in self._queues.get(origin, {}).values():
            self._displace(queue)
            queue.state = state
            self._place(queue)

    def count(self, origin: Origin) -> int:
        return sum(queue.size for queue in self._queues.get(origin, {}).values())

    # --- choice

    def _choose(self) -> OriginQueue[_Q] | None:
        """DELAYED origins first, as their time is exact; then fetches, so that they start early."""
        self._return_dropped()
        if self._delayed:
            return self._delayed.oldest()
        queue = self._next_to_fetch()
        if queue is None and self._ready:
            queue = self._ready.next(self._downloads)
        return queue

    def _next_to_fetch(self) -> OriginQueue[_Q] | None:
        """An origin whose rules may be fetched now, or None.

        Origins never asked and origins asked before share the fetches in a fixed ratio: neither
        thousands of new nor thousands of silent origins keep the others waiting. Newest and oldest
        alternate, so a site found now does not wait behind thousands of silent ones.
        """
        if not (self._unknown or self._retry_due):
            return None
        assert self._gate is not None
        ahead = sum(queue.state is not State.DELAYED for queue, _ in self._ahead)
        turns = ((State.UNKNOWN, self._unknown), (State.RETRY_DUE, self._retry_due))
        for state, queues in turns if self._fetches % _RETRY_SHARE else reversed(turns):
            if queues and self._gate.may_fetch(state, ahead):
                return queues.newest() if self._fetches % 2 else queues.oldest()
        return None

    def _pop_from(self, queue: OriginQueue[_Q]) -> Request | None:
        try:
            request = queue.requests.pop()
            if request is None:  # Scrapy's priority queue has an empty queue for one priority
                request = queue.requests.pop()
        except Exception:
            self._resize(queue, len(queue.requests))
            raise
        if request is None:
            if queue.size:
                logger.error(
                    "%d requests of %s cannot be read from their queue",
                    queue.size,
                    queue.origin or queue.slot,
                )
            self._resize(queue, 0)
        else:
            self._resize(queue, queue.size - 1)
            if queue.state is not State.READY:
                self._send_ahead(queue, request)
        if not queue.size:
            self._close(queue)
        return request

    def _send_ahead(self, queue: OriginQueue[_Q], request: Request) -> None:
        """Offer no other request of *queue* until the gate has seen *request*."""
        self._displace(queue)
        self._ahead.append((queue, request))
        if queue.state is not State.DELAYED:
            self._fetches += 1

    def _return_dropped(self) -> None:
        """Offer a queue again whose request was dropped before the gate saw it."""
        if not self._ahead:
            return
        ahead = []
        for queue, request in self._ahead:
            if self._downloads.is_active(request):
                ahead.append((queue, request))
            elif queue.size:
                self._place(queue)
        self._ahead = ahead

    # --- places

    def _place(self, queue: OriginQueue[_Q]) -> None:
        if queue.state is State.BLOCKED:
            self._count_waiting(queue.size)
        else:
            self._sets[queue.state].add(queue)

    def _displace(self, queue: OriginQueue[_Q]) -> None:
        if queue.state is State.BLOCKED:
            self._count_waiting(-queue.size)
        else:
            self._sets[queue.state].discard(queue)

    def _resize(self, queue: OriginQueue[_Q], size: int) -> None:
        self._size += size - queue.size
        queue.size = size

    def _close(self, queue: OriginQueue[_Q]) -> None:
        self._displace(queue)
        queues = self._queues[queue.origin]
        del queues[queue.slot]
        if not queues:
            del self._queues[queue.origin]
        self._on_empty(queue)
