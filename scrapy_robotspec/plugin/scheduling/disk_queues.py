"""Disk queues of which only a bounded number has its files open.

A broad crawl with ``JOBDIR`` has a queue, and one or two files, for each origin and priority:
with some thousand origins more files than a process may open.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from scrapy.utils.misc import build_from_crawler

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler

#: Queues with open files; each has one or two.
MAX_OPEN = 100


class OpenQueues:
    """Keeps the *limit* most recently used disk queues open."""

    def __init__(self, limit: int = MAX_OPEN) -> None:
        self._limit = limit
        self._open: OrderedDict[DiskQueue, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._open)

    def used(self, queue: DiskQueue) -> None:
        """*queue* is in use: close the one that has not been used for longest, if necessary."""
        self._open[queue] = None
        self._open.move_to_end(queue)
        if len(self._open) > self._limit:
            next(iter(self._open)).close()

    def closed(self, queue: DiskQueue) -> None:
        """*queue* has no open files any more."""
        self._open.pop(queue, None)

    def close_all(self) -> None:
        """Close all queues; each opens again when it is used."""
        for queue in list(self._open):
            queue.close()


class DiskQueueClass:
    """Stands in for a disk queue class of Scrapy's and builds :class:`DiskQueue` objects."""

    def __init__(self, queue_class: Any, open_queues: OpenQueues) -> None:
        self._queue_class = queue_class
        self._open_queues = open_queues

    def from_crawler(self, crawler: Crawler, key: str) -> DiskQueue:
        """A queue with its files at *key*."""
        return DiskQueue(
            lambda: build_from_crawler(self._queue_class, crawler, key), self._open_queues
        )


class DiskQueue:
    """A disk queue of Scrapy's that opens its files when it is used."""

    def __init__(self, build: Callable[[], Any], open_queues: OpenQueues) -> None:
        self._build = build
        self._open_queues = open_queues
        self._queue: Any = None
        self._size: int | None = None

    def push(self, request: Request) -> None:
        """Add *request*. Raises ``ValueError`` if it cannot be serialised, or ``OSError``."""
        size = len(self)
        self._opened().push(request)
        self._size = size + 1

    def pop(self) -> Request | None:
        """Remove the next request; None if there is none."""
        queue, size = self._opened(), len(self)
        try:
            request: Request | None = queue.pop()
        except Exception:
            self._size = len(queue)
            raise
        self._size = size - 1 if request is not None else 0
        return request

    def peek(self) -> Request | None:
        """The next request; None if there is none."""
        request: Request | None = self._opened().peek()
        return request

    def close(self) -> None:
        """Close the files; an empty queue removes them."""
        if self._queue is not None:
            queue, self._queue = self._queue, None
            self._open_queues.closed(self)
            queue.close()

    def __len__(self) -> int:
        if self._size is None:
            self._size = len(self._opened())
        return self._size

    def _opened(self) -> Any:
        if self._queue is None:
            try:
                self._queue = self._build()
            except OSError:  # perhaps other parts of the crawl have all other files open
                self._open_queues.close_all()
                self._queue = self._build()
        self._open_queues.used(self)
        return self._queue
