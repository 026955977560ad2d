"""The pace of a fleet with a crawl delay, measured at the server.

    python benchmarks/fleet_pace.py [--workers 1,4,16] [--delays 0.2,1] [--seconds 10]
                                    [--stores sqlite,redis] [--busy 0]

For each number of workers and each store that they share (an SQLite file, and Redis where a server
program is found): the smallest gap between two pages, the gaps that are shorter than the delay, the
pages sent as a share of what the delay allows, the fewest and most pages of any worker, and script
calls to Redis per page. Workers are independent crawls of one site. ``--busy`` keeps that many
processors busy beside them.
"""

from __future__ import annotations

import argparse
import itertools
import math
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.support.crawl import Running  # noqa: E402
from tests.support.redis_server import NOT_FOUND, RedisServer, is_installed  # noqa: E402
from tests.support.server import Server  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.support.server import Site


def measure(cache: str, workers: int, delay: float, seconds: float) -> dict[str, Any]:
    """Let *workers* crawl one site for a while, and return what the site saw."""
    with Server() as server, ExitStack() as stack:
        site = server.site("127.0.0.2", f"User-agent: *\nCrawl-delay: {delay}\n")
        number = int(2 * seconds / delay) + 10
        settings = {"ROBOTSPEC_CACHE": cache, "ROBOTSPEC_CRAWL_DELAY": True, "LOG_LEVEL": "INFO"}
        crawls = [
            stack.enter_context(
                Running([site.url(f"/w{worker}/{n}") for n in range(number)], settings)
            )
            for worker in range(workers)
        ]
        while len({path.split("/")[1] for path in site.pages_asked}) < workers:
            time.sleep(0.1)
        begin = time.time()
        time.sleep(seconds)
        end = time.time()
        for crawl in crawls:
            crawl.send(signal.SIGKILL)
        return seen_by(site, begin, end, delay)


def seen_by(site: Site, begin: float, end: float, delay: float) -> dict[str, Any]:
    """What a site saw between two times."""
    pages = [asked for asked in site.log if asked.path != "/robots.txt"]
    gaps = gaps_of([asked.at for asked in pages])
    inside = [asked for asked in pages if begin <= asked.at < end]
    shares = Counter(asked.path.split("/")[1] for asked in inside)
    span = inside[-1].at - inside[0].at
    return {
        "pages": len(pages),
        "smallest gap": min(gaps),
        "short": sum(gap < delay for gap in gaps),
        "pace": (len(inside) - 1) * delay / span,
        "fewest": min(shares.values()),
        "most": max(shares.values()),
    }


def gaps_of(times: Sequence[float]) -> list[float]:
    """The times between neighbours."""
    return [later - earlier for earlier, later in itertools.pairwise(sorted(times))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", default="1,4,16")
    parser.add_argument("--delays", default="0.2,1")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--stores", default="sqlite,redis")
    parser.add_argument("--busy", type=int, default=0)
    asked = parser.parse_args()
    print("| store | workers | delay | smallest gap | short | pace | pages of a worker | calls |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for kind in asked.stores.split(","):
        for workers in map(int, asked.workers.split(",")):
            for delay in map(float, asked.delays.split(",")):
                with (
                    tempfile.TemporaryDirectory() as folder,
                    busy(asked.busy),
                    ExitStack() as stack,
                ):
                    cache, calls = open_store(kind, Path(folder), stack)
                    seen = measure(cache, workers, delay, asked.seconds)
                    per_page = calls() / seen["pages"]
                print(
                    f"| {kind} | {workers} | {delay:g} s | {seen['smallest gap']:.4f} s | "
                    f"{seen['short']} of {seen['pages']} | {seen['pace']:.1%} | "
                    f"{seen['fewest']} to {seen['most']} | {per_page:.1f} |",
                    flush=True,
                )


@contextmanager
def busy(number: int) -> Iterator[None]:
    """Keep *number* processors busy."""
    command = [sys.executable, "-c", "while True: pass"]
    loops = [subprocess.Popen(command) for _ in range(number)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def open_store(kind: str, folder: Path, stack: ExitStack) -> tuple[str, Any]:
    if kind == "sqlite":
        return f"sqlite:///{folder}/robots.db", lambda: math.nan
    if not is_installed():
        raise SystemExit(NOT_FOUND)
    server = RedisServer(folder)
    server.start()
    stack.callback(server.stop)

    def calls() -> float:
        import redis

        with redis.Redis(port=server.port) as client:
            stats = client.info("commandstats")
            return float(stats["cmdstat_evalsha"]["calls"])

    return server.uri, calls


if __name__ == "__main__":
    main()
