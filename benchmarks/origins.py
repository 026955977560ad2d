"""Many origins in one process: the lookup with the memory store, without a network.

    python benchmarks/origins.py [--origins 1000 10000 100000 1000000] [--rounds 8]

Each origin is fetched once, then all are visited in turn. Half of them have a file of 30 rules. A
time is the lookup of an origin with its decision: in the first round, which includes the fetch, in
the second, and in the fastest of the later ones.
``fetched again`` is the share of visits that found no record.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))

from twisted.internet.defer import Deferred, succeed
from twisted.internet.task import Clock

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import FetchResult
from scrapy_robotspec.access.policy import AccessPolicy
from scrapy_robotspec.editions import get_edition
from scrapy_robotspec.lookup import Lookup, Resolved
from scrapy_robotspec.lookup.live_origins import LiveOrigins
from scrapy_robotspec.lookup.loop_time import LoopTime
from scrapy_robotspec.store.memory import MemoryStore
from scrapy_robotspec.store.uri import open_store

if TYPE_CHECKING:
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt

NOW = 1_800_000_000.0
MISSING = FetchResult(status=404)
TOKENS = ("examplebot",)
FOLDERS = ("admin", "cart", "private", "search", "tmp", "user")


def file_of(number: int) -> FetchResult:
    """A file of 30 rules that no other origin has; every second origin has none."""
    if number % 2:
        return MISSING
    rules = "".join(f"Disallow: /{FOLDERS[n % 6]}/{number}/{n}/\n" for n in range(30))
    return FetchResult(status=200, body=f"User-agent: *\n{rules}".encode())


class Servers:
    """The runtime of the lookup: every server answers at once, and no time passes."""

    def __init__(self) -> None:
        self.access = AccessPolicy(edition=get_edition("google-2019"))
        self.live = LiveOrigins()
        self.fetched = 0
        self.is_paused = False
        self.loop_time = LoopTime(time.monotonic, Clock().callLater)

    def policy_of(self, origin: Origin) -> AccessPolicy:
        return self.access

    def clock(self) -> float:
        return NOW

    def random(self) -> float:
        return 0.0

    def agent(self, request: int) -> str:
        return "-"

    def download_delay(self, origin: Origin, request: int) -> float:
        return 0.0

    def fetch(self, origin: Origin, request: int, failed: int | None) -> Deferred[FetchResult]:
        self.fetched += 1
        return succeed(file_of(request))

    async def on_rules(self, found: Resolved, request: int, replaced: RobotsTxt | None) -> None: ...


def visit(lookup: Lookup, origins: list[Origin]) -> float:
    """Seconds for a decision of each origin in turn."""
    begin = time.perf_counter()
    for number, origin in enumerate(origins):
        found = lookup.ask(origin, NOW, number)
        if not isinstance(found, Resolved):  # its flight has ended at once
            found = lookup.ask(origin, NOW, number)
        assert isinstance(found, Resolved)
        assert found.decide(f"{origin}/page/{number}", TOKENS, NOW).allowed
    return time.perf_counter() - begin


def new_lookup(servers: Servers) -> Lookup:
    """A lookup that has seen no origin."""
    records = open_store("memory://")
    assert isinstance(records, MemoryStore)
    return Lookup(servers, records, 32)


def first_visit(number: int) -> float:
    """Processor time of a first visit (microseconds), the mean over *number* origins."""
    lookup = new_lookup(Servers())
    origins = [Origin("http", f"{n}.example", 80) for n in range(number)]
    began = time.process_time()
    visit(lookup, origins)
    return (time.process_time() - began) / number * 1e6


def measure(number: int, rounds: int) -> None:
    """Print a line for *number* origins."""
    servers = Servers()
    lookup = new_lookup(servers)
    origins = [Origin("http", f"{n}.example", 80) for n in range(number)]
    first = visit(lookup, origins)
    fetched = servers.fetched
    again = [visit(lookup, origins) for _ in range(rounds)]
    lost = (servers.fetched - fetched) / (rounds * number)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    second, later = again[0], min(again[1:], default=again[0])
    print(
        f"{number:9,}   {first / number * 1e6:8.1f}   {second / number * 1e6:9.1f}"
        f"   {later / number * 1e6:8.1f}"
        f"   {lost:13.1%}   {memory:9.0f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument(
        "--origins", type=int, nargs="+", default=[1_000, 10_000, 100_000, 1_000_000]
    )
    parser.add_argument("--rounds", type=int, default=8)
    given = parser.parse_args()
    print("  origins   first µs   second µs   later µs   fetched again   memory MB")
    for number in given.origins:
        measure(number, given.rounds)


if __name__ == "__main__":
    main()
