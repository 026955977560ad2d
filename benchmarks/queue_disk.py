"""Queues of a crawl with JOBDIR: time and open files, against Scrapy's own queue.

    python benchmarks/queue_disk.py [--origins 10 300 3000 20000] [--limit 1024]

Each origin has two requests, which are pushed in turn and then popped. ``--limit`` is the number of
files that the process may open. The last column is what ended the run, if anything did.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from scrapy import Request
from scrapy.pqueues import DownloaderAwarePriorityQueue
from scrapy.squeues import PickleLifoDiskQueue
from scrapy.utils.misc import build_from_crawler

from benchmarks.queue_pop import crawler_with_engine
from scrapy_robotspec import WaitingPriorityQueue

QUEUES = {"Scrapy's queue": DownloaderAwarePriorityQueue, "the plugin's": WaitingPriorityQueue}
_EACH = 2


def open_files() -> int:
    """File descriptors of this process (Linux)."""
    return len(os.listdir("/proc/self/fd"))


def push_and_pop(queue_class: type, origins: int, folder: str) -> tuple[int, float, int]:
    """Requests popped, seconds for pushing and popping them, and the most open files."""
    crawler = crawler_with_engine()
    queue: Any = build_from_crawler(queue_class, crawler, PickleLifoDiskQueue, folder)
    most = popped = 0
    began = time.perf_counter()
    for number in range(origins * _EACH):
        request = Request(f"http://host{number % origins}.example.com/{number}")
        queue.push(request)
        if number % 100 == 0:
            most = max(most, open_files())
    most = max(most, open_files())
    while queue.pop() is not None:
        popped += 1
    return popped, time.perf_counter() - began, most


def measure(name: str, origins: int) -> str:
    """A line of the table."""
    before = open_files()
    with tempfile.TemporaryDirectory() as folder:
        try:
            popped, seconds, most = push_and_pop(QUEUES[name], origins, folder)
        except OSError as error:
            return f"{origins:7}   {name:14}   {'':12}   {'':10}   {error.strerror}"
    assert popped == origins * _EACH
    return f"{origins:7}   {name:14}   {seconds / popped * 1e6:12.0f}   {most - before:10}"


def main() -> int:
    """See the head of this file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--origins", type=int, nargs="+", default=[10, 300, 3_000, 20_000])
    parser.add_argument("--limit", type=int, default=1024)
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (given.limit, given.limit))
    print("origins   queue            µs a request   open files")
    for origins in given.origins:
        for name in QUEUES:
            print(measure(name, origins), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
