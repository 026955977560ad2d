"""``ROBOTSPEC_DRY_RUN``: Scrapy's own middleware decides, differences to ours are counted.

Nothing here holds or refuses a request, and no signal is sent. Each robots.txt is fetched once
more than by Scrapy's own middleware; the end of the crawl waits for fetches in progress.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from scrapy import signals as scrapy_signals
from scrapy.exceptions import DontCloseSpider, IgnoreRequest, NotConfigured
from scrapy.statscollectors import DummyStatsCollector
from twisted.internet.defer import succeed

from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.lookup import Pending, Resolved
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.deciding.extensions import extensions_of
from scrapy_robotspec.plugin.deciding.final_url import redirected
from scrapy_robotspec.plugin.deciding.response_usage import usage_of_page
from scrapy_robotspec.plugin.exceptions import refusal
from scrapy_robotspec.plugin.fetching.runtime import CrawlRuntime
from scrapy_robotspec.plugin.reporting.differences import Difference, DifferenceCounts
from scrapy_robotspec.plugin.robots import CrawlRobots
from scrapy_robotspec.plugin.settings.settings import Settings
from scrapy_robotspec.protocol.usage import Usage

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.internet.defer import Deferred
    from typing_extensions import Self

    from scrapy_robotspec.access.decision import Decision
    from scrapy_robotspec.access.origin import Origin
    from scrapy_robotspec.lookup import FetchDone
    from scrapy_robotspec.plugin.settings.product_tokens import Tokens
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt

#: What Scrapy's own middleware says when it refuses a request.
_REFUSED_BY_SCRAPY = "Forbidden by robots.txt"

#: Requests that may await their comparison; beyond it they are not compared.
_MOST_PENDING = 10_000
#: How often origins are looked at for which no fetch could begin (seconds).
_LOOK_EVERY = 0.5


class _Pending(NamedTuple):
    request: Request
    tokens: Tokens
    allowed: bool
    header: Usage | None = None
    """The usage preferences of the response; None before it has come."""


class _SilentRuntime(CrawlRuntime):
    """Sends no signals: the rules decide nothing."""

    def on_rules(
        self, found: Resolved, request: Request, replaced: RobotsTxt | None
    ) -> Deferred[None]:
        return succeed(None)


class DryRunMiddleware:
    """Downloader middleware that the add-on puts right behind Scrapy's own (position 101).

    What gets here was let through by Scrapy's, and its refusals come by as exceptions.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.settings = Settings.from_scrapy(crawler.settings)
        if not (crawler.settings.getbool("ROBOTSTXT_OBEY") and self.settings.dry_run):
            raise NotConfigured
        assert crawler.stats is not None
        self._crawler = crawler
        self.robots = CrawlRobots(
            crawler,
            self.settings,
            self._on_fetch_done,
            stats=DummyStatsCollector(crawler),
            runtime=_SilentRuntime,
        )
        self._policy = self.robots.policy
        self._pending: dict[Origin, list[_Pending]] = {}
        self._number = 0
        self._looking = False
        self._idle_since: float | None = None
        self._counts = DifferenceCounts(crawler.stats)

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
        if self._policy.usage.refuses:
            with suppress(ConfigurationError):  # of the user's function; noted with the request
                self._compare_usage(request, response)
        self.robots.tokens.forget(request)
        return response

    # --- comparing

    def _compare_usage(self, request: Request, response: Response) -> None:
        """Count a page that was let through and that ours would keep from the spider."""
        origin = self._policy.origin(request)
        if origin is None or self._policy.ignores(origin):
            return
        sent = redirected(request, request.url)  # with the tokens it was decided with
        answer = self.robots.answer(origin, sent, time.time())
        if isinstance(answer, Pending):
            self._keep_header(origin, request, usage_of_page(Usage(), response))
            return
        decision, found = answer
        if decision.allowed:
            extensions = self.robots.extensions(decision, sent, found)
            usage = usage_of_page(extensions.usage_of(request.url), response)
            refused = self._policy.usage.refusal(usage, final=True)
            if refused is not None:
                self._counts.take_back(Difference.SAME)
                self._counts.add(Difference.REFUSE, request, refused.detail)

    def _compare(self, request: Request, *, allowed: bool) -> None:
        origin = self._policy.origin(request)
        if origin is None:
            return
        try:
            pending = _Pending(request, self.robots.tokens(request), allowed)
        except Exception as error:  # of the user's function; Scrapy's crawl must not suffer from it
            self._counts.add(Difference.NOT_COMPARED, request, f"{type(error).__name__}: {error}")
            return
        if self._try(origin, pending):
            return
        if self._number >= _MOST_PENDING:
            self._counts.add(Difference.NOT_COMPARED, request, "too many await an answer")
            return
        self._pending.setdefault(origin, []).append(pending)
        self._number += 1
        self._look_later()

    def _keep_header(self, origin: Origin, request: Request, header: Usage) -> None:
        """The page came before its robots.txt: compare with its header later."""
        waiting = self._pending.get(origin, [])
        for at, pending in enumerate(waiting):
            if pending.request is request:
                waiting[at] = pending._replace(header=header)

    def _take(self, origin: Origin) -> list[_Pending]:
        """All that await an answer of *origin*; they are not here any more."""
        taken = self._pending.pop(origin, [])
        self._number -= len(taken)
        return taken

    def _try(self, origin: Origin, pending: _Pending) -> bool:
        """Compare *pending* at once, if the decision can be made; whether it could."""
        answer = self.robots.answer(origin, pending.request, time.time())
        if not isinstance(answer, Pending):
            decision, found = answer
            self._settle_by(decision, found, pending)
            return True
        record = self.robots.record(origin)
        if record is None or record.unreachable_since is None:
            return False
        self._counts.add(Difference.WAIT, pending.request, record.failure or "")
        return True

    def _on_fetch_done(self, done: FetchDone) -> None:
        """Compare the requests that have waited for the robots.txt that was fetched."""
        found, record = done.found, done.record
        if isinstance(found, Pending) and found.preempted:
            return  # not resolved yet; it is tried again
        for pending in self._take(found.origin):
            if isinstance(found, Resolved):
                url = pending.request.url
                decision = self._policy.decide(found, url, pending.tokens, time.time())
                self._settle_by(decision, found, pending)
            else:
                failure = record.failure if record is not None else None
                self._counts.add(Difference.WAIT, pending.request, failure or "no answer")
        if not self._pending and self._idle_since is not None:
            _compat.wake(self._crawler.engine)

    def _settle_by(self, decision: Decision, found: Resolved | None, pending: _Pending) -> None:
        self.robots.note_decision(pending.request, decision, found, "dry_run")
        if found is None:
            self._settle(pending, decision.allowed, "by ROBOTSPEC_OVERRIDES")
            return
        why = decision.reason if decision.allowed else str(refusal(decision))
        if decision.allowed and pending.header is not None:
            usage = (
                extensions_of(found, pending.tokens).usage_of(pending.request.url) | pending.header
            )
            refused = self._policy.usage.refusal(usage, final=True)
            if refused is not None:
                self._settle(pending, False, refused.detail)
                return
        self._settle(pending, decision.allowed, why)

    def _settle(self, pending: _Pending, ours: bool, detail: str) -> None:
        self._counts.compared(pending.request, allowed=pending.allowed, ours=ours, detail=detail)

    # --- origins for which no fetch could begin at first

    def _look_later(self) -> None:
        if not self._looking:
            self._looking = True
            _compat.call_later(_LOOK_EVERY, self._look)

    def _look(self) -> None:
        self._looking = False
        for origin in list(self._pending):
            now = time.time()
            if self.robots.lookup.next_slot_at(now) > now:
                break
            left = [each for each in self._take(origin) if not self._try(origin, each)]
            if left:
                self._pending[origin] = left
                self._number += len(left)
        if self._pending:
            self._look_later()

    # --- beginning and end

    def _spider_opened(self) -> None:
        self.robots.open()

    def _spider_idle(self) -> None:
        """Let answers that are under way come in, as long as one fetch may take."""
        if self._pending:
            now = time.monotonic()
            self._idle_since = now if self._idle_since is None else self._idle_since
            if now < self._idle_since + self.settings.fetch_timeout:
                raise DontCloseSpider

    async def _spider_closed(self) -> None:
        for origin in list(self._pending):
            for pending in self._take(origin):
                self._counts.add(Difference.NOT_COMPARED, pending.request, "the crawl ended before")
        self._counts.log_summary()
        await self.robots.close()
