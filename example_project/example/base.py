"""What all spiders share: where to start, which links to follow, and how each page ended.

The ends are kept in ``ends``, from which ``table.py`` makes the table; no spider has to know more
than its own idea.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, ClassVar

import scrapy
from scrapy import signals

from example.local import LocalSite
from scrapy_robotspec import Origin, RobotSpecMiddleware

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from scrapy_robotspec import Decision
    from scrapy_robotspec.access.outcome import Hop


class ExampleSpider(scrapy.Spider):
    """Crawls the front pages of some cases of the local site, or the site in ``url``."""

    #: The table of the local site, and the names of its cases to crawl.
    site: ClassVar[str] = "example.responses:ALL_RESPONSES"
    cases: ClassVar[tuple[str, ...]] = ()

    def __init__(self, url: str = "", **arguments: Any):
        super().__init__(**arguments)
        self.url = url
        self.names: dict[str, str] = {}
        self.ends: list[dict[str, Any]] = []
        self.started = time.monotonic()

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> ExampleSpider:
        """Scrapy's entry; finds the local site, or starts one."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        if spider.url:
            spider.names = {str(Origin.of(spider.url)): "yours"}
        elif known := crawler.settings["EXAMPLE_SITE"]:
            spider.names = {origin: name for name, origin in json.loads(known).items()}
        else:
            site = LocalSite.start(spider.site)
            crawler.signals.connect(site.stop, signals.spider_closed, weak=False)
            spider.names = {origin: name for name, origin in site.origins.items()}
        return spider

    def front_pages(self) -> Iterable[str]:
        """Where to start: the cases of this spider, in their order, or the URL given."""
        if self.url:
            return [self.url]
        origins = {name: origin for origin, name in self.names.items()}
        return [f"{origins[name]}/" for name in self.cases]

    async def start(self) -> AsyncIterator[Any]:
        """Scrapy's entry: the first requests."""
        for url in self.front_pages():
            yield self.page(url)

    def page(self, url: str, **arguments: Any) -> scrapy.Request:
        """A request whose end, good or bad, is kept."""
        return scrapy.Request(url, self.parse, errback=self.refused, **arguments)

    async def parse(self, response: Response) -> AsyncIterator[Any]:
        """One request for each link that stays on its origin."""
        await self.crawled(response)
        for request in self.links(response):
            yield request

    def links(self, response: Response) -> Iterable[scrapy.Request]:
        """A request for each link that stays on its origin."""
        for link in response.css("a::attr(href)").getall():
            url = response.urljoin(link)
            if Origin.of(url) == Origin.of(response.url):
                yield self.page(url)

    async def crawled(self, response: Response, note: str = "") -> None:
        """Keep a page that was let through; its request carries the reason."""
        decision = await self.robots.decision(response.url)
        self.keep(response.url, response.meta["robotspec"], decision.hops, note)

    def refused(self, failure: Failure) -> None:
        """Keep a page that was refused; the exception carries the reason."""
        decision: Decision | None = getattr(failure.value, "decision", None)
        if decision is None:
            self.logger.warning("%s: %s", failure.request.url, failure.value)
        else:
            self.refuse(failure.request.url, decision, **failure.request.cb_kwargs)

    def refuse(self, url: str, decision: Decision, note: str = "") -> None:
        """Keep a page that robots.txt refuses."""
        rule = decision.verdict.rule if decision.verdict else None
        reason = {
            "allowed": False,
            "reason": decision.reason,
            "status": decision.status,
            "line": rule.line if rule else None,
            "rule": rule.text if rule else None,
            "origin": str(decision.origin),
        }
        self.keep(url, reason, decision.hops, note)

    @property
    def robots(self) -> RobotSpecMiddleware:
        """The plugin itself, to ask it something."""
        return self.crawler.get_downloader_middleware(RobotSpecMiddleware)

    def keep(self, url: str, reason: dict[str, Any], hops: tuple[Hop, ...], note: str) -> None:
        """Keep how a page ended, in plain values; a note parts what one origin has twice."""
        origin = reason["origin"]
        end = {
            "case": self.names.get(origin, "?"),
            "place": list(self.names).index(origin) if origin in self.names else len(self.names),
            "note": note,
            "origin": origin,
            "path": url.removeprefix(origin),
            "crawled": reason["allowed"],
            "reason": reason["reason"],
            "status": reason["status"],
            "hops": len(hops),
            "line": reason["line"],
            "rule": reason.get("rule"),
            "seconds": time.monotonic() - self.started,
        }
        self.ends.append(end)
