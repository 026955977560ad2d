"""Memory, time and size of the report of a large crawl.

    python benchmarks/report_cost.py [--origins 10000] [--rules 2] [--requests 100]

Each origin has some rules, each of which refuses some requests. The rows are copied in the crawl's
thread, some at a time, and written in another one.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
import tracemalloc
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.outcome import Meaning
from scrapy_robotspec.access.record import RobotsRecord
from scrapy_robotspec.plugin.reporting.origin_stats import OriginStatsTable
from scrapy_robotspec.plugin.reporting.report import COPIED_AT_ONCE
from scrapy_robotspec.protocol.robotstxt import RobotsTxt
from scrapy_robotspec.render.crawl_report import CrawlReport, report_lines
from scrapy_robotspec.render.report_page import report_page


def crawl(origins: int, rules: int, requests: int) -> OriginStatsTable:
    """The counts of a crawl."""
    lines = "".join(f"Disallow: /{number}/\n" for number in range(rules))
    robots = RobotsTxt.parse(f"User-agent: *\n{lines}".encode())
    verdicts = [robots.explain(f"/{number}/", ()) for number in range(rules)]
    table = OriginStatsTable()
    for number in range(origins):
        origin = Origin("https", f"host-{number}.example", 443)
        table.wait_began(origin, 1000.0)
        record = RobotsRecord(
            origin, Meaning.RULES, 200, robots.body, fetched_at=1001.0, expires_at=2000.0
        )
        table.fetched(record, None, 1.0, 1001.0)
        table.wait_ended(origin, 1001.0)
        for at, verdict in enumerate(verdicts):
            decision = Decision(False, "rule", verdict, origin=origin)
            for page in range(requests):
                table.refused(decision, f"{origin}/{at}/page-{page}.html")
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--origins", type=int, default=10_000)
    parser.add_argument("--rules", type=int, default=2)
    parser.add_argument("--requests", type=int, default=100)
    given = parser.parse_args()

    begin = time.perf_counter()
    table = crawl(given.origins, given.rules, given.requests)
    each = (time.perf_counter() - begin) / (given.origins * given.rules * given.requests)
    print(f"count a refused request        {each * 1e6:8.1f} µs")
    tracemalloc.start()
    kept = crawl(given.origins, given.rules, 5)  # more requests need no more memory
    print(f"memory                         {tracemalloc.get_traced_memory()[0] / 1e6:8.1f} MB")
    tracemalloc.stop()
    del kept
    gc.collect()  # do not count the garbage of the lines above

    rows, copies, longest = table.rows(), [], 0.0
    for start in range(0, len(rows), COPIED_AT_ONCE):
        begin = time.perf_counter()
        copies += [row.copy() for row in rows[start : start + COPIED_AT_ONCE]]
        longest = max(longest, time.perf_counter() - begin)
    print(f"longest stop of the crawl      {longest * 1e3:8.1f} ms")
    report = CrawlReport("benchmark", 1000.0, 2000.0, None, copies)
    for name, write in (
        (".jsonl", lambda: "".join(report_lines(report))),
        (".html", lambda: report_page(report)),
    ):
        begin = time.perf_counter()
        text = write()
        seconds = time.perf_counter() - begin
        print(f"{name:7}{seconds:17.2f} s, {len(text.encode()) / 1e6:8.2f} MB")


if __name__ == "__main__":
    main()
