"""Runs inside the crawl: logs each event as a JSON line.

A line is on disk as soon as its event has happened, so that a killed crawl leaves its notes.
"""

from __future__ import annotations

import ast
import json
import os
import time
from pathlib import Path
from typing import Any

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.robotstxt import RobotParser

from scrapy_robotspec import signals as robots_signals

JOB_VARIABLE = "HARNESS_JOB"


def read_job() -> dict[str, Any]:
    """The job of this process: a literal in a named file."""
    job: dict[str, Any] = ast.literal_eval(Path(os.environ[JOB_VARIABLE]).read_text())
    return job


class Notebook:
    """The file of events."""

    def __init__(self, path: str) -> None:
        self._file = Path(path).open("a")  # noqa: SIM115  (open as long as the process lives)

    def note(self, kind: str, **what: Any) -> None:
        """Write down one event, with the time."""
        self._file.write(json.dumps({"kind": kind, "at": time.time(), **what}, default=str) + "\n")
        self._file.flush()


class Notes:
    """An extension that notes signals, and the stats at the end."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._notebook = Notebook(read_job()["notes"])
        connect = crawler.signals.connect
        connect(self._engine_started, signals.engine_started)
        connect(self._stopped, signals.engine_stopped)
        connect(self._changed, robots_signals.robots_changed)
        connect(self._refused, robots_signals.request_refused)
        if read_job().get("note_sent"):
            connect(self._sent, signals.request_reached_downloader)
        if hasattr(signals, "robots_parsed"):  # from 2.18
            connect(self._parsed, signals.robots_parsed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Notes:
        return cls(crawler)

    def _engine_started(self) -> None:
        self._notebook.note("started")

    def _sent(self, request: Request) -> None:
        """All middlewares have let it through; delays of its download slot are still to come."""
        self._notebook.note("sent", url=request.url)

    def _parsed(self, robotparser: RobotParser, request: Request) -> None:
        self._notebook.note(
            "robots_parsed",
            url=request.url,
            allowed=robotparser.allowed(request.url, "examplebot"),
            crawl_delay=robotparser.crawl_delay("examplebot"),
        )

    def _changed(self, origin: object, old: Any, new: Any) -> None:
        self._notebook.note(
            "robots_changed", origin=origin, old=old.body.decode(), new=new.body.decode()
        )

    def _refused(self, request: Request, decision: Any, spider: Any) -> None:
        self._notebook.note(
            "refused",
            url=request.url,
            reason=decision.reason,
            allowed=decision.allowed,
            spider=spider.name,
        )

    def _stopped(self) -> None:
        """At the very end, when everybody has counted."""
        assert self._crawler.stats is not None
        stats = self._crawler.stats.get_stats()
        self._notebook.note("stopped", stats=stats, memory=_peak_memory())


def _peak_memory() -> int:
    """Bytes (Linux only). The resource module would include the test's process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0
