"""Runs a query, or the doctor, with a project's settings or Scrapy's.

The middleware of a crawl decides about the URLs. No page is requested, except by a task.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest, UsageError
from scrapy.utils.python import global_object_name

from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.access.redirects import leads_inside
from scrapy_robotspec.errors import RobotSpecError, UnreachableError
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin._compat_rare import middlewares_before
from scrapy_robotspec.plugin.addon import Addon, check_settings
from scrapy_robotspec.plugin.deciding.request_policy import Answer
from scrapy_robotspec.plugin.exceptions import RobotsUnreachable
from scrapy_robotspec.plugin.middleware import RobotSpecMiddleware, other_middlewares
from scrapy_robotspec.plugin.settings.checks import missing_parts
from scrapy_robotspec.render.explanation import Explanation

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence

    from scrapy.crawler import CrawlerProcessBase
    from scrapy.settings import BaseSettings, Settings

    from scrapy_robotspec.cli.session import QuerySites, QueryTask, SiteOptions
    from scrapy_robotspec.plugin.robots import CrawlRobots

#: Beginnings of URLs that have a robots.txt.
_WITH_HOST = ("http://", "https://", "ftp://")


class EmptyScheduler(BaseScheduler):
    """Scheduler without requests: a project's may share its queue with crawls."""

    def has_pending_requests(self) -> bool:
        """No."""
        return False

    def enqueue_request(self, request: Request) -> bool:
        """Take none."""
        return False

    def next_request(self) -> None:
        """Give none."""


#: A query must not overwrite the project's output, touch its queue, or run its pipelines and
#: extensions, those that Scrapy enables (feeds) included; and it queries each site once, because a
#: person is waiting.
_QUERY_SETTINGS: dict[str, Any] = {
    "JOBDIR": None,
    "SCHEDULER": EmptyScheduler,
    "EXTENSIONS": {},
    "EXTENSIONS_BASE": {},
    "ITEM_PIPELINES": {},
    "SPIDER_MIDDLEWARES": {},
    "ROBOTSPEC_REPORT": None,
    "ROBOTSPEC_EVIDENCE": None,
    "ROBOTSPEC_HOLD_TIMEOUT": 0,
    "ROBOTSPEC_RETRY_TIMES": 0,
}


def query_without_project() -> QuerySites:
    """Access to sites with Scrapy's default settings."""
    from scrapy.crawler import CrawlerProcess

    settings = {"LOG_LEVEL": "ERROR", "ROBOTSPEC_USER_AGENT_TOKEN": "*"}
    return partial(query_with, CrawlerProcess(settings))


def query_with(
    process: CrawlerProcessBase,
    task: QueryTask,
    options: SiteOptions,
    handle: Callable[[Explanation], None],
) -> None:
    """Decide about URLs with the settings of a process; see ``cli.session.QuerySites``.

    Raises ``ConfigurationError`` for a wrong setting, and what ``handle`` raises.
    """
    _adapt(process.settings, options)
    check_settings(process.settings)
    ends: list[BaseException | None] = []
    process.crawl(QuerySpider, task=task, handle=handle, ends=ends)
    process.start()
    if not ends and process.bootstrap_failed:
        raise RobotSpecError("the crawl did not start; the lines above say why")
    for error in ends or [KeyboardInterrupt()]:
        if error is not None:
            raise error


def missing_note(settings: BaseSettings) -> str | None:
    """A note if the crawls of a project decide otherwise, else None."""
    if not _compat.is_enabled(Addon, settings.getdict("ADDONS")):
        return "note: ADDONS lacks scrapy_robotspec.Addon; decided as if it were on"
    if not settings.getbool("ROBOTSTXT_OBEY"):
        return "note: ROBOTSTXT_OBEY is off; decided as if it were on"
    return None


def switch_on(settings: BaseSettings) -> None:
    """Make the plugin decide in crawls with *settings*."""
    own: dict[str, Any] = {"ROBOTSTXT_OBEY": True, "ROBOTSPEC_DRY_RUN": False}
    addons = settings.getdict("ADDONS")
    if not _compat.is_enabled(Addon, addons):
        own["ADDONS"] = {**addons, Addon: 500}
    settings.setdict(own, "cmdline")


def _adapt(settings: BaseSettings, options: SiteOptions) -> None:
    """Put the options of the query over the settings."""
    switch_on(settings)
    own = {**_QUERY_SETTINGS, "ROBOTSPEC_FETCH_TIMEOUT": options.timeout}
    if options.tokens is not None:
        own["ROBOTSPEC_USER_AGENT_TOKEN"] = list(options.tokens) or "*"
    if options.edition is not None:
        own["ROBOTSPEC_EDITION"] = options.edition
    if options.usage:
        own |= {"ROBOTSPEC_USAGE": options.usage, "ROBOTSPEC_USAGE_POLICY": "refuse-disallowed"}
    settings.setdict(own, "cmdline")


# --- the query in its crawl


class QuerySpider(Spider):
    """Runs a query, because only a crawl has a downloader."""

    name = "robotspec"
    task: QueryTask
    handle: Callable[[Explanation], None]
    """Receives the answers."""
    ends: list[BaseException | None]
    """Gets the error that ends the task, or None."""

    async def start(self) -> AsyncIterator[Any]:
        """Run the task, and yield no request."""
        try:
            await self.task(self)
            self.ends.append(None)
        except (Exception, KeyboardInterrupt) as error:  # raised again once the crawl has ended
            self.ends.append(error)
        return
        yield

    async def decide(self, urls: Sequence[str]) -> None:
        """Decide about URLs."""
        middleware = self.crawler.get_downloader_middleware(RobotSpecMiddleware)
        if middleware is None:
            raise RobotSpecError("RobotSpecMiddleware is switched off in DOWNLOADER_MIDDLEWARES")
        at_once = middleware.robots.settings.most_fetches
        for start in range(0, len(urls), at_once):
            asked = [
                _compat.deferred(_decide(url, middleware.robots))
                for url in urls[start : start + at_once]
            ]
            for one in asked:
                self.handle(await _compat.as_future(one))

    async def download(self, url: str, max_bytes: int, named_by: str = "") -> bytes:
        """The body of a page that robots.txt allows. Raises ``RobotSpecError``."""
        source = Origin.of(named_by)
        is_limited = check_settings(self.crawler.settings).refuse_private_redirects
        if is_limited and source is not None and leads_inside(source, url):
            raise RobotSpecError(f"cannot read {url}: {named_by} leads to a private address")
        try:
            request = Request(url, meta={"download_maxsize": max_bytes})
            response = await _compat.download(self.crawler.engine, request)
        except RobotsUnreachable as error:
            raise UnreachableError(f"cannot read {url}: {error}") from error
        except Exception as error:  # of any handler or middleware
            raise RobotSpecError(
                f"cannot read {url}: {str(error) or type(error).__name__}"
            ) from error
        if response.status != 200:
            raise RobotSpecError(f"cannot read {url}: HTTP status {response.status}")
        body: bytes = response.body
        return body


async def _decide(url: str, robots: CrawlRobots) -> Explanation:
    """The decision about one URL; errors become its ``problem``."""
    began, clock = time.monotonic(), time.time()
    try:
        request = Request(url)
        if Origin.of(request.url) is None and request.url.startswith(_WITH_HOST):
            raise ValueError("the URL has no valid host")
        asked = robots.policy.origin(request)
        answer = Answer(Decision(allowed=True, reason="no_rule"), None)
        if asked is not None:
            answer = await robots.decide_later(asked, request)
        tokens = robots.tokens.select(request)
    except (IgnoreRequest, RobotSpecError, ValueError) as error:
        return Explanation(url, problem=str(error), seconds=time.monotonic() - began)
    found = answer.found
    record = None if found is None else found.record
    return Explanation(
        url,
        tokens,
        answer.decision,
        robots.settings.edition,
        seconds=time.monotonic() - began,
        now=time.time(),
        record=record,
        robots=found.robots if found is not None else await robots.rules(request),
        fetched=record is not None and record.updated_at >= clock,
    )


# --- the doctor

USAGE = """Usage: scrapy robotspec doctor

  Name what of this project's middlewares, handlers and queues costs its crawls something."""
_NOTHING = "No earlier middleware; handlers and queues are Scrapy's or ours."
#: Beginnings of names of parts that lose nothing.
_KNOWN = ("scrapy.core.", "scrapy_robotspec.")


def diagnose(settings: Settings) -> None:
    """Print what the crawls of a project give up, a line each.

    Raises ``UsageError`` for a wrong setting.
    """
    switch_on(settings)
    crawler = Crawler(Spider, settings)
    try:
        crawler.addons.load_settings(crawler.settings)
    except RobotSpecError as error:
        raise UsageError(str(error), print_help=False) from None
    print("\n".join(list(_losses(crawler.settings)) or [_NOTHING]))


def _losses(settings: BaseSettings) -> Iterator[str]:
    """Losses by each part in the *settings* of a crawl."""
    yield from missing_parts(settings, other_middlewares(settings), knows_queue=True)
    for name in middlewares_before(settings, RobotSpecMiddleware):
        yield f"DOWNLOADER_MIDDLEWARES: {name} comes first: what it answers itself is not checked"
    for name in _others(settings.getwithbase("DOWNLOAD_HANDLERS").values()):
        yield (
            f"DOWNLOAD_HANDLERS: {name} may follow redirects itself, whose targets are requested "
            "before any check, and send other headers and spellings than were judged"
        )
    for name in _others([settings["SCHEDULER"], settings["SCHEDULER_PRIORITY_QUEUE"]])[:1]:
        yield (
            f"SCHEDULER: {name} has no queue for each origin: requests wait outside it, at most "
            f"{check_settings(settings).max_parked} (ROBOTSPEC_MAX_PARKED), and a killed process "
            "loses them if the queue is not scrapy-redis's"
        )


def _others(components: Iterable[Any]) -> list[str]:
    """The names of those of *components* that others have written."""
    given = [each for each in components if each is not None]
    names = [each if isinstance(each, str) else global_object_name(each) for each in given]
    return [name for name in dict.fromkeys(names) if not name.startswith(_KNOWN)]
