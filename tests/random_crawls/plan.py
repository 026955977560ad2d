"""The plan of a random crawl, drawn from a seed: sites, settings, processes and requests.

Plain values only: ``world.py`` answers by them, ``inside.py`` crawls by them, ``laws.py`` judges.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, TypeVar

from scrapy import version_info

from tests.support.crawl import MODES
from tests.support.redis_server import is_installed

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
#: The requests of one plan.
_PAGES = 36
_SCHEDULERS: dict[str, dict[str, Any]] = {
    "ours": {},
    "queue": {"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue"},
    "list": {"SCHEDULER": "tests.random_crawls.inside.ListScheduler"},
    "redis": {
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "SCHEDULER_PERSIST": True,
    },
}
#: Disk queues that survive the death of their process, from Scrapy 2.19 on.
_SAFE_QUEUES = {
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleLifoSQLiteQueue",
    "SCHEDULER_START_DISK_QUEUE": "scrapy.squeues.PickleFifoSQLiteQueue",
}


@dataclass(frozen=True)
class Group:
    """A group of a robots.txt."""

    closed: tuple[str, ...]
    """Sections with a ``Disallow`` line."""
    unusable: tuple[str, ...]
    """Sections with a ``Content-Usage`` line against :data:`USE`."""
    delay: float | None


@dataclass(frozen=True)
class RobotsResponse:
    """A response for a robots.txt."""

    kind: str
    """``rules``, ``missing``, ``doubtful``, ``temporary``, ``down``, ``silent`` or ``broken``."""
    status: int
    groups: Mapping[str, Group]
    life: int | None
    """Its ``max-age`` in seconds."""
    slow: float
    """Seconds until it is sent."""
    hops: int
    """Redirects before it."""

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
    via: str
    """``start``, ``late``, ``link`` (of the first page that answers) or ``inline``."""
    priority: int
    proxy: str | None
    tokens: tuple[str, ...] | None
    exempt: bool
    """``dont_obey_robotstxt``."""
    meddling: Mapping[str, str] = field(default_factory=dict)
    """What other middlewares do to it, by their places."""


@dataclass(frozen=True)
class Process:
    """A process with its spiders."""

    names: tuple[str, ...]
    mode: str
    stop: str | None
    """The signal that it gets; None: it ends by itself."""
    at: float
    """Seconds until the signal."""


@dataclass(frozen=True)
class Plan:
    """Everything about one crawl."""

    sites: tuple[Site, ...]
    settings: Mapping[str, Any]
    scheduler: str
    """A key of the schedulers above."""
    store: str
    """``memory``, ``sqlite`` or ``redis``."""
    resumable: bool
    """Whether requests outlive their process: JOBDIR, or a queue in Redis."""
    lingers: bool
    """Whether spiders stay open for a while after their last request."""
    phases: tuple[tuple[Process, ...], ...]
    """One after the other; the processes of a phase run at the same time."""
    pages: Mapping[str, tuple[Page, ...]]
    """By spider."""

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
    has_redis = is_installed() and find_spec("redis") is not None
    has_fleet = has_redis and find_spec("scrapy_redis") is not None
    scheduler = draw.one("ours", "ours", "queue", "list", "redis" if has_fleet else "ours")
    store = draw.one("memory", "memory", "sqlite", "redis" if has_redis else "sqlite")
    resumable = scheduler == "redis" or (scheduler != "list" and draw.chance(0.6))
    sites = tuple(_site(draw, number) for number in range(draw.randint(2, 5)))
    phases = _phases(draw, scheduler, resumable)
    settings = {**_settings(draw, sites), **_SCHEDULERS[scheduler]}
    if "SIGKILL" in {process.stop for phase in phases for process in phase}:
        settings.update(_SAFE_QUEUES)
    names = list(dict.fromkeys(name for process in phases[0] for name in process.names))
    number = _PAGES // len(names)
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
    kinds = ("rules", "rules", "rules", "missing", "down", "doubtful", "temporary", "silent")
    changing = [(at, _response(draw, has_delay, draw.choice(kinds))) for at in moments]
    last = _response(draw, has_delay, draw.choice(kinds[:5]))
    return Site(host, (*changing, (_CHANGING, last)))


def _response(draw: _Draw, has_delay: bool, kind: str) -> RobotsResponse:
    if kind == "silent" and draw.chance(0.5):
        kind = "broken"
    statuses = {
        "missing": draw.one(404, 410),
        "doubtful": draw.one(200, 403),
        "temporary": draw.one(429, 408),
        "down": draw.one(500, 503),
    }
    groups: dict[str, Group] = {}
    for name in ("*", *draw.some(TOKENS)) if kind == "rules" else ():
        closed = SECTIONS if draw.chance(0.2) else draw.some(SECTIONS)
        groups[name] = Group(
            closed, draw.some(SECTIONS, 1), draw.one(0.3, 0.5) if has_delay else None
        )
    return RobotsResponse(
        kind,
        statuses.get(kind, 200),
        groups,
        life=draw.one(None, 0, 2, 3, 60),
        slow=draw.one(0.0, 0.0, 0.0, 0.4),
        hops=draw.randint(1, 5) if draw.chance(0.2) else 0,
    )


def _phases(draw: _Draw, scheduler: str, resumable: bool) -> tuple[tuple[Process, ...], ...]:
    """Processes that are stopped, followed by others where their requests are not lost."""
    spiders = 1 if scheduler == "redis" else draw.one(1, 1, 2)
    signals = ["SIGINT", "SIGKILL"]
    if resumable and scheduler != "redis" and version_info < (2, 19):
        signals.remove("SIGKILL")  # it damages Scrapy's queues on disk
    stops: list[str | None] = []
    if resumable or draw.chance(0.3):
        stops += [draw.choice(signals) for _ in range(draw.one(1, 1, 2))]
    if resumable or not stops:
        stops.append(None)
    names = [
        ("shared",) if scheduler == "redis" else tuple(f"p{n}s{m}" for m in range(spiders))
        for n in range(draw.one(1, 1, 2))
    ]
    modes = list(MODES)
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
    places, acts = ("before", "after", "back-before", "back-after"), ("drop", "answer", "replace")
    meddling = {draw.choice(places): draw.one(*acts, "wait", "retry")}
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
    settings = {
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
        "ROBOTSPEC_CONCURRENT_FETCHES": draw.one(1, 2, 32),
        "ROBOTSPEC_MAX_PARKED": draw.one(3, 1000),
        "ROBOTSPEC_CRAWL_DELAY": draw.chance(0.6),
        "ROBOTSPEC_DEFAULT_CRAWL_DELAY": draw.one(None, None, None, 0.3),
        "ROBOTSPEC_USAGE": draw.one([], [USE]),
        "ROBOTSPEC_USAGE_POLICY": draw.one("record", "refuse-disallowed"),
        "ROBOTSPEC_PROGRESS_AFTER": draw.one(0.5, 5),
        "DOWNLOAD_DELAY": draw.one(0, 0, 0.1, 0.3),
        "CONCURRENT_REQUESTS": draw.one(1, 4, 16),
        "CONCURRENT_REQUESTS_PER_DOMAIN": draw.one(1, 8),
        "AUTOTHROTTLE_ENABLED": draw.chance(0.1),
        "AUTOTHROTTLE_START_DELAY": 0.2,
        "AUTOTHROTTLE_MAX_DELAY": 0.5,
        "DOWNLOAD_TIMEOUT": 1.5,
        "RETRY_TIMES": 1,
    }
    edition = {"base": "google-2019", "stale_after": 0.5}
    return {**settings, "ROBOTSPEC_EDITION": edition} if draw.chance(0.3) else settings
