"""Calls of the plugin's functions for one request, from the queue's ``pop`` to the callback.

    python benchmarks/request_calls.py [--list] [--set NAME=VALUE]

Counted with ``sys.setprofile`` in a crawl of one site on this machine, with one request at a time:
for the first page, whose robots.txt is unknown, and for a later one. Files are those of the package
that the request passes; a hop is a call from one of them into another. ``--list`` prints the calls
in their order.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess

import scrapy_robotspec
from scrapy_robotspec import WaitingPriorityQueue
from tests.support.server import Server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from types import FrameType

    from scrapy.http import Response

_PACKAGE = str(Path(scrapy_robotspec.__file__).parent)
_POP = WaitingPriorityQueue.pop.__code__


class Calls:
    """Calls between a ``pop`` that returns a request and the callback."""

    def __init__(self) -> None:
        self.names: list[tuple[str, str]] = []
        self.popped = False

    def __call__(self, frame: FrameType, event: str, value: Any) -> None:
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(_PACKAGE):
            return
        if code is _POP and not self.popped:
            if event == "call":
                self.names.clear()
            else:
                self.popped = value is not None
        if event == "call":
            self.names.append((code.co_filename[len(_PACKAGE) + 1 :], code.co_qualname))

    def take(self) -> list[tuple[str, str]]:
        """The calls of the request whose callback runs now."""
        taken, self.names, self.popped = self.names, [], False
        return taken


class OneByOne(Spider):
    """Some pages of one site, one after the other."""

    name = "one_by_one"
    url = ""
    calls: Calls
    requests: list[list[tuple[str, str]]]

    async def start(self) -> AsyncIterator[Request]:
        sys.setprofile(self.calls)
        yield Request(f"{self.url}0")

    def parse(self, response: Response) -> Any:
        self.requests.append(self.calls.take())
        if len(self.requests) < 4:
            yield Request(f"{self.url}{len(self.requests)}")
        else:
            sys.setprofile(None)


def crawl(settings: dict[str, str]) -> list[list[tuple[str, str]]]:
    """The calls of each request of a crawl."""
    requests: list[list[tuple[str, str]]] = []
    process = CrawlerProcess(
        {
            "ADDONS": {"scrapy_robotspec.Addon": 500},
            "ROBOTSTXT_OBEY": True,
            "USER_AGENT": "examplebot/1.0",
            "LOG_LEVEL": "ERROR",
            **settings,
        }
    )
    with Server() as server:
        site = server.site("127.0.0.2", "User-agent: *\nDisallow: /no\n")
        process.crawl(OneByOne, url=site.url("/"), calls=Calls(), requests=requests)
        process.start()
    return requests


def main() -> int:
    """See the head of this file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--list", action="store_true", help="print the calls")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    given = parser.parse_args()
    requests = crawl(dict(each.split("=", 1) for each in given.set))
    print("origin     calls   files    hops")
    for name, calls in (("unknown", requests[0]), ("known", requests[-1])):
        files = [file for file, _ in calls]
        hops = sum(file != before for file, before in zip(files[1:], files, strict=False))
        print(f"{name:8}   {len(calls):5}   {len(set(files)):5}   {hops:5}")
        if given.list:
            for file, function in calls:
                print(f"    {file:40} {function}")
            print("   ", *sorted(set(files)), sep="\n    ")
    return 0


if __name__ == "__main__":
    sys.exit(main())
