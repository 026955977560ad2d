"""What a crawl does for an origin takes as many steps among 16,000 origins as among 1,000."""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from scrapy import Request

import scrapy_robotspec
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.plugin.exceptions import ForbiddenByRobots
from tests.unit.plugin.obeying import URL, Obeying, run, turns

PACKAGE = str(Path(scrapy_robotspec.__file__).parent)
FEW, MANY = 1_000, 16_000


@pytest.fixture(autouse=True)
def _no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """No timer fires: on a busy machine they would be steps of their own."""
    monkeypatch.setattr(time, "monotonic", lambda: 1000.0)


class Steps:
    """Counts the lines that the package runs, loops included, and its calls of C functions."""

    def __init__(self) -> None:
        self.number = 0

    def trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        self.number += 1
        return self.trace

    def profile(self, frame: FrameType, event: str, argument: Any) -> None:
        self.number += event == "c_call" and frame.f_code.co_filename.startswith(PACKAGE)

    @contextmanager
    def counted(self) -> Iterator[None]:
        gc.collect()  # it ends what is left of other crawls, in steps of theirs
        gc.disable()
        sys.settrace(self.trace)
        sys.setprofile(self.profile)
        try:
            yield
        finally:
            sys.setprofile(None)
            sys.settrace(None)
            gc.enable()


def origin(number: int) -> Origin:
    return Origin("http", f"h{number}.example", 80)


async def visit(crawl: Obeying) -> int:
    """Steps of a first visit, a second one and a refusal, with one request under way."""
    steps, process = Steps(), crawl.middleware.process_request
    with steps.counted():
        first = asyncio.ensure_future(process(Request(f"{URL}/1")))
        await turns()
        crawl.end_fetches()
        await first
        await process(Request(f"{URL}/2"))
        with pytest.raises(ForbiddenByRobots):
            await process(Request(f"{URL}/no"))
        await turns()
    return steps.number


def among_known(monkeypatch: pytest.MonkeyPatch, number: int) -> int:
    """Steps while *number* other origins are known."""
    crawl = Obeying(monkeypatch)
    for n in range(number):
        crawl.know(origin=origin(n))
    return run(lambda: visit(crawl))


def test_known_origins_add_no_step(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (among_known(monkeypatch, number) for number in (FEW, MANY))
    assert few > 100
    assert many <= few + 5


def among_waiting(monkeypatch: pytest.MonkeyPatch, number: int) -> int:
    """Steps of a page of a known origin while requests of *number* others wait, and of one more."""

    async def work() -> int:
        crawl = Obeying(monkeypatch)
        crawl.know()
        process = crawl.middleware.process_request
        urls = [f"http://h{n}.example/" for n in range(number)]
        waiting = [asyncio.ensure_future(process(Request(url))) for url in urls]
        await turns()
        steps = Steps()
        with steps.counted():
            await process(Request(f"{URL}/1"))
            new = asyncio.ensure_future(process(Request("http://new.example/")))
            await turns()
            _, fetch = crawl.fetches[0]
            crawl.fetches[:1] = []
            fetch.errback(ConnectionError())
            await turns()
        crawl.robots.stop()
        await asyncio.gather(*waiting, new, return_exceptions=True)
        return steps.number

    return run(work)


def test_waiting_origins_add_no_step(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (among_waiting(monkeypatch, number) for number in (FEW, MANY))
    assert few > 100
    assert many <= few + 5
