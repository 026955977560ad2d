"""Carries out the plan of a random crawl: its sites on the loopback server, and its processes."""

from __future__ import annotations

import asyncio
import re
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

from tests.crawl.middlewares import CRAWL_HEADER
from tests.random_crawls import plan as plans
from tests.random_crawls.plan import SECTIONS, USE, Plan, Process, RobotsResponse
from tests.support import responses
from tests.support.crawl import Result, Running
from tests.support.evidence import pages_sent
from tests.support.redis_server import RedisServer, need_redis
from tests.support.responses import Answer, Exchange, after, raw, redirect, reply, silence
from tests.support.server import Server

#: Seconds after which a crawl that goes on by itself has to be over.
_LONGEST = 90.0
#: Seconds that a request may take from the crawl to the server, at the most.
_UNDER_WAY = 2.0
_HTML = [("Content-Type", "text/html")]
_CUT = raw(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nUser-agent: *\nAllow: /")
_PAGE_PATH = re.compile(rf"/[{''.join(SECTIONS)}]/[a-z0-9-]+/[0-9]+")
_PAGE = reply("<html>page</html>", headers=_HTML)
_PAGES: dict[str, Answer] = {
    "ok": _PAGE,
    "slow": after(0.4, _PAGE),
    "error": reply("", 503),
    "broken": _CUT,
    "silent": silence(),
    "private": reply("page", headers=[("Content-Usage", f"{USE}=n")]),
}


@dataclass(eq=False)
class Served:
    """A request for a robots.txt. Times are epoch seconds."""

    site: int
    crawl: str
    response: RobotsResponse
    at: float
    sent: float | None = None  # when the last response of the chain began to leave; None: never


@dataclass(frozen=True)
class Asked:
    """A request for a page."""

    at: float
    crawl: str
    site: int
    section: str
    page: plans.Page
    url: str
    override: Any  # the user's override for the site


class World:
    """The sites of *plan* on *server*."""

    def __init__(self, plan: Plan, server: Server) -> None:
        self.served: list[Served] = []
        self._plan, self._server = plan, server
        self._sites = []
        for number, site in enumerate(plan.sites):
            port, robots = 80 if site.is_named else None, self._robots(number, site)
            self._sites.append(server.site(site.host, robots, page=self._page, port=port))

    def requests(self) -> list[tuple[float, str]]:
        """Time and URL of each request."""
        return [
            (asked.at, self._url(number, asked.path))
            for number, site in enumerate(self._sites)
            for asked in site.log
        ]

    def asked(self) -> list[Asked]:
        """The requests for pages, in order."""
        asked = [
            self._asked(number, request)
            for number, site in enumerate(self._sites)
            for request in site.log
            if _PAGE_PATH.fullmatch(request.path)
        ]
        return sorted(asked, key=lambda each: each.at)

    def _asked(self, site: int, request: responses.Asked) -> Asked:
        _, section, _, number = request.path.split("/")
        override = self._plan.settings["ROBOTSPEC_OVERRIDES"].get(self._plan.sites[site].host)
        at, crawl = self._server.came_at(request.at), _crawl_of(request)
        page, url = self._plan.page(int(number)), self._url(site, request.path)
        return Asked(at, crawl, site, section, page, url, override)

    def _url(self, site: int, path: str) -> str:
        return self._sites[site].url(path).replace(":80/", "/")

    def _robots(self, number: int, site: plans.Site) -> Answer:
        async def answer(exchange: Exchange) -> bool:
            response = site.response(exchange.since)
            served = Served(number, _crawl_of(exchange.asked), response, exchange.asked.at)
            self.served.append(served)
            return await self._hop(exchange, len(self.served) - 1, response.hops)

        return answer

    async def _hop(self, exchange: Exchange, index: int, left: int) -> bool:
        """Redirect, with *left* hops to go, or send the response of ``served[index]``."""
        served = self.served[index]
        if left:
            sites, other = self._plan.sites, (served.site + left) % len(self._sites)
            if sites[other].is_named != sites[served.site].is_named:
                other = served.site
            return await redirect(self._url(other, f"/hop/{index}/{left - 1}"))(exchange)
        await asyncio.sleep(served.response.slow)
        served.sent = time.time()
        return await _answer_of(served.response)(exchange)

    async def _page(self, exchange: Exchange) -> bool:
        path = exchange.asked.path
        if not _PAGE_PATH.fullmatch(path) and not path.startswith("/hop/"):
            return await reply("", 404)(exchange)  # a probe
        _, section, way, number = path.split("/")
        if section == "hop":
            return await self._hop(exchange, int(way), int(number))
        if way.startswith("to-"):
            _, site, target = way.split("-")
            return await redirect(self._url(int(site), f"/{target}/ok/{number}"))(exchange)
        return await _PAGES[way](exchange)


def _crawl_of(request: responses.Asked) -> str:
    return request.header(CRAWL_HEADER.lower()) or ""


def _answer_of(response: RobotsResponse) -> Answer:
    if response.kind == "silent":
        return silence()
    if response.kind == "broken":
        return _CUT
    headers = [] if response.life is None else [("Cache-Control", f"max-age={response.life}")]
    if response.kind == "doubtful":
        return reply("<!doctypehtml><p>Sign in", response.status, [*_HTML, *headers])
    lines = ["# rules"]
    for name, group in response.groups.items():
        lines += ["", f"User-agent: {name}", "Disallow:"]
        lines += [f"Disallow: /{section}/" for section in group.closed]
        lines += [f"Content-Usage: /{section}/ {USE}=n" for section in group.unusable]
        lines += [] if group.delay is None else [f"Crawl-delay: {group.delay:g}"]
    return reply("\n".join(lines), response.status, headers)


@dataclass(frozen=True)
class Run:
    """A process after its end."""

    process: Process
    crawls: tuple[str, ...]  # what its spiders call themselves to the server
    result: Result
    has_ended: bool  # false: the test has killed it

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
    requests: Sequence[tuple[float, str]]  # time and URL of every request that the server got
    runs: Sequence[Run]
    stalls: Sequence[tuple[float, float]]  # when the server stood still

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
        plan = plans.make_plan(seed, server.port)
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
        "USER_AGENT": " ".join(plans.TOKENS),
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
    opened: list[float] = []
    while len(opened) < len(process.names) and not running.has_ended:
        time.sleep(0.02)
        opened = [event["at"] for event in running.events if event["kind"] == "opened"]
    if not running.has_ended:
        time.sleep(max(0.0, opened[0] + process.at - time.time()))
        running.send(signal.Signals[process.stop or ""])
