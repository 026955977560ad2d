"""The plan of a random crawl, drawn from a seed: sites, settings, processes and requests.

Plain values only: ``history.py`` answers by them, ``inside.py`` crawls by them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from random import Random
from typing import Any, NamedTuple

from scrapy import version_info

from tests.support.crawl import MODES, SAFE_QUEUES

#: First parts of the paths, which rules allow or disallow.
SECTIONS = ("a", "b", "c")
#: Product tokens of the crawls, and of groups besides ``*``.
TOKENS = ("alphabot", "betabot")
#: When a spider sends a page: ``link`` and ``inline`` with the first page that answers.
VIAS = ("start", "late", "link", "inline", "idle")
#: The label that crawls declare and some sites disallow.
USE = "train-ai"
#: A proxy that refuses connections.
DEAD_PROXY = "http://127.0.0.9:9"
_STORES = [*["memory://"] * 2, "sqlite:///{folder}/robots.db", "{redis}?prefix=robots"]
#: Seconds until each site gives its last answer, which it gives from then on.
_CHANGING = 4.0
_KINDS = (*["rules"] * 3, "missing", "down", "doubtful", "temporary", "silent", "broken")
_STATUSES = {"missing": (404, 410), "down": (503,), "doubtful": (200, 403), "temporary": (429, 408)}
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
#: A download slot for pages of any site.
_SLOT = "one"
_MEDDLES = "tests.crawl.middlewares.Meddles"
#: The values of each setting, of which a crawl has one.
_SETTINGS: dict[str, Sequence[Any]] = {
    "ROBOTSPEC_EDITION": [*["google-2019"] * 2, {"base": "google-2019", "stale_after": 0.5}],
    "ROBOTSPEC_USER_AGENT_TOKEN": [TOKENS[:1], TOKENS, TOKENS[::-1]],
    "ROBOTSPEC_CACHE_TTL": [1.2, 2.5, 60.0],
    "ROBOTSPEC_CACHE_MIN_TTL": [1.0],
    "ROBOTSPEC_FETCH_TIMEOUT": [2.0, 4.0],
    "ROBOTSPEC_HOLD_TIMEOUT": [0, 1, 3, 8],
    "ROBOTSPEC_RETRY_TIMES": [0, 1, 2],
    "ROBOTSPEC_RETRY_DELAY": [0.2],
    "ROBOTSPEC_RETRY_MAX_DELAY": [0.2, 0.6],
    "ROBOTSPEC_UNREACHABLE": ["wait", "wait", "wait", "allow"],
    "ROBOTSPEC_STATUS_POLICY": [{}, {}, {429: "unreachable"}, {"4xx": "disallow"}],
    "ROBOTSPEC_PROBE_SERVER_ERRORS": [True, False, False],
    "ROBOTSPEC_CONCURRENT_FETCHES": [1, 2, 32],
    "ROBOTSPEC_MAX_PARKED": [3, 1000],
    "ROBOTSPEC_CRAWL_DELAY": [True, True, False],
    "ROBOTSPEC_DEFAULT_CRAWL_DELAY": [None, None, None, 0.3],
    "ROBOTSPEC_USAGE": [[], [USE]],
    "ROBOTSPEC_USAGE_POLICY": ["record", "refuse-disallowed"],
    "DOWNLOAD_DELAY": [0, 0, 0.1, 0.3],
    "CONCURRENT_REQUESTS": [1, 4, 16],
    "CONCURRENT_REQUESTS_PER_DOMAIN": [1, 8],
    "DOWNLOAD_TIMEOUT": [1.5],
    "RETRY_TIMES": [1],
    "LOG_LEVEL": ["INFO"],
    "EXTENSIONS": [{"tests.support.witness.Witness": 0}],
    "DOWNLOADER_MIDDLEWARES": [{f"{_MEDDLES}Before": 60, f"{_MEDDLES}After": 300}],
    "USER_AGENT": [" ".join(TOKENS)],
    "AUTOTHROTTLE_ENABLED": [False, False, True],
    "AUTOTHROTTLE_START_DELAY": [0.2],
    "AUTOTHROTTLE_MAX_DELAY": [0.4],
    "HTTPCACHE_ENABLED": [False, False, True],
    "DOWNLOAD_SLOTS": [{}, {_SLOT: {"delay": 0.2, "concurrency": 1, "randomize_delay": True}}],
}


class Group(NamedTuple):
    """A group of a robots.txt: sections with a line against them, and seconds."""

    closed: tuple[str, ...]
    unusable: tuple[str, ...]
    delay: float | None


class RobotsResponse(NamedTuple):
    """A response for a robots.txt, *slow* seconds late and behind *hops* redirects."""

    kind: str  # rules, missing, doubtful, temporary, down, silent or broken
    status: int
    groups: Mapping[str, Group]
    life: int | None  # its ``max-age`` in seconds
    slow: float
    hops: int

    @property
    def is_answer(self) -> bool:
        """Whether it replaces what was known of the site."""
        return self.kind in ("rules", "missing", "doubtful")


class Site(NamedTuple):
    """An origin."""

    host: str
    responses: tuple[tuple[float, RobotsResponse], ...]  # each up to its time (seconds)

    def response(self, since: float) -> RobotsResponse:
        """The response *since* seconds after the first request."""
        return next(response for until, response in self.responses if since < until)


class Page(NamedTuple):
    """A request of a spider, which its meta and its path number."""

    spider: str
    url: str
    via: str
    priority: int
    meta: Mapping[str, Any]


class Process(NamedTuple):
    """A process with its spiders, which sends itself the signal *stop* after *at* seconds.

    The last one pauses from the first second of *pause* to the second one.
    """

    names: tuple[str, ...]
    mode: str
    stop: str | None
    at: float
    pause: tuple[float, float] | None


class Plan(NamedTuple):
    """Everything about one crawl."""

    sites: tuple[Site, ...]
    settings: Mapping[str, Any]
    scheduler: str
    store: str  # ROBOTSPEC_CACHE for a ``folder`` and a server ``redis``
    resumable: bool  # whether requests outlive their process: JOBDIR, or a queue in Redis
    lingers: bool  # whether spiders stay open for a while after their last request
    phases: tuple[tuple[Process, ...], ...]  # in turn; the processes of one run at the same time
    pages: tuple[Page, ...]  # by number


def _some(draw: Random, values: Sequence[str], most: int) -> tuple[str, ...]:
    return tuple(draw.sample(values, draw.randint(0, most)))


def make_plan(seed: int, port: int) -> Plan:
    """The plan of *seed* for a server on *port*."""
    draw = Random(seed)
    scheduler = draw.choice(["ours", "ours", "queue", "list", "redis"])
    store = draw.choice(_STORES)
    resumable = scheduler == "redis" or (scheduler != "list" and draw.random() < 0.6)
    host = draw.choice([*["127.0.1.{}"] * 3, "site{}.example"])  # only proxies reach names
    sites = tuple(_site(draw, host.format(n + 1)) for n in range(draw.randint(2, 5)))
    phases = _phases(draw, scheduler, resumable)
    settings = {**_settings(draw, sites), **_SCHEDULERS[scheduler]}
    if "SIGKILL" in {process.stop for phase in phases for process in phase}:
        settings.update(SAFE_QUEUES)
    names = list(dict.fromkeys(name for process in phases[0] for name in process.names))
    pages = tuple(_pages(draw, sites, names, port))
    return Plan(sites, settings, scheduler, store, resumable, draw.random() < 0.3, phases, pages)


def _site(draw: Random, host: str) -> Site:
    delays = draw.choice([(0.3, 0.5), (None, 0.4), (None,)])
    moments = sorted(draw.uniform(0, _CHANGING) for _ in range(draw.randint(0, 4)))
    changing = [(at, _response(draw, delays, _KINDS)) for at in moments]
    return Site(host, (*changing, (inf, _response(draw, delays, _KINDS[:5]))))


def _response(draw: Random, delays: Sequence[float | None], kinds: Sequence[str]) -> RobotsResponse:
    kind = draw.choice(kinds)
    groups: dict[str, Group] = {}
    for name in ("*", *_some(draw, TOKENS, 2)) if kind == "rules" else ():
        closed = SECTIONS if draw.random() < 0.2 else _some(draw, SECTIONS, 3)
        groups[name] = Group(closed, _some(draw, SECTIONS, 1), draw.choice(delays))
    status = draw.choice(_STATUSES.get(kind, (200,)))
    life, slow = draw.choice([None, 0, 2, 3, 60]), draw.choice([0.0, 0.0, 0.0, 0.4])
    hops = draw.randint(1, 5) if draw.random() < 0.2 else 0
    return RobotsResponse(kind, status, groups, life, slow, hops)


def _phases(draw: Random, scheduler: str, resumable: bool) -> tuple[tuple[Process, ...], ...]:
    """Processes that are stopped, followed by others where their requests are not lost."""
    signals, modes = ["SIGINT", "SIGKILL"], list(MODES)
    if resumable and scheduler != "redis" and version_info < (2, 19):
        signals.remove("SIGKILL")  # it damages Scrapy's queues on disk
    is_stopped = resumable or draw.random() < 0.3
    stops: list[str | None] = [*draw.choices(signals, k=draw.choice([1, 1, 2]) * is_stopped)]
    if resumable or not stops:
        stops.append(None)
    spiders, processes = draw.choice([1, 1, 2]), draw.choice([1, 1, 2])
    names = [tuple(f"p{n}s{m}" for m in range(spiders)) for n in range(processes)]
    if scheduler == "redis":
        names = [("shared",)] * processes
    return tuple(
        tuple(
            Process(own, draw.choice(modes), stop, draw.uniform(0.2, 4.0), _pause(draw))
            for own in names
        )
        for stop in stops
    )


def _pause(draw: Random) -> tuple[float, float] | None:
    begins = draw.uniform(0.0, 2.0)
    return (begins, begins + draw.uniform(0.0, 2.0)) if draw.random() < 0.2 else None


def _pages(draw: Random, sites: Sequence[Site], names: Sequence[str], port: int) -> Iterator[Page]:
    is_direct = sites[0].host.startswith("127.")
    proxies = [*[None] * 90 * is_direct, *[f"http://127.0.0.9:{port}"] * 9, DEAD_PROXY]
    ways = [*["ok"] * 6, *["slow", "error", "broken", "private", "redirect"] * 2, "silent"]
    for number in range(36):
        host, section, way = draw.choice(sites).host, draw.choice(SECTIONS), draw.choice(ways)
        if way == "redirect":
            way = f"to-{draw.randrange(len(sites))}-{draw.choice(SECTIONS)}"
        place = draw.choice(["before", "after", "back-before", "back-after"])
        act = draw.choice(["drop", "answer", "replace", "wait", "retry", *[None] * 15])
        tokens = draw.choice([None, None, TOKENS[:1], TOKENS[1:], TOKENS, TOKENS[::-1]])
        meta = {
            "id": number,
            "proxy": draw.choice(proxies),
            "robotspec_user_agent_token": tokens,
            "dont_obey_robotstxt": draw.random() < 0.08 or None,
            "meddling": act and {place: act},
            "download_slot": _SLOT if draw.random() < 0.1 else None,
            "handle_httpstatus_all": draw.random() < 0.1 or None,
            "again": draw.random() < 0.1 or None,
        }
        yield Page(
            draw.choice(names),
            f"http://{host}:{port}/{section}/{way}/{number}",
            via=draw.choice(["start", "start", *VIAS]),
            priority=draw.choice([0, 0, 1, -1]),
            meta={key: value for key, value in meta.items() if value is not None},
        )


def _settings(draw: Random, sites: Sequence[Site]) -> dict[str, Any]:
    first = f"User-agent: *\nDisallow: /{SECTIONS[0]}/\n"
    overrides = ["ignore", "disallow", first, {"token": TOKENS[1]}, {"crawl_delay": 0.3}]
    hosts = [site.host for site in sites]
    own = _some(draw, hosts, len(hosts)) if draw.random() < 0.4 else ()
    drawn = {name: draw.choice(values) for name, values in _SETTINGS.items()}
    return {**drawn, "ROBOTSPEC_OVERRIDES": {host: draw.choice(overrides) for host in own}}
