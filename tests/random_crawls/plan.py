"""The plan of a random crawl, drawn from a seed: sites, settings, processes and requests.

Plain values only: ``history.py`` answers by them, ``inside.py`` crawls by them.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from scrapy import version_info

from tests.support.crawl import MODES, SAFE_QUEUES

_T = TypeVar("_T")

#: First parts of the paths, which rules allow or disallow.
SECTIONS = ("a", "b", "c")
#: Product tokens of the crawls, and of groups besides ``*``.
TOKENS = ("alphabot", "betabot")
#: The label that crawls declare and some sites disallow.
USE = "train-ai"
#: A proxy that refuses connections.
DEAD_PROXY = "http://127.0.0.9:9"
#: Seconds until each site gives its last answer, which it gives from then on.
_CHANGING = 4.0
_KINDS = (*["rules"] * 3, "missing", "down", "doubtful", "temporary", "silent", "broken")
_STATUSES = {"missing": (404, 410), "doubtful": (200, 403), "temporary": (429, 408)}
_SCHEDULERS: dict[str, dict[str, Any]] = {
    "ours": {},
    "queue": {"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue"},
    "list": {"SCHEDULER": "tests.crawl.middlewares.ListScheduler"},
    "redis": {
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "SCHEDULER_PERSIST": True,
    },
}


@dataclass(frozen=True)
class Group:
    """A group of a robots.txt: sections with a line against them, and seconds."""

    closed: tuple[str, ...]
    unusable: tuple[str, ...]
    delay: float | None


@dataclass(frozen=True)
class RobotsResponse:
    """A response for a robots.txt, *slow* seconds late and behind *hops* redirects."""

    kind: str
    """``rules``, ``missing``, ``doubtful``, ``temporary``, ``down``, ``silent`` or ``broken``."""
    status: int
    groups: Mapping[str, Group]
    life: int | None  # its ``max-age`` in seconds
    slow: float
    hops: int

    @property
    def is_answer(self) -> bool:
        """Whether it replaces what was known of the site."""
        return self.kind in ("rules", "missing", "doubtful")


@dataclass(frozen=True)
class Site:
    """An origin; only a proxy can reach one that has a name."""

    host: str
    responses: tuple[tuple[float, RobotsResponse], ...]
    """Each until some seconds after the first request; then the last one."""

    @property
    def is_named(self) -> bool:
        return self.host.endswith("example")

    def response(self, since: float) -> RobotsResponse:
        """The response *since* seconds after the first request."""
        fitting = (response for until, response in self.responses if since < until)
        return next(fitting, self.responses[-1][1])


@dataclass(frozen=True)
class Page:
    """A request of a spider."""

    id: int
    url: str
    via: str  # ``start``, ``late``, ``link`` (of the first page that answers) or ``inline``
    priority: int
    proxy: str | None
    tokens: tuple[str, ...] | None
    exempt: bool  # ``dont_obey_robotstxt``
    meddling: Mapping[str, str] = field(default_factory=dict)
    """What other middlewares do to it, by their places."""


@dataclass(frozen=True)
class Process:
    """A process with its spiders, which gets the signal *stop* after *at* seconds."""

    names: tuple[str, ...]
    mode: str
    stop: str | None
    at: float


@dataclass(frozen=True)
class Plan:
    """Everything about one crawl."""

    sites: tuple[Site, ...]
    settings: Mapping[str, Any]
    scheduler: str
    store: str  # ``memory``, ``sqlite`` or ``redis``
    resumable: bool  # whether requests outlive their process: JOBDIR, or a queue in Redis
    lingers: bool  # whether spiders stay open for a while after their last request
    phases: tuple[tuple[Process, ...], ...]
    """One after the other; the processes of a phase run at the same time."""
    pages: Mapping[str, tuple[Page, ...]]  # by spider

    def page(self, number: int) -> Page:
        """The request with this id."""
        return next(page for pages in self.pages.values() for page in pages if page.id == number)


class _Draw(random.Random):
    def chance(self, share: float) -> bool:
        return self.random() < share

    def one(self, *values: _T) -> _T:
        return self.choice(values)

    def some(self, values: Sequence[_T], most: int | None = None) -> tuple[_T, ...]:
        return tuple(self.sample(values, self.randint(0, len(values) if most is None else most)))


def make_plan(seed: int, port: int) -> Plan:
    """The plan of *seed* for a server on *port*."""
    draw = _Draw(seed)
    scheduler = draw.one("ours", "ours", "queue", "list", "redis")
    store = draw.one("memory", "memory", "sqlite", "redis")
    resumable = scheduler == "redis" or (scheduler != "list" and draw.chance(0.6))
    sites = tuple(_site(draw, number) for number in range(draw.randint(2, 5)))
    phases = _phases(draw, scheduler, resumable)
    settings = {**_settings(draw, sites), **_SCHEDULERS[scheduler]}
    if "SIGKILL" in {process.stop for phase in phases for process in phase}:
        settings.update(SAFE_QUEUES)
    names = list(dict.fromkeys(name for process in phases[0] for name in process.names))
    number = 36 // len(names)
    pages = {
        name: tuple(_page(draw, sites, port, 1000 * n + m) for m in range(number))
        for n, name in enumerate(names)
    }
    lingers = draw.chance(0.3)
    return Plan(sites, settings, scheduler, store, resumable, lingers, phases, pages)


def _site(draw: _Draw, number: int) -> Site:
    host = f"site{number}.example" if draw.chance(0.25) else f"127.0.1.{number + 1}"
    has_delay = draw.chance(0.3)
    moments = sorted(draw.uniform(0, _CHANGING) for _ in range(draw.randint(0, 4)))
    changing = [(at, _response(draw, has_delay, draw.choice(_KINDS))) for at in moments]
    last = _response(draw, has_delay, draw.choice(_KINDS[:5]))
    return Site(host, (*changing, (_CHANGING, last)))


def _response(draw: _Draw, has_delay: bool, kind: str) -> RobotsResponse:
    groups: dict[str, Group] = {}
    for name in ("*", *draw.some(TOKENS)) if kind == "rules" else ():
        closed = SECTIONS if draw.chance(0.2) else draw.some(SECTIONS)
        delay = draw.one(0.3, 0.5) if has_delay else None
        groups[name] = Group(closed, draw.some(SECTIONS, 1), delay)
    status = 503 if kind == "down" else draw.choice(_STATUSES.get(kind, (200,)))
    life, slow = draw.one(None, 0, 2, 3, 60), draw.one(0.0, 0.0, 0.0, 0.4)
    hops = draw.randint(1, 5) if draw.chance(0.2) else 0
    return RobotsResponse(kind, status, groups, life, slow, hops)


def _phases(draw: _Draw, scheduler: str, resumable: bool) -> tuple[tuple[Process, ...], ...]:
    """Processes that are stopped, followed by others where their requests are not lost."""
    signals, modes = ["SIGINT", "SIGKILL"], list(MODES)
    if resumable and scheduler != "redis" and version_info < (2, 19):
        signals.remove("SIGKILL")  # it damages Scrapy's queues on disk
    stops: list[str | None] = []
    if resumable or draw.chance(0.3):
        stops += [draw.choice(signals) for _ in range(draw.one(1, 1, 2))]
    if resumable or not stops:
        stops.append(None)
    spiders, processes = draw.one(1, 1, 2), draw.one(1, 1, 2)
    names = [tuple(f"p{n}s{m}" for m in range(spiders)) for n in range(processes)]
    if scheduler == "redis":
        names = [("shared",)] * processes
    return tuple(
        tuple(Process(own, draw.choice(modes), stop, draw.uniform(0.2, 4.0)) for own in names)
        for stop in stops
    )


def _page(draw: _Draw, sites: Sequence[Site], port: int, number: int) -> Page:
    site = draw.choice(sites)
    targets = [n for n, other in enumerate(sites) if other.is_named == site.is_named]
    redirect = f"to-{draw.choice(targets)}-{draw.choice(SECTIONS)}"
    way = draw.one(*["ok"] * 6, *["slow", "error", "broken", "private", redirect] * 2, "silent")
    host = site.host if site.is_named else f"{site.host}:{port}"
    proxy = f"http://127.0.0.9:{port}" if site.is_named or draw.chance(0.1) else None
    if proxy and draw.chance(0.1):
        proxy = DEAD_PROXY
    place = draw.one("before", "after", "back-before", "back-after")
    meddling = {place: draw.one("drop", "answer", "replace", "wait", "retry")}
    return Page(
        number,
        f"http://{host}/{draw.choice(SECTIONS)}/{way}/{number}",
        via=draw.one("start", "start", "start", "late", "link", "inline"),
        priority=draw.one(0, 0, 1, -1),
        proxy=proxy,
        tokens=draw.one(None, None, TOKENS[:1], TOKENS[1:], TOKENS, TOKENS[::-1]),
        exempt=draw.chance(0.08),
        meddling=meddling if draw.chance(0.25) else {},
    )


def _settings(draw: _Draw, sites: Sequence[Site]) -> dict[str, Any]:
    first = f"User-agent: *\nDisallow: /{SECTIONS[0]}/\n"
    overrides = ["ignore", "disallow", first, {"token": TOKENS[1]}, {"crawl_delay": 0.3}]
    hosts = draw.some([site.host for site in sites]) if draw.chance(0.4) else ()
    edition = {"base": "google-2019", "stale_after": 0.5}
    return {
        "ROBOTSPEC_EDITION": draw.one("google-2019", "google-2019", edition),
        "ROBOTSPEC_USER_AGENT_TOKEN": draw.one(TOKENS[:1], TOKENS, TOKENS[::-1]),
        "ROBOTSPEC_OVERRIDES": {host: draw.choice(overrides) for host in hosts},
        "ROBOTSPEC_CACHE_TTL": draw.one(1.2, 2.5, 60.0),
        "ROBOTSPEC_CACHE_MIN_TTL": 1.0,
        "ROBOTSPEC_FETCH_TIMEOUT": draw.one(2.0, 4.0),
        "ROBOTSPEC_HOLD_TIMEOUT": draw.one(0, 1, 3, 8),
        "ROBOTSPEC_RETRY_TIMES": draw.randint(0, 2),
        "ROBOTSPEC_RETRY_DELAY": 0.2,
        "ROBOTSPEC_RETRY_MAX_DELAY": draw.one(0.2, 0.6),
        "ROBOTSPEC_UNREACHABLE": draw.one("wait", "wait", "wait", "allow"),
        "ROBOTSPEC_STATUS_POLICY": draw.one({}, {}, {429: "unreachable"}, {"4xx": "disallow"}),
        "ROBOTSPEC_PROBE_SERVER_ERRORS": draw.chance(0.3),
        "ROBOTSPEC_CONCURRENT_FETCHES": draw.one(1, 2, 32),
        "ROBOTSPEC_MAX_PARKED": draw.one(3, 1000),
        "ROBOTSPEC_CRAWL_DELAY": draw.chance(0.6),
        "ROBOTSPEC_DEFAULT_CRAWL_DELAY": draw.one(None, None, None, 0.3),
        "ROBOTSPEC_USAGE": draw.one([], [USE]),
        "ROBOTSPEC_USAGE_POLICY": draw.one("record", "refuse-disallowed"),
        "DOWNLOAD_DELAY": draw.one(0, 0, 0.1, 0.3),
        "CONCURRENT_REQUESTS": draw.one(1, 4, 16),
        "CONCURRENT_REQUESTS_PER_DOMAIN": draw.one(1, 8),
        "DOWNLOAD_TIMEOUT": 1.5,
        "RETRY_TIMES": 1,
    }
