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
    from scrapy_robotspec.plugin.gate import State


class Line(Protocol):
    """What requests of one slot and origin stand in."""

    def push(self, request: Request) -> None: ...
    def pop(self) -> Request | None: ...
    def __len__(self) -> int: ...


_L = TypeVar("_L", bound=Line)


class Downloads(Protocol):
    """What the downloader is doing."""

    def active_in(self, slot: str) -> int:
        """Requests under way in a download slot."""

    def is_active(self, request: Request) -> bool:
        """Whether *request* has not left the downloader and its middlewares."""


class Lane(Generic[_L]):
    """One line with what it is for."""

    __slots__ = ("line", "origin", "slot", "state")

    def __init__(self, slot: str, origin: Origin | None, line: _L, state: State) -> None:
        self.slot = slot
        self.origin = origin
        self.line = line
        self.state = state


class Pool(Generic[_L]):
    """Lanes that may go, by download slot; slots and lanes take turns."""

    def __init__(self) -> None:
        self._slots: OrderedDict[str, OrderedDict[Origin | None, Lane[_L]]] = OrderedDict()

    def __bool__(self) -> bool:
        return bool(self._slots)

    def add(self, lane: Lane[_L]) -> None:
        self._slots.setdefault(lane.slot, OrderedDict())[lane.origin] = lane

    def remove(self, lane: Lane[_L]) -> None:
        lanes = self._slots.get(lane.slot)
        if lanes is not None:
            lanes.pop(lane.origin, None)
            if not lanes:
                del self._slots[lane.slot]

    def __contains__(self, lane: Lane[_L]) -> bool:
        lanes = self._slots.get(lane.slot)
        return lanes is not None and lanes.get(lane.origin) is lane

    def clear(self) -> None:
        self._slots.clear()

    def renew(self, lane: Lane[_L]) -> None:
        """Make *lane*, if it is here, the newest."""
        if lane in self:
            self._slots[lane.slot].move_to_end(lane.origin)
            self._slots.move_to_end(lane.slot)

    def least_busy(self, downloads: Downloads) -> Lane[_L] | None:
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
        lanes = self._slots[best]
        self._slots.move_to_end(best)
        origin, lane = next(iter(lanes.items()))
        if len(lanes) > 1:
            lanes.move_to_end(origin)
        return lane

    def oldest(self) -> Lane[_L]:
        """The lane that has waited longest."""
        lanes = self._slots[next(iter(self._slots))]
        return lanes[next(iter(lanes))]

    def newest(self) -> Lane[_L]:
        """The lane that got a request last."""
        lanes = self._slots[next(reversed(self._slots))]
        return lanes[next(reversed(lanes))]


class Crowds(Generic[_L]):
    """Lanes with many requests; the longest comes first, of equal ones the first that was."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Lane[_L]]] = []
        self._order = itertools.count()

    def add(self, lane: Lane[_L]) -> None:
        """*lane* may go from now on."""
        size = len(lane.line)
        if size > 1:
            heapq.heappush(self._heap, (-size, next(self._order), lane))

    def grown(self, lane: Lane[_L]) -> None:
        """*lane* has got one more. Only doublings count, so there are few entries of a lane."""
        size = len(lane.line)
        if not size & (size - 1):
            self.add(lane)

    def longest(self, pool: Pool[_L]) -> Lane[_L] | None:
        """The longest that is in *pool* still."""
        while self._heap:
            lane = self._heap[0][2]
            if lane in pool:
                return lane
            heapq.heappop(self._heap)
        return None
