"""RunWriter: the files of one crawl process in the evidence folder.

    robots-RUN-00001.warc.gz     the archive
    decisions-RUN-00001.jsonl    the log: a header, every archive record, state and decision

The log names each archive record (a response together with its request) with its place and digest,
before any decision refers to it, so that the chain of the log covers the archive too.
"""

from __future__ import annotations

import os
import secrets
import time as clock
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from scrapy_robotspec.evidence.files import AppendFile
from scrapy_robotspec.evidence.log_lines import NO_HASH, dumps, seal
from scrapy_robotspec.evidence.warc import NewRecord, to_member

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

#: Version of the log's format. In version 1 a state was an archive record.
FORMAT = 2
#: Size at which a file is followed by the next one (bytes).
MAX_FILE_SIZE = 2**28


def new_record_id() -> str:
    """A new WARC-Record-ID: a random UUID."""
    digits = secrets.token_hex(16)  # hot path: a third of the time of uuid4()
    first, node = f"{digits[:8]}-{digits[8:12]}", digits[20:]
    return f"<urn:uuid:{first}-4{digits[13:16]}-a{digits[17:20]}-{node}>"


def new_run_name(time: float) -> str:
    """A name for a process that starts at *time* (epoch seconds)."""
    start = clock.strftime("%Y%m%dT%H%M%SZ", clock.gmtime(time))
    return f"{start}-{os.getpid()}-{secrets.token_hex(4)}"


class RunWriter:
    """Writes archive and log of one run.

    *header* stands at the beginning of each log file, *info* of each archive file. Every method may
    raise ``OSError``; nothing is lost by that, and the call may be repeated.
    """

    def __init__(
        self,
        folder: Path,
        run: str,
        header: Mapping[str, Any],
        info: Mapping[str, str],
        *,
        max_size: int = MAX_FILE_SIZE,
    ) -> None:
        self._folder = folder
        self._run = run
        self._header = header
        self._info = info
        self._max_size = max_size
        self._hash = NO_HASH
        self._parts = {"robots": 0, "decisions": 0}
        self._sizes: dict[str, int] = {}
        """Sizes of the complete archive files."""
        self._log = self._next_log()
        self._archive: AppendFile | None = None

    @property
    def hash(self) -> str:
        """The hash of the last line."""
        return self._hash

    def add_record(self, record: NewRecord, *more: NewRecord) -> None:
        """Archive *record* and *more*, and name them in one line.

        The line contains the id of *record*, and the place of all.
        """
        if self._archive is None:
            self._archive = self._next_archive(record.time)
        self._add(self._archive, record, *more)

    def add_line(self, text: str) -> None:
        """Add a JSON object to the log."""
        line, self._hash = seal(text, self._hash)
        self._log.append(line)

    def flush(self) -> None:
        """Write what is pending, the archive before the log that names it."""
        if self._archive is not None:
            self._archive.flush()
        self._log.flush()
        if self._archive is not None and self._archive.size >= self._max_size:
            self._close_archive()
        if self._log.size >= self._max_size:
            full, self._log = self._log, self._next_log()
            full.close()

    def close(self, time: float, counts: Mapping[str, int]) -> None:
        """Add the last line and close the files."""
        if self._archive is not None:
            self._close_archive()
        self.add_line(dumps({"type": "end", "time": time, **counts, "files": self._sizes}))
        self._log.close()

    def _add(self, archive: AppendFile, record: NewRecord, *more: NewRecord) -> None:
        data = b"".join(map(to_member, (record, *more)))
        line = (
            f'{{"type":"record","id":"{record.id}","kind":"{record.kind}","url":{dumps(record.url)},'
            f'"time":{record.time!r},"file":"{archive.name}","offset":{archive.size},'
            f'"length":{len(data)},"sha256":"{sha256(data).hexdigest()}"}}'
        )
        archive.append(data)
        self.add_line(line)

    def _next_archive(self, time: float) -> AppendFile:
        archive = self._next_file("robots", "warc.gz")
        info = {"filename": archive.name, **self._info}
        block = "".join(f"{name}: {value}\r\n" for name, value in info.items()).encode()
        fields = (("WARC-Filename", archive.name),)
        self._add(archive, NewRecord(new_record_id(), "warcinfo", "", time, block, fields=fields))
        return archive

    def _next_log(self) -> AppendFile:
        log = self._next_file("decisions", "jsonl")
        header = {"type": "run", "format": FORMAT, "run": self._run}
        place = {"part": self._parts["decisions"], "before": self._hash}
        text = dumps({**header, **place, **self._header})
        line, self._hash = seal(text, self._hash)
        log.append(line)
        return log

    def _close_archive(self) -> None:
        assert self._archive is not None
        self._archive.close()
        self._sizes[self._archive.name] = self._archive.size
        self._archive = None

    def _next_file(self, kind: str, ending: str) -> AppendFile:
        part = self._parts[kind] + 1
        file = AppendFile(self._folder / f"{kind}-{self._run}-{part:05}.{ending}")
        self._parts[kind] = part
        return file
