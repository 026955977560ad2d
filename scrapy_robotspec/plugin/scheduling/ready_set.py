"""Pools of lanes: those that may go, in the orders in which they may be taken.

What belongs here: one lane, and collections of lanes. Which collection the next request comes from
is decided in ``lanes.py``.
"""

from __future__ import annotations

import heapq
import itertools
from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.plugin.scheduling.gate import State


class RequestQueue(Protocol):
    """What requests of one slot and origin stand in."""

    def push(self, request: Request) -> None: ...
    def pop(self) -> Request | None: ...
    def __len__(self) -> int: ...


_L = TypeVar("_L", bound=RequestQueue)


class Downloads(Protocol):
    """What the downloader is doing."""

    def active_in(self, slot: str) -> int:
        """Requests under way in a download slot."""

    def is_active(self, request: Request) -> bool:
        """Whether *request* has not left the downloader and its middlewares."""


class OriginQueue(Generic[_L]):
    """One line with what it is for."""

    __slots__ = ("origin", "requests", "slot", "state")

    def __init__(self, slot: str, origin: Origin | None, requests: _L, state: State) -> None:
        self.slot = slot
        self.origin = origin
        self.requests = requests
        self.state = state


class ReadySet(Generic[_L]):
    """Lanes that may go, by download slot; slots and lanes take turns."""

    def __init__(self) -> None:
        self._slots: OrderedDict[str, OrderedDict[Origin | None, OriginQueue[_L]]] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._slots)

    def add(self, queue: OriginQueue[_L]) -> None:
        self._slots.setdefault(queue.slot, OrderedDict())[queue.origin] = queue

    def remove(self, queue: OriginQueue[_L]) -> None:
        queues = self._slots.get(queue.slot)
        if queues is not None:
            queues.pop(queue.origin, None)
            if not queues:
                del self._slots[queue.slot]

    def __contains__(self, queue: OriginQueue[_L]) -> bool:
        queues = self._slots.get(queue.slot)
        return queues is not None and queues.get(queue.origin) is queue

    def clear(self) -> None:
        self._slots.clear()

    def renew(self, queue: OriginQueue[_L]) -> None:
        """Make *lane*, if it is here, the newest."""
        if queue in self:
            self._slots[queue.slot].move_to_end(queue.origin)
            self._slots.move_to_end(queue.slot)

    def least_busy(self, downloads: Downloads) -> OriginQueue[_L] | None:
        """A lane of a slot with the fewest requests under way, in turn."""
        best, fewest = None, 0
        for slot in self._slots:
            active = downloads.active_in(slot)
            if not active:
                best = slot
                break
            if best is None or active < fewest:
                best, fewest = slot, active
        if best is None:
            return None
        queues = self._slots[best]
        self._slots.move_to_end(best)
        origin, queue = next(iter(queues.items()))
        if len(queues) > 1:
            queues.move_to_end(origin)
        return queue

    def oldest(self) -> OriginQueue[_L]:
        """The lane that has waited longest."""
        queues = self._slots[next(iter(self._slots))]
        return queues[next(iter(queues))]

    def newest(self) -> OriginQueue[_L]:
        """The lane that got a request last."""
        queues = self._slots[next(reversed(self._slots))]
        return queues[next(reversed(queues))]


class BacklogHeap(Generic[_L]):
    """Lanes with many requests; the longest comes first, of equal ones the first that was."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, OriginQueue[_L]]] = []
        self._order = itertools.count()

    def add(self, queue: OriginQueue[_L]) -> None:
        """*lane* may go from now on."""
        size = len(queue.requests)
        if size > 1:
            heapq.heappush(self._heap, (-size, next(self._order), queue))

    def grown(self, queue: OriginQueue[_L]) -> None:
        """*lane* has got one more. Only doublings count, so there are few entries of a lane."""
        size = len(queue.requests)
        if not size & (size - 1):
            self.add(queue)

    def longest(self, ready_set: ReadySet[_L]) -> OriginQueue[_L] | None:
        """The longest that is in *pool* still."""
        while self._heap:
            queue = self._heap[0][2]
            if queue in ready_set:
                return queue
            heapq.heappop(self._heap)
        return None
