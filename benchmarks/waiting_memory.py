"""Memory and processor time of requests that wait for an origin that answers 503.

    python benchmarks/waiting_memory.py [--requests 20000] [--origins 1] [--seconds 10]

The same number of requests is left in Scrapy's own queue for comparison, behind one page that does
not come.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.support.crawl import Running
from tests.support.responses import reply, silence
from tests.support.server import Server

if TYPE_CHECKING:
    from tests.support.responses import Answer

WAITING: dict[str, Any] = {"LOG_LEVEL": "WARNING"}
#: Scrapy's own queue, without any robots.txt.
STOCK: dict[str, Any] = {
    **WAITING,
    "ADDONS": {},
    "ROBOTSTXT_OBEY": False,
    "CONCURRENT_REQUESTS": 1,
    "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue",
}


def resident(pid: int) -> float:
    """Resident memory of a process now (megabytes, Linux)."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def waited(
    settings: dict[str, Any], page: Answer, requests: int, origins: int, seconds: float
) -> tuple[float, float]:
    """Memory (megabytes) and processor time (per cent) of a crawl that waits."""
    with Server() as server:
        down = reply("", 503)
        sites = [
            server.site(f"127.0.{n // 250}.{n % 250 + 2}", down, page=page) for n in range(origins)
        ]
        urls = [sites[n % origins].url(f"/{n}") for n in range(requests)]
        with Running(urls, settings) as running:
            running.wait_until(lambda: server.log, 120)
            previous = -1.0
            while running.cpu() - previous > 0.05 * 2:  # until all requests are queued
                previous = running.cpu()
                time.sleep(2)
            before = running.cpu()
            time.sleep(seconds)
            return resident(running.pid), 100 * (running.cpu() - before) / seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--origins", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=10.0)
    given = parser.parse_args()
    print("                     MB    bytes a request    processor")
    for name, settings, page in (
        ("Scrapy's queue", STOCK, silence()),
        ("waiting", WAITING, reply("")),
    ):
        few, _ = waited(settings, page, 100, min(given.origins, 100), 1.0)
        many, busy = waited(settings, page, given.requests, given.origins, given.seconds)
        each = (many - few) * 1024 * 1024 / (given.requests - 100)
        print(f"{name:15}   {many:6.1f}   {each:17.0f}   {busy:7.1f} %")


if __name__ == "__main__":
    main()
