"""Recorder: writes the evidence of a crawl in its own thread.

    robots-RUN.warc.gz     the archive
    decisions-RUN.jsonl    the log: every archive record, state, decision and page that left

The log names each archive record (a response together with its request) with its place and digest,
before any decision refers to it, so that the chain of the log covers the archive too.
"""

from __future__ import annotations

import atexit
import logging
import os
import secrets
import threading
import time
from collections import Counter, deque
from hashlib import sha256
from time import gmtime, strftime
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy_robotspec.evidence.log_lines import (
    COUNTED,
    FORMAT,
    NO_HASH,
    RULES,
    Members,
    dumps,
    seal,
)
from scrapy_robotspec.evidence.timestamp import stamp
from scrapy_robotspec.evidence.warc import ArchivedBodies, NewRecord, to_member

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

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

_NEW_FILE = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
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
        atexit.register(self._stop)  # a second Ctrl-C and ``scrapy shell`` skip close()

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
            self.add_line(dumps, {"type": "clock", "time": now, "jump": round(jump, 3)})

    def close(self, requests: Mapping[str, int] | None = None) -> None:
        """Write everything, with the account of the crawl's *requests*, and close. Blocks."""
        self._stop()
        atexit.unregister(self._stop)
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

    def _stop(self) -> None:
        """Write what was added until now, and end the thread. Blocks."""
        self._end.set()
        if self._thread.ident is not None:
            self._thread.join()

    # --- in the thread

    def _run(self) -> None:
        while not self._end.wait(WRITE_EVERY):
            self._try()
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


# --- the files of a run


def new_run_name(now: float) -> str:
    """A name for a process that starts at *now* (epoch seconds)."""
    start = strftime("%Y%m%dT%H%M%SZ", gmtime(now))
    return f"{start}-{os.getpid()}-{secrets.token_hex(4)}"


class RunWriter:
    """Writes archive and log of one run.

    *header* stands in the first line of the log, *info* in the first record of the archive. Every
    method may raise ``OSError``; nothing is lost by that, and the call may be repeated.
    """

    def __init__(self, folder: Path, run: str, header: Members, info: Mapping[str, str]) -> None:
        name = f"robots-{run}.warc.gz"
        self.reply = folder / f"decisions-{run}.tsr"
        """The file of the time stamp."""
        self.hash = NO_HASH
        """The hash of the last line."""
        self._counts: Counter[str] = Counter()
        """Lines by type."""
        self._log = AppendFile(folder / f"decisions-{run}.jsonl")
        self._archive = AppendFile(folder / name)
        self._bodies = ArchivedBodies()
        self.add_line(
            dumps({"type": "run", "format": FORMAT, "rules": RULES, "run": run, **header})
        )
        texts = {"filename": name, **info}
        block = "".join(f"{key}: {value}\r\n" for key, value in texts.items()).encode()
        fields = f"WARC-Filename: {name}\r\n"
        first = NewRecord("warcinfo", "", header["time"], block, fields=fields)
        self.add_line(self.store(first))

    def store(self, record: NewRecord) -> str:
        """Archive *record* and its request; the line of the log for both."""
        record = self._bodies.refer(record)
        members, digest = [to_member(record)], sha256()
        if record.request:
            fields = f"WARC-Concurrent-To: {record.id}\r\n"
            sent = record.began or record.time
            request = NewRecord("request", record.url, sent, b"", record.request, fields)
            members.append(to_member(request))
        for member in members:  # hashing more at once releases the GIL
            digest.update(member)
        data, offset = b"".join(members), self._archive.size
        self._archive.append(data)
        began = "null" if record.began is None else repr(record.began)
        return (
            f'{{"type":"record","id":"{record.id}","kind":"{record.kind}",'
            f'"url":{dumps(record.url)},"began":{began},"time":{record.time!r},'
            f'"offset":{offset},"length":{len(data)},"sha256":"{digest.hexdigest()}"}}'
        )

    def add_line(self, text: str) -> None:
        """Add a JSON object to the log; its first member is ``type``."""
        line, self.hash = seal(text, self.hash)
        self._log.append(line)
        self._counts[text[9 : text.index('"', 9)]] += 1

    def flush(self) -> None:
        """Write what is pending, the archive before the log that names it."""
        self._archive.flush()
        self._log.flush()

    def close(self, now: float, lost: int, requests: Mapping[str, int] | None = None) -> None:
        """Add the last line, with the account of the crawl's *requests*, and close the files."""
        self._archive.close()
        counts = {name: self._counts[kind] for kind, name in COUNTED.items()}
        more = {"lost": lost, "archive": self._archive.size, "requests": requests}
        self.add_line(dumps({"type": "end", "time": now, **counts, **more}))
        self._log.close()


class AppendFile:
    """A new file that only grows, readable by its owner alone.

    A part that could not be written, as on a full disk, is kept for the next :meth:`flush`. Raises
    ``FileExistsError`` where the path exists already, be it a link.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd = os.open(path, _NEW_FILE, 0o600)
        self._rest = bytearray()
        self.size = 0
        """Bytes, those not written yet included."""

    def append(self, data: bytes) -> None:
        """Put *data* at the end; it reaches the disk with :meth:`flush`."""
        self._rest += data
        self.size += len(data)

    def flush(self) -> None:
        """Write what is pending.

        Raises ``OSError``; the rest is then kept. ``FileNotFoundError``: the file was deleted, with
        all that it contained.
        """
        self._path.stat()
        while self._rest:
            del self._rest[: os.write(self._fd, self._rest)]

    def close(self) -> None:
        """Flush, wait for the disk, and close.

        Raises ``OSError``; the file then stays open.
        """
        self.flush()
        os.fsync(self._fd)
        os.close(self._fd)
