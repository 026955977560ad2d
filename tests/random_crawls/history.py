"""Carries out the plan of a random crawl; the result is its history."""

from __future__ import annotations

import signal
import tempfile
import time
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tests.random_crawls.plan import TOKENS, Plan, Process, make_plan
from tests.random_crawls.world import Asked, Served, World
from tests.support.crawl import Result, Running
from tests.support.evidence import pages_sent
from tests.support.redis_server import RedisServer, need_redis
from tests.support.server import Server

#: Seconds after which a crawl that goes on by itself has to be over.
_LONGEST = 90.0
#: Seconds that a request may take from the crawl to the server, at the most.
_UNDER_WAY = 2.0


@dataclass(frozen=True)
class Run:
    """A process after its end."""

    process: Process
    crawls: tuple[str, ...]
    """What its spiders call themselves to the server."""
    result: Result
    has_ended: bool
    """False: the test has killed it."""

    @property
    def is_killed(self) -> bool:
        return self.result.exit_code == -signal.SIGKILL


@dataclass(frozen=True)
class History:
    """What happened in a crawl."""

    plan: Plan
    folder: Path
    served: Sequence[Served]
    asked: Sequence[Asked]
    requests: Sequence[tuple[float, str]]
    """Time and URL of every request that the server got."""
    runs: Sequence[Run]
    stalls: Sequence[tuple[float, float]]
    """When the server stood still."""

    def owner(self, crawl: str) -> str:
        """The same for crawls that share a store."""
        return crawl if self.plan.store == "memory" else ""

    def run_of(self, crawl: str) -> Run:
        """The process of a crawl."""
        return next(run for run in self.runs if crawl in run.crawls)

    def elapsed(self, crawl: str, since: float, until: float) -> float:
        """Seconds between two moments in which both the crawl and the server ran."""
        events = self.run_of(crawl).result.of("stall")
        stood_still = [(event["began"], event["ended"]) for event in events]
        seconds, done = until - since, since
        for began, ended in sorted([*self.stalls, *stood_still]):
            seconds -= max(0.0, min(ended, until) - max(began, done))
            done = max(done, min(ended, until))
        return seconds


@contextmanager
def crawl(seed: int) -> Iterator[History]:
    """The history of the crawl of *seed*; its files go at the end."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="random-crawl-")))
        server = stack.enter_context(Server())
        plan = make_plan(seed, server.port)
        needs_redis = "redis" in (plan.scheduler, plan.store)
        if needs_redis:
            need_redis()
            pytest.importorskip("scrapy_redis", reason="scrapy-redis is not installed")
        redis = stack.enter_context(RedisServer(folder)).uri if needs_redis else ""
        world, settings = World(plan, server), _settings(plan, folder, redis)
        runs = [
            run for number in range(len(plan.phases)) for run in _run_phase(plan, number, settings)
        ]
        asked = _as_left(world.asked(), folder / "evidence")
        yield History(plan, folder, world.served, asked, world.requests(), runs, server.stalls)


def _as_left(asked: Sequence[Asked], evidence: Path) -> list[Asked]:
    """Requests at the times when they left the crawl, as far as the evidence tells them.

    A busy machine reads a request late.
    """
    left = defaultdict[str, deque[float]](deque)
    for page in sorted(pages_sent(evidence), key=lambda page: page.time):
        left[page.url].append(page.time)
    found = []
    for each in asked:
        while left[each.url] and left[each.url][0] < each.at - _UNDER_WAY:
            left[each.url].popleft()
        known = left[each.url] and left[each.url][0] <= each.at
        found.append(replace(each, at=left[each.url].popleft()) if known else each)
    return sorted(found, key=lambda each: each.at)


def _settings(plan: Plan, folder: Path, redis: str) -> dict[str, Any]:
    stores = {
        "memory": "memory://",
        "sqlite": f"sqlite:///{folder}/robots.db",
        "redis": f"{redis}?prefix=robots",
    }
    return {
        **plan.settings,
        "USER_AGENT": f"{TOKENS[0]} {TOKENS[1]}",
        "LOG_LEVEL": "INFO",
        "EXTENSIONS": {"tests.support.witness.Witness": 0},
        "DOWNLOADER_MIDDLEWARES": {
            "tests.crawl.middlewares.MeddlesBefore": 60,
            "tests.crawl.middlewares.MeddlesAfter": 300,
        },
        "ROBOTSPEC_CACHE": stores[plan.store],
        "ROBOTSPEC_EVIDENCE": str(folder / "evidence"),
        "JOBDIR": str(folder / "job") if plan.resumable and plan.scheduler != "redis" else None,
        "REDIS_URL": redis,
    }


def _run_phase(plan: Plan, number: int, settings: dict[str, Any]) -> list[Run]:
    """Run the processes of a phase at the same time, to their ends."""
    with ExitStack() as stack:
        running = []
        for n, process in enumerate(plan.phases[number]):
            crawls = {name: f"{name} {number}.{n}" for name in process.names}
            gives = number == 0 and (n == 0 or plan.scheduler != "redis")
            spiders = {name: _spider(plan, name, crawls[name], settings, gives) for name in crawls}
            more = {"spiders": spiders, "lingers": plan.lingers}
            words = ["tests.random_crawls.inside"]
            started = Running([], settings, mode=process.mode, words=words, more=more)
            running.append((process, tuple(crawls.values()), stack.enter_context(started)))
        for process, _, started in sorted(running, key=lambda each: each[0].at):
            if process.stop is not None:
                _stop(process, started)
        return [
            Run(process, crawls, *started.end(_LONGEST)) for process, crawls, started in running
        ]


def _spider(
    plan: Plan, name: str, crawl: str, settings: dict[str, Any], gives: bool
) -> dict[str, Any]:
    """The job of one spider."""
    job = settings["JOBDIR"] and f"{settings['JOBDIR']}/{name}"
    pages: dict[str, list[dict[str, Any]]] = {}
    for page in plan.pages[name] if gives else ():
        pages.setdefault(page.via, []).append(asdict(page))
    report = f"{settings['ROBOTSPEC_EVIDENCE']}/../{crawl}.jsonl"
    own = {"CRAWL_NAME": crawl, "JOBDIR": job, "ROBOTSPEC_REPORT": report}
    return {"settings": own, "pages": pages}


def _stop(process: Process, running: Running) -> None:
    """Send the signal in its time, not before the spiders are open."""

    def opened() -> list[float]:
        return [event["at"] for event in running.events if event["kind"] == "opened"]

    while len(opened()) < len(process.names) and not running.has_ended:
        time.sleep(0.02)
    if not running.has_ended:
        time.sleep(max(0.0, opened()[0] + process.at - time.time()))
        running.send(signal.Signals[process.stop or ""])
