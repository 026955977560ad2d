"""The bookkeeping of the demonstration, so that no spider contains any.

A downloader middleware that tells the spiders where the local site is, keeps how each page ended,
and prints the table at the end. A project of yours needs none of this.
"""

from __future__ import annotations

import json
import logging
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy import signals
from scrapy.exceptions import IgnoreRequest

from example.local import LocalSite
from example.table import table
from scrapy_robotspec import Origin, RobotSpecMiddleware

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_robotspec import Decision

#: Spider -> the origins of the local site that it begins with.
STARTS = {
    "robots_01_obey": ("plain", "closed"),
    "robots_02_statuses": ("missing", "locked", "down", "broken"),
    "robots_03_redirects": ("moved", "maze", "circle"),
    "robots_04_tokens": ("tokens",),
    "robots_05_waiting": ("busy", "plain", "missing"),
    "robots_06_cache": ("plain", "hops"),
    "robots_07_ask": ("plain",),
    "robots_08_sitemaps": ("listed",),
    "robots_10_usage": ("usage",),
    "robots_11_evidence": ("plain", "moved", "down"),
    "robots_12_browser": ("browser",),
}
FLEET = "robots_09_fleet"


class Demo:
    """Keeps the ends of all pages of one crawl."""

    def __init__(self, crawler: Crawler):
        self.crawler = crawler
        self.ends: list[dict[str, Any]] = []
        self.started = time.monotonic()
        self.names: dict[str, str] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Demo:
        """Scrapy's entry."""
        demo = cls(crawler)
        if url := getattr(crawler.spider, "url", ""):  # before requests to other hosts are refused
            crawler.spider.allowed_domains = [urlsplit(url).hostname]
        crawler.signals.connect(demo.spider_opened, signals.spider_opened)
        crawler.signals.connect(demo.spider_closed, signals.spider_closed)
        return demo

    def spider_opened(self, spider: Spider) -> None:
        """Find or start the local site, unless the user names another one: ``-a url=…``."""
        # It logs a traceback for each navigation that is refused.
        logging.getLogger("scrapy-playwright").setLevel(logging.ERROR)
        url = getattr(spider, "url", "")
        if url:
            self.names = {str(Origin.of(url)): "yours"}
            starts = [url]
        else:
            origins = self.origins(spider)
            self.names = {origin: name for name, origin in origins.items()}
            starts = [f"{origins[name]}/" for name in STARTS.get(spider.name, origins)]
        for attribute in ("start_urls", "sitemap_origins"):
            if hasattr(spider, attribute):
                setattr(spider, attribute, starts)

    def origins(self, spider: Spider) -> dict[str, str]:
        """Name of a case -> its origin."""
        if known := self.crawler.settings["EXAMPLE_SITE"]:
            return dict(json.loads(known))
        responses = "responses_fleet:MOODS" if spider.name == FLEET else "responses:ALL_RESPONSES"
        site = LocalSite.start(f"example.{responses}")
        self.crawler.signals.connect(site.stop, signals.spider_closed, weak=False)
        return site.origins

    async def process_response(self, request: Request, response: Response) -> Response:
        """Keep a page that was let through; its request carries the reason."""
        reason = request.meta.get("robotspec")
        if reason is not None and not response.url.endswith("/sitemap.xml"):
            robots = self.crawler.get_downloader_middleware(RobotSpecMiddleware)
            decision = await robots.decision(response.url)
            self.keep(request, reason, len(decision.hops))
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Keep a page that was refused; the exception carries the reason."""
        decision: Decision | None = getattr(exception, "decision", None)
        if not isinstance(exception, IgnoreRequest) or decision is None:
            return
        rule = decision.verdict.rule if decision.verdict else None
        reason = {
            "allowed": False,
            "reason": decision.reason,
            "status": decision.status,
            "line": rule.line if rule else None,
            "rule": rule.text if rule else None,
            "origin": str(decision.origin),
        }
        self.keep(request, reason, len(decision.hops))

    def keep(self, request: Request, reason: dict[str, Any], hops: int) -> None:
        """Keep how a page ended, in plain values."""
        origin = reason["origin"]
        token = request.meta.get("robotspec_user_agent_token")
        self.ends.append(
            {
                "case": self.names.get(origin, "?"),
                "place": [*self.names, origin].index(origin),
                "note": f"as {token}" if token else "",
                "origin": origin,
                "path": request.url.removeprefix(origin) + leads_on(request, reason["allowed"]),
                "crawled": reason["allowed"],
                "reason": reason["reason"],
                "status": reason["status"],
                "hops": hops,
                "line": reason["line"],
                "rule": reason.get("rule"),
                "seconds": time.monotonic() - self.started,
            }
        )

    def spider_closed(self) -> None:
        """Print the table, or write the ends where ``EXAMPLE_RESULTS`` says."""
        results = self.crawler.settings["EXAMPLE_RESULTS"]
        if results:
            lines = "".join(json.dumps(end) + "\n" for end in self.ends)
            Path(results).write_text(lines, encoding="utf-8")
        else:
            print(f"\n{table(self.ends)}")


def leads_on(request: Request, allowed: bool) -> str:
    """Words for a page that a browser opened, and that is refused for what it leads to."""
    is_page = "playwright" in request.meta and "/private/" not in request.url
    return " leads on and" if is_page and not allowed else ""
