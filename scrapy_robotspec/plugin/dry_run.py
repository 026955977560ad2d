"""``ROBOTSPEC_DRY_RUN``: Scrapy's own middleware decides, differences to ours are counted.

Nothing here holds or refuses a request, and no signal is sent. Each robots.txt is fetched once
more than by Scrapy's own middleware; the end of the crawl waits for fetches in progress.
"""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy import signals as scrapy_signals
from scrapy.downloadermiddlewares.robotstxt import RobotsTxtMiddleware
from scrapy.exceptions import DontCloseSpider, IgnoreRequest, NotConfigured
from scrapy.statscollectors import DummyStatsCollector
from twisted.internet.defer import Deferred, succeed

from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.lookup import Pending, Resolved
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.enforcement import usage_of_page
from scrapy_robotspec.plugin.exceptions import refusal
from scrapy_robotspec.plugin.fetching.crawl_runtime import CrawlRuntime
from scrapy_robotspec.plugin.middleware import RobotSpecMiddleware
from scrapy_robotspec.plugin.reporting.origin_stats import OriginStatsTable
from scrapy_robotspec.plugin.reporting.report import Report, end_quietly
from scrapy_robotspec.plugin.reporting.stats import shown_request
from scrapy_robotspec.plugin.robots import CrawlRobots
from scrapy_robotspec.plugin.settings.settings import Settings

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from typing_extensions import Self

    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.access.record import RobotsRecord
    from scrapy_robotspec.lookup import FetchDone
    from scrapy_robotspec.plugin.robots import Answer
    from scrapy_robotspec.plugin.settings.tokens import Tokens
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt
    from scrapy_robotspec.protocol.usage import Usage

logger = logging.getLogger("scrapy_robotspec")

#: Text of the exception by which Scrapy's own middleware refuses a request.
_REFUSED_BY_SCRAPY = "Forbidden by robots.txt"
#: The results of a comparison, as the last parts of their stats.
_SAME, _REFUSE, _ALLOW, _WAIT, _NOT_COMPARED = _KINDS = (
    "same",
    "we_would_refuse",
    "we_would_allow",
    "we_would_wait",
    "not_compared",
)
_MIDDLEWARES = "DOWNLOADER_MIDDLEWARES"
#: Max comparisons that wait; further requests are not compared.
MAX_PENDING = 10_000
#: Max logged differences of each kind.
_EXAMPLES = 10


def install(settings: BaseSettings, position: int) -> None:
    """Put ours behind Scrapy's own, wherever one of both has been put.

    *position*: where Scrapy's own is by default.
    """
    chosen = settings.getdict(_MIDDLEWARES)
    own = [
        chosen.pop(key) for key in list(chosen) if _compat.is_component(key, RobotSpecMiddleware)
    ]
    stock = [key for key in chosen if _compat.is_component(key, RobotsTxtMiddleware)]
    if own:  # it was switched off for ours
        for key in stock:
            if chosen[key] is None:
                del chosen[key]
    elif stock and chosen[stock[0]] is None:
        logger.warning(
            "ROBOTSPEC_DRY_RUN is on and Scrapy's own robots.txt middleware switched off in %s: "
            "every request counts as let through by it.",
            _MIDDLEWARES,
        )
    positions = [chosen[key] for key in stock if chosen.get(key) is not None]
    if not any(_compat.is_component(key, DryRunMiddleware) for key in chosen):
        chosen[DryRunMiddleware] = (positions[0] if positions else position) + 1
    settings.set(_MIDDLEWARES, chosen, settings.getpriority(_MIDDLEWARES) or 0)
    logger.info(
        "ROBOTSPEC_DRY_RUN is on: Scrapy's own middleware decides, differences are counted, "
        "and each robots.txt is fetched once more."
    )


class _SilentRuntime(CrawlRuntime):
    """Sends no signals: the rules decide nothing."""

    def on_rules(
        self, found: Resolved, request: Request, replaced: RobotsTxt | None
    ) -> Deferred[None]:
        return succeed(None)


class Comparison(NamedTuple):
    """A request that Scrapy's own middleware has decided about."""

    request: Request
    tokens: Tokens
    allowed: bool
    """Scrapy's decision."""
    header: Usage | None = None
    """The usage preferences of its response; None: of the request alone."""


class DryRunMiddleware:
    """Downloader middleware that the add-on puts right behind Scrapy's own (position 101).

    Scrapy's middleware has let each request through; its refusals arrive as exceptions.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.settings = Settings.from_scrapy(crawler.settings)
        if not (crawler.settings.getbool("ROBOTSTXT_OBEY") and self.settings.dry_run):
            raise NotConfigured
        assert crawler.stats is not None
        self._crawler = crawler
        self._stats = crawler.stats
        self.robots = CrawlRobots(
            crawler,
            self.settings,
            self._on_fetch_done,
            stats=DummyStatsCollector(crawler),
            runtime=_SilentRuntime,
        )
        self._policy = self.robots.policy
        self._fetches: dict[Origin, Deferred[Any]] = {}
        """Waits for a robots.txt, one for each origin with pending comparisons."""
        self._pending: dict[Origin, list[Comparison]] = {}
        self._idle_since: float | None = None
        self._counts = dict.fromkeys(_KINDS, 0)
        self._rows = OriginStatsTable()
        self._report: Report | None = None
        if self.settings.report is not None:
            self._report = Report(crawler, self.settings.report, self._by_words)
            self._rows = self._report.origins
            self._report.create()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        middleware = cls(crawler)
        connect = crawler.signals.connect
        connect(middleware._spider_opened, scrapy_signals.spider_opened)
        connect(middleware._spider_idle, scrapy_signals.spider_idle)
        connect(middleware._spider_closed, scrapy_signals.spider_closed)
        return middleware

    # --- what Scrapy calls

    def process_request(self, request: Request, spider: Spider | None = None) -> None:
        """Scrapy's own middleware let *request* through."""
        self._compare(request, allowed=True)

    def process_exception(
        self, request: Request, exception: Exception, spider: Spider | None = None
    ) -> None:
        """Scrapy's own middleware, or another one, refused *request*."""
        if isinstance(exception, IgnoreRequest) and str(exception) == _REFUSED_BY_SCRAPY:
            self._compare(request, allowed=False)

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        """A page has arrived, whose header may state usage preferences (USE-05)."""
        if self._policy.refuses_usage:
            with suppress(ConfigurationError):  # of the user's function; noted with the request
                self._compare_usage(request, response)
        self.robots.tokens.responded(request)
        return response

    def _spider_opened(self) -> None:
        self.robots.open()
        if self._report is not None:
            self._report.open()

    def _spider_idle(self) -> None:
        """Let answers that are under way come in, as long as one fetch may take."""
        if self._pending:
            now = time.monotonic()
            self._idle_since = now if self._idle_since is None else self._idle_since
            if now < self._idle_since + self.settings.fetch_timeout:
                raise DontCloseSpider

    async def _spider_closed(self, reason: str) -> None:
        pending = chain.from_iterable(self._pending.values())
        for comparison in (each for each in pending if each.header is None):
            self._count(_NOT_COMPARED, comparison.request, "the crawl ended before")
        counts = [f"{count:,} {words}" for words, count in self._by_words().items()]
        logger.info("Dry run of RobotSpecMiddleware, in requests: %s", ", ".join(counts))
        if self._report is not None:
            await self._report.close(reason)
        await self.robots.close()

    # --- comparing

    def _compare(self, request: Request, *, allowed: bool) -> None:
        """Compare at once, if the decision can be made, else when it can."""
        origin = self._policy.origin(request)
        if origin is None:
            return
        try:
            comparison = Comparison(request.copy(), self.robots.tokens(request), allowed)
        except Exception as error:  # of the user's function; Scrapy's crawl must not suffer from it
            self._count(_NOT_COMPARED, request, f"{type(error).__name__}: {error}")
            return
        answer = self.robots.ask(origin, request, time.time())
        record = self.robots.record(origin)
        if not isinstance(answer, Pending):
            self._settle(answer, comparison)
        elif record is not None and record.unreachable_since is not None:
            self._would_wait(origin, record, comparison)
        elif sum(map(len, self._pending.values())) >= MAX_PENDING:
            self._count(_NOT_COMPARED, request, "too many await an answer")
        else:
            self._wait(origin, comparison)

    def _wait(self, origin: Origin, comparison: Comparison) -> None:
        self._pending.setdefault(origin, []).append(comparison)
        if origin not in self._fetches:
            self._rows.wait_began(origin, time.time())
            waiting = Deferred.fromCoroutine(self.robots.lookup.wait(origin, comparison.request))
            self._fetches[origin] = waiting.addErrback(end_quietly)

    def _on_fetch_done(self, done: FetchDone) -> None:
        """Compare the requests that have waited for the robots.txt that was fetched."""
        found, record, now = done.found, done.record, time.time()
        if isinstance(found, Pending) and found.preempted:
            return  # not resolved yet; it is tried again
        if record is not None:
            self._rows.fetched(record, done.seconds, now)
        for comparison in self._pending.pop(found.origin, ()):
            if isinstance(found, Resolved):
                request, tokens = comparison.request, comparison.tokens
                decision = self.robots.by_rules(found, request, now, tokens)
                self._settle((decision, found), comparison)
            else:
                self._would_wait(found.origin, record, comparison)
        fetch = self._fetches.pop(found.origin, None)
        if fetch is not None:
            fetch.cancel()  # nothing waits for further attempts
            self._rows.wait_ended(found.origin, now)
        if not self._pending and self._idle_since is not None:
            _compat.wake(self._crawler.engine)

    def _settle(self, answer: Answer, comparison: Comparison) -> None:
        """Count a request by both decisions."""
        if comparison.header is not None:
            self._settle_page(answer, comparison)
            return
        (ours, found), request = answer, comparison.request
        self.robots.note_decision(request, ours, found, "dry_run")
        differs = _ALLOW if ours.allowed else _REFUSE
        kind = _SAME if ours.allowed is comparison.allowed else differs
        self._count(kind, request, _detail(ours))
        assert ours.origin is not None
        override = self._policy.override(ours.origin)
        if override is not None:
            self._rows.overridden(override.kinds, ours.origin)
        if ours.allowed:
            self._rows[ours.origin].let_through += 1
        else:
            self._rows.refused(ours, request.url)

    def _would_wait(
        self, origin: Origin, record: RobotsRecord | None, comparison: Comparison
    ) -> None:
        if comparison.header is not None:
            return
        failure = None if record is None else record.failure
        self._count(_WAIT, comparison.request, failure or "no answer")
        self._rows[origin].waited += 1

    def _compare_usage(self, request: Request, response: Response) -> None:
        """Compare a page that was let through and that ours may keep from the spider."""
        origin = self._policy.origin(request)
        if origin is None:
            return
        sent = request.copy()  # it keeps its tokens
        header = usage_of_page(None, response)
        page = Comparison(sent, self.robots.tokens(sent), True, header)
        if origin in self._pending:
            self._pending[origin].append(page)
            return
        answer = self.robots.ask(origin, sent, time.time())
        if not isinstance(answer, Pending):
            self._settle_page(answer, page)

    def _settle_page(self, answer: Answer, page: Comparison) -> None:
        (ours, found), request = answer, page.request
        origin = ours.origin
        assert origin is not None
        assert page.header is not None
        stated = self._policy.extensions(ours, request, found).usage_of(request.url)
        refused = self._policy.refusal_of_page(stated | page.header, origin)
        if refused is None or not ours.allowed:
            return
        ours = ours.refused_for(refused)
        self._count(_SAME, request, "", -1)  # as it was counted before
        self._count(_REFUSE, request, _detail(ours))
        self._rows[origin].let_through -= 1
        self._rows.refused(ours, request.url)

    # --- counts

    def _count(self, kind: str, request: Request, detail: str, number: int = 1) -> None:
        self._counts[kind] += number
        self._stats.inc_value(f"robotspec/dry_run/{kind}", number)
        if kind != _SAME and self._counts[kind] <= _EXAMPLES:
            logger.info("Dry run: %s: %s (%s)", _words(kind), shown_request(request), detail)

    def _by_words(self) -> dict[str, int]:
        """All counts, by words for people."""
        return {_words(kind): count for kind, count in self._counts.items()}


def _words(kind: str) -> str:
    return kind.replace("_", " ")


def _detail(decision: Decision) -> str:
    """The reason in a few words."""
    if decision.reason == "override":
        return "by ROBOTSPEC_OVERRIDES"
    if decision.usage is not None:
        return decision.usage.detail
    return decision.reason if decision.allowed else str(refusal(decision))
