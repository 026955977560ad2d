"""Queues whose requests may go, in the order of choice."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.plugin.scheduling.gate import State


class RequestQueue(Protocol):
    """Stores the requests of one download slot and origin."""

    def push(self, request: Request) -> None: ...
    def pop(self) -> Request | None: ...
    def __len__(self) -> int: ...


class Downloads(Protocol):
    """The load of the downloader."""

    def active_in(self, slot: str) -> int:
        """The number of requests in a download slot."""

    def is_active(self, request: Request) -> bool:
        """Whether *request* is in the downloader or its middlewares."""


_Q = TypeVar("_Q", bound=RequestQueue)


class OriginQueue(Generic[_Q]):
    """Requests of one download slot and origin, with its state."""

    __slots__ = ("origin", "requests", "size", "slot", "state")

    def __init__(self, slot: str, origin: Origin | None, requests: _Q, state: State) -> None:
        self.slot = slot
        self.origin = origin
        self.requests = requests
        self.size = len(requests)
        self.state = state


class AgeOrder(Generic[_Q]):
    """Queues in the order in which they were added."""

    def __init__(self) -> None:
        self._queues: OrderedDict[OriginQueue[_Q], None] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._queues)

    def add(self, queue: OriginQueue[_Q]) -> None:
        self._queues[queue] = None

    def renew(self, queue: OriginQueue[_Q]) -> None:
        """Make *queue* the newest, if it is here."""
        if queue in self._queues:
            self._queues.move_to_end(queue)

    def discard(self, queue: OriginQueue[_Q]) -> None:
        self._queues.pop(queue, None)

    def clear(self) -> None:
        self._queues.clear()

    def oldest(self) -> OriginQueue[_Q]:
        return next(iter(self._queues))

    def newest(self) -> OriginQueue[_Q]:
        return next(reversed(self._queues))


class ReadySet(Generic[_Q]):
    """Queues by download slot, taking turns."""

    def __init__(self) -> None:
        self._slots: OrderedDict[str, AgeOrder[_Q]] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._slots)

    def add(self, queue: OriginQueue[_Q]) -> None:
        self._slots.setdefault(queue.slot, AgeOrder()).add(queue)

    def discard(self, queue: OriginQueue[_Q]) -> None:
        queues = self._slots.get(queue.slot)
        if queues is not None:
            queues.discard(queue)
            if not queues:
                del self._slots[queue.slot]

    def clear(self) -> None:
        self._slots.clear()

    def next(self, downloads: Downloads) -> OriginQueue[_Q]:
        """The next queue of the least busy slot.

        The search ends at the first idle slot, so it looks at no more slots than are busy.
        """
        best, fewest = "", None
        for slot in self._slots:
            active = downloads.active_in(slot)
            if fewest is None or active < fewest:
                best, fewest = slot, active
            if not active:
                break
        self._slots.move_to_end(best)
        queue = self._slots[best].oldest()
        self._slots[best].renew(queue)
        return queue
