"""SitemapsFromRobots: a spider that begins with the sitemaps that robots.txt files name.

Only the beginning belongs here. Reading sitemaps is Scrapy's ``SitemapSpider``'s, and whether one
may be asked for is decided about its request like about any other (SIT-02).
"""

from __future__ import annotations

from collections import Counter, deque
from itertools import islice
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import IgnoreRequest
from scrapy.spiders import SitemapSpider

from scrapy_robotspec.access.origin import is_web
from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.middleware import RobotSpecMiddleware

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence


#: Origins that are asked about ahead of the one whose turn it is.
_AHEAD = 32


class SitemapsFromRobots(SitemapSpider):
    """``SitemapSpider`` that takes its sitemaps from robots.txt.

    ``sitemap_origins`` are URLs; the robots.txt of each is asked once, as for a page, and the
    sitemaps it names follow those of ``sitemap_urls``. An origin that names none, or whose
    robots.txt cannot be had, gives none, and the log says if all do; an invalid URL is logged.
    Needs the add-on, else the start raises :class:`~scrapy_robotspec.ConfigurationError`.
    """

    sitemap_origins: Sequence[str] = ()

    async def start(self) -> AsyncIterator[Any]:
        """The requests that the crawl begins with."""
        async for request in super().start():
            yield request
        follows = bool(self.sitemap_urls)
        self._empty: Counter[str] = Counter()
        async for sitemaps in self._named():
            follows = follows or sitemaps != ()
            for url in filter(is_web, sitemaps or ()):
                self.sitemap_urls = (url,)
                try:
                    async for request in super().start():
                        yield request
                except ValueError as error:
                    self.logger.error("The sitemap %a has no valid URL: %s", url, error)
        if self.sitemap_origins and not follows:
            answers = (f"{words} {number:,}" for words, number in self._empty.most_common(3))
            self.logger.warning(
                "No sitemap can be followed. Origins by the answer for their robots.txt: %s. Give "
                "the sitemaps in sitemap_urls.",
                ", ".join(answers) or "none",
            )

    def sitemap_filter(self, entries: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
        """The entries whose URLs are of http or https."""
        for entry in entries:
            if is_web(entry["loc"]) and all(map(is_web, entry.get("alternate", ()))):
                yield entry

    async def _named(self) -> AsyncIterator[tuple[str, ...] | None]:
        """The sitemaps of each origin, in order; some origins are asked at the same time."""
        middleware = self.crawler.get_downloader_middleware(RobotSpecMiddleware)
        if middleware is None:
            raise ConfigurationError(
                "SitemapsFromRobots asks RobotSpecMiddleware, which is not there: set "
                "ROBOTSTXT_OBEY = True and put scrapy_robotspec.Addon into ADDONS, without "
                "ROBOTSPEC_DRY_RUN"
            )
        if isinstance(self.sitemap_origins, str):
            raise ConfigurationError(
                f"sitemap_origins = {self.sitemap_origins!r} is wrong: give a list of URLs"
            )
        if not self.sitemap_origins:
            self.logger.warning(
                "SitemapsFromRobots has no origins, so no robots.txt is asked for sitemaps: set "
                "sitemap_origins = ['https://example.com/'] in the spider."
            )
        coming = (_compat.deferred(self._of(url, middleware)) for url in self.sitemap_origins)
        asked = deque(islice(coming, _AHEAD))
        while asked:
            yield await _compat.as_future(asked.popleft())
            asked.extend(islice(coming, 1))

    async def _of(self, url: str, middleware: RobotSpecMiddleware) -> tuple[str, ...] | None:
        """The sitemaps of one origin; None when the spider closes."""
        try:
            found = await middleware.sitemaps(url)
            if not found:
                decision = await middleware.decision(url)
                is_down = decision.outcome == "unreachable"
                self._empty[decision.cause() if is_down else "names no sitemap"] += 1
            return found
        except IgnoreRequest:
            return None
        except (TypeError, ValueError) as error:  # not a URL
            self.logger.error("sitemap_origins contains %a: %s", url, error)
            return ()
