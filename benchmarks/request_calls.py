"""Calls and instructions of the plugin for one request.

    python benchmarks/request_calls.py [--list] [--set NAME=VALUE]
    python benchmarks/request_calls.py --instructions

Calls of the plugin's functions are counted with ``sys.setprofile`` in a crawl of one site on this
machine, with one request at a time, from the queue's ``pop`` to the callback: for the first page,
whose robots.txt is unknown, and for a later one. Files are those of the package that the request
passes; a hop is a call from one of them into another. ``--list`` prints the calls in their order.

``--instructions`` needs valgrind. It counts the processor's instructions for a page of a known
origin, through the queue, Scrapy's downloader middlewares and a download handler that answers at
once, beyond those of the same run without the plugin: by default, with a User-Agent of the page's
own, with a usage policy, with one and a file that states preferences, with an override for another
host, with a report and with evidence. Evidence is written once at the end, as in a crawl whose
pages take milliseconds.
"""

from __future__ import annotations

import argparse
import gc
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse

import scrapy_robotspec
from scrapy_robotspec import RobotSpecMiddleware, WaitingPriorityQueue
from scrapy_robotspec.evidence import recorder as recorders
from tests.support.server import Server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from types import FrameType

    from scrapy.http import Response

_PACKAGE = str(Path(scrapy_robotspec.__file__).parent)
_POP = WaitingPriorityQueue.pop.__code__
_SETTINGS = {"USER_AGENT": "examplebot/1.0", "LOG_LEVEL": "ERROR"}
_OBEYING = {"ADDONS": {"scrapy_robotspec.Addon": 500}, "ROBOTSTXT_OBEY": True}
_ROBOTS = "User-agent: *\nDisallow: /no\n"
#: Pages before those that count, and pages that count.
_WARM, _COUNTED = 20, 300


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
    process = CrawlerProcess({**_SETTINGS, **_OBEYING, **settings})
    with Server() as server:
        site = server.site("127.0.0.2", _ROBOTS)
        process.crawl(OneByOne, url=site.url("/"), calls=Calls(), requests=requests)
        process.start()
    return requests


# --- instructions


class Answers:
    """Download handler that answers at once."""

    lazy = False
    robots = _ROBOTS

    async def download_request(self, request: Request) -> Response:
        body = self.robots if request.url.endswith("/robots.txt") else "<html></html>"
        headers = {"Content-Type": "text/html", "Date": "Sat, 31 Jan 2026 12:00:00 GMT"}
        return HtmlResponse(request.url, headers=headers, body=body.encode(), request=request)

    async def close(self) -> None: ...


class Pages(Spider):
    """Passes requests of a known origin through the parts of a crawl, without its event loop."""

    name = "pages"
    own_agent = ""

    async def start(self) -> AsyncIterator[Request]:
        yield Request("http://known.example/")

    def parse(self, response: Response) -> None:
        engine = self.crawler.engine
        assert engine is not None
        downloader = engine.downloader
        download = downloader.handlers.download_request_async
        middleware = self.crawler.get_downloader_middleware(RobotSpecMiddleware)
        queue: Any = engine._slot.scheduler.mqs  # type: ignore[union-attr]
        recorder = self._recorder(middleware)
        headers = {"User-Agent": self.own_agent} if self.own_agent else None
        for pages in (_WARM, _COUNTED):
            if pages == _COUNTED:
                gc.collect()
                gc.freeze()  # the crawl's older objects are not those of a page
                _count_instructions("on")
            for number in range(pages):
                queue.push(Request(f"{response.url}{number}", headers=headers))
            while (request := queue.pop()) is not None:
                _at_once(downloader.middleware.download_async(download, request))
        if recorder is not None:
            recorder._drain()
        _count_instructions("off")

    @staticmethod
    def _recorder(middleware: RobotSpecMiddleware | None) -> recorders.Recorder | None:
        """What writes the evidence; its thread, which wakes by the clock, sleeps from now on."""
        if middleware is None or middleware.robots.observer is None:
            return None
        recorder = middleware.robots.observer._recorder
        pause, recorders.WRITE_EVERY = recorders.WRITE_EVERY, 3600.0
        time.sleep(2 * pause)
        return recorder


def _count_instructions(state: str) -> None:
    """Let valgrind count from now on, or no more."""
    command = ["callgrind_control", f"--instr={state}", str(os.getpid())]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _at_once(coroutine: Any) -> Any:
    """The result of a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("it waits")


def pass_pages(settings: dict[str, str]) -> None:
    """The crawl of a process whose instructions are counted."""
    obeying = settings.pop("plugin") == "yes"
    own_agent = settings.pop("own_agent", "")
    Answers.robots += settings.pop("more_robots", "")
    process = CrawlerProcess(
        {
            **_SETTINGS,
            **(_OBEYING if obeying else {}),
            "DOWNLOAD_HANDLERS": {"http": Answers},
            **settings,
        }
    )
    process.crawl(Pages, own_agent=own_agent)
    process.start()


def instructions(*settings: str) -> float:
    """Instructions of a page in a crawl with *settings*."""
    counter = ["valgrind", "--tool=callgrind", "--instr-atstart=no"]
    command = [*counter, "--callgrind-out-file=/dev/null", sys.executable, __file__, "--pages"]
    for each in settings:
        command += ["--set", each]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    run = subprocess.run(command, env=environment, stderr=subprocess.PIPE, text=True, check=True)
    found = re.search(r"Collected : (\d+)", run.stderr)
    assert found is not None, run.stderr
    return int(found[1]) / _COUNTED


def print_instructions() -> None:
    """Print the instructions of a page for each kind of crawl."""
    own_agent = "own_agent=otherbot/1.0"
    without = {own: instructions("plugin=no", *own) for own in ((), (own_agent,))}
    with tempfile.TemporaryDirectory() as folder:
        for name, *settings in (
            ("by default", "plugin=yes"),
            ("own User-Agent", own_agent),
            (
                "usage policy",
                "ROBOTSPEC_USAGE=train-ai",
                "ROBOTSPEC_USAGE_POLICY=refuse-disallowed",
            ),
            (
                "stated usage",
                "ROBOTSPEC_USAGE=train-ai",
                "ROBOTSPEC_USAGE_POLICY=refuse-disallowed",
                "more_robots=Content-Usage: train-ai=y\nContent-Usage: /a/ train-ai=n\n",
            ),
            ("an override", 'ROBOTSPEC_OVERRIDES={"other.example": "ignore"}'),
            ("with a report", f"ROBOTSPEC_REPORT={folder}/report.jsonl"),
            ("with evidence", f"ROBOTSPEC_EVIDENCE={folder}/evidence"),
        ):
            base = without[(own_agent,) if own_agent in settings else ()]
            more = instructions("plugin=yes", *settings) - base
            print(f"{name:14} {more:9,.0f} instructions a page", flush=True)


def main() -> int:
    """See the head of this file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--list", action="store_true", help="print the calls")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--instructions", action="store_true", help="count instructions")
    parser.add_argument("--pages", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    settings = dict(each.split("=", 1) for each in given.set)
    if given.pages:
        pass_pages(settings)
        return 0
    if given.instructions:
        print_instructions()
        return 0
    requests = crawl(settings)
    print("origin     calls   files    hops")
    for name, calls in (("unknown", requests[0]), ("known", min(requests[1:], key=len))):
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
