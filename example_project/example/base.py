"""What all spiders share: where to start, which links to follow, and one item per page.

An item says what became of a page and why; no spider has to know more than its own idea.
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
    """Crawls the front pages of some moods of the local site, or the site in ``url``."""

    #: Names of the moods to crawl, see ``moods.py``.
    moods: ClassVar[tuple[str, ...]] = ()

    def __init__(self, url: str = "", **arguments: Any):
        super().__init__(**arguments)
        self.url = url
        self.names: dict[str, str] = {}
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
            site = LocalSite.start("example.moods:TOUR")
            crawler.signals.connect(site.stop, signals.spider_closed, weak=False)
            spider.names = {origin: name for name, origin in site.origins.items()}
        return spider

    def front_pages(self) -> Iterable[str]:
        """Where to start: the moods of this spider, in their order, or the URL given."""
        if self.url:
            return [self.url]
        origins = {name: origin for origin, name in self.names.items()}
        return [f"{origins[name]}/" for name in self.moods]

    async def start(self) -> AsyncIterator[Any]:
        """Scrapy's entry: the first requests."""
        for url in self.front_pages():
            yield self.page(url)

    def page(self, url: str, **arguments: Any) -> scrapy.Request:
        """A request whose end, good or bad, becomes an item."""
        return scrapy.Request(url, self.parse, errback=self.refused, **arguments)

    async def parse(self, response: Response) -> AsyncIterator[Any]:
        """One item for the page, one request for each link that stays on its origin."""
        yield await self.crawled(response)
        for link in response.css("a::attr(href)").getall():
            url = response.urljoin(link)
            if Origin.of(url) == Origin.of(response.url):
                yield self.page(url)

    async def crawled(self, response: Response) -> dict[str, Any]:
        """The item of a page that was let through; its request carries the reason."""
        decision = await self.robots.decision(response.url)
        return self.item(
            response.url, response.meta["robotspec"], decision.hops, **response.cb_kwargs
        )

    def refused(self, failure: Failure) -> Iterable[dict[str, Any]]:
        """The item of a page that was refused; the exception carries the reason."""
        decision: Decision | None = getattr(failure.value, "decision", None)
        if decision is None:
            self.logger.warning("%s: %s", failure.request.url, failure.value)
            return
        yield self.refusal(failure.request.url, decision, **failure.request.cb_kwargs)

    def refusal(self, url: str, decision: Decision, note: str = "") -> dict[str, Any]:
        """The item of a page that robots.txt refuses."""
        rule = decision.verdict.rule if decision.verdict else None
        reason = {
            "allowed": False,
            "reason": decision.reason,
            "status": decision.status,
            "line": rule.line if rule else None,
            "rule": rule.text if rule else None,
            "origin": str(decision.origin),
        }
        return self.item(url, reason, decision.hops, note)

    @property
    def robots(self) -> RobotSpecMiddleware:
        """The plugin itself, to ask it something."""
        return self.crawler.get_downloader_middleware(RobotSpecMiddleware)

    def item(
        self, url: str, reason: dict[str, Any], hops: tuple[Hop, ...], note: str = ""
    ) -> dict[str, Any]:
        """What became of a page, in plain values; a note tells apart what one origin has twice."""
        origin = reason["origin"]
        return {
            "mood": self.names.get(origin, "?"),
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
