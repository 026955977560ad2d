"""A gate and lanes with a hand-driven clock and a downloader that is a table.

Not here: what is asserted.
"""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING, Any

from twisted.internet.task import Clock

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.plugin.scheduling.gate import Gate, State
from scrapy_robotspec.plugin.scheduling.origin_queues import OriginQueues

if TYPE_CHECKING:
    from scrapy import Request

    from scrapy_robotspec.plugin.scheduling.ready_set import OriginQueue

START = 1_800_000_000.0
A, B, C = (Origin("http", f"{name}.example", 80) for name in "abc")


class RequestQueue(deque[Any]):
    """A line in memory, first in, first out."""

    push = deque.append

    def pop(self) -> Any:  # type: ignore[override]
        return self.popleft() if self else None


class Gatehouse:
    """The gate and all around it. ``known`` holds the origins whose robots.txt is known."""

    def __init__(self, *, places: bool = True) -> None:
        self.time = Clock()
        self.put_back = 0.0
        self.ahead = 0
        self.known: set[Origin] = set()
        self.places = self.places_again = places
        self.woken = 0
        self.gate = Gate(
            origin_of=lambda request: Origin.of(request.url),
            knows=lambda origin, now: origin in self.known,
            next_slot_at=self._next_slot_at,
            clock=self.clock,
            call_later=self._call_later,
            wake=self._wake,
        )

    def _next_slot_at(self, now: float, again: bool, ahead: int) -> float:
        self.ahead = ahead
        return now if (self.places_again if again else self.places) else math.inf

    def clock(self) -> float:
        return START + float(self.time.seconds()) - self.put_back

    def _call_later(self, delay: float, call: Any, *args: Any) -> Any:
        return self.time.callLater(delay, call, *args)

    def _wake(self) -> None:
        self.woken += 1

    def pass_time(self, seconds: float) -> None:
        self.time.advance(seconds)


class Told:
    """A listener that writes down."""

    def __init__(self, gate: Gate, held: int = 0) -> None:
        self.moves: list[tuple[Origin, State]] = []
        self._held = held
        gate.subscribe(self)

    def moved(self, origin: Origin, state: State) -> None:
        self.moves.append((origin, state))

    def waiting(self, origin: Origin) -> int:
        return self._held


class Downloads:
    """The downloader: requests under way, by slot."""

    def __init__(self) -> None:
        self.under_way: dict[str, set[Any]] = {}
        self.asked = 0

    def active_in(self, slot: str) -> int:
        self.asked += 1
        return len(self.under_way.get(slot, ()))

    def is_active(self, request: Request | Any) -> bool:
        return any(request in requests for requests in self.under_way.values())

    def start(self, slot: str, request: Any) -> None:
        self.under_way.setdefault(slot, set()).add(request)

    def end(self, request: Any) -> None:
        for requests in self.under_way.values():
            requests.discard(request)


class Queue:
    """Lanes with lines as their owner makes them."""

    def __init__(self, house: Gatehouse | None) -> None:
        self.downloads = Downloads()
        self.dropped: list[OriginQueue[RequestQueue]] = []
        self.held = 0
        self.queues: OriginQueues[RequestQueue] = OriginQueues(
            house.gate if house else None, self.downloads, self.dropped.append, self._count
        )

    def _count(self, change: int) -> None:
        self.held += change

    def push(self, slot: str, origin: Origin | None, request: Any) -> None:
        queue = self.queues.get(slot, origin) or self.queues.open(slot, origin, RequestQueue())
        self.queues.push(queue, request)

    def pop(self) -> Any:
        return self.queues.pop()

    def pop_all(self) -> list[Any]:
        return list(iter(self.pop, None))
