"""Starts ``scrapy crawl`` in its own process, and reads its results.

``crawl()`` runs one to its end; ``Running`` is one that can be watched, interrupted and killed.
The evidence of each crawl that keeps some is replayed at its end. With the environment variable
``ROBOTSPEC_TEST_EVIDENCE`` every crawl keeps some.
"""

from __future__ import annotations

import json
import os
import pprint
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scrapy import version_info

from scrapy_robotspec.evidence.replay import replay
from tests.support.crawl_starter import ForkedProcess
from tests.support.event_log import JOB_VARIABLE

Event = dict[str, Any]

#: Seconds after which a crawl hangs. A machine with many other processes is three times as slow.
_LONGEST = 180.0

_SELECT = "twisted.internet.selectreactor.SelectReactor"
_ASYNCIO = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
#: Settings of each reactor mode that the installed Scrapy has.
MODES: dict[str, dict[str, Any]] = {
    "asyncio": {"TWISTED_REACTOR": _ASYNCIO},
    "select": {"TWISTED_REACTOR": _SELECT},
}
if version_info >= (2, 15):
    MODES["none"] = {"TWISTED_REACTOR_ENABLED": False}
#: Disk queues that survive the death of their process, from Scrapy 2.19 on.
SAFE_QUEUES = {
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleLifoSQLiteQueue",
    "SCHEDULER_START_DISK_QUEUE": "scrapy.squeues.PickleFifoSQLiteQueue",
}
#: One mode for each way to download: with a reactor all have the same handler.
WAYS = [mode for mode in MODES if mode != "select"]
#: Those whose handler can use a proxy; without a reactor not before this release.
PROXY_WAYS = [mode for mode in WAYS if mode != "none" or version_info >= (2, 18)]


@dataclass(frozen=True)
class Result:
    """The results of a crawl."""

    exit_code: int
    events: list[Event]
    log: str
    wall: float
    """Seconds from start to end."""

    def of(self, kind: str) -> list[Event]:
        """The events of one kind."""
        return [event for event in self.events if event["kind"] == kind]

    @property
    def responses(self) -> dict[str, Event]:
        """The last response of each URL."""
        return {event["url"]: event for event in self.of("response")}

    @property
    def errors(self) -> dict[str, Event]:
        """The last error of each URL."""
        return {event["url"]: event for event in self.of("error")}

    @property
    def ends(self) -> Counter[str]:
        """Number of ended requests by URL, of either kind."""
        return Counter(
            event["url"] for event in self.events if event["kind"] in ("response", "error")
        )

    @property
    def stats(self) -> dict[str, Any]:
        """Scrapy's stats at the end."""
        stopped = self.of("stopped")
        assert stopped, f"the engine was never stopped:\n{self.log[-3000:]}"
        stats: dict[str, Any] = stopped[-1]["stats"]
        return stats

    @property
    def memory(self) -> int:
        """Bytes of memory at the most, until the engine stopped (Linux)."""
        peak: int = self.of("stopped")[-1]["memory"]
        return peak

    def ended_once(self, urls: Iterable[str]) -> bool:
        """Whether each of *urls* ended exactly once, and nothing else did."""
        return self.ends == Counter(dict.fromkeys(urls, 1))

    def lines(self, *words: str) -> list[str]:
        """The log lines that hold all of *words*."""
        return [line for line in self.log.splitlines() if all(word in line for word in words)]


class Running:
    """A running crawl; a context manager, which kills it at its end."""

    def __init__(
        self,
        requests: Iterable[str | dict[str, Any]],
        settings: Mapping[str, Any] | None = None,
        *,
        mode: str = "asyncio",
        spider: str = "plain",
        words: Sequence[str] | None = None,
        env: Mapping[str, str] | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> None:
        """*words*: what ``python -m`` runs instead of ``scrapy crawl SPIDER``."""
        self._folder = tempfile.TemporaryDirectory(prefix="crawl-")
        folder = Path(self._folder.name)
        self._notes, self._log = folder / "notes.jsonl", folder / "log.txt"
        self._notes.touch()
        given = {**MODES[mode], **(settings or {})}
        if "ROBOTSPEC_TEST_EVIDENCE" in os.environ:
            given.setdefault("ROBOTSPEC_EVIDENCE", str(folder / "evidence"))
        self._evidence = folder / given.get("ROBOTSPEC_EVIDENCE", "evidence")
        job = {
            "requests": list(requests),
            "settings": given,
            "notes": str(self._notes),
            **(more or {}),
        }
        (folder / "job.txt").write_text(pprint.pformat(job))
        variables = {
            "SCRAPY_SETTINGS_MODULE": "tests.support.settings",
            JOB_VARIABLE: str(folder / "job.txt"),
            **(env or {}),
        }
        self._began = time.monotonic()
        with self._log.open("wb") as log:
            self._process = ForkedProcess(
                words or ["scrapy", "crawl", spider], folder, variables, log, log
            )

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        self._folder.cleanup()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def log(self) -> str:
        """The log so far."""
        return self._log.read_text(errors="replace")

    @property
    def events(self) -> list[Event]:
        """The notes so far, without a line that is being written."""
        lines = self._notes.read_text().split("\n")[:-1]
        return [json.loads(line) for line in lines]

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    @property
    def all_given(self) -> bool:
        """Whether the plain spider has given all requests to the scheduler."""
        return any(event["kind"] == "given" for event in self.events)

    def wait_until(self, met: Callable[[], Any], seconds: float = _LONGEST) -> None:
        """Return once *met* is true; else an AssertionError after *seconds*."""
        limit = time.monotonic() + seconds
        while not met():
            assert self._process.poll() is None, f"the crawl ended too early:\n{self.log[-3000:]}"
            assert time.monotonic() < limit, f"not met in {seconds} s:\n{self.log[-3000:]}"
            time.sleep(0.02)

    def send(self, number: signal.Signals) -> float:
        """Send a signal; the time of it."""
        self._process.send_signal(number)
        return time.monotonic()

    def finish(self, seconds: float = _LONGEST) -> Result:
        """Wait for the end; an AssertionError after *seconds*."""
        exit_code = self._process.wait(seconds)
        assert exit_code is not None, f"no end after {seconds} s:\n{self.log[-3000:]}"
        if self._evidence.is_dir():
            assert replay(self._evidence).problems == []
        return Result(
            exit_code=exit_code,
            events=self.events,
            log=self.log,
            wall=time.monotonic() - self._began,
        )

    def end(self, seconds: float) -> tuple[Result, bool]:
        """Kill the crawl after *seconds*; whether it ended before."""
        has_ended = self._process.wait(seconds) is not None
        self.send(signal.SIGKILL)
        return self.finish(), has_ended


def crawl(
    requests: Iterable[str | dict[str, Any]],
    settings: Mapping[str, Any] | None = None,
    *,
    seconds: float = _LONGEST,
    **kwargs: Any,
) -> Result:
    """Run a crawl to its end; the arguments are those of :class:`Running`."""
    with Running(requests, settings, **kwargs) as running:
        return running.finish(seconds)
