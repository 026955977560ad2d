"""WaitingSchedulerMixin: parks requests of waiting origins in front of any other scheduler."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import DontCloseSpider

from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.scheduling.gate_owner import find_gate_owner
from scrapy_robotspec.plugin.scheduling.origin_queues import OriginQueues
from scrapy_robotspec.plugin.scheduling.redis_parking import open_parking
from scrapy_robotspec.plugin.scheduling.requeue import QUEUED, requeue

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred
    from typing_extensions import Self

    from scrapy_robotspec.plugin.scheduling.gate_owner import GateOwner

#: Requests that one call of ``next_request`` parks at most before the engine gets its turn.
_PARK_BATCH = 100


class _Fifo(deque["Request"]):
    """Requests in memory, first in, first out."""

    push = deque.append

    def pop(self) -> Request | None:  # type: ignore[override]
        return self.popleft() if self else None


class _ParkedQueues(OriginQueues[_Fifo]):
    """Parked requests, at most *limit*."""

    def __init__(self, limit: int, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.limit = limit

    def may_go(self) -> bool:
        """Whether a parked request, or another of the scheduler, may go."""
        return len(self) < self.limit or super().may_go()


class WaitingSchedulerMixin:
    """Methods that :func:`gated_scheduler` puts before those of a scheduler.

    It uses Scrapy's documented scheduler interface only. It takes requests of waiting origins from
    the scheduler and parks them, at most ``ROBOTSPEC_MAX_PARKED``; then it takes no more until one
    is released. It gives parked requests back to the scheduler when the spider closes. A process
    that is killed loses them, except with scrapy-redis (``redis_parking.py``).
    """

    _queues: _ParkedQueues | None = None
    _robotspec_crawler: Crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        maker = getattr(super(), "from_crawler", None)
        scheduler: Self = maker(crawler) if maker is not None else cls()
        scheduler._robotspec_crawler = crawler
        return scheduler

    def open(self, spider: Spider) -> Deferred[None] | None:
        opened = getattr(super(), "open", None)
        result = opened(spider) if opened is not None else None
        owner = find_gate_owner(self._robotspec_crawler)
        if owner is not None:  # only now: where the scheduler fails to open, nothing is parked
            self._start_parking(owner)
        return result

    def _start_parking(self, owner: GateOwner) -> None:
        crawler = self._robotspec_crawler
        assert crawler.engine is not None
        self._gate = owner.gate
        self._slots = _compat.DownloadSlots(crawler.engine)
        self._parking = open_parking(self, _compat.call_later)
        self._parking.start()
        crawler.signals.connect(self._spider_idle, signals.spider_idle)
        self._queues = _ParkedQueues(
            owner.settings.max_parked,
            owner.gate,
            self._slots,
            lambda queue: None,
            owner.count_waiting,
        )

    def _spider_idle(self) -> None:
        """Stay while other workers have parked requests: if one is killed, they are taken over."""
        if self._queues is not None and self._parking.others_wait():
            raise DontCloseSpider

    def next_request(self) -> Request | None:
        queues = self._queues
        if queues is None:
            return super().next_request()  # type: ignore[misc,no-any-return]
        request = self._from_parking(queues) or self._from_scheduler(queues)
        if request is not None:
            request.meta[QUEUED] = True
        return request

    def _from_parking(self, queues: _ParkedQueues) -> Request | None:
        """The next parked request that may go and that no other worker has taken over."""
        while (request := queues.pop()) is not None:
            if self._parking.release(request):
                return request
        return None

    def _from_scheduler(self, queues: _ParkedQueues) -> Request | None:
        """The scheduler's next request that may go; parks those that may not."""
        for _ in range(_PARK_BATCH):
            if len(queues) >= queues.limit:
                return None
            request: Request | None = super().next_request()  # type: ignore[misc]
            if request is None:
                return None
            origin = self._gate.queue(request)
            if origin is None:
                return request
            slot = self._slots.key(request)
            queue = queues.get(slot, origin) or queues.open(slot, origin, _Fifo())
            queues.push(queue, request)
            chosen = queues.pop()
            if chosen is request:
                return request
            self._parking.park(request)
            if chosen is not None and self._parking.release(chosen):
                return chosen
        _compat.wake(self._robotspec_crawler.engine)
        return None

    def has_pending_requests(self) -> bool:
        parked = self._queues is not None and len(self._queues) > 0
        return parked or super().has_pending_requests()  # type: ignore[misc]

    def close(self, reason: str) -> Deferred[None] | None:
        if self._queues is not None:
            queues, self._queues = self._queues, None
            for queue in queues:
                for request in queue.requests:
                    if self._parking.is_ours(request):
                        super().enqueue_request(requeue(request))  # type: ignore[misc]
                        self._parking.release(request)
            self._parking.close()
        closed = getattr(super(), "close", None)
        return closed(reason) if closed is not None else None


def gated_scheduler(base: type) -> type:
    """A subclass of the scheduler *base* that parks requests of waiting origins."""
    if issubclass(base, WaitingSchedulerMixin):
        return base
    return type(f"Waiting{base.__name__}", (WaitingSchedulerMixin, base), {})
