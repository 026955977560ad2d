"""What the middleware costs a crawl: processor time a request, against ROBOTSTXT_OBEY = False.

    python benchmarks/crawl_cost.py [--pairs 10] [--pages 3000] [--origins 1 1000]
    python benchmarks/crawl_cost.py --evidence [--first-visits]

Every robots.txt is known before the clock starts, and both sides have sent as many requests. Both
have the same queue class, and the median of the pairs' ratios counts. The two crawls of a pair run
at the same time and share one processor (where the system lets us say so), so whatever slows the
machine down slows both: one after the other they differ by more than is measured. ``--evidence``
compares an obeying crawl with the same crawl that also writes evidence, the time of the writing
thread included; ``--first-visits`` then measures one page of each origin with its robots.txt. Sites
answer these after 50 ms, as on the Web: where they answer at once, it is chance whether two or 32
requests are open, and with 32 the garbage collector takes twice as long. The pairs of first visits
differ in their number of origins, by up to the visits between two full garbage collections: each
takes 2 % of such a crawl, and with one number it would be chance which side has one more.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.support.crawl import crawl
from tests.support.responses import after, reply
from tests.support.server import Server

SETTINGS = {
    "SPIDER_MODULES": ["benchmarks.spiders"],
    "SCHEDULER_PRIORITY_QUEUE": "scrapy_robotspec.WaitingPriorityQueue",
    "LOG_LEVEL": "WARNING",
    "CONCURRENT_REQUESTS": 32,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 32,
}
#: A file of ordinary size.
ROBOTS = "User-agent: *\n" + "".join(f"Disallow: /private/{n}/\n" for n in range(30))
_HTML = [("Content-Type", "text/html")]
#: Seconds until a site answers a first visit.
LATENCY = 0.05
#: First visits between two full garbage collections.
COLLECTION = 70

#: Settings of the first and of the second crawl of a pair.
Sides = tuple[dict[str, object], dict[str, object]]


def microseconds(
    urls: list[str], pages: int, settings: dict[str, object], spider: str = "steady"
) -> float:
    """Processor time a page in one crawl, on the first processor."""
    if hasattr(os, "sched_setaffinity"):  # of this thread, and of the process that it starts
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    given = {**SETTINGS, **settings}
    result = crawl(urls, given, spider=spider, more={"pages": pages}, seconds=300)
    return float(result.of("measured")[0]["microseconds"])


def pair(
    urls: list[str], pages: int, sides: Sides, *, first: int, spider: str = "steady"
) -> tuple[float, float]:
    """The times of both sides; *first*: which of them sets out first."""
    with ThreadPoolExecutor(2) as threads:
        crawls = {
            side: threads.submit(microseconds, urls, pages, sides[side], spider)
            for side in (first, 1 - first)
        }
    return crawls[0].result(), crawls[1].result()


def measure(sides: Sides, arguments: argparse.Namespace, spider: str = "steady") -> None:
    """Compare both sides and print a line for each number of origins."""
    print("origins   without µs   with µs   pairs' median   least   greatest")
    for origins in arguments.origins:
        with Server() as server:
            hosts = [f"127.0.{n // 250}.{n % 250 + 2}" for n in range(origins)]
            robots, page = reply(ROBOTS), reply("<html>page</html>", headers=_HTML)
            spread = 0
            if spider == "first_visits":
                robots, page = after(LATENCY, robots), after(LATENCY, page)
                spread = min(COLLECTION, origins // 2)
            urls = [server.site(host, robots, page=page).url("") for host in hosts]
            pairs = [
                pair(
                    urls[n * spread // arguments.pairs :],
                    arguments.pages,
                    sides,
                    first=n % 2,
                    spider=spider,
                )
                for n in range(arguments.pairs)
            ]
        ratios = [100 * (more / less - 1) for less, more in pairs]
        less, more = (statistics.median(side) for side in zip(*pairs, strict=True))
        print(
            f"{origins:7}   {less:10.0f}   {more:7.0f}   {statistics.median(ratios):+12.1f} %"
            f"   {min(ratios):+5.1f}   {max(ratios):+8.1f}"
        )


def main() -> None:
    """See the head of this file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument(
        "--origins", type=int, nargs="+", help="default: 1 and 1000, of first visits 1000"
    )
    parser.add_argument("--evidence", action="store_true")
    parser.add_argument("--first-visits", action="store_true")
    arguments = parser.parse_args()
    arguments.origins = arguments.origins or ([1000] if arguments.first_visits else [1, 1000])
    ignoring: dict[str, object] = {"ROBOTSTXT_OBEY": False}
    obeying: dict[str, object] = {"ROBOTSTXT_OBEY": True}
    spider = "first_visits" if arguments.first_visits else "steady"
    with tempfile.TemporaryDirectory() as folder:
        evidence = {**obeying, "ROBOTSPEC_EVIDENCE": folder}
        sides = (obeying, evidence) if arguments.evidence else (ignoring, obeying)
        measure(sides, arguments, spider)


if __name__ == "__main__":
    main()
