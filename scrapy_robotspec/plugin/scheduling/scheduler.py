"""WaitingSchedulerMixin: parks requests of waiting origins in front of any other scheduler."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.scheduling.origin_queues import OriginQueues
from scrapy_robotspec.plugin.scheduling.queue_source import DownloaderState, find_middleware
from scrapy_robotspec.plugin.scheduling.requeue import QUEUED, requeue

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from twisted.internet.defer import Deferred
    from typing_extensions import Self

#: Requests that one call of ``next_request`` may put aside before the engine gets its turn.
_PARK_BATCH = 100


class _Fifo(deque["Request"]):
    """A line in memory."""

    push = deque.append

    def pop(self) -> Request | None:  # type: ignore[override]
        return self.popleft() if self else None


class WaitingSchedulerMixin:
    """What :func:`gated_scheduler` puts before a scheduler's own methods.

    Uses Scrapy's documented scheduler interface only. Requests of waiting origins are taken from
    the scheduler and put aside in memory, at most ``ROBOTSPEC_MAX_PARKED`` of them; beyond that
    nothing more is taken until one is let go. When the spider closes they are given back to the
    scheduler. A process that is killed loses what it had put aside.
    """

    _queues: OriginQueues[_Fifo] | None = None
    _robotspec_crawler: Crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        maker = getattr(super(), "from_crawler", None)
        scheduler: Self = maker(crawler) if maker is not None else cls()
        scheduler._robotspec_crawler = crawler
        return scheduler

    def open(self, spider: Spider) -> Deferred[None] | None:
        crawler = self._robotspec_crawler
        middleware = find_middleware(crawler)
        if middleware is not None:
            assert crawler.engine is not None
            self._gate = middleware.gate
            self._most = middleware.settings.max_parked
            self._slot_of = crawler.engine.downloader.get_slot_key
            self._queues = OriginQueues(
                middleware.gate,
                DownloaderState(crawler.engine.downloader),
                lambda queue: None,
                middleware.count_waiting,
            )
        opened = getattr(super(), "open", None)
        return opened(spider) if opened is not None else None

    def next_request(self) -> Request | None:
        queues = self._queues
        if queues is None:
            return super().next_request()  # type: ignore[misc,no-any-return]
        request = queues.pop()
        if request is None:
            request = self._from_scheduler(queues)
        if request is not None:
            request.meta[QUEUED] = True
        return request

    def _from_scheduler(self, queues: OriginQueues[_Fifo]) -> Request | None:
        """The scheduler's next request that may go; those that may not are put aside."""
        for _ in range(_PARK_BATCH):
            if len(queues) >= self._most:
                return None
            request: Request | None = super().next_request()  # type: ignore[misc]
            if request is None:
                return None
            origin = self._gate.origin_of(request)
            if origin is None:
                return request
            slot = self._slot_of(request)
            queue = queues.get(slot, origin) or queues.open(slot, origin, _Fifo())
            queues.push(queue, request)
            request = queues.pop()
            if request is not None:
                return request
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
                    super().enqueue_request(requeue(request))  # type: ignore[misc]
        closed = getattr(super(), "close", None)
        return closed(reason) if closed is not None else None


def gated_scheduler(base: type) -> type:
    """A subclass of the scheduler *base* that keeps requests of waiting origins aside."""
    if issubclass(base, WaitingSchedulerMixin):
        return base
    return type(f"Waiting{base.__name__}", (WaitingSchedulerMixin, base), {})
