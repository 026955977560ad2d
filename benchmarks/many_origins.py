"""A crawl of many origins with one page each, beside Scrapy's own middleware and another commit.

    python benchmarks/many_origins.py [--origins 100000] [--rounds 3] [--commit COMMIT]

One process serves all of 127.0.0.0/8 on one port; every second robots.txt has 30 rules of its own,
the others are missing. Settings are the default ones. The spider keeps 32 pages under way, so that
no queue grows: Scrapy's own looks at every slot for each request.

The crawls of a round run at the same time and share one processor (where the system lets us say
so). A time is the processor time of the whole crawl by its pages; the median of the rounds' ratios
to Scrapy's own middleware counts. Then each crawl runs once more with ``tracemalloc``: bytes are
those that it holds when the last page has arrived, beyond those of a crawl that obeys no
robots.txt. A crawl of 100,000 origins takes about ten minutes on each side.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping, Sequence

    from scrapy.http import Response

ROOT = Path(__file__).resolve().parents[1]
#: Pages under way at a time: the crawl's ``CONCURRENT_REQUESTS``.
UNDER_WAY = 32
#: Pages before the clock starts: what is loaded once belongs to no origin.
WARM_UP = 100
#: Settings of each side. The first is what the others are compared with.
SIDES: dict[str, dict[str, Any]] = {
    "Scrapy's own": {"ROBOTSTXT_OBEY": True},
    "this package": {"ROBOTSTXT_OBEY": True, "ADDONS": {"scrapy_robotspec.Addon": 500}},
    "none": {"ROBOTSTXT_OBEY": False},
}
STOCK, OURS, NONE = SIDES
ROBOTS = b"GET /robots.txt "
_FOLDERS = ("admin", "cart", "private", "search", "tmp", "user")


def host_of(number: int) -> str:
    """A loopback address for each number below 16 million."""
    return f"127.{1 + number // 64_000}.{number % 64_000 // 250}.{1 + number % 250}"


# --- the sites


class Sites(asyncio.Protocol):
    """Answers requests as they come, and keeps a connection open until the page was sent."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport
        self._received = b""

    def data_received(self, data: bytes) -> None:
        *requests, self._received = (self._received + data).split(b"\r\n\r\n")
        for request in requests:
            self._transport.write(answer(request))
            if not request.startswith(ROBOTS):
                self._transport.close()


def answer(request: bytes) -> bytes:
    """The bytes of the response to a request for a robots.txt or a page."""
    if not request.startswith(ROBOTS):
        return _response(200, b"text/html\r\nConnection: close", b"<html>a page</html>")
    host = next(line for line in request.split(b"\r\n") if line.lower().startswith(b"host:"))
    *_, third, fourth = host.partition(b":")[2].strip().partition(b":")[0].split(b".")
    if int(fourth) % 2:
        return _response(404, b"text/html", b"<html>not found</html>")
    rules = "".join(
        f"Disallow: /{_FOLDERS[n % 6]}/{int(third)}/{int(fourth)}/{n}/\n" for n in range(30)
    )
    return _response(200, b"text/plain", b"User-agent: *\n" + rules.encode())


def _response(status: int, kind: bytes, body: bytes) -> bytes:
    return b"HTTP/1.1 %d -\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s" % (
        status,
        kind,
        len(body),
        body,
    )


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(Sites, "0.0.0.0", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@contextmanager
def sites() -> Iterator[int]:
    """The port of all sites, which a process of their own serves."""
    command = [sys.executable, __file__, "--serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


# --- one crawl, in its process


class OnePageEach(Spider):
    """Requests one page of each origin."""

    name = "one_page_each"
    port: int
    origins: int
    is_traced: bool
    number = 0
    pages = 0
    begun = held = 0.0

    def _next(self) -> Iterator[Request]:
        if self.number < self.origins:
            self.number += 1
            yield Request(f"http://{host_of(self.number - 1)}:{self.port}/page")

    async def start(self) -> AsyncIterator[Request]:
        for _ in range(UNDER_WAY):
            for request in self._next():
                yield request

    def parse(self, response: Response) -> Iterator[Request]:
        self.pages += 1
        if self.pages == WARM_UP:
            self.begun = time.process_time()
            if self.is_traced:
                tracemalloc.start()
        if self.pages == self.origins and self.is_traced:
            gc.collect()
            self.held = tracemalloc.get_traced_memory()[0]
        yield from self._next()


def crawl(side: str, origins: int, port: int, *, is_traced: bool) -> float:
    """Crawl in this process; microseconds a page or, if memory is traced, bytes an origin."""
    process = CrawlerProcess(
        {"LOG_LEVEL": "ERROR", "USER_AGENT": "examplebot/1.0", "CONCURRENT_REQUESTS": UNDER_WAY}
        | SIDES[side]
    )
    crawler = process.create_crawler(OnePageEach)
    process.crawl(crawler, port=port, origins=origins, is_traced=is_traced)
    process.start()
    spider: Any = crawler.spider
    assert spider.pages == origins, f"{spider.pages} of {origins} pages"
    took = 1e6 * (time.process_time() - spider.begun)
    return float(spider.held if is_traced else took) / (origins - WARM_UP)


def one_round(
    folders: Mapping[str, Path], origins: int, port: int, *options: str
) -> dict[str, float]:
    """What :func:`crawl` measures for each name in *folders*, all at the same time."""
    running = {}
    for name, folder in folders.items():
        side = name if name in SIDES else OURS
        words = ["--side", side, "--origins", str(origins), "--port", str(port), *options]
        running[name] = subprocess.Popen(
            [sys.executable, __file__, *words],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(folder), "PYTHONHASHSEED": "0"},
        )
    return {name: float(process.communicate()[0]) for name, process in running.items()}


# --- all of them


def measure(folders: Mapping[str, Path], origins: int, rounds: int) -> Iterator[str]:
    """A line for each name in *folders*: a side, or a commit with its package."""
    with sites() as port:
        times = [one_round(folders, origins, port) for _ in range(rounds)]
        held = one_round({**folders, NONE: ROOT}, origins, port, "--traced")
    yield f"{origins:9,} origins   µs a page   ratio   bytes an origin"
    for name in folders:
        taken = statistics.median(each[name] for each in times)
        ratio = statistics.median(each[name] / each[STOCK] for each in times)
        yield f"{name:17}   {taken:9,.0f}   {ratio:5.2f}   {held[name] - held[NONE]:15,.0f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """See the head of this file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--origins", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--commit", help="compare with the package of this commit, too")
    parser.add_argument("--side", choices=list(SIDES), help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--traced", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.serve:
        asyncio.run(_serve())
    elif given.side:
        if hasattr(os, "sched_setaffinity") and not given.traced:
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        print(crawl(given.side, given.origins, given.port, is_traced=given.traced))
    else:
        with tempfile.TemporaryDirectory(prefix="many-origins-") as folder:
            folders = {STOCK: ROOT, OURS: ROOT}
            if given.commit:
                sys.path.insert(0, str(ROOT))
                from benchmarks.compare import unpack

                unpack(given.commit, Path(folder))
                folders[given.commit] = Path(folder)
            for line in measure(folders, given.origins, given.rounds):
                print(line, flush=True)


if __name__ == "__main__":
    main()
