"""A store that notes thread and time of each call."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scrapy_robotspec.access.origin import Origin
from tests.support.file_store import Entry, FileStore


class NotedStore(FileStore):
    """Writes a line of JSON for each call."""

    def close(self) -> None:
        with self._noted("close"):
            super().close()

    @contextmanager
    def _entry(self, origin: Origin) -> Iterator[Entry]:
        with self._noted("call"), super()._entry(origin) as entry:
            yield entry

    @contextmanager
    def _noted(self, kind: str) -> Iterator[None]:
        begin = time.monotonic()
        yield
        thread = threading.current_thread()
        note = {
            "kind": kind,
            "process": os.getpid(),
            "thread": thread.ident,
            "is_main": thread is threading.main_thread(),
            "begin": begin,
            "end": time.monotonic(),
        }
        with open(f"{self._path}.notes", "a", encoding="utf-8") as file:
            file.write(json.dumps(note) + "\n")


def notes(path: Path) -> list[list[dict[str, Any]]]:
    """The notes of the store at *path*, by process."""
    by_process: dict[int, list[dict[str, Any]]] = {}
    for line in Path(f"{path}.notes").read_text("utf-8").splitlines():
        note = json.loads(line)
        by_process.setdefault(note["process"], []).append(note)
    return list(by_process.values())
