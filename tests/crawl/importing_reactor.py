"""Components of a user's whose module imports the reactor, which Scrapy allows for them."""

from __future__ import annotations

from scrapy import Request, Spider
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.core.scheduler import Scheduler
from scrapy.pqueues import ScrapyPriorityQueue
from scrapy.robotstxt import PythonRobotParser
from twisted.internet import reactor  # noqa: F401, TID251


class Middleware:
    """Sees requests before ours."""

    def process_request(self, request: Request, spider: Spider | None = None) -> None: ...


class Handler(HTTP11DownloadHandler):
    """Scrapy's own by another name."""


class UsersScheduler(Scheduler):
    """Scrapy's own by another name."""


class UsersQueue(ScrapyPriorityQueue):
    """Scrapy's own by another name."""


class Parser(PythonRobotParser):
    """Scrapy's own by another name; not used."""
