"""Recorder: writes the evidence of a crawl in its own thread."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy_robotspec.evidence.log_lines import dumps
from scrapy_robotspec.evidence.timestamp import stamp

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scrapy_robotspec.evidence.run_writer import RunWriter
    from scrapy_robotspec.evidence.warc import NewRecord

logger = logging.getLogger("scrapy_robotspec")

#: Seconds between two writes; a killed process loses the evidence since the last one.
WRITE_EVERY = 0.5
#: Max bytes that wait for a slow or full disk; what comes then is lost, and counted.
MAX_QUEUED = 2**26
#: Estimated memory of a queued item besides heads and payloads (bytes).
_PER_ITEM = 1500
#: A clock that differs by more from the time that has passed was set (seconds).
_JUMP = 1.0

_DELETED = (
    "Evidence is lost (%s). The crawl goes on without it: start the crawl again for new files in "
    "ROBOTSPEC_EVIDENCE."
)
_FULL = (
    "Evidence cannot be written (%s). The crawl goes on; new evidence waits in memory, and is lost "
    f"beyond {MAX_QUEUED >> 20} MiB. Free space for ROBOTSPEC_EVIDENCE, or stop the crawl."
)

_T = TypeVar("_T")


class Recorder:
    """Writes what is added, in order, in a thread of its own.

    Nothing that the crawl calls blocks or raises. While the disk is full, the crawl goes on: the
    evidence waits in memory. Lost items are counted in the log, and a clock that is set is noted.
    *timestamp*: the command of ``ROBOTSPEC_EVIDENCE_TIMESTAMP``.
    """

    def __init__(self, writer: RunWriter, timestamp: str | None = None) -> None:
        self._writer = writer
        self._timestamp = timestamp
        self._offset = time.time() - time.monotonic()
        self._queue: deque[Any] = deque()
        """For each item a function that makes its line, the argument, their estimated memory
        (bytes).

        They follow each other, because the garbage collector runs by the number of new objects.
        """
        # Each is changed by one thread alone.
        self._bytes_in = self._bytes_out = 0
        self._dropped = self._spoilt = 0
        self._lost_noted = 0
        self._failing = False
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="robotspec-evidence", daemon=True)

    def open(self) -> None:
        """Write the first line, then start the thread.

        The line shows to an audit that the crawl ran.
        """
        self._try()
        self._thread.start()

    @property
    def lost(self) -> int:
        """Items that found no room, or could not be made."""
        return self._dropped + self._spoilt

    def add_record(self, record: NewRecord) -> None:
        """Archive *record*."""
        size = len(record.head) + len(record.payload) + len(record.request)
        self.add_line(self._writer.store, record, size)

    def add_line(self, make: Callable[[_T], str], argument: _T, size: int = 0) -> None:
        """Log the JSON object that *make* returns for *argument*.

        Its first member is ``type``. Called in the thread, where lines are made one after another,
        which is faster. *size*: the memory of a long argument (bytes).
        """
        self._note_clock()
        self._put(make, argument, size)

    def _put(self, make: Callable[[_T], str], argument: _T, size: int = 0) -> None:
        size += _PER_ITEM
        if self._bytes_in - self._bytes_out + size > MAX_QUEUED:
            self._dropped += 1
            return
        self._bytes_in += size
        self._queue.extend((make, argument, size))

    def _note_clock(self) -> None:
        """Note a clock that was set, before lines that were made with it."""
        now = time.time()
        offset = now - time.monotonic()
        jump = offset - self._offset
        if abs(jump) > _JUMP:
            self._offset = offset
            self._put(dumps, {"type": "clock", "time": now, "jump": round(jump, 3)})

    def close(self, requests: Mapping[str, int] | None = None) -> None:
        """Write everything, with the account of the crawl's *requests*, and close. Blocks."""
        self._end.set()
        if self._thread.ident is not None:
            self._thread.join()
        self._note_clock()
        try:
            self._drain()
            self._writer.close(time.time(), self.lost, requests)
        except OSError as error:
            logger.error(
                "The evidence of this crawl is incomplete: its last lines and records could not be "
                "written (%s). No file says so: keep this line with the evidence.",
                error,
            )
            return
        if self._timestamp is not None:
            stamp(self._timestamp, self._writer.reply, self._writer.hash)

    # --- in the thread

    def _run(self) -> None:
        while not self._end.wait(WRITE_EVERY):
            self._try()

    def _try(self) -> None:
        try:
            self._drain()
            self._failing = False
        except OSError as error:  # one ERROR, until the disk works again
            if not self._failing:
                self._failing = True
                logger.error(_DELETED if isinstance(error, FileNotFoundError) else _FULL, error)

    def _drain(self) -> None:
        """Write what was added until now. Raises ``OSError``."""
        self._writer.flush()  # first what could not be written before
        queue = self._queue
        for _ in range(len(queue) // 3):
            self._write(queue.popleft(), queue.popleft())
            self._bytes_out += queue.popleft()
        self._writer.flush()
        lost = self.lost
        if lost > self._lost_noted:
            self._writer.add_line(dumps({"type": "gap", "time": time.time(), "lost": lost}))
            self._lost_noted = lost
            self._writer.flush()

    def _write(self, make: Callable[[Any], str], argument: Any) -> None:
        try:
            self._writer.add_line(make(argument))
        except Exception:  # one item alone is lost
            if not self._spoilt:
                logger.exception("Error while writing evidence: this item is lost")
            self._spoilt += 1
