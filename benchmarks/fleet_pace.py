"""The pace of a fleet with a crawl delay, measured at the server.

    python benchmarks/fleet_pace.py [--workers 1,4,16] [--delays 0.2,1] [--seconds 10]
                                    [--stores sqlite,redis] [--busy 0] [--refused 0]
                                    [--trouble none]

For each number of workers and each store that they share (an SQLite file, and Redis where a server
program is found): the smallest gap between two pages, the gaps that are shorter than the delay, the
pages sent as a share of what the delay allows, the fewest and most pages of any worker, and script
calls to Redis per page. Workers are independent crawls of one site. ``--busy`` keeps that many
processors busy beside them; ``--refused`` puts that many disallowed links after each page.
``--trouble`` lists what happens in the middle: ``kill`` (a third of
the workers), ``start`` (as many more), and to Redis ``pause``, ``restart``, ``flush``, ``gone``
(for 15 seconds) and ``start-without`` (gone, and workers start meanwhile; they fetch the robots.txt
themselves).
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
    from collections.abc import Callable, Iterator, Sequence

    from tests.support.server import Site

#: Seconds without Redis, and for which it answers no client.
GONE, PAUSED = 15.0, 4.0


class Fleet:
    """Workers that crawl one site, and the store that they share."""

    def __init__(
        self, site: Site, cache: str, pages: int, refused: int, redis: RedisServer | None
    ) -> None:
        self.site = site
        self.redis = redis
        self.workers: list[Running] = []
        self._paths = [
            path for n in range(pages) for path in (str(n), *(f"{n}/no{m}" for m in range(refused)))
        ]
        self._settings = {"ROBOTSPEC_CACHE": cache, "ROBOTSPEC_CRAWL_DELAY": True}
        self._stack = ExitStack()

    def start(self, number: int) -> None:
        """Start *number* more workers."""
        for worker in range(len(self.workers), len(self.workers) + number):
            urls = [self.site.url(f"/w{worker}/{path}") for path in self._paths]
            self.workers.append(self._stack.enter_context(Running(urls, self._settings)))

    def wait_until_all_crawl(self) -> None:
        """Return once each worker has sent a page."""
        while len({path.split("/")[1] for path in self.site.pages_asked}) < len(self.workers):
            time.sleep(0.1)

    def close(self) -> None:
        """Kill all workers."""
        for worker in self.workers:
            worker.send(signal.SIGKILL)
        self._stack.close()


def kill(fleet: Fleet) -> None:
    for worker in fleet.workers[: max(1, len(fleet.workers) // 3)]:
        worker.send(signal.SIGKILL)


def start(fleet: Fleet) -> None:
    fleet.start(max(1, len(fleet.workers) // 3))


def pause(fleet: Fleet) -> None:
    command(fleet, "CLIENT", "PAUSE", str(int(PAUSED * 1000)))


def flush(fleet: Fleet) -> None:
    command(fleet, "FLUSHALL")


def restart(fleet: Fleet) -> None:
    gone(fleet, 0.0)


def gone(fleet: Fleet, seconds: float = GONE) -> None:
    assert fleet.redis is not None
    fleet.redis.stop()
    time.sleep(seconds)
    fleet.redis.start()


def start_without(fleet: Fleet) -> None:
    assert fleet.redis is not None
    fleet.redis.stop()
    start(fleet)
    time.sleep(GONE)
    fleet.redis.start()


TROUBLES: dict[str, Callable[[Fleet], None]] = {
    "none": lambda fleet: None,
    "kill": kill,
    "start": start,
    "pause": pause,
    "flush": flush,
    "restart": restart,
    "gone": gone,
    "start-without": start_without,
}


def command(fleet: Fleet, *words: str) -> None:
    assert fleet.redis is not None
    subprocess.run(
        ["redis-cli", "-p", str(fleet.redis.port), *words], check=True, capture_output=True
    )


def measure(
    store: tuple[str, RedisServer | None],
    workers: int,
    delay: float,
    seconds: float,
    refused: int,
    trouble: Callable[[Fleet], None],
) -> dict[str, Any]:
    """Let *workers* crawl one site for a while, and return what the site saw."""
    cache, redis = store
    with Server() as server:
        site = server.site("127.0.0.2", f"User-agent: *\nDisallow: /*/no\nCrawl-delay: {delay}\n")
        fleet = Fleet(site, cache, int(2 * (seconds + GONE) / delay) + 10, refused, redis)
        try:
            fleet.start(workers)
            fleet.wait_until_all_crawl()
            begin = time.time()
            time.sleep(seconds / 2)
            trouble(fleet)
            time.sleep(seconds / 2)
            end = time.time()
        finally:
            fleet.close()
        return seen_by(site, begin, end, delay)


def seen_by(site: Site, begin: float, end: float, delay: float) -> dict[str, Any]:
    """What a site saw between two times, and its gaps since the start."""
    pages = [asked for asked in site.log if asked.path != "/robots.txt"]
    gaps = gaps_of([asked.at for asked in pages])
    inside = [asked for asked in pages if begin <= asked.at < end]
    shares = Counter(asked.path.split("/")[1] for asked in inside)
    span = inside[-1].at - inside[0].at
    assert len({asked.path for asked in pages}) == len(pages), "a page was requested twice"
    return {
        "pages": len(pages),
        "robots.txt": len(site.robots_asked),
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
    parser.add_argument("--refused", type=int, default=0)
    parser.add_argument("--trouble", default="none", help=", ".join(TROUBLES))
    asked = parser.parse_args()
    print(
        "| store | workers | delay | trouble | robots.txt | smallest gap | short gaps | pace "
        "| pages of a worker | calls |\n|---|---|---|---|---|---|---|---|---|---|",
        flush=True,
    )
    cases = itertools.product(
        asked.stores.split(","),
        map(int, asked.workers.split(",")),
        map(float, asked.delays.split(",")),
        asked.trouble.split(","),
    )
    for kind, workers, delay, trouble in cases:
        with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
            stack.enter_context(busy(asked.busy))
            store = open_store(kind, Path(folder), stack)
            seen = measure(store, workers, delay, asked.seconds, asked.refused, TROUBLES[trouble])
            calls = calls_to(store[1]) / seen["pages"]
        print(
            f"| {kind} | {workers} | {delay:g} s | {trouble} | {seen['robots.txt']} | "
            f"{seen['smallest gap']:.4f} s | "
            f"{seen['short']} of {seen['pages']} | {seen['pace']:.1%} | "
            f"{seen['fewest']} to {seen['most']} | {calls:.1f} |",
            flush=True,
        )


@contextmanager
def busy(number: int) -> Iterator[None]:
    """Keep *number* processors busy."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def open_store(kind: str, folder: Path, stack: ExitStack) -> tuple[str, RedisServer | None]:
    """A value of ROBOTSPEC_CACHE, and the Redis server behind it."""
    if kind == "sqlite":
        return f"sqlite:///{folder}/robots.db", None
    if not is_installed():
        raise SystemExit(NOT_FOUND)
    server = RedisServer(folder)
    server.start()
    stack.callback(server.stop)
    return server.uri, server


def calls_to(server: RedisServer | None) -> float:
    """Scripts that Redis has run since its start."""
    if server is None:
        return math.nan
    import redis

    with redis.Redis(port=server.port) as client:
        return float(client.info("commandstats")["cmdstat_eval"]["calls"])


if __name__ == "__main__":
    main()
