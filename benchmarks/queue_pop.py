"""What one pop of the waiting queue costs, against Scrapy's own DownloaderAwarePriorityQueue.

    python benchmarks/queue_pop.py [--origins 10 1000 10000] [--pops 2000] [--repeats 5]

Three cases: Scrapy's queue, ours with every origin free, ours with half of the origins held.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from scrapy import Request, Spider
from scrapy.pqueues import DownloaderAwarePriorityQueue
from scrapy.squeues import LifoMemoryQueue
from scrapy.utils.misc import build_from_crawler
from scrapy.utils.test import get_crawler

from scrapy_robotspec import Origin, RobotSpecMiddleware, WaitingPriorityQueue
from scrapy_robotspec.plugin.scheduling.gate import Event


def crawler_with_engine() -> Any:
    """A crawler that has a downloader and our middleware, and crawls nothing."""
    settings = {
        "ROBOTSTXT_OBEY": True,
        "DOWNLOADER_MIDDLEWARES": {"scrapy_robotspec.RobotSpecMiddleware": 100},
        "USER_AGENT": "examplebot/1.0",
        "DOWNLOAD_HANDLERS": dict.fromkeys(("http", "https", "ftp", "s3")),
    }
    crawler = get_crawler(Spider, settings)
    crawler.spider = crawler._create_spider("pops")
    crawler.engine = crawler._create_engine()
    return crawler


def microseconds_a_pop(
    crawler: Any, queue_class: type, origins: int, pops: int, held: int
) -> float:
    """Fill a queue, hold the first *held* origins, pop."""
    queue = build_from_crawler(queue_class, crawler, LifoMemoryQueue, "")
    hosts = [f"host{n}.example.com" for n in range(origins)]
    for n in range(max(2 * pops, 2 * origins)):
        queue.push(Request(f"http://{hosts[n % origins]}/{n}"))
    gate = crawler.get_downloader_middleware(RobotSpecMiddleware).gate
    for n, host in enumerate(hosts):
        origin = Origin.of(f"http://{host}/")
        if n < held:
            gate.block(origin, math.inf, Event.FETCH_ALLOWED)
        else:
            gate.release(origin)
    began = time.process_time()
    for _ in range(pops):
        assert queue.pop() is not None
    return 1e6 * (time.process_time() - began) / pops


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--origins", type=int, nargs="+", default=[10, 1000, 10_000])
    parser.add_argument("--pops", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    print("origins   Scrapy µs   ours µs   ratio   half held µs   ratio")
    for origins in given.origins:
        rounds = []
        for _ in range(given.repeats):
            cases = (
                (DownloaderAwarePriorityQueue, 0),
                (WaitingPriorityQueue, 0),
                (WaitingPriorityQueue, origins // 2),
            )
            rounds.append(
                [
                    microseconds_a_pop(crawler_with_engine(), queue, origins, given.pops, held)
                    for queue, held in cases
                ]
            )
        stock, ours, half = (statistics.median(column) for column in zip(*rounds, strict=True))
        print(
            f"{origins:7}   {stock:9.1f}   {ours:7.1f}   {ours / stock:5.2f}"
            f"   {half:12.1f}   {half / stock:5.2f}"
        )


if __name__ == "__main__":
    main()
