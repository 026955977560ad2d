"""RobotSpecMiddleware: passes requests on, refuses them, or lets them wait.

``robots.py`` decides, ``scheduling/`` lets requests wait, ``reporting/`` counts.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from scrapy import Request, Spider
from scrapy import __version__ as scrapy_version
from scrapy import signals as scrapy_signals
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import NotConfigured

from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.lookup import Pending
from scrapy_robotspec.plugin import _compat, meta_keys
from scrapy_robotspec.plugin.enforcement import Enforcer, RulesExpired
from scrapy_robotspec.plugin.exceptions import in_one_line
from scrapy_robotspec.plugin.reporting.crawl_account import NEVER_DECIDED
from scrapy_robotspec.plugin.reporting.stats import CrawlStats, log_never_decided, open_account
from scrapy_robotspec.plugin.robots import CrawlRobots
from scrapy_robotspec.plugin.scheduling.gate import GateOwner
from scrapy_robotspec.plugin.scheduling.priority_queue import waiting_queue
from scrapy_robotspec.plugin.scheduling.request_waits import RequestWaits, send_back
from scrapy_robotspec.plugin.settings.settings import ENABLE, Settings

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings
    from typing_extensions import Self

    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.protocol.usage import Usage

logger = logging.getLogger("scrapy_robotspec")


class RobotSpecMiddleware(Enforcer, GateOwner):
    """Downloader middleware that obeys robots.txt.

    The add-on puts it in the place of Scrapy's own (position 100). Reads ``ROBOTSTXT_OBEY`` and the
    ``ROBOTSPEC_*`` settings; a wrong one raises
    :class:`~scrapy_robotspec.errors.ConfigurationError`.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not crawler.settings.getbool("ROBOTSTXT_OBEY"):
            from scrapy_robotspec.plugin.settings.checks import log_switched_off

            log_switched_off(crawler.settings)
            raise NotConfigured
        settings = Settings.from_scrapy(crawler.settings)
        if settings.dry_run:
            raise ConfigurationError(
                f"ROBOTSPEC_DRY_RUN = True works with the add-on only: {ENABLE}"
            )
        assert crawler.stats is not None
        self._crawler = crawler
        robots = CrawlRobots(crawler, settings, crawler.stats, open_account(settings))
        stats = CrawlStats(robots, robots.progress)
        self._waits = RequestWaits(robots)
        self.gate = self._waits.gate
        super().__init__(robots, stats, self._waits.crawl_delay)
        robots.lookup.followers += [stats, self.gate]

    @classmethod
    @in_one_line
    def from_crawler(cls, crawler: Crawler) -> Self:
        if _compat.is_enabled(cls, crawler.settings.getdict("ADDONS")):
            raise ConfigurationError(f"{cls.__name__} is not an add-on: {ENABLE}")
        middleware = cls(crawler)
        for step in (  # handlers of their own: an error in one stops no other
            middleware._look_up_scrapy,
            middleware._watch_sending,
            middleware.robots.open,
            middleware._waits.open,
            middleware._warn_of_missing_parts,
        ):
            crawler.signals.connect(step, scrapy_signals.spider_opened)
        crawler.signals.connect(middleware._spider_closed, scrapy_signals.spider_closed)
        return middleware

    # --- questions of a spider

    async def decision(self, url: str) -> Decision:
        """Decide about *url*; wait for its robots.txt if needed."""
        return await self.robots.decide(Request(url))

    async def sitemaps(self, url: str) -> tuple[str, ...]:
        """The sitemaps that the robots.txt for *url* names (SIT-01, SIT-03)."""
        from scrapy_robotspec.protocol.groups import read_sitemaps  # few spiders ask

        request = Request(url)
        found = await self.robots.rules(request)
        if found is None:
            return ()
        return read_sitemaps(found.body, found.edition, str(self._policy.origin(request)))

    async def crawl_delay(self, url: str) -> float | None:
        """The crawl-delay for *url* in seconds (EXT-01); None: none is stated."""
        request = Request(url)
        origin = self._policy.origin(request)
        override = None if origin is None else self._policy.override(origin)
        if override is not None and override.crawl_delay is not None:
            return override.crawl_delay
        found = await self.robots.rules(request)
        return None if found is None else found.crawl_delay(self.robots.tokens.select(request))

    async def usage(self, url: str) -> Usage:
        """The usage preferences that robots.txt states for *url* (USE-01); empty for none."""
        request = Request(url)
        found = await self.robots.rules(request)
        if found is not None:
            return found.usage(request.url, self.robots.tokens.select(request))
        from scrapy_robotspec.protocol.usage import Usage

        return Usage(applies=(await self.robots.decide(request)).allowed)

    # --- requests and responses

    async def process_request(
        self, request: Request, spider: Spider | None = None
    ) -> Request | None:
        """Pass *request* on (None), let it wait, or raise."""
        # hot path: Scrapy wraps the result of a plain function in a coroutine, which costs more
        origin = self._policy.origin(request)
        if origin is None:
            self.gate.goes_on(None, request)
            self.exempt(request)
            return None
        answer = self.robots.decide_now(origin, request, time.time())
        if isinstance(answer, Pending) or (self._policy.spaces and self._policy.delay(answer)):
            waited = await self._waits.hold_back(origin, request)
            if waited is None:  # the spider closes
                return request
            answer = waited
        else:
            self.gate.goes_on(origin, request)
        self.enforce(request, answer)
        return None

    def process_exception(
        self, request: Request, exception: Exception, spider: Spider | None = None
    ) -> Request | None:
        """Send back a request whose rules have expired (CAC-07); count errors."""
        if isinstance(exception, RulesExpired):  # a Scrapy that lacks a part
            return send_back(request)
        if isinstance(exception, ConfigurationError):  # of the user's function, or the meta key
            self._account.of_pages["robotspec/error/product_token"] += 1
        request.meta.pop(meta_keys.REFUSED, None)  # no other middleware has repeated it
        request.meta.pop(meta_keys.KEPT_TOKENS, None)
        return None

    def _return_expired(
        self, request: Request, exception: Exception, spider: Spider | None = None
    ) -> Request | None:
        """Send back a request before a plugin takes it for one that has failed."""
        return send_back(request) if isinstance(exception, RulesExpired) else None

    # --- events

    def _watch_sending(self) -> None:
        engine, observer = self._crawler.engine, self.robots.observer
        _compat.call_first(engine, "process_exception", self._return_expired)
        sees_sending = _compat.watch_sending(
            engine,
            self.check_sending,
            None if observer is None else observer.on_sent,
            meta_keys.TRANSFER,
        )
        chosen = self._crawler.settings.getdict("DOWNLOADER_MIDDLEWARES").values()
        # Another one may answer.
        if not sees_sending or sum(place is not None for place in chosen) > 1:
            _compat.call_first(engine, "process_response", self.see_response)

    def _warn_of_missing_parts(self) -> None:
        settings = self._crawler.settings
        others, knows_queue = other_middlewares(settings), waiting_queue(settings) is None
        if others or not knows_queue or settings.getdict("DOWNLOAD_HANDLERS"):
            from scrapy_robotspec.plugin.settings.checks import missing_parts

            for problem in missing_parts(settings, others, knows_queue=knows_queue):
                logger.warning("%s.", problem)

    def _look_up_scrapy(self) -> None:
        missing = _compat.parts_missing_in(self._crawler.engine)
        if missing:
            logger.warning(
                "Scrapy %s lacks what this plugin uses: %s",
                scrapy_version,
                "; ".join(f"without {path}, {_compat.PARTS[path]}" for path in missing),
            )

    async def _spider_closed(self, reason: str) -> None:
        """Make the stats final. The spider's ``start()`` may go on while this waits."""
        self.gate.close()
        log_never_decided(self._account.of_pages[NEVER_DECIDED], self._crawler, type(self))
        self._stats.close(self.robots.lookup.store.get)
        self._waits.close()
        await self.robots.end(reason)


def other_middlewares(settings: BaseSettings) -> list[type]:
    """Find enabled middlewares that are Scrapy's own, or made of it.

    It imports all middlewares, so the reactor must have been installed.
    """
    found = _compat.enabled_middlewares(settings)
    return [each for each in found if RobotsTxtMiddleware in getattr(each, "__mro__", ())]
