"""The cost of a pop and of a queue, against Scrapy's own DownloaderAwarePriorityQueue.

    python benchmarks/queue_pop.py [--origins 10 1000 10000 100000] [--pops 2000] [--repeats 5]

Three cases: Scrapy's queue, the plugin's with every origin ready, and with half of them held.
Scrapy's pop looks at every slot, so it is measured up to 10,000 origins.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import time
import tracemalloc
from contextlib import ExitStack
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from scrapy import Request, Spider
from scrapy.pqueues import DownloaderAwarePriorityQueue
from scrapy.squeues import LifoMemoryQueue
from scrapy.utils.misc import build_from_crawler
from scrapy.utils.test import get_crawler

from scrapy_robotspec import Origin, RobotSpecMiddleware, WaitingPriorityQueue


def crawler_with_engine() -> Any:
    """A crawler that has a downloader and our middleware, and crawls nothing."""
    settings = {
        "ROBOTSTXT_OBEY": True,
        "ADDONS": {"scrapy_robotspec.Addon": 500},
        "USER_AGENT": "examplebot/1.0",
        "DOWNLOAD_HANDLERS": dict.fromkeys(("http", "https", "ftp", "s3")),
    }
    crawler = get_crawler(Spider, settings)
    crawler.spider = crawler._create_spider("pops")
    crawler.engine = crawler._create_engine()
    middleware = crawler.get_downloader_middleware(RobotSpecMiddleware)
    assert middleware is not None
    middleware.robots.lookup.knows = lambda origin: True  # type: ignore[method-assign]
    return crawler


def hold(crawler: Any, origins: int) -> ExitStack:
    """Waits of the first *origins* origins."""
    gate = crawler.get_downloader_middleware(RobotSpecMiddleware).gate
    waits = ExitStack()
    for n in range(origins):
        url = f"http://host{n}.example.com/"
        waits.enter_context(gate.hold(Origin.of(url), Request(url)))
    return waits


def pop_time(queue_class: type, origins: int, pops: int, held: int) -> float:
    """Microseconds of processor time for one pop."""
    crawler = crawler_with_engine()
    waits = hold(crawler, held)
    queue: Any = build_from_crawler(queue_class, crawler, LifoMemoryQueue, "")
    for n in range(max(2 * pops, 2 * origins)):
        queue.push(Request(f"http://host{n % origins}.example.com/{n}", priority=n % 7))
    began = time.process_time()
    for _ in range(pops):
        assert queue.pop() is not None
    taken = time.process_time() - began
    waits.pop_all()
    return 1e6 * taken / pops


def memory_of_an_origin(queue_class: type, origins: int, held: int) -> float:
    """Bytes for one more origin with one request, without the request itself."""
    crawler = crawler_with_engine()
    requests = [Request(f"http://host{n}.example.com/{n}") for n in range(origins)]
    gc.collect()
    tracemalloc.start()
    waits = hold(crawler, held)
    queue: Any = build_from_crawler(queue_class, crawler, LifoMemoryQueue, "")
    for request in requests:
        queue.push(request)
    size = tracemalloc.get_traced_memory()[0] / origins
    tracemalloc.stop()
    waits.pop_all()
    return size


CASES = (
    ("Scrapy's queue", DownloaderAwarePriorityQueue, 0),
    ("all ready", WaitingPriorityQueue, 0),
    ("half held", WaitingPriorityQueue, 2),
)
#: Origins up to which Scrapy's queue is measured.
_STOCK_LIMIT = 10_000


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--origins", type=int, nargs="+", default=[10, 1000, 10_000, 100_000])
    parser.add_argument("--pops", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    print("origins   queue            µs a pop   bytes an origin")
    for origins in given.origins:
        for name, queue, part in CASES:
            if queue is DownloaderAwarePriorityQueue and origins > _STOCK_LIMIT:
                continue
            held = origins // part if part else 0
            taken = statistics.median(
                pop_time(queue, origins, given.pops, held) for _ in range(given.repeats)
            )
            size = memory_of_an_origin(queue, origins, held)
            print(f"{origins:7}   {name:14}   {taken:8.1f}   {size:15.0f}", flush=True)


if __name__ == "__main__":
    main()
