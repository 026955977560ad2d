"""WaitingPriorityQueue: Scrapy's priority queue, with one queue per download slot and origin."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.pqueues import DownloaderAwarePriorityQueue, ScrapyPriorityQueue

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.plugin.scheduling.origin_queues import OriginQueues
from scrapy_robotspec.plugin.scheduling.queue_source import DownloaderState, find_middleware
from scrapy_robotspec.plugin.scheduling.requeue import QUEUED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request
    from scrapy.crawler import Crawler

    from scrapy_robotspec.plugin.scheduling.ready_set import OriginQueue


class WaitingPriorityQueue(DownloaderAwarePriorityQueue):
    """``SCHEDULER_PRIORITY_QUEUE`` that leaves requests in line until their robots.txt is known.

    One line for each download slot and origin; otherwise it is Scrapy's queue: the slot with the
    fewest downloads comes first, and a line goes by priority. What it writes to ``JOBDIR`` can be
    taken up by Scrapy's queue, and the other way round.
    """

    def __init__(
        self,
        crawler: Crawler,
        downstream_queue_cls: Any,
        key: str,
        slot_startprios: dict[str, Iterable[int]] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(crawler, downstream_queue_cls, key, slot_startprios, **kwargs)
        assert crawler.engine is not None
        downloader = crawler.engine.downloader
        self._slot_of = downloader.get_slot_key
        middleware = find_middleware(crawler)
        self._gate = middleware.gate if middleware is not None else None
        self._queues: OriginQueues[ScrapyPriorityQueue] = OriginQueues(
            self._gate,
            DownloaderState(downloader),
            self._drop,
            middleware.count_waiting if middleware is not None else lambda change: None,
        )
        for name, requests in self.pqueues.items():
            slot, _, url = name.rpartition("|")
            origin = Origin.of(url)
            self._queues.open(slot if origin else name, origin, requests)

    def push(self, request: Request) -> None:
        slot = self._slot_of(request)
        origin = self._gate.origin_of(request) if self._gate is not None else None
        queue = self._queues.get(slot, origin)
        if queue is not None:
            self._queues.push(queue, request)
            return
        name = _name(slot, origin)
        requests = self.pqfactory(name)
        try:
            requests.push(request)  # may fail: not every request can go to disk
        except Exception:
            requests.close()
            raise
        self.pqueues[name] = requests
        self._queues.open(slot, origin, requests)

    def pop(self) -> Request | None:
        request = self._queues.pop()
        if request is not None and self._gate is not None:
            request.meta[QUEUED] = True
        return request

    def peek(self) -> Request | None:
        """The next request, which stays where it is; None where the gate lets none go."""
        queue = self._queues.peek()
        return queue.requests.peek() if queue is not None else None

    def close(self) -> dict[str, list[int]]:
        self._queues.clear()
        return super().close()

    def __len__(self) -> int:
        return len(self._queues)

    def _drop(self, queue: OriginQueue[ScrapyPriorityQueue]) -> None:
        self.pqueues.pop(_name(queue.slot, queue.origin), None)
        queue.requests.close()
        if self.key:
            with suppress(OSError):  # files that a queue leaves behind keep their folder
                Path(queue.requests.key).rmdir()


def _name(slot: str, origin: Origin | None) -> str:
    """A line's name in ``JOBDIR``."""
    return slot if origin is None else f"{slot}|{origin}"
