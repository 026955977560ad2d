"""A gate and queues, and a downloader that is a table."""

from __future__ import annotations

from collections import deque
from contextlib import ExitStack
from typing import Any, cast

from scrapy import Request

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.lookup.live_origins import LiveOrigins, QueueState
from scrapy_robotspec.plugin.scheduling.gate import Gate
from scrapy_robotspec.plugin.scheduling.origin_queues import OriginQueues
from scrapy_robotspec.plugin.settings.settings import Settings

A, B, C = (Origin("http", f"{name}.example", 80) for name in "abc")


class RequestQueue(deque[Any]):
    """Requests in memory, first in, first out. ``curprio`` is set by hand."""

    curprio: int | None = 0
    push = deque.append

    def pop(self) -> Any:  # type: ignore[override]
        return self.popleft() if self else None


class GateHarness:
    """A gate. ``known`` are the origins that have valid rules, ``spaced`` those with a delay."""

    def __init__(self, *, fetch_slots: bool = True) -> None:
        self.known: set[Origin] = set()
        self.spaced: set[Origin] = set()
        self.due_slots: set[str] = set()
        self.fetch_slots = fetch_slots
        self.wakes = 0
        self.waiting = 0
        self.live = LiveOrigins()
        self.settings = Settings()
        self.downloads = ActiveRequests()
        # All that the gate asks, in one object.
        self.lookup = self.limiter = self.progress = self.engine = self.routes = self.policy = self
        self.seen: list[Any] = []
        self.replaced: set[Origin] = set()
        self.is_active = self.downloads.is_active
        self.gate = Gate(cast("Any", self), cast("Any", self))

    def state(self, origin: Origin) -> QueueState:
        """The state of *origin*."""
        return self.live[origin].state if origin in self.live else QueueState.READY

    def queued(self, origin: Origin) -> int:
        """The number of requests of *origin* that are held back in queues."""
        return self.live[origin].queued if origin in self.live else 0

    def knows(self, origin: Origin) -> bool:
        return origin in self.known

    def is_spaced(self, origin: Origin) -> bool:
        return origin in self.spaced

    def origin(self, request: Any) -> Origin | None:
        return cast("Origin | None", request.origin)

    def replacement(self, origin: Origin) -> object | None:
        return origin if origin in self.replaced else None

    def see(self, origin: Origin, request: Any) -> None:
        self.seen.append((origin, request))

    def may_begin(self, coming: int, when_free: Any) -> bool:
        return self.fetch_slots

    def waiting_changed(self, change: int) -> None:
        self.waiting += change

    def wake(self) -> None:
        self.wakes += 1

    def hold(self, origin: Origin) -> ExitStack:
        """A wait of *origin* that has begun; close it to end the wait."""
        wait = ExitStack()
        wait.enter_context(self.gate.hold(origin, cast("Any", object())))
        return wait


class ActiveRequests:
    """The requests in the downloader, by slot."""

    def __init__(self) -> None:
        self.active: dict[str, set[Any]] = {}
        self.looked_at = 0

    def active_in(self, slot: str) -> int:
        self.looked_at += 1
        return len(self.active.get(slot, ()))

    def is_active(self, request: Request | Any) -> bool:
        return any(request in requests for requests in self.active.values())

    def start(self, slot: str, request: Any) -> None:
        self.active.setdefault(slot, set()).add(request)

    def end(self, request: Any) -> None:
        for requests in self.active.values():
            requests.discard(request)


class QueuesHarness:
    """OriginQueues with queues in memory. Requests are any objects.

    Without a *harness* all rules are known.
    """

    def __init__(self, harness: GateHarness | None = None) -> None:
        if harness is None:
            harness = GateHarness()
            harness.known.update((A, B, C))
        self.downloads = harness.downloads
        self.queues: OriginQueues = OriginQueues(harness.gate, cast("Any", self.downloads))

    def push(self, slot: str, origin: Origin | None, request: Any, rank: int = 0) -> None:
        """Queue *request*; *rank* is that of a new queue, the lowest first."""
        queue = self.queues.queue_of(slot, origin)
        if queue is not None:
            self.queues.add_request(queue, request)
            return
        requests = RequestQueue([request])
        requests.curprio = rank
        self.queues.add_queue(slot, origin, requests)

    def pop(self) -> Any:
        return self.queues.pop()

    def pop_all(self) -> list[Any]:
        return list(iter(self.pop, None))

    def send(self) -> Any:
        """Pop a request and put it into the downloader, where it stays."""
        request = self.pop()
        self.downloads.start("slot", request)
        return request
