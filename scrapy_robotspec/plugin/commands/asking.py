"""Asking the middleware of a crawl about URLs: the spider that does it, and what it brings home.

How the answers look stands in ``telling.py``.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.exceptions import IgnoreRequest

from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.errors import RobotSpecError
from scrapy_robotspec.lookup import Resolved
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.middleware import RobotSpecMiddleware
from scrapy_robotspec.show.answers import Answer, answer
from scrapy_robotspec.show.book import Book, Followed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

    from scrapy.crawler import Crawler

    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.editions import Edition

#: URLs that are asked about at once; the lookup bounds the fetches.
TOGETHER = 64


@dataclass(frozen=True, slots=True)
class Road:
    """From a URL to its decision. ``problem`` is given when there was no way to the end."""

    url: str
    seconds: float
    """How long it took."""
    now: float
    """When it ended, in epoch seconds."""
    problem: str | None = None
    decision: Decision | None = None
    known: Resolved | None = None
    record: RobotsRecord | None = None
    """What is held about its origin; None where nothing was or is asked."""
    answer: Answer | None = None
    """What the file says; None where no file was asked."""
    group: Followed | None = None
    tokens: tuple[str, ...] = ()
    edition: Edition | None = None
    fetched: bool = False
    """Whether the robots.txt was fetched for this question, and not held already."""


@dataclass(slots=True)
class Asking:
    """What is to be asked, and who is told; one at a time or as many as go together."""

    urls: Sequence[str]
    tell: Callable[[Road], None]
    together: bool
    problem: str | None = None
    done: bool = field(default=False, init=False)

    async def run(self, crawler: Crawler) -> None:
        """Ask everything, in order."""
        middleware = crawler.get_downloader_middleware(RobotSpecMiddleware)
        if middleware is None:
            self.problem = "RobotSpecMiddleware is switched off in DOWNLOADER_MIDDLEWARES"
            return
        step = TOGETHER if self.together else 1
        for start in range(0, len(self.urls), step):
            asked = [
                _compat.deferred(_walk(url, middleware)) for url in self.urls[start : start + step]
            ]
            for one in asked:
                self.tell(await _compat.as_future(one))
        self.done = True


async def _walk(url: str, middleware: RobotSpecMiddleware) -> Road:
    """Ask about one URL. Whatever goes wrong is in the Road."""
    began, clock = time.monotonic(), time.time()
    try:
        request = Request(url)
        decision = await middleware.decision(url)
        names = middleware.tokens(request)
    except (IgnoreRequest, RobotSpecError, ValueError) as error:
        return Road(url, time.monotonic() - began, time.time(), problem=str(error))
    seconds, now = time.monotonic() - began, time.time()
    origin = Origin.of(request.url)
    known: Resolved | None = None
    record: RobotsRecord | None = None
    if origin is not None and decision.reason != "override":  # then nothing was or is asked
        found = middleware.lookup.ask(origin, now, request)
        known = found if isinstance(found, Resolved) else None
        record = middleware.lookup.record(origin)
    said: Answer | None = None
    group: Followed | None = None
    if decision.verdict is not None and known is not None and known.robots is not None:
        said = answer(known.robots, request.url.encode(), names)
        group = Book(known.robots).followed(names)
    return Road(
        url,
        seconds,
        now,
        decision=decision,
        known=known,
        record=record,
        answer=said,
        group=group,
        tokens=names,
        edition=middleware.settings.edition,
        fetched=record is not None and record.updated_at >= clock,
    )


class AskingSpider(Spider):
    """Crawls nothing: it is there because the downloader lives in a crawl."""

    name = "robotspec"

    def __init__(self, asking: Asking, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._asking = asking

    async def start(self) -> AsyncIterator[Any]:
        """Ask, and yield no request."""
        await self._asking.run(self.crawler)
        requests: tuple[Request, ...] = ()
        for request in requests:
            yield request
