"""Lanes: requests waiting in line, one line for each download slot and origin.

What belongs here: which line the next request comes from. Which origins may go at all is the
gate's business (``gate.py``), what a line is made of that of whoever owns the lanes
(``waiting.py``).

A choice must not grow with the number of lines. So lines that may not go are not among those that
are looked at, and of those that may, the first one whose download slot is idle is taken: no more
lines are looked at than there are busy slots.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from scrapy_robotspec.plugin.scheduling.gate import State
from scrapy_robotspec.plugin.scheduling.ready_set import (
    BacklogHeap,
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


_L = TypeVar("_L", bound=RequestQueue)


class OriginQueues(Generic[_L]):
    """All lines of one queue. ``gate`` None: everything may go.

    ``drop`` is called with a lane that has become empty.
    """

    def __init__(
        self,
        gate: Gate | None,
        downloads: Downloads,
        drop: Callable[[OriginQueue[_L]], None],
        count_held: Callable[[int], None],
    ) -> None:
        self._gate = gate
        self._downloads = downloads
        self._drop = drop
        self._count_held = count_held
        self._all: dict[tuple[str, Origin | None], OriginQueue[_L]] = {}
        self._by_origin: dict[Origin, list[OriginQueue[_L]]] = {}
        self._ready: ReadySet[_L] = ReadySet()
        self._delayed: ReadySet[_L] = ReadySet()
        self._unknown: ReadySet[_L] = ReadySet()
        self._retry_due: ReadySet[_L] = ReadySet()
        self._ready_sets = {
            State.READY: self._ready,
            State.DELAYED: self._delayed,
            State.UNKNOWN: self._unknown,
            State.RETRY_DUE: self._retry_due,
        }
        self._backlogs: BacklogHeap[_L] = BacklogHeap()
        self._turn = 0
        self._offered: list[tuple[OriginQueue[_L], Request]] = []
        self._requests = 0
        if gate is not None:
            gate.subscribe(self)

    def __len__(self) -> int:
        return self._requests

    def __iter__(self) -> Iterator[OriginQueue[_L]]:
        return iter(self._all.values())

    def get(self, slot: str, origin: Origin | None) -> OriginQueue[_L] | None:
        return self._all.get((slot, origin))

    def open(self, slot: str, origin: Origin | None, requests: _L) -> OriginQueue[_L]:
        """Take in a line, with what stands in it already."""
        state = State.READY
        if origin is not None and self._gate is not None:
            state = self._gate.enter(origin)
            self._by_origin.setdefault(origin, [])
        queue = OriginQueue(slot, origin, requests, state)
        self._all[slot, origin] = queue
        if origin is not None and self._gate is not None:
            self._by_origin[origin].append(queue)
        self._requests += len(requests)
        self._place(queue, state)
        return queue

    def push(self, queue: OriginQueue[_L], request: Request) -> None:
        """Put *request* into *lane*."""
        queue.requests.push(request)
        self._requests += 1
        if queue.state is State.BLOCKED:
            self._count_held(1)
        elif queue.state is State.UNKNOWN:
            self._unknown.renew(queue)
            self._backlogs.grown(queue)

    def pop(self) -> Request | None:
        """The next request that may go, or None."""
        if self._offered:
            self._take_back_dropped()
        while (queue := self._choose()) is not None:
            request = queue.requests.pop()
            if request is not None and queue.state is not State.READY:
                # One goes ahead; the others stay until the gate has heard of it.
                self._ready_sets[queue.state].remove(queue)
                self._offered.append((queue, request))
            if not len(queue.requests):
                self._close(queue)
            if request is not None:
                self._requests -= 1
                return request
        return None

    def peek(self) -> OriginQueue[_L] | None:
        """The lane that :meth:`pop` would take from, give or take its turns."""
        return self._choose()

    def clear(self) -> None:
        self._all.clear()
        self._by_origin.clear()
        self._offered.clear()
        self._backlogs = BacklogHeap()
        self._requests = 0
        for ready_set in self._ready_sets.values():
            ready_set.clear()

    # --- what the gate tells

    def moved(self, origin: Origin, state: State) -> None:
        if self._offered:
            self._offered = [entry for entry in self._offered if entry[0].origin != origin]
        for queue in self._by_origin.get(origin, ()):
            self._remove(queue)
            self._place(queue, state)

    def waiting(self, origin: Origin) -> int:
        return sum(len(queue.requests) for queue in self._by_origin.get(origin, ()))

    # --- places

    def _place(self, queue: OriginQueue[_L], state: State) -> None:
        queue.state = state
        if state is State.BLOCKED:
            self._count_held(len(queue.requests))
            return
        self._ready_sets[state].add(queue)
        if state is State.UNKNOWN:
            self._backlogs.add(queue)

    def _remove(self, queue: OriginQueue[_L]) -> None:
        if queue.state is State.BLOCKED:
            self._count_held(-len(queue.requests))
        else:
            self._ready_sets[queue.state].remove(queue)

    def _choose(self) -> OriginQueue[_L] | None:
        if self._delayed:
            return self._delayed.least_busy(self._downloads)
        if self._unknown or self._retry_due:
            queue = self._one_to_ask()
            if queue is not None:
                return queue
        return self._ready.least_busy(self._downloads)

    def _one_to_ask(self) -> OriginQueue[_L] | None:
        """By turns the newest newcomer, that with most requests, the oldest, and one asked before.

        Thousands of silent origins may stand before one that answers at once and has many pages,
        and come back when they are to be asked again; neither they nor thousands of newcomers may
        keep another waiting for ever.
        """
        assert self._gate is not None
        ahead = sum(queue.state is not State.DELAYED for queue, _ in self._offered)
        self._turn = (self._turn + 1) % 4
        for state in (
            (State.RETRY_DUE, State.UNKNOWN)
            if self._turn == 0
            else (State.UNKNOWN, State.RETRY_DUE)
        ):
            if self._ready_sets[state] and self._gate.may_ask(state, ahead):
                return self._retry_due.oldest() if state is State.RETRY_DUE else self._newcomer()
        return None

    def _newcomer(self) -> OriginQueue[_L]:
        if self._turn == 1:
            return self._unknown.newest()
        crowd = self._backlogs.longest(self._unknown) if self._turn == 2 else None
        return self._unknown.oldest() if crowd is None else crowd

    def _close(self, queue: OriginQueue[_L]) -> None:
        self._remove(queue)
        del self._all[queue.slot, queue.origin]
        if queue.origin is not None and queue.origin in self._by_origin:
            queues = self._by_origin[queue.origin]
            queues.remove(queue)
            if not queues:
                del self._by_origin[queue.origin]
        self._drop(queue)

    def _take_back_dropped(self) -> None:
        """Offer an origin again whose one request was dropped before it came to the gate."""
        kept = []
        for queue, request in self._offered:
            if self._downloads.is_active(request):
                kept.append((queue, request))
            elif len(queue.requests):
                self._place(queue, queue.state)
        self._offered = kept
