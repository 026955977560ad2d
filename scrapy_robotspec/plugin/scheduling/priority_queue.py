"""WaitingPriorityQueue: Scrapy's priority queue, with one queue per download slot and origin."""

from __future__ import annotations

import hashlib
import logging
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.core.scheduler import Scheduler
from scrapy.pqueues import DownloaderAwarePriorityQueue, ScrapyPriorityQueue
from scrapy.utils.python import global_object_name

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.scheduling.gate import find_gate
from scrapy_robotspec.plugin.scheduling.origin_queues import OriginQueue, OriginQueues

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from scrapy_robotspec.plugin.scheduling.disk_queues import OpenQueues

logger = logging.getLogger("scrapy_robotspec")

#: Longest name of a queue (bytes). Its folder has a name of 33 bytes more, at most 255.
_MAX_NAME = 222
#: Begins the name of a queue whose slot and origin are longer than that.
_DIGEST = "robotspec-"


class WaitingPriorityQueue(OriginQueues, DownloaderAwarePriorityQueue):
    """``SCHEDULER_PRIORITY_QUEUE`` that keeps requests until their robots.txt is known.

    It has a queue for each download slot and origin. Apart from that it is Scrapy's: the slot with
    the fewest downloads comes first, then the priority. Each can resume the other's ``JOBDIR``.
    """

    def __init__(
        self,
        crawler: Crawler,
        downstream_queue_cls: Any,
        key: str,
        *startprios: Any,
        start_queue_cls: Any = None,
    ) -> None:
        self._open_queues: OpenQueues | None = None
        self._errors: tuple[type[Exception], ...] = ()
        if key:
            from scrapy_robotspec.plugin.scheduling import disk_queues

            self._errors = disk_queues.ERRORS
            self._open_queues = disk_queues.OpenQueues()
            wrap = partial(partial, disk_queues.DiskQueue, self._open_queues, crawler)
            downstream_queue_cls = wrap(downstream_queue_cls)
            if start_queue_cls is not None:
                start_queue_cls = wrap(start_queue_cls)
        DownloaderAwarePriorityQueue.__init__(
            self, crawler, downstream_queue_cls, key, *startprios, start_queue_cls=start_queue_cls
        )
        self._slots = _compat.DownloadSlots(crawler.engine)
        gate = find_gate(crawler)
        assert gate is not None
        OriginQueues.__init__(self, gate, self._slots)
        self._warned = False
        for name, requests in list(self.pqueues.items()):
            self._resume(name, requests)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Any:
        """A queue for the scheduler; Scrapy's own where no robots.txt is obeyed."""
        if find_gate(crawler) is None:
            return DownloaderAwarePriorityQueue.from_crawler(crawler, *args, **kwargs)
        return super().from_crawler(crawler, *args, **kwargs)

    def push(self, request: Request) -> None:
        """Add *request*. Raises ``ValueError`` if it cannot be stored on disk."""
        # hot path
        slot, origin = self._slot_of(request), self._gate.note_queued(request)
        queue = self.queue_of(slot, origin)
        try:
            if self._open_queues is not None:
                self._open_queues.check_space(self.key)
            if queue is None:
                self._push_first(slot, origin, request)
            else:
                self.add_request(queue, request)
        except self._errors as error:
            if not self._warned:
                self._warned = True
                logger.warning(
                    "A disk queue cannot be written (%s): its requests stay in memory, and a "
                    "crawl that stops loses them. No more such failures are logged.",
                    error,
                )
            raise ValueError(str(error)) from error  # Scrapy's scheduler then uses memory

    def _slot_of(self, request: Request) -> str:
        return self._slots.key(request)

    def _push_first(self, slot: str, origin: Origin | None, request: Request) -> None:
        name = _name(slot, origin)
        requests = self.pqfactory(name)
        try:
            requests.push(request)
        except Exception:
            if self.key:
                self._close(requests)
            raise
        self.pqueues[name] = requests
        self.add_queue(slot, origin, requests, name)

    def peek(self) -> Request | None:
        """The next request without removing it, or None."""
        queue = self.choose()
        request: Request | None = None if queue is None else queue.requests.peek()
        return request

    def close(self) -> dict[str, list[int]]:
        self.clear()
        state = super().close()
        if self._open_queues is not None:
            self._open_queues.close()
        return state

    def __len__(self) -> int:
        return self.size

    def _resume(self, name: str, requests: ScrapyPriorityQueue) -> None:
        """Take over a queue of an earlier run, ours or one of Scrapy's for a whole slot."""
        if name.startswith(_DIGEST):
            slot, origin = self._slot_and_origin(requests)
        else:
            slot, _, url = name.rpartition("|")
            origin = Origin.of(url)
        if _name(slot, origin) != name:  # requests of any origin wait in the middleware
            slot, origin = name, None
        self.add_queue(slot, origin, requests, name)

    def _slot_and_origin(self, requests: ScrapyPriorityQueue) -> tuple[str, Origin | None]:
        """Those of the first request; it is stored again, as not every queue can peek."""
        request = requests.pop()
        if request is None:
            return "", None
        requests.push(request)
        return self._slot_of(request), self._gate.note_queued(request)

    def remove(self, queue: OriginQueue) -> None:
        """Close *queue*, which is empty."""
        # hot path
        self.pqueues.pop(queue.name, None)
        if self.key:
            self._close(queue.requests)

    def _close(self, requests: ScrapyPriorityQueue) -> None:
        requests.close()
        with suppress(OSError):  # not empty: files that a queue class leaves behind
            Path(requests.key).rmdir()


class WaitingGlobalQueue(WaitingPriorityQueue):
    """In the place of ``ScrapyPriorityQueue``, the default of Scrapy 2.13.

    All requests are in one slot, so the best ``Request.priority`` of all comes first.
    """

    def _slot_of(self, request: Request) -> str:
        return ""


def _name(slot: str, origin: Origin | None) -> str:
    """The name of a queue in ``JOBDIR``."""
    name = slot if origin is None else f"{slot}|{origin}"
    encoded = name.encode()
    if len(encoded) <= _MAX_NAME:
        return name
    return _DIGEST + hashlib.sha256(encoded).hexdigest()[:32]


def waiting_queue(settings: BaseSettings) -> type | None:
    """Our queue for Scrapy's own place; None where the user has chosen."""
    # Names are compared: what the user has chosen is not imported.
    scheduler, queue = settings["SCHEDULER"], settings["SCHEDULER_PRIORITY_QUEUE"]
    if scheduler not in (Scheduler, global_object_name(Scheduler)):
        return None
    if settings.getint("CONCURRENT_REQUESTS_PER_IP"):  # no queue by download slot can have it
        return None
    if queue in (DownloaderAwarePriorityQueue, global_object_name(DownloaderAwarePriorityQueue)):
        return WaitingPriorityQueue
    # The default of Scrapy 2.13, which the user has not chosen.
    is_unchosen = settings.getpriority("SCHEDULER_PRIORITY_QUEUE") == 0
    return WaitingGlobalQueue if is_unchosen else None
