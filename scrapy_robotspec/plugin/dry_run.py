"""``ROBOTSPEC_DRY_RUN``: Scrapy's own middleware decides, differences to ours are counted.

Nothing here holds or refuses a request, and no signal is sent. Each robots.txt is fetched once
more than by Scrapy's own middleware; the end of the crawl waits for the fetches that are left.
"""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakSet

from scrapy import Request, Spider
from scrapy import signals as scrapy_signals
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import DontCloseSpider, IgnoreRequest
from scrapy.statscollectors import DummyStatsCollector
from scrapy.utils.python import global_object_name
from twisted.internet.defer import Deferred

from scrapy_robotspec.access.account import outcome_of
from scrapy_robotspec.access.reasons import failure_words
from scrapy_robotspec.lookup import FetchDone, Pending
from scrapy_robotspec.plugin import _compat, _compat_rare, meta_keys
from scrapy_robotspec.plugin.exceptions import in_one_line
from scrapy_robotspec.plugin.middleware import other_middlewares
from scrapy_robotspec.plugin.reporting.origin_rows import OriginRows
from scrapy_robotspec.plugin.reporting.stats import log_never_decided, open_account, shown_request
from scrapy_robotspec.plugin.robots import CrawlRobots
from scrapy_robotspec.plugin.settings.settings import Settings

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.plugin.deciding.request_policy import Answer

logger = logging.getLogger("scrapy_robotspec")

#: The results of a comparison; their stats have underscores for spaces.
_KINDS = ("same", "we would refuse", "we would allow", "we would wait", "not compared")
#: Max logged differences of each kind.
_EXAMPLES = 10
#: Max waits of a comparison: for a slot, for a fetch, and for both again once one is preempted. No
#: error in a lookup keeps the crawl open.
_MAX_WAITS = 10


class DryRunMiddleware(RobotsTxtMiddleware):
    """Scrapy's own middleware, in the place that ours would take; it decides.

    Each comparison is a coroutine, which ends with the next fetch of its robots.txt.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._stats = crawler.stats  # which the base class has from Scrapy 2.18 on
        # Nothing is kept here, and the log and the report say so.
        settings = replace(Settings.from_scrapy(crawler.settings), crawl_delay=False)
        self._account = open_account(settings)
        self._counts = self._account.differences = dict.fromkeys(_KINDS, 0)
        uncounted = DummyStatsCollector(crawler)
        self.robots = CrawlRobots(crawler, settings, uncounted, self._account)
        self.robots.lookup.followers.append(self)
        self._decided: WeakSet[Request] = WeakSet()
        self._never_decided = 0
        self._waits = 0
        """Number of comparisons that wait for a robots.txt."""

    @classmethod
    @in_one_line
    def from_crawler(cls, crawler: Crawler) -> Self:
        middleware = cls(crawler)
        connect = crawler.signals.connect
        connect(middleware._watch_sending, scrapy_signals.spider_opened)
        connect(middleware.robots.open, scrapy_signals.spider_opened)
        connect(middleware._spider_idle, scrapy_signals.spider_idle)
        connect(middleware._spider_closed, scrapy_signals.spider_closed)
        return middleware

    # --- what Scrapy calls

    async def process_request(self, request: Request, spider: Spider | None = None) -> None:
        """Let Scrapy's own middleware decide about *request*, and compare."""
        self._decided.add(request)
        try:
            await _compat_rare.decide_as_scrapy(self, request)
        except IgnoreRequest:
            Deferred.fromCoroutine(self._compare(request, allowed=False))
            raise
        Deferred.fromCoroutine(self._compare(request, allowed=True))

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        """A page has arrived."""
        if request in self._decided:
            self.robots.tokens.compare(request)
        else:
            self._never_decided += meta_keys.TRANSFER not in request.meta
        request.meta.pop(meta_keys.KEPT_TOKENS, None)
        return response

    def _watch_sending(self) -> None:
        for other in other_middlewares(self.crawler.settings):
            if other is not type(self):
                logger.warning(
                    "%s is enabled beside Scrapy's own middleware, which the dry run has switched "
                    "on: both refuse requests, and differences are those to Scrapy's own.",
                    global_object_name(other),
                )
        _compat.watch_sending(self.crawler.engine, lambda _: None, None, meta_keys.TRANSFER)

    def _spider_idle(self) -> None:
        if self._waits:
            raise DontCloseSpider

    async def _spider_closed(self, reason: str) -> None:
        """As in ``RobotSpecMiddleware``: the spider's ``start()`` may go on while this waits."""
        counts = [f"{count:,} {kind}" for kind, count in self._counts.items()]
        log_never_decided(self._never_decided, self.crawler, type(self))
        logger.info("Dry run of RobotSpecMiddleware, in requests: %s", ", ".join(counts))
        await self.robots.end(reason)

    # --- comparing

    async def _compare(self, request: Request, *, allowed: bool) -> None:
        """Compare our decision about *request* with Scrapy's, as soon as it can be made."""
        origin = self.robots.policy.origin(request)
        if origin is None:
            return
        try:
            self.robots.tokens.select(request)  # before other middlewares change the header
            # It keeps its tokens once there is a response.
            request = _compat_rare.with_url(request, request.url)
            answer = await self._decide(origin, request)
        except Exception as error:  # of the user's function; Scrapy's crawl must not suffer from it
            self._count("not compared", request, f"{type(error).__name__}: {error}")
            return
        if answer is not None:
            self._settle(origin, request, answer, allowed)
        elif self.robots.engine.is_closing:
            self._count("not compared", request, "the crawl ended before")
        else:
            record = self.robots.lookup.store.get(origin)
            self._count(
                "we would wait", request, failure_words(None if record is None else record.failure)
            )
            if isinstance(self._account, OriginRows):
                self._account[origin].waited += 1

    async def _decide(self, origin: Origin, request: Request) -> Answer | None:
        """Our decision about *request*; None: it would wait."""
        lookup, engine = self.robots.lookup, self.robots.engine
        for _ in range(_MAX_WAITS):
            answer = self.robots.decide_now(origin, request, time.time())
            if not isinstance(answer, Pending):
                return answer
            record = lookup.store.get(origin)
            if engine.is_closing or (record is not None and record.unreachable_since is not None):
                return None
            self._waits += 1
            try:
                await lookup.pause(answer)
            finally:  # the crawl ends once none waits
                self._waits -= 1
                engine.wake()  # it may be idle
        return None

    def on_fetch_done(self, done: FetchDone) -> None:
        """Count a fetch, unless it is made again."""
        was_preempted = isinstance(done.found, Pending) and done.found.preempted
        if done.record is not None and not was_preempted:
            self._account.fetched(done, 0, time.time())

    def _settle(self, origin: Origin, request: Request, answer: Answer, allowed: bool) -> None:
        """Count a request by both decisions."""
        decision = answer.decision
        self.robots.note_decision(request, answer, "dry_run")
        differs = "we would allow" if decision.allowed else "we would refuse"
        kind = "same" if decision.allowed is allowed else differs
        self._count(kind, request, decision.detail)
        override = self.robots.policy.override(origin)
        if override is not None:
            self._account.overridden(override, origin)
        if decision.allowed:
            requests = self._account.requests_of(origin)
            doubt = answer.found and answer.found.record.doubt
            requests.by_outcome[outcome_of(True, decision.reason, doubt)] += 1
            requests.sent += 1  # it would leave
        else:
            self._account.refused(decision, request.url)

    def _count(self, kind: str, request: Request, detail: str) -> None:
        self._counts[kind] += 1
        name = kind.replace(" ", "_")
        self._stats.inc_value(f"robotspec/dry_run/{name}")
        if kind != "same" and self._counts[kind] <= _EXAMPLES:
            logger.info("Dry run: %s: %s: %s", kind, shown_request(request), detail)
