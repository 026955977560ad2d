"""Disk queues of which only a bounded number has its files open.

A broad crawl with ``JOBDIR`` has a queue, and one or two files, for each origin and priority:
with some thousand origins more files than a process may open.
"""

from __future__ import annotations

import os
import sqlite3
from collections import OrderedDict
from contextlib import contextmanager, suppress
from errno import EINVAL
from functools import partial
from shutil import disk_usage
from struct import Struct
from typing import TYPE_CHECKING, Any, BinaryIO

from scrapy.utils.misc import build_from_crawler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scrapy import Request
    from scrapy.crawler import Crawler

#: Errors of a queue that cannot be opened or written.
ERRORS = (OSError, sqlite3.OperationalError)
#: Queues with open files; each has one or two.
MAX_OPEN = 100
#: Files kept in reserve: a queue needs some to open although connections have taken all others.
_RESERVE = 8
#: No queue is written with less free space on its disk (bytes): what reads a queue may have to
#: write, too.
_LEAST_FREE = 10_000_000
#: How queuelib writes the length of a request.
_LENGTH = Struct(">L")


class OpenQueues:
    """Keeps the *limit* most recently used disk queues open."""

    def __init__(self, limit: int = MAX_OPEN) -> None:
        self._limit = limit
        self._open: OrderedDict[DiskQueue, None] = OrderedDict()
        self._reserve: list[int] = []
        self._fill_reserve()

    @staticmethod
    def check_space(folder: str) -> None:
        """Raise ``OSError`` if the disk of *folder* is almost full."""
        if disk_usage(folder).free < _LEAST_FREE:
            raise OSError("less than 10 MB of the disk are free")

    def used(self, queue: DiskQueue) -> None:
        """Mark *queue* as used; close the least recent if needed."""
        self._open[queue] = None
        self._open.move_to_end(queue)
        if len(self._open) > self._limit:
            next(iter(self._open)).close()

    def closed(self, queue: DiskQueue) -> None:
        """Return the file descriptors of *queue* to the reserve."""
        self._open.pop(queue, None)
        self._fill_reserve()

    @contextmanager
    def free_files(self) -> Iterator[None]:
        """Close all queues and the reserve inside the context."""
        for queue in list(self._open):
            queue.close()
        self.close()
        try:
            yield
        finally:
            self._fill_reserve()

    def close(self) -> None:
        """Close the reserve; the queues are closed by their owner."""
        while self._reserve:
            os.close(self._reserve.pop())

    def _fill_reserve(self) -> None:
        with suppress(OSError):
            while len(self._reserve) < _RESERVE:
                self._reserve.append(os.open(os.devnull, os.O_RDONLY))


class DiskQueue:
    """A queue of *queue_class* that opens its files, at *key*, on use."""

    def __init__(
        self, open_queues: OpenQueues, crawler: Crawler, queue_class: Any, key: str
    ) -> None:
        self._open_queues = open_queues
        self._build = partial(build_from_crawler, queue_class, crawler, key)
        self._queue: Any = None
        self._size: int | None = None
        # Scrapy's queue for a priority keeps one whose files are damaged, unless it cannot be made.
        self._read_size()

    def push(self, request: Request) -> None:
        """Add *request*.

        Raises ``ValueError`` if it cannot be serialised, one of ``ERRORS`` if it cannot be written.
        """
        size = self._read_size()
        self._run(partial(_push, request))
        self._size = size + 1

    def pop(self) -> Request | None:
        """Remove the next request; None if there is none."""
        size = self._read_size()
        if not size:
            return None
        try:
            request: Request | None = self._run(lambda queue: queue.pop())
        except Exception as error:
            # Damaged files can never be opened again, and a LIFO queue's whose process was killed
            # end before its number of requests says so; others may be read further.
            ends_early = getattr(error, "errno", None) == EINVAL
            self._size = None if self._size and not ends_early else 0
            raise
        self._size = size - 1 if request is not None else 0
        return request

    def peek(self) -> Request | None:
        """The next request; None if there is none."""
        request: Request | None = self._run(lambda queue: queue.peek())
        return request

    def close(self) -> None:
        """Close the files; an empty queue removes them."""
        if self._queue is not None:
            queue, self._queue = self._queue, None
            try:
                queue.close()
            except ERRORS:
                if self._size != 0:  # an empty one on a full disk has nothing to keep
                    raise
            finally:
                self._open_queues.closed(self)

    def __len__(self) -> int:
        size = self._read_size()
        if not size:
            self.close()  # Scrapy 2.13 forgets a queue that it finds empty, without closing it
        return size

    def _read_size(self) -> int:
        if self._size is None:
            self._size = self._run(len)
        return self._size

    def _run(self, operation: Callable[[Any], Any]) -> Any:
        try:
            return operation(self._opened())
        except sqlite3.OperationalError:  # it opens a journal to write, and undoes what failed
            with self._open_queues.free_files():
                return operation(self._opened())

    def _opened(self) -> Any:
        if self._queue is None:
            try:
                self._queue = self._build()
            except ERRORS:
                with self._open_queues.free_files():
                    self._queue = self._build()
            except Exception as error:  # of queuelib, or of what reads its files
                self._size = 0
                raise OSError(f"its files are damaged: {error}") from error
            if hasattr(self._queue, "f"):
                self._remove_buffer()
        self._open_queues.used(self)
        return self._queue

    def _remove_buffer(self) -> None:
        """Let each write of a LIFO queue fail at once if it fails."""
        file = self._queue.f
        try:
            self._queue.f = file.detach()
        except OSError:  # the number of requests of a new one cannot be written
            self._queue = None
            with suppress(OSError):
                file.close()
            os.unlink(file.name)
            raise


def _push(request: Request, queue: Any) -> None:
    """Add *request* to *queue*, or leave its file as it was and raise ``OSError``.

    queuelib ignores how much of a request was written: what is missing would hide the requests
    before it. SQLite undoes what failed.
    """
    is_fifo = hasattr(queue, "headf")
    file = queue.headf if is_fifo else getattr(queue, "f", None)
    if file is None:
        queue.push(request)
        return
    begin = os.fstat(file.fileno()).st_size
    before = queue.info.copy() if is_fifo else queue.size
    try:
        queue.push(request)
        if file.closed:  # a FIFO queue goes on in another one
            with open(file.name, "rb") as file:
                _check_length(file, begin, is_first=True)
        else:
            _check_length(file, begin, is_first=is_fifo)
    except OSError:
        os.truncate(file.name, begin)
        if is_fifo:
            queue.info.update(before)
            queue.headf.close()
            queue.headf = queue._openchunk(before["head"][0], "ab+")
        else:
            queue.size = before
            file.seek(begin)
        raise


def _check_length(file: BinaryIO, begin: int, *, is_first: bool) -> None:
    """Raise ``OSError`` unless a whole request was written from *begin* to the end of *file*.

    *is_first*: its length is in front of it, else behind it.
    """
    end = os.fstat(file.fileno()).st_size
    length = os.pread(file.fileno(), _LENGTH.size, begin if is_first else end - _LENGTH.size)
    if length != _LENGTH.pack(max(0, end - begin - _LENGTH.size)):
        raise OSError("only a part of a request was written")
