"""A store of a user's own, in one JSON file."""

from __future__ import annotations

import json
import time
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, flock
from typing import Any
from urllib.parse import urlsplit

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.store.base import (
    LONGEST_LEASE,
    MAX_AGENTS,
    Claim,
    RecordStore,
    Reservation,
    SlotQueue,
    SlotRequest,
    may_put,
    reserve,
)

Entry = dict[str, Any]


class FileStore(RecordStore):
    """The store at ``file:///path``, which every call locks.

    An origin has an object with its records, its lease and its line.
    """

    def __init__(self, uri: str) -> None:
        self._path = urlsplit(uri).path

    def get(
        self, origin: Origin, agent: str = "", known: float | None = None
    ) -> RobotsRecord | None:
        with self._entry(origin) as entry:
            record = _find(entry, origin, agent)
            return None if record is not None and record.updated_at == known else record

    def claim(
        self,
        origin: Origin,
        owner: str,
        now: float,
        seconds: float,
        known: float | None,
        agent: str = "",
    ) -> Claim:
        with self._entry(origin) as entry:
            record = _find(entry, origin, agent)
            if record is not None and record.updated_at != known:
                return Claim(False, record)
            holder, until = entry.get("lease", ("", 0.0))
            if holder not in ("", owner) and now < until <= now + LONGEST_LEASE:
                return Claim(False)
            entry["lease"] = (owner, now + seconds)
            return Claim(True)

    def put(self, record: RobotsRecord, owner: str, known: float | None) -> None:
        origin, agent = record.origin, record.agent or ""
        with self._entry(origin) as entry:
            stored = _find(entry, origin, agent)
            is_holder = entry.get("lease", ("",))[0] == owner
            if may_put(record, stored, known, has_lease=is_holder):
                records = entry.setdefault("records", {})
                records.pop(agent, None)
                records[agent] = b64encode(record.to_bytes()).decode()
                others = [each for each in records if each]
                for oldest in others[:-MAX_AGENTS]:
                    del records[oldest]
            if is_holder:
                del entry["lease"]

    def release(self, origin: Origin, owner: str) -> None:
        with self._entry(origin) as entry:
            if entry.get("lease", ("",))[0] == owner:
                del entry["lease"]

    def reserve(self, origin: Origin, asked: SlotRequest) -> Reservation:
        with self._entry(origin) as entry:
            line = SlotQueue(*entry["line"]) if "line" in entry else None
            entry["line"], reply = reserve(line, time.monotonic(), asked)
            return reply

    def close(self) -> None:
        """Nothing stays open between two calls."""

    @contextmanager
    def _entry(self, origin: Origin) -> Iterator[Entry]:
        with open(self._path, "a+", encoding="utf-8") as file:
            flock(file, LOCK_EX)
            file.seek(0)
            table = json.loads(file.read() or "{}")
            yield table.setdefault(str(origin), {})
            file.truncate(0)
            json.dump(table, file)


def _find(entry: Entry, origin: Origin, agent: str) -> RobotsRecord | None:
    records = entry.get("records", {})
    found = (
        RobotsRecord.from_bytes(b64decode(records[each]), origin)
        for each in {"", agent}
        if each in records
    )
    return max(filter(None, found), key=lambda record: record.rank, default=None)
