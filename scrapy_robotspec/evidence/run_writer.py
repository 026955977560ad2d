"""RunWriter: the files of one crawl process in the evidence folder.

    robots-RUN.warc.gz     the archive
    decisions-RUN.jsonl    the log: every archive record, state, decision and page that left

The log names each archive record (a response together with its request) with its place and digest,
before any decision refers to it, so that the chain of the log covers the archive too.
"""

from __future__ import annotations

import os
import secrets
import time as clock
from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING

from scrapy_robotspec.evidence.log_lines import (
    COUNTED,
    FORMAT,
    NO_HASH,
    RULES,
    Members,
    dumps,
    seal,
)
from scrapy_robotspec.evidence.warc import NewRecord, to_field, to_member

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_NEW_FILE = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def new_run_name(time: float) -> str:
    """A name for a process that starts at *time* (epoch seconds)."""
    start = clock.strftime("%Y%m%dT%H%M%SZ", clock.gmtime(time))
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
        self.add_line(
            dumps({"type": "run", "format": FORMAT, "rules": RULES, "run": run, **header})
        )
        texts = {"filename": name, **info}
        block = "".join(f"{key}: {value}\r\n" for key, value in texts.items()).encode()
        fields = to_field("WARC-Filename", name)
        first = NewRecord("warcinfo", "", header["time"], block, fields=fields)
        self.add_line(self.store(first))

    def store(self, record: NewRecord) -> str:
        """Archive *record* and its request; the line of the log for both."""
        members, digest = [to_member(record)], sha256()
        if record.request:
            fields = to_field("WARC-Concurrent-To", record.id)
            time = record.began or record.time
            request = NewRecord("request", record.url, time, b"", record.request, fields)
            members.append(to_member(request))
        for member in members:  # hashing more at once gives the interpreter's lock away
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

    def close(self, time: float, lost: int, requests: Mapping[str, int] | None = None) -> None:
        """Add the last line, with the account of the crawl's *requests*, and close the files."""
        self._archive.close()
        counts = {name: self._counts[kind] for kind, name in COUNTED.items()}
        more = {"lost": lost, "archive": self._archive.size, "requests": requests}
        self.add_line(dumps({"type": "end", "time": time, **counts, **more}))
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
