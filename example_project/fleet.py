"""Several processes that crawl as one: forty origins of the local site, one robots.txt store.

Three workers on scrapy-redis share a queue of requests and a store in Redis, or with ``--cache
sqlite`` in a file. With ``--independent`` they are jobs that know nothing of each other and share
only a file, as under Scrapyd: each crawls the whole site. ``--workers N`` starts N.

At the end a table shows what each process crawled, how often each robots.txt was requested, and the
smallest gap between two pages of the origins with a crawl delay, and their pace. The exit code is 1
unless each robots.txt was requested once, the pages of each origin came no faster than its delay
allows, and no page came twice.

Needs the program redis-server and the package scrapy-redis, except for ``--independent``.
"""

from __future__ import annotations

import argparse
import itertools
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
from example.responses_fleet import DELAY, DELAYED  # noqa: E402

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
    """Wait until a server listens at the port, for ten seconds at most."""
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise SystemExit("redis-server did not start")


def worker(number: int, folder: Path, settings: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start one process: the same spider and settings as the others."""
    settings = {
        **settings,
        "ROBOTSPEC_CRAWL_DELAY": "True",
        "EXAMPLE_RESULTS": str(folder / f"worker{number}.jsonl"),
        "LOG_LEVEL": "ERROR",  # scrapy-redis makes calls for which newer Scrapys warn
    }
    options = [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
    return subprocess.Popen(
        [sys.executable, "-m", "scrapy", "crawl", SPIDER, *options], cwd=PROJECT
    )


def lines(path: Path) -> list[dict[str, Any]]:
    """The values of a file of JSON lines; none of a file that is not there."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def main() -> int:
    """Run the fleet and print what came of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--cache", choices=["redis", "sqlite"], default="redis")
    parser.add_argument("--independent", action="store_true")
    options = parser.parse_args()
    if not options.independent and not (shutil.which("redis-server") and find_spec("scrapy_redis")):
        print("needs the program redis-server, and `pip install scrapy-redis`", file=sys.stderr)
        return 2
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        site = LocalSite.start("example.responses_fleet:MOODS", folder / "site.jsonl")
        stack.callback(site.stop)
        settings = {
            "EXAMPLE_SITE": json.dumps(site.origins),
            "ROBOTSPEC_CACHE": f"sqlite:///{folder / 'robots.db'}",
        }
        if not options.independent:
            redis = stack.enter_context(redis_server(folder))
            settings |= {
                "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
                "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
                "SCHEDULER_PERSIST": "True",
                "REDIS_URL": redis,
            }
            if options.cache == "redis":
                settings["ROBOTSPEC_CACHE"] = redis
        numbers = range(options.workers)
        fleet = [worker(number, folder, settings) for number in numbers]
        codes = [process.wait() for process in fleet]
        ends = [lines(folder / f"worker{number}.jsonl") for number in numbers]
        visits = lines(folder / "site.jsonl")
    crawls = options.workers if options.independent else 1
    return report(codes, ends, visits, crawls)


def report(
    codes: list[int],
    ends: list[list[dict[str, Any]]],
    visits: list[dict[str, Any]],
    crawls: int,
) -> int:
    """Print the account of *crawls* crawls of the site; 0 if every promise was kept."""
    for number, pages in enumerate(ends):
        crawled = sum(end["crawled"] for end in pages)
        print(f"worker {number}: {crawled} pages crawled, {len(pages) - crawled} refused")
    every = [end["crawled"] for pages in ends for end in pages]
    print(f"together: {sum(every)} pages crawled, {len(every) - sum(every)} refused")
    asked = Counter(visit["name"] for visit in visits if visit["path"] == "/robots.txt")
    pages = [visit for visit in visits if visit["path"] != "/robots.txt"]
    times = Counter((visit["name"], visit["path"]) for visit in pages)
    often = [page for page, number in times.items() if number > crawls]
    private = [path for _, path in times if path.startswith("/private/")]
    gap = smallest_gap(pages)
    print(f"{len(asked)} origins, robots.txt requests for each: {most_and_least(asked)}")
    print(
        f"{len(DELAYED)} of them with a crawl delay of {DELAY:g} s, smallest gap: {gap:.3f} s "
        f"as the site saw it (a busy machine shortens it), pace: {pace(pages):.0%} of the possible"
    )
    print(f"pages crawled too often: {len(often)}, disallowed pages crawled: {len(private)}")
    kept = max(asked.values(), default=0) == 1 and not is_too_fast(pages)
    return int(any(codes) or not kept or bool(often or private))


def is_too_fast(pages: list[dict[str, Any]]) -> bool:
    """Whether an origin got more pages than its crawl delay allows.

    One more counts for nothing: a busy machine may read the first page late, and the gap behind any
    late page is short. Processes with a pace each would get twice as many.
    """
    spans = ((len(times) - 1, times[-1] - times[0]) for times in delayed_times(pages))
    return any((number - 1) * DELAY > seconds for number, seconds in spans)


def smallest_gap(pages: list[dict[str, Any]]) -> float:
    """Seconds between two pages of one origin with a crawl delay, at least."""
    gaps = [
        later - earlier
        for times in delayed_times(pages)
        for earlier, later in itertools.pairwise(times)
    ]
    return min(gaps, default=float("inf"))


def pace(pages: list[dict[str, Any]]) -> float:
    """Pages of the origins with a crawl delay as a share of what the delay allows."""
    spans = [(len(times) - 1, times[-1] - times[0]) for times in delayed_times(pages)]
    seconds = sum(span for _, span in spans)
    return DELAY * sum(number for number, _ in spans) / seconds if seconds else 0.0


def delayed_times(pages: list[dict[str, Any]]) -> list[list[float]]:
    """When the pages of each origin with a crawl delay were requested, in order."""
    times = {name: [page["time"] for page in pages if page["name"] == name] for name in DELAYED}
    return [sorted(each) for each in times.values() if each]


def most_and_least(asked: Counter[str]) -> str:
    """The least and the greatest number of requests of any origin."""
    least, most = min(asked.values(), default=0), max(asked.values(), default=0)
    return str(most) if least == most else f"{least} to {most}"


if __name__ == "__main__":
    sys.exit(main())
