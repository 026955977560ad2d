"""Carries out the plan of a random crawl: its sites on the loopback server, and its processes."""

from __future__ import annotations

import asyncio
import re
import signal
import tempfile
import time
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.crawl.middlewares import CRAWL_HEADER
from tests.random_crawls import plan as plans
from tests.random_crawls.plan import SECTIONS, USE, Plan, Process, RobotsResponse
from tests.support.crawl import Result, Running
from tests.support.evidence import SentPage, pages_sent
from tests.support.redis_server import RedisServer, need_redis
from tests.support.responses import Answer, Exchange, after, raw, redirect, reply, silence
from tests.support.server import Server

#: Seconds after which a crawl that goes on by itself has to be over.
_LONGEST = 180.0
#: Seconds that a request may take from the crawl to the server, at the most.
_UNDER_WAY = 2.0
_HTML = [("Content-Type", "text/html")]
_PAGE_PATH = re.compile(rf"/([{''.join(SECTIONS)}])/[a-z0-9-]+/([0-9]+)")
_PAGE = reply("<html>page</html>", headers=_HTML)
_PAGES: dict[str, Answer] = {
    "ok": _PAGE,
    "slow": after(0.4, _PAGE),
    "error": reply("", 503),
    "broken": raw(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nUser-agent: *\nAllow: /"),
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


class Asked(NamedTuple):
    """A request for a page."""

    at: float
    crawl: str
    site: int
    section: str
    page: plans.Page
    url: str
    override: Any  # the user's override for the site, or an empty one


class World:
    """The sites of *plan* on *server*."""

    def __init__(self, plan: Plan, server: Server) -> None:
        self.served: list[Served] = []
        self._plan = plan
        self.sites = []
        for number, site in enumerate(plan.sites):
            robots = self._robots(number, site)
            self.sites.append(server.site(site.host, robots, page=self._page))

    def asked(self) -> Iterator[Asked]:
        """The requests for pages."""
        for number, site in enumerate(self.sites):
            override = self._plan.settings["ROBOTSPEC_OVERRIDES"].get(site.host, {})
            for request in site.log:
                if match := _PAGE_PATH.fullmatch(request.path):
                    page = self._plan.pages[int(match[2])]
                    url, crawl = site.url(request.path), request.header(CRAWL_HEADER) or ""
                    yield Asked(request.at, crawl, number, match[1], page, url, override)

    def _robots(self, number: int, site: plans.Site) -> Answer:
        async def answer(exchange: Exchange) -> bool:
            asked, response = exchange.asked, site.response(exchange.since)
            self.served.append(Served(number, asked.header(CRAWL_HEADER) or "", response, asked.at))
            return await self._hop(exchange, len(self.served) - 1, response.hops)

        return answer

    async def _hop(self, exchange: Exchange, index: int, left: int) -> bool:
        """Redirect, with *left* hops to go, or send the response of ``served[index]``."""
        served = self.served[index]
        if left:
            other = self.sites[(served.site + left) % len(self.sites)]
            return await redirect(other.url(f"/hop/{index}/{left - 1}"))(exchange)
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
            return await redirect(self.sites[int(site)].url(f"/{target}/ok/{number}"))(exchange)
        return await _PAGES[way](exchange)


def _answer_of(response: RobotsResponse) -> Answer:
    if response.kind in ("silent", "broken"):
        return _PAGES[response.kind]
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


class Run(NamedTuple):
    """A process after its end."""

    process: Process
    crawls: tuple[str, ...]  # what its spiders call themselves to the server
    result: Result
    has_ended: bool  # false: the test has killed it

    @property
    def is_killed(self) -> bool:
        return self.result.exit_code == -signal.SIGKILL


class History(NamedTuple):
    """What happened in a crawl."""

    plan: Plan
    folder: Path
    served: Sequence[Served]
    asked: Sequence[Asked]
    requests: Sequence[tuple[float, str]]  # time and URL of every request that the server got
    sent: Sequence[SentPage]  # by the evidence
    runs: Sequence[Run]
    stalls: Sequence[tuple[float, float]]  # when the server stood still

    def key(self, request: Served | Asked) -> tuple[str, int]:
        """The same for requests to a site by crawls that share a store."""
        return request.crawl if "memory" in self.plan.store else "", request.site

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
        needs_redis = "redis" in plan.scheduler + plan.store
        if needs_redis:
            need_redis()
            pytest.importorskip("scrapy_redis", reason="scrapy-redis is not installed")
        redis = stack.enter_context(RedisServer(folder)).uri if needs_redis else ""
        settings = {
            **plan.settings,
            "ROBOTSPEC_CACHE": plan.store.format(folder=folder, redis=redis),
            "ROBOTSPEC_EVIDENCE": str(folder / "evidence"),
            "REDIS_URL": redis,
        }
        world = World(plan, server)
        runs = list(_run(plan, folder, settings))
        requests = [(asked.at, site.url(asked.path)) for site in world.sites for asked in site.log]
        sent = pages_sent(folder / "evidence")
        asked = _as_left(world.asked(), sent, server)
        yield History(plan, folder, world.served, asked, requests, sent, runs, server.stalls)


def _as_left(asked: Iterable[Asked], sent: Iterable[SentPage], server: Server) -> list[Asked]:
    """Requests at the times when they left the crawl, as far as the evidence tells them.

    A busy machine reads a request late; without evidence it counts as early as it may have come.
    """
    left = defaultdict[str, deque[float]](deque)
    for page in sorted(sent, key=lambda page: page.time):
        left[page.url].append(page.time)
    found = []
    for each in sorted(asked, key=lambda each: each.at):
        times, earliest = left[each.url], server.came_at(each.at)
        while times and times[0] < earliest - _UNDER_WAY:
            times.popleft()
        is_known = times and times[0] <= each.at  # a killed crawl loses its last lines
        found.append(each._replace(at=times.popleft() if is_known else earliest))
    return sorted(found, key=lambda each: each.at)


def _run(plan: Plan, folder: Path, settings: dict[str, Any]) -> Iterator[Run]:
    """Run the processes of each phase at the same time, to their ends."""
    for number, processes in enumerate(plan.phases):
        _remove_cut_states(folder)
        with ExitStack() as stack:
            running = []
            for n, process in enumerate(processes):
                gives = number == 0 and (n == 0 or plan.scheduler != "redis")
                spiders = {
                    name: _spider(plan, name, f"{name} {number}.{n}", folder, gives)
                    for name in process.names
                }
                spiders[process.names[-1]].update(
                    stop=process.stop, at=process.at, pause=process.pause
                )
                more = {"spiders": spiders, "lingers": plan.lingers}
                words = ["tests.random_crawls.inside"]
                started = Running([], settings, mode=process.mode, words=words, more=more)
                crawls = tuple(job["settings"]["CRAWL_NAME"] for job in spiders.values())
                running.append((process, crawls, stack.enter_context(started)))
            for process, crawls, started in running:
                yield Run(process, crawls, *started.end(_LONGEST))


def _remove_cut_states(folder: Path) -> None:
    """Remove states of Scrapy's queues that a killed process was writing: none can resume them."""
    for state in folder.glob("job/*/requests.queue/active.json"):
        if not state.stat().st_size:
            state.unlink()


def _spider(plan: Plan, name: str, crawl: str, folder: Path, gives: bool) -> dict[str, Any]:
    """The job of one spider."""
    own = [page._asdict() for page in plan.pages if gives and page.spider == name]
    pages = {via: [page for page in own if page["via"] == via] for via in plans.VIAS}
    settings = {
        "CRAWL_NAME": crawl,
        "HTTPCACHE_DIR": str(folder / "pages" / crawl),
        "ROBOTSPEC_REPORT": str(folder / f"{crawl}.jsonl"),
    }
    if plan.resumable and plan.scheduler != "redis":
        settings["JOBDIR"] = str(folder / "job" / name)
    return {"settings": settings, "pages": pages, "stop": None, "pause": None}
