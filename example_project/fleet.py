"""A fleet: three workers on scrapy-redis, one Redis, forty origins of the local site.

Needs the package scrapy-redis and the program redis-server. ``--workers N`` starts as many, and
``--cache sqlite`` lets them share robots.txt in a file in the place of Redis. It ends with what
each worker crawled, and with how often each origin was asked for its robots.txt: once, however many
workers there are. The exit code is 1 when that is not so.
"""

from __future__ import annotations

import argparse
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = Path(__file__).resolve().parent
sys.path.insert(0, str(PROJECT))

from example.local import LocalSite  # noqa: E402 - needs the path above

SPIDER = "robots_09_fleet"


@contextmanager
def redis_server(folder: Path) -> Iterator[str]:
    """A Redis server of our own, at any free port; its URL."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = ["--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""]
    with subprocess.Popen(["redis-server", *options], stdout=subprocess.DEVNULL) as process:
        try:
            wait_for(port)
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            process.terminate()


def wait_for(port: int) -> None:
    """Wait until somebody listens at the port, for ten seconds at most."""
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise SystemExit("redis-server did not start")


def worker(
    number: int, redis: str, cache: str, site: LocalSite, folder: Path
) -> subprocess.Popen[bytes]:
    """Start one worker: the same spider as the others, one queue and one store for all."""
    settings = {
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "SCHEDULER_PERSIST": "True",
        "REDIS_URL": redis,
        "ROBOTSPEC_CACHE": cache,
        "EXAMPLE_SITE": json.dumps(site.origins),
        "EXAMPLE_RESULTS": str(folder / f"worker{number}.jsonl"),
        "LOG_LEVEL": "ERROR",  # scrapy-redis is full of calls that newer Scrapys warn of
    }
    options = [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
    return subprocess.Popen(
        [sys.executable, "-m", "scrapy", "crawl", SPIDER, *options], cwd=PROJECT
    )


def lines(path: Path) -> list[dict[str, Any]]:
    """The values of a file of JSON lines; none of a file that is not there."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def main() -> int:
    """Run the fleet and tell what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--cache", choices=["redis", "sqlite"], default="redis")
    options = parser.parse_args()
    if not shutil.which("redis-server") or not find_spec("scrapy_redis"):
        print("needs the program redis-server, and `pip install scrapy-redis`", file=sys.stderr)
        return 2
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        redis = stack.enter_context(redis_server(folder))
        site = LocalSite.start("example.responses_fleet:MOODS", folder / "site.jsonl")
        stack.callback(site.stop)
        cache = redis if options.cache == "redis" else f"sqlite:///{folder / 'robots.db'}"
        numbers = range(options.workers)
        fleet = [worker(number, redis, cache, site, folder) for number in numbers]
        codes = [process.wait() for process in fleet]
        ends = [lines(folder / f"worker{number}.jsonl") for number in numbers]
        visits = lines(folder / "site.jsonl")
    return report(codes, ends, visits)


def report(codes: list[int], ends: list[list[dict[str, Any]]], visits: list[dict[str, Any]]) -> int:
    """Print the account; 0 if each origin was asked once and no page was crawled twice."""
    for number, pages in enumerate(ends):
        crawled = sum(end["crawled"] for end in pages)
        print(f"worker {number}: {crawled} pages crawled, {len(pages) - crawled} refused")
    every = [end["crawled"] for pages in ends for end in pages]
    print(f"together: {sum(every)} pages crawled, {len(every) - sum(every)} refused")
    asked = Counter(visit["name"] for visit in visits if visit["path"] == "/robots.txt")
    pages = Counter((visit["name"], visit["path"]) for visit in visits)
    twice = [page for page, times in pages.items() if times > 1 and page[1] != "/robots.txt"]
    private = [page for page in pages if page[1].startswith("/private/")]
    print(f"{len(asked)} origins, robots.txt requests for each: {most_and_least(asked)}")
    print(f"pages crawled twice: {len(twice)}, disallowed pages crawled: {len(private)}")
    return int(any(codes) or max(asked.values(), default=0) != 1 or bool(twice or private))


def most_and_least(asked: Counter[str]) -> str:
    """The least and the greatest number of requests of any origin."""
    least, most = min(asked.values(), default=0), max(asked.values(), default=0)
    return str(most) if least == most else f"{least} to {most}"


if __name__ == "__main__":
    sys.exit(main())
