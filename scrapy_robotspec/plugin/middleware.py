"""RobotSpecMiddleware: a thin shell over the road from a request to its decision.

What belongs here: asking the lookup, handing its answer to Scrapy, counting. How requests wait
stands in ``gate.py``, ``lanes.py`` and ``waiting.py``, how a robots.txt is fetched in
``fetcher.py``, and what it all means outside this room.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy import signals as scrapy_signals
from scrapy.exceptions import NotConfigured
from twisted.internet.defer import Deferred

from scrapy_robotspec.access.decision import Decision
from scrapy_robotspec.access.origin import Origin
from scrapy_robotspec.editions import DAY, AfterLimit
from scrapy_robotspec.errors import ConfigurationError
from scrapy_robotspec.lookup import Pending, Resolved
from scrapy_robotspec.plugin import _compat
from scrapy_robotspec.plugin.deciding.extensions import NO_EXTENSIONS, Extensions
from scrapy_robotspec.plugin.deciding.request_policy import RequestPolicy
from scrapy_robotspec.plugin.deciding.response_usage import (
    HEADER,
    refused_by_usage,
    usage_of_page,
)
from scrapy_robotspec.plugin.deciding.token_selector import TokenSelector
from scrapy_robotspec.plugin.exceptions import ForbiddenUsage, refusal
from scrapy_robotspec.plugin.fetching.runtime import CrawlRuntime, open_lookup
from scrapy_robotspec.plugin.reporting.stats import CrawlStats
from scrapy_robotspec.plugin.scheduling.crawl_delay import CrawlDelay
from scrapy_robotspec.plugin.scheduling.fleet_pace import FleetPace
from scrapy_robotspec.plugin.scheduling.gate import Event, Gate
from scrapy_robotspec.plugin.scheduling.off_scheduler import OffSchedulerWaits
from scrapy_robotspec.plugin.scheduling.requeue import requeue, restore
from scrapy_robotspec.plugin.settings.settings import Settings
from scrapy_robotspec.protocol.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

    from scrapy_robotspec.lookup import FetchDone
    from scrapy_robotspec.protocol.robotstxt import RobotsTxt

#: What no attempt has changed for so long (seconds) is not worth its place in a shared store.
FORGOTTEN_AFTER = 60 * DAY


class RobotSpecMiddleware:
    """Downloader middleware that lets a request through, refuses it, or leaves it waiting.

    The add-on puts it in the place of Scrapy's own robots.txt middleware (position 100). Reads
    ``ROBOTSTXT_OBEY`` and the ``ROBOTSPEC_*`` settings; a wrong one raises
    :class:`~scrapy_robotspec.errors.ConfigurationError`.
    """

    def __init__(self, crawler: Crawler) -> None:
        if not crawler.settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured
        assert crawler.stats is not None
        self.settings = Settings.from_scrapy(crawler.settings)
        if self.settings.dry_run:
            raise ConfigurationError(
                "ROBOTSPEC_DRY_RUN = True is wrong where RobotSpecMiddleware was put by hand into "
                "DOWNLOADER_MIDDLEWARES: give ADDONS scrapy_robotspec.Addon, which keeps Scrapy's "
                "own in place"
            )
        self._crawler = crawler
        self.tokens = TokenSelector(self.settings, crawler)
        self._request_policy = RequestPolicy(
            self.settings, self.tokens, ftp=_compat.handles_ftp(crawler)
        )
        self._usage = self._request_policy.usage
        self._has_overrides = bool(self.settings.overrides)
        self._crawl_stats = CrawlStats(crawler.stats, self.settings)
        self._off_scheduler = OffSchedulerWaits(crawler)
        self._runtime = CrawlRuntime(
            crawler,
            self.settings,
            self.tokens,
            self._on_fetch_done,
            self._off_scheduler.watch,
            crawler.stats,
        )
        self.lookup = self._off_scheduler.lookup = open_lookup(self._runtime, self.settings)
        self.gate = Gate(
            origin_of=self._request_policy.origin_asked
            if self._has_overrides
            else self._request_policy.origin,
            knows=self.lookup.knows,
            next_slot_at=self.lookup.next_slot_at,
            clock=time.time,
            call_later=_compat.call_later,
            wake=lambda: _compat.wake(crawler.engine),
            on_waiting=self._runtime.note_route,
        )
        clocks: Any = {
            "clock": time.time,
            "monotonic": time.monotonic,
            "call_later": _compat.call_later,
        }
        self._crawl_delay = CrawlDelay(
            FleetPace(self.lookup.store, **clocks),
            self.gate,
            send_wait=lambda request: _compat.send_wait(crawler.engine, request),
            **clocks,
        )

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        middleware = cls(crawler)
        connect = crawler.signals.connect
        connect(middleware._spider_opened, scrapy_signals.spider_opened)
        connect(middleware._spider_closed, scrapy_signals.spider_closed)
        if middleware._request_policy.spaces:
            connect(middleware._crawl_delay.sent, scrapy_signals.request_reached_downloader)
            connect(middleware._crawl_delay.answered, scrapy_signals.response_received)
        if middleware.settings.edition.after_limit is AfterLimit.ALLOW_IF_PAGES_ANSWER:
            connect(middleware._page_answered, scrapy_signals.response_received)
        return middleware

    # --- what Scrapy calls

    def process_request(
        self, request: Request, spider: Spider | None = None
    ) -> Request | Awaitable[Request | None] | None:
        """None lets *request* through; itself sends it back; exceptions refuse it.

        Between two requests a crawl does so much that none of this is in the processor's caches.
        So each function that a usual request does not need is worth a look before it is called.
        """
        queued = restore(request)
        origin = self._request_policy.origin(request)
        if origin is None:
            return None
        if self._has_overrides:
            overridden = self._request_policy.by_override(origin, request)
            if overridden is not None:
                self._follow(overridden, request)
                return None
        now = time.time()
        found = self.lookup.ask(origin, now, request)
        if isinstance(found, Pending):
            if queued:
                self._hold(found)
                return requeue(request)
            return self._decide_later(request, origin)
        decision = self._request_policy.decide(found, request.url, self.tokens(request), now)
        if self._request_policy.spaces and decision.allowed:
            delay = self._request_policy.delay(found, request)
            if delay:
                return self._space(request, found, decision, delay, queued)
        if origin in self.gate.states:
            self._crawl_delay.free(origin)
        self._follow(decision, request, found)
        return None

    async def _decide_later(self, request: Request, origin: Origin) -> None:
        """Wait for the answer: *request* does not come from the scheduler, so it can't go back.

        It gives its place in the downloader to others meanwhile.
        """
        found = await self._off_scheduler.answer(origin, request)
        decision = self._request_policy.decide(
            found, request.url, self.tokens(request), time.time()
        )
        delay = self._request_policy.delay(found, request) if decision.allowed else None
        if delay:
            earliest = (found.fetched_at or 0.0) + delay
            turn = self._crawl_delay.wait(request, origin, delay, earliest)
            await self._off_scheduler.until(turn)
        self._follow(decision, request, found)

    # --- what a spider may ask

    async def decision(self, url: str) -> Decision:
        """Whether *url* may be crawled and why; waits until its robots.txt is known."""
        request = Request(url)
        origin = Origin.of(request.url)
        if origin is None:
            return Decision(allowed=True, reason="no_rule")
        overridden = self._request_policy.by_override(origin, request)
        if overridden is not None:
            return overridden
        found = await self._off_scheduler.answer(origin, request)
        return self._request_policy.decide(found, request.url, self.tokens(request), time.time())

    async def sitemaps(self, url: str) -> tuple[str, ...]:
        """The sitemaps that the robots.txt for *url* names (SIT-01)."""
        robots = await self._robots(Request(url))
        return () if robots is None else robots.sitemaps

    async def crawl_delay(self, url: str) -> float | None:
        """The crawl-delay in seconds that the followed group asks for (EXT-01), or None."""
        request = Request(url)
        origin = Origin.of(request.url)
        override = self._request_policy.override(origin) if origin is not None else None
        if override is not None and override.crawl_delay is not None:
            return override.crawl_delay
        robots = await self._robots(request)
        return None if robots is None else robots.crawl_delay(self.tokens(request))

    async def usage(self, url: str) -> Usage:
        """The usage preferences that robots.txt states for *url* (USE-01); empty for none."""
        robots = await self._robots(Request(url))
        if robots is None:
            return Usage(applies=(await self.decision(url)).allowed)
        return robots.usage(url, self.tokens(Request(url)))

    async def _robots(self, request: Request) -> RobotsTxt | None:
        """The rules that hold for *request*, the user's own if there are such."""
        origin = Origin.of(request.url)
        if origin is None:
            return None
        override = self._request_policy.override(origin)
        if override is not None and override.replacement is not None:
            answer = override.replacement
            return None if isinstance(answer, str) else answer
        return (await self._off_scheduler.answer(origin, request)).robots

    # --- decisions

    def _follow(self, decision: Decision, request: Request, found: Resolved | None = None) -> None:
        """Let *request* through or raise."""
        if found is not None:
            self._crawl_stats.asked_cache(found)
        if self._has_overrides and decision.origin is not None:
            override = self._request_policy.override(decision.origin)
            if override is not None:  # counted here: a request may come by more than once
                self._crawl_stats.overridden(override.kinds)
        if decision.allowed:
            extensions = NO_EXTENSIONS
            if found is None or found.extensions is not None:  # hardly ever
                extensions = self._extensions(decision, request, found)
            request.meta["robotspec"] = _summary(decision, extensions, request.url)
            if decision.origin is not None:
                self._crawl_stats.let_through(decision.origin)
            return
        if decision.reason == "usage":
            usage = self._extensions(decision, request, found).usage_of(request.url)
            self._crawl_stats.usage(self._usage.counts(usage))
        self._crawl_stats.refused(decision, request)
        raise refusal(decision)

    def _extensions(
        self, decision: Decision, request: Request, found: Resolved | None
    ) -> Extensions:
        if found is not None:
            return self._request_policy.extensions(found, request)
        if decision.origin is None:
            return NO_EXTENSIONS
        return self._request_policy.override_extensions(decision.origin, request)

    # --- responses

    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        """Combine the page's usage preferences with its header, and refuse it by them (USE-05)."""
        if "robotspec" in request.meta and (self._usage.labels or HEADER in response.headers):
            origin = self._request_policy.origin(request)
            if origin is not None:
                self._check_usage(origin, request, response)
        return response

    def _check_usage(self, origin: Origin, request: Request, response: Response) -> None:
        summary = request.meta["robotspec"]
        usage = usage_of_page(summary.get("usage") or Usage(), response)
        if usage.statements:
            # A new dict: other requests may share the old one.
            request.meta["robotspec"] = {**summary, "usage": usage}
        self._crawl_stats.usage(self._usage.counts(usage))
        if self._request_policy.ignores(origin):
            return
        refused = self._usage.refusal(usage, final=True)
        if refused is not None:
            decision = refused_by_usage(summary, origin, refused)
            self._crawl_stats.refused_after_download(decision, request)
            raise ForbiddenUsage(decision)

    def _space(
        self,
        request: Request,
        found: Resolved,
        decision: Decision,
        delay: float,
        queued: bool,
    ) -> Request | Awaitable[Request | None] | None:
        if not queued:
            return self._decide_later(request, found.origin)
        earliest = (found.fetched_at or 0.0) + delay
        turn = self._crawl_delay.take(request, found.origin, delay, earliest)
        if isinstance(turn, Deferred):
            return self._go_or_requeue(turn, request, found, decision)
        if not turn:
            return requeue(request)
        self._follow(decision, request, found)
        return None

    async def _go_or_requeue(
        self, turn: Deferred[bool], request: Request, found: Resolved, decision: Decision
    ) -> Request | None:
        """Wait for the store's reply, which comes within milliseconds."""
        if not await _compat.as_future(turn):
            return requeue(request)
        self._follow(decision, request, found)
        return None

    # --- waiting

    def _hold(self, found: Pending) -> None:
        """No answer yet: the requests of the origin wait."""
        then = Event.RETRY_ALLOWED if found.asked_before else Event.FETCH_ALLOWED
        self.gate.block(found.origin, found.until, then)

    def _on_fetch_done(self, landing: FetchDone) -> None:
        """A flight has ended: tell of it, then hold or release the requests of its origin."""
        now, found = time.time(), landing.found
        origin = found.origin
        self._crawl_stats.on_fetch_done(landing, self.gate.count(origin), now)
        if isinstance(found, Pending):
            self._hold(found)
        elif origin in self.gate.states:
            self._crawl_delay.open_gate(origin)

    def count_waiting(self, change: int) -> None:
        """Whoever holds requests tells here how many more they are."""
        self._crawl_stats.waiting_changed(change)

    # --- the end

    def _spider_opened(self) -> None:
        self.lookup.sweep(time.time() - FORGOTTEN_AFTER)
        _compat.limit_pages(self._crawler)
        assert self._crawler.engine is not None
        _compat.back_out_while(self._crawler.engine, self.gate.all_wait)
        if self._request_policy.spaces:
            _compat.load_handlers(self._crawler.engine)

    async def _spider_closed(self) -> None:
        self.gate.close()
        self._crawl_stats.close()
        await _compat.as_future(Deferred.fromCoroutine(self._crawl_delay.close()))
        await _compat.as_future(Deferred.fromCoroutine(self.lookup.close()))
        self._runtime.close()

    def _page_answered(self, response: Response, request: Request) -> None:
        """FET-12: whether pages answer matters while the robots.txt does not."""
        if response.status < 500 and not request.meta.get("dont_obey_robotstxt"):
            origin = Origin.of(request.url)
            if origin is not None:
                self.lookup.page_answered(origin)


def _summary(decision: Decision, extensions: Extensions, url: str) -> dict[str, Any]:
    """``meta["robotspec"]`` of a request that was let through: values that can be pickled."""
    verdict = decision.verdict
    rule = verdict.rule if verdict is not None else None
    stated: dict[str, Any] = {}
    if (usage := extensions.usage_of(url)).statements:
        stated["usage"] = usage
    if extensions.licenses:
        stated["licenses"] = extensions.licenses
    return {
        "allowed": decision.allowed,
        "reason": decision.reason,
        "pattern": rule.pattern if rule is not None else None,
        "line": rule.line if rule is not None else None,
        "group": verdict.group if verdict is not None else (),
        "edition": verdict.edition if verdict is not None else None,
        "outcome": decision.outcome,
        "status": decision.status,
        "age": decision.age,
        "origin": str(decision.origin),
        "other": dict(extensions.fields),
        **stated,
    }
